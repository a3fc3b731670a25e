# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""halves.py make|compare: a product of rows whose magnitudes differ by up to 2^60, some with an infinity or a NaN, and the largest error of the results
of all other rows, each relative to the largest of its own row."""

import sys

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

ROWS, DEPTH, COLUMNS = 129, 512, 523
random = numpy.random.default_rng(1)
x = random.standard_normal((ROWS, DEPTH)) * numpy.exp2(random.integers(-30, 31, (ROWS, 1)))
# The first of a pair, the second one, both, and the last row, which has no other one.
SPECIAL = {10: numpy.inf, 33: -numpy.inf, 50: numpy.nan, 51: numpy.inf, 128: numpy.inf}
for row, value in SPECIAL.items():
    x[row, row] = value
x, w = x.astype(numpy.float32), random.standard_normal((DEPTH, COLUMNS)).astype(numpy.float32)
w[33, 5] = 0  # times an infinity
if sys.argv[1] == "make":
    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [ROWS, size]) for name, size in (("x", DEPTH), ("y", COLUMNS))]
    graph = helper.make_graph([helper.make_node("MatMul", ["x", "w"], ["y"], "product")], "halves", values[:1], values[1:], [numpy_helper.from_array(w, "w")])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]), "model.onnx")
    numpy.save("x.npy", x)
else:
    with numpy.errstate(invalid="ignore"):
        want, got = x.astype(numpy.float64) @ w.astype(numpy.float64), numpy.load("y.npy")
    others = [row for row in range(ROWS) if row not in SPECIAL]
    error = (abs(got - want)[others].max(axis=1) / abs(want)[others].max(axis=1)).max()
    print(f"error {error:.1e}: {'small' if error < 2e-6 else 'LARGE'}")
    special = [*SPECIAL]
    print("special rows:", "equal" if numpy.array_equal(got[special], want[special], equal_nan=True) else "OTHERS")
