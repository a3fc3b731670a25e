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


def drawRows(d, numbers):
    """Dimensions of rows of which the last one is drawn from `numbers`; open numbers differ in each take."""
    outer = [d.size(1, 3) for _ in range(d.choose(0, 0, 1, 2))]
    return [*outer, d.openSizes(*((rows,) for rows in numbers))[0] if d.chance(0.5) else d.choose(*numbers)]


def drawTwo(d, x, depth, columns):
    """Returns a product after that of `x`, or beside it; it has 64 columns."""
    first = d.node("MatMul", [x, d.weight(FLOAT, [depth, columns])], dtypes=[FLOAT], isResult=d.chance(0.5))
    isChain = d.chance(0.5)
    second = d.weight(FLOAT, [columns if isChain else depth, 64])
    return d.node("MatMul", [first if isChain else x, second], dtypes=[FLOAT], isResult=False)


def finish(d, value, columns, slack):
    """Steps that make no error larger beside the largest result, as one with bounds would."""
    for step in [step for step in ("bias", "relu") if d.chance(0.3)]:
        operands = [value, d.weight(FLOAT, [columns])] if step == "bias" else [value]
        value = d.node("Add" if step == "bias" else "Relu", operands, dtypes=[FLOAT], isResult=False)
    d.node("Identity", [value], dtypes=[FLOAT])
    d.isWhole, d.slack = True, slack


def convolve(d, operator, x, channels, spatial, filters):
    """Windows that move by one or more pixels, with gaps or without, over images with a border or without."""
    windows, strides = [d.choose(1, 2, 3, 3, 5) for _ in spatial], [d.choose(1, 1, 2, 3) for _ in spatial]
    dilations, pads = [d.choose(1, 1, 2) for _ in spatial], [d.integer(0, 2) for _ in range(2 * len(spatial))]
    weight = d.weight(FLOAT, [filters, channels, *windows])
    return d.node(operator, [x, weight], dtypes=[FLOAT], isResult=False, strides=strides, dilations=dilations, pads=pads)


def drawImages(d, operator, channels, filters, slack):
    """A convolution over one, two or three spatial dimensions, perhaps after a Relu and before a bias and another one."""
    spatial = [d.choose(9, 10, 11, 14, 17) for _ in range(d.choose(1, 2, 2, 2, 3))]
    batch = d.openSizes((1,), (2,), (3,))[0] if d.chance(0.4) else d.choose(1, 1, 2)
    x = d.input(FLOAT, [batch, channels, *spatial], d.choose("unit", "positive"))
    if d.chance(0.3):
        x = d.node("Relu", [x], dtypes=[FLOAT], isResult=d.chance(0.5))
    value = convolve(d, operator, x, channels, spatial, filters)
    if d.chance(0.3):
        value = d.node("Add", [value, d.weight(FLOAT, [filters, *[1] * len(spatial)])], dtypes=[FLOAT], isResult=False)
    d.node("Relu" if d.chance(0.3) else "Identity", [value], dtypes=[FLOAT])
    d.isWhole, d.slack = True, slack


def drawTwoConv(d, operator, x, channels, filters, strides):
    """Returns a convolution of 32 filters after that of `x`, or beside it; its windows move by `strides`."""
    first = d.node(operator, [x, d.weight(FLOAT, [filters, channels, 3, 3])], dtypes=[FLOAT], isResult=d.chance(0.5), pads=[1] * 4)
    isChain = d.chance(0.5)
    second = d.weight(FLOAT, [32, filters if isChain else channels, 3, 3])
    return d.node(operator, [first if isChain else x, second], dtypes=[FLOAT], isResult=False, pads=[1] * 4, strides=strides)
