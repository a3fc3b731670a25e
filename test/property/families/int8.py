# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Convolutions and products of f32 that are rounded to bytes with one scale for an image or a row, where this machine has dot products of
these. Images, rows and filters are numbers that such rounding keeps, so that results are as exact as those of f32."""

import pathlib

import numpy
from draw import NUMBERS, makeSize

# Products of few elements would be faster in f32. Processors without the instructions have no such path.
HAS_VNNI = {"avx512_vnni", "avx_vnni"} & {*pathlib.Path("/proc/cpuinfo").read_text().split()}
OPTIONS = ("--tolerance", "0.3", *(("--force", "*=int8_rounded") if HAS_VNNI else ()))
FLOAT, INT32 = NUMBERS["float32"], NUMBERS["int32"]
CHANNELS = (1, 2, 3, 4, 5, 8, 13, 16, 31, 32, 37, 64)
FILTERS = (4, 5, 16, 17, 32, 33, 47, 64, 67)
ROWS = (0, 1, 2, 5, 8, 13, 17, 33, 64)
SPECIAL = (numpy.inf, -numpy.inf, numpy.nan)


def _exact(d, shape, axes, largest=127, low=None, isConstant=False, least=-9, most=0):
    """Integers of 8 bits times powers of two; elements along `axes` share one of these, and `largest` is the magnitude of the first of each."""
    shape = [int(dim) for dim in shape]
    numbers = d.numbers(INT32, shape, "plain", low=-largest if low is None else low, high=largest, isConstant=isConstant).astype(numpy.float32)
    # The first of each pixel is as large: of windows of one element each pixel may have a scale.
    first = tuple(slice(0, 1) if axis == axes[0] else slice(None) for axis in range(len(shape)))
    numbers[first] = numpy.where(numbers[first] < 0, -largest, largest)
    powers = d.numbers(INT32, [1 if axis in axes else dim for axis, dim in enumerate(shape)], "plain", low=least, high=most, isConstant=isConstant)
    return (numbers * 2.0**powers).astype(numpy.float32)


def _isZero(d, values):
    """In some cases an image or a row of zeros alone."""
    if values.size and d.chance(0.2):
        values[0] = 0
    return values


def _finish(d, value, shape):
    for step in [step for step in ("bias", "relu") if d.chance(0.4)]:
        operands = [value, d.weight(FLOAT, shape)] if step == "bias" else [value]
        value = d.node("Add" if step == "bias" else "Relu", operands, dtypes=[FLOAT], isResult=False)
    d.node("Identity", [value], dtypes=[FLOAT])
    # Sums may cancel.
    d.isWhole = True


def _open(d, size, name):
    return makeSize(size, f"{d.name}.{name}") if d.chance(0.3) else size


def _images(d, channels, extents, special=None):
    """Of both signs; or after a Relu, whose results have eight bits without a sign; or a little below that, as after a SiLU."""
    shape = [_open(d, d.choose(0, 1, 1, 2, 3), "n"), channels, *extents]
    kind, axes = d.choose("signed", "relu", "below"), range(1, len(shape))
    isSigned = kind == "signed"
    values = _exact(d, shape, axes, 127 if isSigned else 255, low=None if isSigned else 0, least=-9 if isSigned else -6, most=0 if isSigned else -2)
    if kind != "below":
        values = _isZero(d, values)
    if not isSigned:
        # Negative elements, which the Relu makes 0, are larger than all others.
        values[:, 1:] *= numpy.where(values[:, 1:] > values[:, :1] / 2, -3, 1)
    if special is not None and values.size:
        values[(0, *[0] * (values.ndim - 1))] = special
    x = d.given(values, shape)
    if isSigned:
        return x
    x = d.node("Relu", [x], dtypes=[FLOAT], isResult=False)
    # A whole number of each power of two: the zero point.
    return x if kind == "relu" else d.node("Add", [x, d.constant(numpy.float32(-0.25))], dtypes=[FLOAT], isResult=False)


def drawConv(d, operator):
    """One, two or three spatial dimensions; strides, dilations and borders of all kinds, perhaps two of the same images."""
    rank = d.choose(1, 2, 2, 2, 3)
    channels = d.choose(*CHANNELS)
    windows = [d.choose(1, 2, 3, 3, 5) for _ in range(rank)]
    strides, dilations = ([d.choose(1, 1, 2, 3) for _ in range(rank)] for _ in range(2))
    reach = [(window - 1) * dilation + 1 for window, dilation in zip(windows, dilations)]
    extents = [_open(d, span + d.choose(0, 1, 3, 4, 9), f"e{axis}") for axis, span in enumerate(reach)]
    pads = [d.choose(0, 0, span // 2, span - 1) for span in reach * 2]
    x = _images(d, channels, extents)
    for _ in range(d.choose(1, 1, 2)):
        filters = d.choose(*FILTERS)
        w = d.constant(_exact(d, [filters, channels, *windows], range(1, rank + 2), isConstant=True))
        value = d.node(operator, [x, w], dtypes=[FLOAT], isResult=False, strides=strides, dilations=dilations, pads=pads)
        _finish(d, value, [filters, *[1] * rank])


def drawWhole(d, operator):
    """Windows as large as the image: each result is of all elements, so one NaN is seen by all, as by the scale."""
    channels, filters, extents = d.choose(*CHANNELS), d.choose(*FILTERS), [d.choose(1, 3, 4), d.choose(2, 3, 5)]
    x = _images(d, channels, extents, special=d.choose(None, *SPECIAL))
    w = d.constant(_exact(d, [filters, channels, *extents], range(1, 4), isConstant=True))
    _finish(d, d.node(operator, [x, w], dtypes=[FLOAT], isResult=False), [filters, 1, 1])


def drawMatMul(d, operator):
    """Rows with a scale each, of any length."""
    depth, columns = d.choose(1, 2, 3, 5, 16, 31, 33, 64, 100, 257), d.choose(*FILTERS)
    shape = [*[d.size(1, 3) for _ in range(d.choose(0, 0, 1, 2))], _open(d, d.choose(*ROWS), "rows"), depth]
    values = _isZero(d, _exact(d, shape, [len(shape) - 1]))
    if values.size and d.chance(0.3):
        values.reshape(-1, depth)[:1, d.integer(0, depth - 1)] = d.choose(*SPECIAL)
    x = d.given(values, shape)
    for _ in range(d.choose(1, 1, 2)):
        w = d.constant(_exact(d, [depth, columns], [0], isConstant=True))
        _finish(d, d.node(operator, [x, w], dtypes=[FLOAT], isResult=False), [columns])


OPERATORS = {"Conv": drawConv, "Conv of all": drawWhole, "MatMul": drawMatMul}
