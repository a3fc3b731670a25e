# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""A product with a matrix, and what GPTQ makes of it without any of Tenon's code.

gptq.py make: writes product.mlir, y = x * w^T, transposed.mlir with the same matrix stored the other way round,
branches.mlir with a matrix in each of two branches, inputs/ with correlated vectors for them, and eye.npy.
gptq.py check Y.npy: the outputs for eye.npy are the matrix that was stored; its products with `inputs` have to be off
by no more than those of GPTQ as the paper has it, and by far less than those of rounding to nearest.
"""

import pathlib
import sys

import numpy

DEPTH, ROWS, GROUP, SETS = 128, 64, 32, 4


def draw():
    rng = numpy.random.default_rng(3)
    weights = rng.standard_normal((ROWS, DEPTH)).astype(numpy.float32)
    mix = rng.standard_normal((16, DEPTH))
    count = SETS * DEPTH
    x = rng.standard_normal((count, 16)) @ mix + 0.5 * rng.standard_normal((count, DEPTH))
    return weights, x.astype(numpy.float32).reshape(SETS, DEPTH, DEPTH)


def printWeight(name, weights):
    shape = "x".join(map(str, weights.shape))
    return f"""%{name} = tenon.weight dense<"0x{weights.tobytes().hex().upper()}"> : tensor<{shape}xf32> {{name = "{name}"}}"""


def printProduct(result, name, weights, summed):
    shape = "x".join(map(str, weights.shape))
    return f"""%{result} = tenon.contract %x, %{name} {{lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: {summed}>, result_dims = array<i64: 0, 1>}}
    : (tensor<{DEPTH}x{DEPTH}xf32>, tensor<{shape}xf32>) -> tensor<{DEPTH}x{ROWS}xf32>"""


def printMain(arguments, body):
    return f"""func.func @main(%x: tensor<{DEPTH}x{DEPTH}xf32> {{tenon.name = "x"}}{arguments}) -> (tensor<{DEPTH}x{ROWS}xf32> {{tenon.name = "y"}}) {{
{body}
  return %y : tensor<{DEPTH}x{ROWS}xf32>
}}
"""


def make():
    weights, inputs = draw()
    across = numpy.ascontiguousarray(weights.T)
    for name, matrix, summed in (("product", weights, "1, 2"), ("transposed", across, "2, 1")):
        body = printWeight("w", matrix) + "\n" + printProduct("y", "w", matrix, summed)
        pathlib.Path(name + ".mlir").write_text(printMain("", body))
    body = f"""{printWeight("w", weights)}
{printWeight("v", weights)}
  %y = tenon.if %first : tensor<i1> -> tensor<{DEPTH}x{ROWS}xf32> {{
    {printProduct("a", "w", weights, "1, 2")}
    tenon.yield %a : tensor<{DEPTH}x{ROWS}xf32>
  }} else {{
    {printProduct("b", "v", weights, "1, 2")}
    tenon.yield %b : tensor<{DEPTH}x{ROWS}xf32>
  }}"""
    pathlib.Path("branches.mlir").write_text(printMain(', %first: tensor<i1> {tenon.name = "first"}', body))
    for i, x in enumerate(inputs):
        folder = pathlib.Path("inputs", str(i))
        folder.mkdir(parents=True)
        numpy.save(folder / "x.npy", x)
        numpy.save(folder / "first.npy", numpy.array(True))
    numpy.save("eye.npy", numpy.eye(DEPTH, dtype=numpy.float32))
    numpy.save("true.npy", numpy.array(True))


def roundGroups(weights):
    """Scales by the largest element of each group, and the elements rounded with them."""
    scales = numpy.abs(weights.reshape(ROWS, -1, GROUP)).max(2) / 7
    scales = numpy.repeat(scales.astype(numpy.float16).astype(float), GROUP, 1)
    return scales, numpy.clip(numpy.rint(weights / scales), -8, 7) * scales


def gptq(weights, moments):
    """Frantar and others 2022: with scales that are known before, and columns by decreasing diagonal."""
    scales, _ = roundGroups(weights)
    order = numpy.argsort(-numpy.diag(moments), kind="stable")
    damped = moments + 0.01 * numpy.diag(moments).mean() * numpy.eye(DEPTH)
    factor = numpy.linalg.cholesky(numpy.linalg.inv(damped[order][:, order])).T
    rest, result = weights[:, order].astype(float), numpy.zeros(weights.shape)
    for i, column in enumerate(order):
        scale = scales[:, column]
        result[:, column] = numpy.clip(numpy.rint(rest[:, i] / scale), -8, 7) * scale
        error = (rest[:, i] - result[:, column]) / factor[i, i]
        rest[:, i:] -= numpy.outer(error, factor[i, i:])
    return result


def check(path):
    weights, inputs = draw()
    x = inputs.reshape(-1, DEPTH).astype(float)
    moments = x.T @ x

    def getError(restored):
        return numpy.linalg.norm(x @ (weights - restored).T) / numpy.linalg.norm(x @ weights.T)

    own, paper, nearest = getError(numpy.load(path).T), getError(gptq(weights, moments)), getError(roundGroups(weights)[1])
    print(f"calibrated {own:.4f}, GPTQ {paper:.4f}, to nearest {nearest:.4f}")
    if not own <= paper < nearest or own > 0.6 * nearest:
        sys.exit("expected products that are off by no more than GPTQ's")


if sys.argv[1] == "make":
    make()
else:
    check(sys.argv[2])
