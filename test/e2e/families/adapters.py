# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Products with low-rank updates (LoRA), which become one product each: x W + s (x A) B."""

import reference as ref
from run import Case
from tensors import Tensor, randoms


def adapter(name, rows, depth, columns, rank, hasBias=True, scale=0.5, scaleFirst=False):
    x, w = randoms(name + "x", *rows, depth), randoms(name + "w", depth, columns)
    a, b, bias = randoms(name + "a", depth, rank), randoms(name + "b", rank, columns), randoms(name + "c", columns)
    low = ref.matmul(x, a)
    update = ref.elementwise(lambda p: scale * p, ref.matmul(low, b))
    y = ref.elementwise(lambda p, q: p + q, ref.matmul(x, w), update)
    nodes, constants = [("MatMul", ["x", "w"], ["xw"], {})], {"w": w, "a": a, "b": b, "s": Tensor((), [scale])}
    if hasBias:
        y = ref.elementwise(lambda p, q: p + q, y, bias)
        nodes.append(("Add", ["xw", "c"], ["own"], {}))
        constants["c"] = bias
    nodes.append(("MatMul", ["x", "a"], ["xa"], {}))
    if scaleFirst:
        nodes += [("Mul", ["s", "xa"], ["low"], {}), ("MatMul", ["low", "b"], ["change"], {})]
    else:
        nodes += [("MatMul", ["xa", "b"], ["high"], {}), ("Mul", ["high", "s"], ["change"], {})]
    own = "own" if hasBias else "xw"
    nodes.append(("Add", ["change", own] if scaleFirst else [own, "change"], ["y"], {}))
    return Case(name, nodes, {"x": x}, {"y": y}, constants)


def cases():
    return [
        adapter("Rows", (5,), 48, 33, 4),
        adapter("Batch", (2, 7), 31, 64, 8, scaleFirst=True),
        adapter("Plain", (3,), 16, 16, 1, hasBias=False),
        adapter("One", (1,), 64, 5, 2, scale=-2.0),
    ]
