# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Products and convolutions of f32 whose factors are rounded to f16 and summed in f16 by short blocks, on a processor that has such multiply-adds: one of 64-bit
Arm, which is emulated."""

import numpy
import products
from draw import NUMBERS

TARGETS = ("aarch64+fullfp16",)
# Other paths that round would be less exact than this one is tested for.
OTHERS = ("bf16_dot2_rounded", "bf16_rounded", "int8_groups_rounded", "int8_rounded")
OPTIONS = ("--tolerance", "6e-3", "--force", "*=f16_rounded", *(option for path in OTHERS for option in ("--exclude", path)))
FLOAT = NUMBERS["float32"]
# Parts of a chain of 8 products, whole ones, blocks of 32, and what is left of them.
DEPTHS = (1, 3, 7, 8, 9, 15, 16, 31, 32, 33, 40, 63, 64, 65, 96, 100, 250, 257, 520)
WIDTHS = (4, 5, 8, 9, 17, 24, 31, 32, 33, 48, 64, 100, 131)
CHANNELS = (1, 2, 3, 7, 8, 13, 17, 31, 32, 33, 40, 64, 67)
ROWS = (1, 4, 5, 6, 7, 8, 11, 13, 16, 17, 33, 64, 97)
# A result is off by three times the root mean square of its error at most, which is 6e-4 of the largest one's.
SLACK = 250


def drawMatMul(d, operator):
    depth, columns = d.choose(*DEPTHS), d.choose(*WIDTHS)
    x = d.input(FLOAT, [*products.drawRows(d, ROWS), depth], d.choose("unit", "positive"))
    if d.chance(0.3):
        x = d.node("Relu", [x], dtypes=[FLOAT], isResult=d.chance(0.5))
    products.finish(d, d.node(operator, [x, d.weight(FLOAT, [depth, columns])], dtypes=[FLOAT], isResult=False), columns, SLACK)


def drawSpecial(d, operator):
    """Rows with NaN and infinities, which are NaN and infinities in all columns, beside others."""
    depth, columns = d.choose(1, 2, 3, 9, 33), d.choose(*WIDTHS)
    x = d.input(FLOAT, [*products.drawRows(d, ROWS), depth], "special")
    # No weight is so small beside others that f16 makes it zero.
    d.node(operator, [x, d.weight(FLOAT, [depth, columns], "positive")], dtypes=[FLOAT])
    d.isWhole, d.slack = True, SLACK


def _makeScales(rows):
    scales = (1.0, 7e4, 1e30, 1e-7, 1e-25, 3e-6, 65504.0)
    return numpy.array([[scales[row % len(scales)]] for row in range(rows)], FLOAT)


def drawScaled(d, operator):
    """Rows beyond the range of f16 on either side, whose results are as exact as those of others, and matrices of such numbers."""
    depth, columns = d.choose(*DEPTHS), d.choose(*WIDTHS)
    rows = d.choose(5, 6, 13, 33)
    scales = d.constant(_makeScales(rows))
    x = d.node("Mul", [d.input(FLOAT, [rows, depth], "unit"), scales], dtypes=[FLOAT], isResult=False)
    largest = d.choose(1e-9, 1e-5, 1.0, 1e6)
    w = d.weight(FLOAT, [depth, columns], low=-largest, high=largest)
    y = d.node(operator, [x, w], dtypes=[FLOAT], isResult=False)
    d.node("Div", [y, scales], dtypes=[FLOAT])
    d.isWhole, d.slack = True, SLACK


def drawTwo(d, operator):
    """One product after the other, or two of the same rows."""
    depth, columns = d.choose(*DEPTHS), d.choose(32, 48, 64, 100)
    x = d.input(FLOAT, [*products.drawRows(d, ROWS), depth], "unit")
    products.finish(d, products.drawTwo(d, x, depth, columns), 64, SLACK)


def drawConv(d, operator):
    products.drawImages(d, operator, d.choose(*CHANNELS), d.choose(*WIDTHS), SLACK)


def drawScaledConv(d, operator):
    """Images beyond the range of f16 on either side, each of which has a scale."""
    channels, filters, batch = d.choose(*CHANNELS), d.choose(*WIDTHS), d.choose(2, 3, 5)
    scales = d.constant(_makeScales(batch).reshape(batch, 1, 1, 1))
    x = d.node("Mul", [d.input(FLOAT, [batch, channels, 9, 11], "unit"), scales], dtypes=[FLOAT], isResult=False)
    d.node("Div", [products.convolve(d, operator, x, channels, [9, 11], filters), scales], dtypes=[FLOAT])
    d.isWhole, d.slack = True, SLACK


def drawTwoConv(d, operator):
    """One convolution after the other, or two of the same image."""
    channels, filters = d.choose(*CHANNELS), d.choose(8, 17, 32, 48)
    x = d.input(FLOAT, [d.choose(1, 2), channels, 11, 13], "unit")
    value = products.drawTwoConv(d, operator, x, channels, filters, strides=[1, 1])
    if d.chance(0.3):
        # It may be in one kernel with the convolution before it.
        depthwise = d.weight(FLOAT, [32, 1, 3, 3])
        value = d.node(operator, [value, depthwise], dtypes=[FLOAT], isResult=False, pads=[1] * 4, group=32)
    d.node("Identity", [value], dtypes=[FLOAT])
    d.isWhole, d.slack = True, SLACK


OPERATORS = {
    "MatMul": drawMatMul,
    "MatMul of specials": drawSpecial,
    "MatMul of scales": drawScaled,
    "MatMul twice": drawTwo,
    "Conv": drawConv,
    "Conv of scales": drawScaledConv,
    "Conv twice": drawTwoConv,
}
