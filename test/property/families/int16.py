# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Products and convolutions of f32 whose factors are rounded to 16 bits in groups that have scales, where this machine has dot products of these."""

import numpy
import products
from draw import NUMBERS
from families import int8

OPTIONS = ("--tolerance", "2e-3", *(("--force", "*=int16_groups_rounded") if int8.HAS_VNNI else ()))
FLOAT = NUMBERS["float32"]
# Groups of 64, of 16 to 62 numbers, several of them, and depths that have none.
DEPTHS = (1, 7, 16, 32, 34, 46, 48, 62, 64, 96, 100, 128, 131, 134, 192, 300, 640, 1152)
WIDTHS = (4, 5, 15, 16, 17, 31, 32, 33, 48, 64, 100, 131)
ROWS = (0, 1, 2, 5, 6, 7, 8, 13, 16, 17, 33, 64, 97)
# A result is off by some times the root mean square of its error at most, which is below 2e-4 of the largest one's.
SLACK = 200


def drawMatMul(d, operator):
    depth, columns = d.choose(*DEPTHS), d.choose(*WIDTHS)
    x = d.input(FLOAT, [*products.drawRows(d, ROWS), depth], d.choose("unit", "positive"))
    if d.chance(0.3):
        x = d.node("Relu", [x], dtypes=[FLOAT], isResult=d.chance(0.5))
    if d.chance(0.3):
        w = d.node("Transpose", [d.weight(FLOAT, [columns, depth])], dtypes=[FLOAT], isResult=False, perm=[1, 0])
    else:
        w = d.weight(FLOAT, [depth, columns])
    products.finish(d, d.node(operator, [x, w], dtypes=[FLOAT], isResult=False), columns, SLACK)


def drawLargest(d, operator):
    """Rows and columns of the largest magnitude of their groups, so that sums are the largest ones that i32 has to hold."""
    depth, columns = d.choose(16, 32, 48, 62, 64, 128), d.choose(*WIDTHS)
    shape = [*products.drawRows(d, ROWS), depth]
    x = d.node("Sign", [d.input(FLOAT, shape, d.choose("unit", "positive"))], dtypes=[FLOAT], isResult=False)
    w = numpy.full([depth, columns], d.choose(1.0, -3.0, 1e-12, 2e20), FLOAT)
    d.node(operator, [x, d.constant(w)], dtypes=[FLOAT])
    d.isWhole, d.slack = True, SLACK


def drawSpecial(d, operator):
    """Rows with a NaN or an infinity, which are NaN and infinities in all columns, beside others. Infinities of both signs in a group need not be NaN."""
    depth, columns = d.choose(32, 64, 128), d.choose(*WIDTHS)
    shape = [*[d.size(1, 3) for _ in range(d.choose(0, 0, 1))], d.choose(*ROWS), depth]
    values = d.numbers(FLOAT, [int(size) for size in shape], "unit")
    for row in values.reshape(-1, depth):
        if d.chance(0.5):
            row[d.integer(0, depth - 1)] = d.choose(numpy.inf, -numpy.inf, numpy.nan)
    # No weight is so small beside others that it is rounded to zero.
    d.node(operator, [d.given(values, shape), d.weight(FLOAT, [depth, columns], "positive")], dtypes=[FLOAT])
    d.isWhole, d.slack = True, SLACK


def drawScaled(d, operator):
    """Rows of other magnitudes, whose results are as exact as those of others, and groups of large elements beside others of small ones."""
    depth, columns, rows = d.choose(32, 64, 128, 192), d.choose(*WIDTHS), d.choose(5, 6, 13, 33)
    powers = (1.0, 7e4, 1e15, 1e-7, 1e-20, 3e-6)
    scales = d.constant(numpy.array([[powers[row % len(powers)]] for row in range(rows)], FLOAT))
    x = d.node("Mul", [d.input(FLOAT, [rows, depth], "unit"), scales], dtypes=[FLOAT], isResult=False)
    largest = d.choose(1e-9, 1e-5, 1.0, 1e6)
    y = d.node(operator, [x, d.weight(FLOAT, [depth, columns], low=-largest, high=largest)], dtypes=[FLOAT], isResult=False)
    d.node("Div", [y, scales], dtypes=[FLOAT])
    d.isWhole, d.slack = True, SLACK


def drawTwo(d, operator):
    """One product after the other, or two of the same rows, which are rounded once."""
    depth, columns = d.choose(*DEPTHS), d.choose(32, 48, 64, 100)
    x = d.input(FLOAT, [*products.drawRows(d, ROWS), depth], "unit")
    products.finish(d, products.drawTwo(d, x, depth, columns), 64, SLACK)


def drawLookup(d, operator):
    """The matrix is an embedding, too, whose rows are looked up."""
    depth, columns = d.choose(32, 64, 96, 128), d.choose(*WIDTHS)
    w = d.weight(FLOAT, [columns, depth])
    ids = d.constant(numpy.arange(d.choose(1, 4, 7)) % columns)
    x = d.node("Gather", [w, ids], dtypes=[FLOAT], axis=0)
    y = d.node("Transpose", [w], dtypes=[FLOAT], isResult=False, perm=[1, 0])
    d.node(operator, [d.node("Mul", [x, d.input(FLOAT, [depth], "unit")], dtypes=[FLOAT], isResult=False), y], dtypes=[FLOAT])
    d.isWhole, d.slack = True, SLACK


def drawConv(d, operator):
    products.drawImages(d, operator, d.choose(1, 16, 17, 30, 32, 48, 64, 96, 134), d.choose(*WIDTHS), SLACK)


def drawScaledConv(d, operator):
    """Images of other magnitudes, and channels beside others that are larger, each group of which has scales of its own."""
    channels, filters, batch = 64, d.choose(*WIDTHS), d.choose(2, 3)
    scales = d.constant(numpy.array([1.0, 1e15, 3e-20][:batch], FLOAT).reshape(batch, 1, 1, 1))
    x = d.node("Mul", [d.input(FLOAT, [batch, channels, 9, 11], "unit"), scales], dtypes=[FLOAT], isResult=False)
    d.node("Div", [products.convolve(d, operator, x, channels, [9, 11], filters), scales], dtypes=[FLOAT])
    d.isWhole, d.slack = True, SLACK


def drawTwoConv(d, operator):
    """One convolution after the other, or two of the same image, which is rounded once."""
    channels, filters = d.choose(16, 32, 48), d.choose(32, 48)
    x = d.input(FLOAT, [d.choose(1, 2), channels, 11, 13], "unit")
    value = products.drawTwoConv(d, operator, x, channels, filters, strides=[2, 1])
    d.node("Identity", [value], dtypes=[FLOAT])
    d.isWhole, d.slack = True, SLACK


OPERATORS = {
    "MatMul": drawMatMul,
    "MatMul of the largest": drawLargest,
    "MatMul of specials": drawSpecial,
    "MatMul of scales": drawScaled,
    "MatMul twice": drawTwo,
    "MatMul of a lookup": drawLookup,
    "Conv": drawConv,
    "Conv of scales": drawScaledConv,
    "Conv twice": drawTwoConv,
}
