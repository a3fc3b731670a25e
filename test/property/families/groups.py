# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Products with matrices of 4 or 8 bits whose rows a wide tolerance lets the compiler round to bytes, where this machine has dot products of
these. Rows are numbers that such rounding keeps, so that results are as exact as those of f32."""

import ml_dtypes
import numpy
from draw import NUMBERS, makeSize

# The first with blocks.
OLDEST = 21
OPTIONS = ("--tolerance", "5e-2")
FLOAT = NUMBERS["float32"]
INT8, UINT4 = NUMBERS["int8"], numpy.dtype(ml_dtypes.uint4)
WIDTHS = (4, 17, 31, 32, 33, 48, 64, 97, 131)
ROWS = (0, 1, 2, 5, 7, 8, 9, 13, 16, 17, 33, 64, 97)
# The neighbours of a row that have one scale.
GROUP = 32


def _rows(d):
    outer = [d.size(1, 3) for _ in range(d.choose(0, 0, 1, 2))]
    rows = d.choose(*ROWS)
    return [*outer, makeSize(rows, f"{d.name}.rows") if d.chance(0.4) else rows]


def _exact(d, dims, group):
    """Integers of 8 bits times powers of two, of which each group has one, and a largest magnitude of 127."""
    shape = [int(dim) for dim in dims]
    numbers = d.numbers(NUMBERS["int32"], shape, "plain", low=-127, high=127).astype(numpy.float32)
    groups = [*shape[:-1], shape[-1] // group, group]
    numbers = numbers.reshape(groups)
    numbers[..., 0] = numpy.where(numbers[..., 0] < 0, -127, 127)
    powers = d.numbers(NUMBERS["int32"], [*groups[:-1], 1], "plain", low=-9, high=0)
    values = (numbers * 2.0**powers).astype(numpy.float32).reshape(shape)
    if d.chance(0.3):
        # One element of the first row: several could cancel.
        values.reshape(-1, shape[-1])[:1, d.integer(0, shape[-1] - 1)] = d.choose(numpy.inf, -numpy.inf, numpy.nan)
    return d.given(values, dims)


def drawDequantize(d, operator):
    """Blocks that are one group of a row, several, or none that a dot product takes; products of the same rows, or of the same matrix."""
    block = d.choose(4, 8, 12, 16, 24, 32, 32, 32, 64, 96, 128, 256)
    blocks, columns, dtype = d.choose(1, 2, 3, 5), d.choose(*WIDTHS), d.choose(INT8, UINT4)
    low, high = (-128, 127) if dtype == INT8 else (0, 15)
    integers = lambda shape: d.constant(d.numbers(NUMBERS["int32"], shape, "plain", low=low, high=high, isConstant=True).astype(dtype))

    def makeMatrix():
        scales = d.constant(d.numbers(FLOAT, [blocks, columns], "plain", low=0.01, high=0.1, isConstant=True))
        operands = [integers([block * blocks, columns]), scales]
        if dtype == UINT4 and d.chance(0.7):
            operands.append(integers([blocks, columns]))
        return d.node(operator, operands, dtypes=[FLOAT], isResult=False, axis=0, block_size=block)

    rows = _rows(d)
    x, matrix = _exact(d, [*rows, block * blocks], GROUP if block % GROUP == 0 else block), makeMatrix()
    for _ in range(d.choose(1, 1, 2)):
        value = d.node("MatMul", [x, matrix], dtypes=[FLOAT], isResult=d.chance(0.7))
        for step in [step for step in ("bias", "relu") if d.chance(0.4)]:
            operands = [value, d.weight(FLOAT, [columns])] if step == "bias" else [value]
            value = d.node("Add" if step == "bias" else "Relu", operands, dtypes=[FLOAT], isResult=False)
        d.node("Identity", [value], dtypes=[FLOAT])
        matrix = makeMatrix()
    # Sums may cancel.
    d.isWhole = True


OPERATORS = {"DequantizeLinear": drawDequantize}
