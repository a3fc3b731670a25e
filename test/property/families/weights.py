# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Products and lookups of weights of few bits: whole or in blocks, with and without zero points, and of halves."""

import ml_dtypes
import numpy
from draw import NUMBERS

# The first with blocks.
OLDEST = 21
FLOAT = NUMBERS["float32"]
HALVES = (NUMBERS["float16"], NUMBERS["bfloat16"])
INTEGERS = {
    NUMBERS["int8"]: (-128, 127),
    NUMBERS["uint8"]: (0, 255),
    numpy.dtype(ml_dtypes.int4): (-8, 7),
    numpy.dtype(ml_dtypes.uint4): (0, 15),
}
# Around words, blocks, panels and register blocks.
DEPTHS = (1, 3, 7, 8, 9, 16, 31, 64, 70, 128, 129)
WIDTHS = (1, 3, 4, 17, 31, 32, 33, 64, 97)
BLOCKS = (1, 3, 8, 16, 24, 32)


def _integers(d, dtype, shape):
    """A constant, often at the ends of its range."""
    low, high = INTEGERS[dtype]
    values = d.numbers(NUMBERS["int32"], shape, "plain", low=low, high=high, isConstant=True)
    ends = d.numbers(NUMBERS["int32"], shape, "plain", low=0, high=5, isConstant=True)
    values = numpy.where(ends == 0, low, numpy.where(ends == 1, high, values))
    return d.constant(values.astype(dtype))


def _dequantised(d, dtype, shape):
    """A constant matrix with a scale, one a slice, or one a block; half of them with zero points of the same shape."""
    axis = d.integer(0, 1)
    parameters, attributes = d.choose(
        ((), {}),
        ((shape[axis],), {"axis": axis}),
        (None, {"axis": axis, "block_size": d.choose(*BLOCKS)}),
    )
    if parameters is None:
        # The evaluator wants whole blocks.
        block = attributes["block_size"]
        shape = [*shape]
        shape[axis] = -(-shape[axis] // block) * block
        parameters = list(shape)
        parameters[axis] //= block
    operands = [_integers(d, dtype, shape), d.constant(d.numbers(FLOAT, parameters, "plain", low=0.01, high=0.1, isConstant=True))]
    if d.chance(0.5):
        operands.append(_integers(d, dtype, parameters))
    return d.node("DequantizeLinear", operands, dtypes=[FLOAT], isResult=False, **attributes), shape


def _rows(d):
    return [d.size(0, 33) for _ in range(d.integer(0, 1))] + [d.choose(d.size(1, 5), d.size(0, 33), d.integer(40, 200))]


def drawMatMul(d, operator):
    dtype, shape = d.choose(*INTEGERS), [d.choose(*DEPTHS), d.choose(*WIDTHS)]
    w, (k, _) = _dequantised(d, dtype, shape)
    d.isWhole = True
    d.node(operator, [d.input(FLOAT, [*_rows(d), k], "unit"), w], dtypes=[FLOAT])


def drawGemm(d, operator):
    dtype, shape = d.choose(*INTEGERS), [d.choose(*WIDTHS), d.choose(*DEPTHS)]
    w, (n, k) = _dequantised(d, dtype, shape)
    d.isWhole = True
    d.node(operator, [d.input(FLOAT, [d.size(1, 33), k], "unit"), w, d.weight(FLOAT, [n])], dtypes=[FLOAT], transB=1)


def drawGather(d, operator):
    dtype, shape = d.choose(*INTEGERS), [d.choose(*WIDTHS), d.choose(*DEPTHS)]
    w, (rows, _) = _dequantised(d, dtype, shape)
    indices = d.numbers(NUMBERS["int64"], [d.integer(1, 9)], low=0, high=rows - 1, isConstant=True)
    d.node(operator, [w, d.operand(indices)], dtypes=[FLOAT], axis=d.choose(0, None))


def drawHalves(d, operator):
    dtype, k, n = d.choose(*HALVES), d.choose(*DEPTHS), d.choose(*WIDTHS)
    d.isWhole = True
    d.node("MatMul", [d.input(dtype, [*_rows(d), k], "unit"), d.weight(dtype, [k, n])], dtypes=[dtype])


OPERATORS = {"MatMul": drawMatMul, "Gemm": drawGemm, "Gather": drawGather, "Halves": drawHalves}
