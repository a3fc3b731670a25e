# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Graphs that have several forms: products of one value with several constant matrices, which are computed as one, and whatever may
follow them; attention; products of three factors."""

import numpy
from draw import NUMBERS

OPTIONS = ("--force", "*=merged_products")
FLOAT, DOUBLE, HALF = NUMBERS["float32"], NUMBERS["float64"], NUMBERS["float16"]


def _finish(d, dtype, values, columns, widthAxis, rank):
    """Elementwise operations after all of them alike or after some of them, and somebody who reads the results."""
    for step in [step for step in ("bias", "scale", "relu", "tanh") if d.chance(0.35)]:
        isForAll, factor = d.chance(0.8), d.constant(dtype.type(d.choose(0.5, -2.0)))
        for i, value in enumerate(values):
            # All draws are made whether the operation is added or not.
            shape = [int(columns[i])] + [1] * (rank - 1 - widthAxis)
            bias = d.weight(dtype, shape)
            if not isForAll and i % 2:
                continue
            operands = {"bias": ("Add", [value, bias]), "scale": ("Mul", [value, factor])}.get(step, (step.capitalize(), [value]))
            values[i] = d.node(operands[0], operands[1], dtypes=[dtype], isResult=False)
    for value in values:
        d.node(d.choose("Identity", "Neg", "Exp"), [value], dtypes=[dtype])
    if d.chance(0.4):
        d.node("Concat", values, dtypes=[dtype], axis=widthAxis)


def drawProducts(d, operator):
    dtype = d.choose(FLOAT, FLOAT, FLOAT, DOUBLE, HALF)
    rows = [d.size() for _ in range(d.choose(1, 1, 2))]
    k, isTransposed = d.choose(1, 2, 5, 16, 33, 64), d.chance(0.3)
    x = d.input(dtype, [*rows, k], "unit")
    if d.chance(0.3):
        x = d.node("Relu", [x], dtypes=[dtype], isResult=False)
    values, columns = [], [d.choose(1, 2, 3, 7, 16, 17, 32) for _ in range(d.integer(2, 4))]
    isWidened = dtype == FLOAT and d.chance(0.25)
    for n in columns:
        matrix = d.weight(HALF if isWidened else dtype, [n, k] if isTransposed else [k, n])
        if isWidened:
            matrix = d.node("Cast", [matrix], dtypes=[dtype], isResult=False, to=1)
        if isTransposed:
            matrix = d.node("Transpose", [matrix], dtypes=[dtype], isResult=False, perm=[1, 0])
        values.append(d.node("MatMul", [x, matrix], dtypes=[dtype], isResult=False))
    d.isWhole, d.slack = True, 8
    _finish(d, dtype, values, columns, len(rows), len(rows) + 1)


def drawConvolutions(d, operator):
    """Of windows of one element, or of three."""
    channels, window = d.choose(1, 3, 16), d.choose(1, 1, 3)
    x = d.input(FLOAT, [d.size(1, 3), channels, d.size(window, 9), d.size(window, 9)], "unit")
    values, columns = [], [d.choose(1, 3, 8, 17) for _ in range(d.integer(2, 3))]
    for n in columns:
        values.append(d.node("Conv", [x, d.weight(FLOAT, [n, channels, window, window])], dtypes=[FLOAT], isResult=False))
    d.isWhole, d.slack = True, 8
    _finish(d, FLOAT, values, columns, 1, 4)


def drawAttention(d, operator):
    """Queries, keys and values of the same rows; or few queries of other rows, with so many keys that these may be split."""
    batch, length, heads, size, k = d.size(1, 3), d.size(1, 33), d.choose(1, 2, 3), d.choose(1, 3, 8, 16), d.choose(4, 16)
    asked = d.choose(0, 0, 1, 3)
    x = d.input(FLOAT, [batch, 521 if asked else length, k], "unit")
    rows = [d.input(FLOAT, [batch, asked, k], "unit") if asked else x, x, x]
    parts, split = [], d.constant(numpy.array([0, 0, heads, size], numpy.int64))
    hasBias = d.chance(0.5)
    for x, permutation in zip(rows, ([0, 2, 1, 3], [0, 2, 3, 1], [0, 2, 1, 3])):
        matrix, bias = d.weight(FLOAT, [k, heads * size]), d.weight(FLOAT, [heads * size])
        value = d.node("MatMul", [x, matrix], dtypes=[FLOAT], isResult=False)
        if hasBias:
            value = d.node("Add", [value, bias], dtypes=[FLOAT], isResult=False)
        value = d.node("Reshape", [value, split], dtypes=[FLOAT], isResult=False)
        parts.append(d.node("Transpose", [value], dtypes=[FLOAT], isResult=False, perm=permutation))
    scores = d.node("MatMul", parts[:2], dtypes=[FLOAT], isResult=False)
    weights = d.node("Softmax", [scores], dtypes=[FLOAT], isResult=False, axis=-1)
    d.isWhole, d.slack = True, 8
    d.node("MatMul", [weights, parts[2]], dtypes=[FLOAT])


def _drawOrder(d, isTransposed):
    """Three factors, of which the first two are better not multiplied first, and two products of one value, so that there are siblings."""
    rows, size, columns = d.choose(33, 65), d.choose(1, 2, 5), d.choose(1, 3, 8)
    a, b = d.input(FLOAT, [rows, size], "unit"), d.input(FLOAT, [size, rows], "unit")
    c = d.input(FLOAT, [rows, columns], "unit")
    first = d.node("MatMul", [a, b], dtypes=[FLOAT], isResult=False)
    if isTransposed:
        d.node("Einsum", [first, c], dtypes=[FLOAT], equation="ji,jk->ik")
    else:
        d.node("MatMul", [first, c], dtypes=[FLOAT])
    for _ in range(2):
        d.node("MatMul", [c, d.weight(FLOAT, [columns, 3])], dtypes=[FLOAT])
    d.isWhole, d.slack = True, 16


def drawOrder(d, operator):
    _drawOrder(d, isTransposed=False)


def drawTransposedOrder(d, operator):
    """The first factor meets the last one."""
    _drawOrder(d, isTransposed=True)


# In turn: the first cases of all batches, of which plans.py takes one each, are of all kinds, since 5 does not divide 24.
IN_TURN = True
OPERATORS = {
    "MatMul": drawProducts,
    "Conv": drawConvolutions,
    "MatMul attention": drawAttention,
    "MatMul order": drawOrder,
    "Einsum order": drawTransposedOrder,
}
