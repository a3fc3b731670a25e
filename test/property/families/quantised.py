# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Products and convolutions of numbers of eight bits: integers are exact, quantised results within one step."""

import numpy
from draw import NUMBERS

# Results are compared with the evaluator's, and no path here needs a budget.
OPTIONS = ("--no-measure-error",)
# The evaluator knows no scales a channel before.
OLDEST = 13
# Processors have instructions of different kinds for products of bytes, which give the same integers.
TARGETS = ("x86-64-v3", "x86-64-v4")
FLOAT, SIGNED, UNSIGNED = NUMBERS["float32"], NUMBERS["int8"], NUMBERS["uint8"]
# Around quads, panels and register blocks; not beyond where f32 has all integers, in which the evaluator multiplies.
DEPTHS = (1, 2, 3, 4, 5, 7, 8, 13, 31, 64, 100, 250)
WIDTHS = (1, 3, 4, 5, 17, 31, 32, 33, 48, 65, 97)


def _bytes(d):
    return d.choose(UNSIGNED, SIGNED)


def _matrix(d, dtype, shape):
    """A constant, perhaps of seven bits: pairs of its products fit 16 bits."""
    if dtype == SIGNED and d.chance(0.4):
        return d.weight(dtype, shape, "plain", low=-64, high=64)
    return d.weight(dtype, shape, "special")


def _zero(d, dtype, shape=()):
    """A zero point: anything, the ends of the range, or none."""
    limits = numpy.iinfo(dtype)
    value = d.choose(0, 0, limits.min, limits.max, d.integer(limits.min, limits.max))
    return d.constant(numpy.full(shape, value, dtype))


def _scale(d, shape=()):
    return d.constant(numpy.array([d.real(0.01, 0.1) for _ in range(int(numpy.prod(shape)))], FLOAT).reshape(shape))


def _rows(d):
    rows = [d.size(0, 33) for _ in range(d.integer(0, 2))]
    return [*rows, d.size(0, 33) if d.chance(0.8) else d.integer(40, 300)]


def _matrices(d):
    """Left and right operand, often a constant, with their types and shapes."""
    left, right, k, n = _bytes(d), _bytes(d), d.choose(*DEPTHS), d.choose(*WIDTHS)
    rows = _rows(d)
    x = d.input(left, [*rows, k], "special")
    w = _matrix(d, right, [k, n]) if d.chance(0.85) else d.input(right, [k, n], "special")
    return (x, left), (w, right), [*rows, n]


def drawMatMulInteger(d, operator):
    (x, left), (w, right), (*_, n) = _matrices(d)
    d.node(operator, [x, w, _zero(d, left), _zero(d, right, d.choose((), (n,)))], dtypes=[NUMBERS["int32"]])


def _squares(d):
    """A window of 3 x 3 pixels, whose results may be computed in squares of few multiplications."""
    attributes = {"kernel_shape": [3, 3], "strides": [1, 1], "pads": [d.integer(0, 2) for _ in range(4)], "group": 1}
    channels, filters = d.choose(3, 8, 15, 16, 17, 27), d.choose(*WIDTHS)
    return [d.size(1, 2), channels, d.size(3, 30), d.size(3, 30)], [filters, channels, 3, 3], attributes


def _window(d):
    """Shapes of input and filter, and the attributes of a window."""
    if d.chance(0.3):
        return _squares(d)
    rank = d.choose(1, 2, 2, 2, 3)
    isPointwise, isDepthwise = d.chance(0.2), d.chance(0.15)
    kernel = [1 if isPointwise else d.integer(1, 3) for _ in range(rank)]
    filters, channels = d.choose(*WIDTHS), d.choose(1, 2, 3, 4, 5, 16, 19)
    if isDepthwise:
        channels = filters
    pads = [d.integer(0, size - 1) for _ in range(2) for size in kernel]
    spatial = [d.size(3, 17 if rank < 3 else 5) for _ in range(rank)]
    attributes = {"kernel_shape": kernel, "strides": [d.choose(1, 1, 2) for _ in range(rank)], "pads": pads,
                  "group": filters if isDepthwise else 1}
    return [d.size(1, 3), channels, *spatial], [filters, 1 if isDepthwise else channels, *kernel], attributes


def drawConvInteger(d, operator):
    shape, filters, attributes = _window(d)
    left, right = _bytes(d), _bytes(d)
    operands = [d.input(left, shape, "special"), _matrix(d, right, filters), _zero(d, left), _zero(d, right)]
    d.node(operator, operands, dtypes=[NUMBERS["int32"]], **attributes)


def _finish(d, value, dtype):
    """Quantised again, after a bias perhaps: a sum that lies between two numbers may become either."""
    d.steps = 1
    if d.chance(0.4):
        value = d.node("Relu", [value], dtypes=[FLOAT], isResult=False)
    d.node("QuantizeLinear", [value, d.constant(numpy.array(d.real(2, 40), FLOAT)), _zero(d, dtype)], dtypes=[dtype])


def _dequantised(d, value, dtype, shape=(), axis=None):
    operands = [value, _scale(d, shape), _zero(d, dtype, shape)]
    return d.node("DequantizeLinear", operands, dtypes=[FLOAT], isResult=False, axis=axis)


def drawMatMul(d, operator):
    (x, left), (w, right), (*_, n) = _matrices(d)
    scales = d.choose((), (n,))
    w = _dequantised(d, w, right, scales, 1 if scales else None)
    value = d.node(operator, [_dequantised(d, x, left), w], dtypes=[FLOAT], isResult=False)
    _finish(d, value, left)


def drawGemm(d, operator):
    left, right, m, k, n = _bytes(d), _bytes(d), d.size(), d.choose(*DEPTHS), d.choose(*WIDTHS)
    w = _dequantised(d, _matrix(d, right, [n, k]), right, (n,), 0)
    x = _dequantised(d, d.input(left, [m, k], "special"), left)
    _finish(d, d.node(operator, [x, w, d.weight(FLOAT, [n])], dtypes=[FLOAT], isResult=False, transB=1), left)


def drawConv(d, operator):
    shape, filters, attributes = _window(d)
    left, right = _bytes(d), _bytes(d)
    scales = d.choose((), filters[:1])
    w = _dequantised(d, _matrix(d, right, filters), right, tuple(scales), 0 if scales else None)
    operands = [_dequantised(d, d.input(left, shape, "special"), left), w]
    if d.chance(0.5):
        operands.append(d.weight(FLOAT, filters[:1]))
    _finish(d, d.node(operator, operands, dtypes=[FLOAT], isResult=False, **attributes), left)


OPERATORS = {
    "MatMulInteger": drawMatMulInteger,
    "ConvInteger": drawConvInteger,
    "MatMul": drawMatMul,
    "Gemm": drawGemm,
    "Conv": drawConv,
}
