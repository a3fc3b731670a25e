# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Winograd convolutions with squares of 4 x 4 results, rounded to i16 with scales, where this machine has dot products of these."""

import numpy
from draw import NUMBERS
from families import int8, squares, winograd

OPTIONS = ("--tolerance", "4e-3", *(("--force", "*=winograd-int16-4") if int8.HAS_VNNI else ()))
FLOAT = NUMBERS["float32"]
# A result is off by some times the root mean square of its error at most, which is below 1e-3 of the largest one's.
SLACK = 1000


def drawConv(d, operator):
    winograd.drawWinograd(d, operator, SLACK, squares.ACTIVATIONS)


def drawScaled(d, operator):
    """Images of other magnitudes beside each other, and filters, each of which has scales of its own."""
    channels, filters, batch = d.choose(1, 8, 17, 64), d.choose(4, 16, 31, 48), d.choose(2, 3)
    scales = d.constant(numpy.array([1.0, 1e15, 3e-20][:batch], FLOAT).reshape(batch, 1, 1, 1))
    x = d.node("Mul", [d.input(FLOAT, [batch, channels, 9, 11], "unit"), scales], dtypes=[FLOAT], isResult=False)
    sizes = d.constant(numpy.array([10.0 ** (i % 7 - 3) for i in range(filters)], FLOAT).reshape(filters, 1, 1))
    w = d.numbers(FLOAT, [filters, channels, 3, 3], "unit", isConstant=True)
    w = d.constant((w * 10.0 ** (numpy.arange(filters) % 7 - 3).reshape(filters, 1, 1, 1)).astype(FLOAT))
    y = d.node(operator, [x, w], dtypes=[FLOAT], isResult=False, pads=[1] * 4)
    d.node("Div", [d.node("Div", [y, scales], dtypes=[FLOAT], isResult=False), sizes], dtypes=[FLOAT])
    d.isWhole, d.slack = True, SLACK


def drawLargest(d, operator):
    """Filters and images of one magnitude, whose sums are the largest ones that i32 has to hold."""
    channels, filters = d.choose(1, 2, 16, 63, 64, 256), d.choose(4, 17, 32)
    x = d.node("Sign", [d.input(FLOAT, [d.choose(1, 2), channels, 8, 9], d.choose("unit", "positive"))], dtypes=[FLOAT], isResult=False)
    w = d.constant(numpy.full([filters, channels, 3, 3], d.choose(1.0, -3.0, 1e-12, 2e20), FLOAT))
    d.node(operator, [x, w], dtypes=[FLOAT], pads=[1] * 4)
    d.isWhole, d.slack = True, SLACK


OPERATORS = {"Conv": drawConv, "Conv of scales": drawScaled, "Conv of the largest": drawLargest}
