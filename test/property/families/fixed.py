# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Products of few rows with matrices that a run reads from memory: these are stored as numbers of fewer bits. A batch has more of them
than the caches of the target that is named here."""

import products
from draw import NUMBERS

TARGETS = ("x86-64-v3",)
FLOAT = NUMBERS["float32"]
# Whole groups of numbers and others.
DEPTHS = (504, 512, 768, 1000, 1004, 1022, 1536)
ELEMENTS = 800_000


def _shape(d):
    depth = d.choose(*DEPTHS)
    return depth, ELEMENTS // depth + d.integer(-40, 40)


def _rows(d):
    return d.choose([1], [1], [1, 1], [2], [3], [4], [5])


def _finish(d, value, columns):
    for step in [step for step in ("bias", "relu") if d.chance(0.4)]:
        operands = [value, d.weight(FLOAT, [columns])] if step == "bias" else [value]
        value = d.node("Add" if step == "bias" else "Relu", operands, dtypes=[FLOAT], isResult=False)
    d.node("Identity", [value], dtypes=[FLOAT])
    d.isWhole = True


def drawMatMul(d, operator):
    depth, columns = _shape(d)
    x = d.input(FLOAT, [*_rows(d), depth], "unit")
    _finish(d, d.node(operator, [x, d.weight(FLOAT, [depth, columns])], dtypes=[FLOAT], isResult=False), columns)


def drawGemm(d, operator):
    depth, columns = _shape(d)
    rows = _rows(d)[-1]
    x = d.input(FLOAT, [rows, depth], "unit")
    _finish(d, d.node(operator, [x, d.weight(FLOAT, [columns, depth])], dtypes=[FLOAT], isResult=False, transB=1), columns)


def drawTied(d, operator):
    """An embedding that is the matrix of the output, too."""
    depth, columns = _shape(d)
    _finish(d, products.drawTied(d, operator, depth, columns, d.choose(1, 2)), columns)


OPERATORS = {
    "MatMul": drawMatMul,
    "Gemm": drawGemm,
    "Gather": drawTied,
}
