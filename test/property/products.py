# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Products that several families draw, with sizes of their own."""

from draw import NUMBERS, makeSize

FLOAT, INDEX = NUMBERS["float32"], NUMBERS["int64"]


def drawConv(d, operator, windows, channels, filters):
    """A two-dimensional convolution and a Relu; each argument lists what is drawn from."""
    window, stride = d.choose(*windows), d.choose(1, 1, 2)
    channels, filters = d.choose(*channels), d.choose(*filters)
    extents = [d.choose(7, 9, 14, 17) for _ in range(2)]
    shape = [makeSize(d.choose(1, 2), f"{d.name}.n") if d.chance(0.4) else 1, channels, *extents]
    padding = d.choose(0, window // 2)
    operands = [d.input(FLOAT, shape, "unit"), d.weight(FLOAT, [filters, channels, window, window])]
    if d.chance(0.5):
        operands.append(d.weight(FLOAT, [filters]))
    value = d.node(operator, operands, dtypes=[FLOAT], isResult=d.chance(0.5), strides=[stride] * 2, pads=[padding] * 4)
    d.node("Relu", [value], dtypes=[FLOAT])


def drawTied(d, operator, depth, columns, rows):
    """So many rows of an embedding, times all of it; returns the product."""
    w = d.weight(FLOAT, [columns, depth])
    index = d.input(INDEX, [rows], "plain", low=0, high=columns - 1)
    x = d.node(operator, [w, index], dtypes=[FLOAT], isResult=d.chance(0.5))
    transposed = d.node("Transpose", [w], dtypes=[FLOAT], isResult=False, perm=[1, 0])
    return d.node("MatMul", [x, transposed], dtypes=[FLOAT], isResult=False)
