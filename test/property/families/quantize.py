# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Numbers of few bits for real ones, and back."""

from draw import NUMBERS

# No operation has a path of its own error: measuring one would only take time.
OPTIONS = ("--no-measure-error",)

# The evaluator knows none of the older ones.
OLDEST = 19
FLOAT, UINT8 = NUMBERS["float32"], NUMBERS["uint8"]


def _scales(d, shape):
    """The shape of the scales: one, one a slice of an axis."""
    axis = d.axis(len(shape)) if shape and d.chance(0.6) else None
    return axis, ([] if axis is None else [shape[axis]])


def drawQuantize(d, operator):
    dtype, result = d.dtype(operator, only=lambda dtype: dtype == FLOAT), d.dtype(operator, 2)
    shape = d.shape(low_rank=1)
    axis, scales = _scales(d, shape)
    operands = [d.input(dtype, shape, low=-20, high=20), d.input(dtype, scales, low=0.05, high=0.5), d.input(result, scales, low=0, high=9)]
    # A quotient that lies at a half is rounded to either side, depending on its last bit.
    d.steps = 1
    d.node(operator, operands, dtypes=[result], axis=axis)


def drawDequantize(d, operator):
    dtype = d.dtype(operator, only=lambda dtype: dtype.itemsize < 4)
    shape = d.shape(low_rank=1)
    axis, scales = _scales(d, shape)
    operands = [d.input(dtype, shape, "special"), d.input(FLOAT, scales, low=0.05, high=0.5)]
    if d.chance(0.7):
        operands.append(d.input(dtype, scales, low=0, high=9))
    d.node(operator, operands, dtypes=[FLOAT], axis=axis)


def drawDynamic(d, operator):
    d.steps = 1
    d.node(operator, [d.input(FLOAT, d.shape(low_rank=1, low=1))], 3, [UINT8, FLOAT, UINT8])


OPERATORS = {"QuantizeLinear": drawQuantize, "DequantizeLinear": drawDequantize, "DynamicQuantizeLinear": drawDynamic}
