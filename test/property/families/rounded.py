# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Products and convolutions of f32 whose factors a wide tolerance lets the compiler round to bf16: in vectors where this machine has the
instruction, and in tile registers, which are computed here."""

import products
from draw import NUMBERS, makeSize

TARGETS = ("x86-64-v3+amx-bf16",)
OPTIONS = ("--tolerance", "2e-2")
FLOAT = NUMBERS["float32"]
# Whole steps, steps that end beyond the sum, and sums of less than a step.
DEPTHS = (1, 3, 7, 31, 32, 33, 40, 64, 96, 100, 250, 256, 257, 520)
WIDTHS = (17, 31, 32, 48, 64, 100, 131, 192)
# Twice the tolerance, which is relative to the largest element and was kept for other inputs than these.
SLACK = 4000
ROWS = (1, 2, 5, 8, 13, 16, 17, 33, 64, 97)


def _finish(d, value, columns):
    for step in [step for step in ("bias", "tanh") if d.chance(0.4)]:
        operands = [value, d.weight(FLOAT, [columns])] if step == "bias" else [value]
        value = d.node("Add" if step == "bias" else "Tanh", operands, dtypes=[FLOAT], isResult=False)
    d.node("Identity", [value], dtypes=[FLOAT])
    d.isWhole, d.slack = True, SLACK


def _rows(d):
    outer = [d.size(1, 3) for _ in range(d.choose(0, 0, 1, 2))]
    rows = d.choose(*ROWS)
    return [*outer, makeSize(rows, f"{d.name}.rows") if d.chance(0.4) else rows]


def drawMatMul(d, operator):
    depth, columns = d.choose(*DEPTHS), d.choose(*WIDTHS)
    x = d.input(FLOAT, [*_rows(d), depth], "unit")
    if d.chance(0.3):
        x = d.node("Relu", [x], dtypes=[FLOAT], isResult=d.chance(0.5))
    _finish(d, d.node(operator, [x, d.weight(FLOAT, [depth, columns])], dtypes=[FLOAT], isResult=False), columns)


def drawTwo(d, operator):
    """One product after the other, or two of the same rows."""
    depth, columns = d.choose(*DEPTHS), d.choose(32, 48, 64, 100)
    x = d.input(FLOAT, [*_rows(d), depth], "unit")
    _finish(d, products.drawTwo(d, x, depth, columns), 64)


def drawResidual(d, operator):
    """A sum that products and the next sum read."""
    depth = d.choose(32, 40, 64, 96)
    rows = _rows(d)
    x = d.input(FLOAT, [*rows, depth], "unit")
    value = d.node("Relu", [x], dtypes=[FLOAT], isResult=False)
    for _ in range(d.choose(1, 2, 3)):
        product = d.node("MatMul", [value, d.weight(FLOAT, [depth, depth])], dtypes=[FLOAT], isResult=False)
        value = d.node(operator, [value, product], dtypes=[FLOAT], isResult=d.chance(0.2))
        if d.chance(0.5):
            value = d.node("Relu", [value], dtypes=[FLOAT], isResult=False)
    _finish(d, value, depth)


def drawConv(d, operator):
    products.drawConv(d, operator, (1, 1, 3, 5), (1, 3, 8, 16, 32, 48, 50), WIDTHS)
    d.isWhole, d.slack = True, SLACK


def drawTied(d, operator):
    """An embedding that is the matrix of the output, too."""
    depth, columns = d.choose(32, 40, 64, 96), d.choose(33, 48, 100, 300)
    _finish(d, products.drawTied(d, operator, depth, columns, d.choose(2, 5, 17)), columns)


OPERATORS = {
    "MatMul": drawMatMul,
    "MatMul twice": drawTwo,
    "Add": drawResidual,
    "Gather": drawTied,
    "Conv": drawConv,
}
