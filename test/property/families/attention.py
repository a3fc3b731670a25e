# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Attention as models spell it, which one kernel computes: heads, groups of them, lengths, sizes and masks of all kinds."""

import numpy
from draw import NUMBERS

# Results are compared with the evaluator's, and no path here needs a budget.
OPTIONS = ("--no-measure-error",)
FLOAT, DOUBLE, HALF = NUMBERS["float32"], NUMBERS["float64"], NUMBERS["float16"]
# Neighbours of tiles of queries and of blocks of keys.
LENGTHS = (1, 2, 3, 5, 7, 8, 15, 16, 17, 33, 64, 65, 80, 127, 128, 130, 197, 260)
# Few queries pass over so many keys a split at a time.
MANY_KEYS = (521, 700)
HEAD_SIZES = (1, 3, 8, 16, 40, 64, 80, 130)


def _length(d):
    fixed = d.choose(*LENGTHS)
    return d.size(1, 33) if d.chance(0.4) else fixed


def _positions(d, scores, axis):
    """[length] numbers from 0, of a dimension of the scores."""
    int64 = NUMBERS["int64"]
    shape = d.node("Shape", [scores], dtypes=[int64], isResult=False)
    length = d.node("Gather", [shape, d.constant(numpy.int64(axis))], isResult=False)
    zero, one = d.constant(numpy.int64(0)), d.constant(numpy.int64(1))
    return d.node("Range", [zero, length, one], isResult=False)


def _visible(d, scores, isWindow):
    """Which keys a query sees: none behind its own position, and in a window none far before it."""
    axes = d.constant(numpy.array([1], numpy.int64))
    keys = _positions(d, scores, 3)
    queries = d.node("Unsqueeze", [_positions(d, scores, 2), axes], isResult=False)
    visible = d.node("LessOrEqual", [keys, queries], isResult=False)
    if isWindow:
        first = d.node("Sub", [queries, d.constant(numpy.int64(d.integer(1, 70)))], isResult=False)
        visible = d.node("And", [visible, d.node("Greater", [keys, first], isResult=False)], isResult=False)
    return visible


def _mask(d, dtype, scores, dims):
    """Scores with a mask of one kind or another."""
    batch, queries, keys = dims
    kind = d.choose("none", "sum", "keys", "pairs", "causal", "causal", "window", "padded", "tanh")
    if kind == "none":
        return scores
    if kind == "tanh":
        return d.node("Tanh", [scores], isResult=False)
    if kind == "sum":
        heads = d.choose([], [1], [batch, 1])
        return d.node("Add", [scores, d.input(dtype, [*heads, queries, keys], "unit")], isResult=False)
    low = d.constant(dtype.type(d.choose(-1e4, -6e4) if dtype == HALF else d.choose(-1e4, -1e9, -3e38, -numpy.inf)))
    if kind == "keys":
        visible = d.input(NUMBERS["bool"], [batch, 1, 1, keys])
    elif kind == "pairs":
        visible = d.input(NUMBERS["bool"], [queries, keys])
    else:
        visible = _visible(d, scores, kind == "window")
    if kind == "padded":
        visible = d.node("And", [visible, d.input(NUMBERS["bool"], [batch, 1, 1, keys])], isResult=False)
    if d.chance(0.5):
        hidden = d.node("Not", [visible], isResult=False)
        return d.node("Where", [hidden, low, scores], isResult=False)
    if d.chance(0.5):
        return d.node("Where", [visible, scores, low], isResult=False)
    added = d.node("Where", [visible, d.constant(dtype.type(0)), low], isResult=False)
    return d.node("Add", [scores, added], isResult=False)


def drawAttention(d, operator, dtypes=(FLOAT, FLOAT, FLOAT, FLOAT, DOUBLE, HALF), sizes=HEAD_SIZES, isScaled=False):
    dtype = d.choose(*dtypes)
    batch, heads = d.size(1, 3), d.choose(1, 2, 3, 4)
    keyHeads = d.choose(heads, 1)
    size, valueSize = d.choose(*sizes), d.choose(*sizes)
    if d.chance(0.25):
        queries = d.choose(1, 2, 5)
        keys = d.choose(d.choose(*MANY_KEYS), *d.openSizes((1,), (17,), (300,), *((length,) for length in MANY_KEYS)))
    else:
        queries = _length(d)
        keys = queries if d.chance(0.5) else _length(d)
    rows = d.choose([0, 2, 1, 3], [0, 1, 2, 3])
    isSplit = rows == [0, 2, 1, 3]

    def operand(count, length, width, permutation):
        dims = [batch, length, count, width] if isSplit else [batch, count, length, width]
        x = d.input(dtype, dims, "unit")
        return d.node("Transpose", [x], perm=permutation, isResult=False) if permutation != [0, 1, 2, 3] else x

    q = operand(heads, queries, size, rows)
    # A cache may have the keys as the first product reads them.
    isTransposed = d.chance(0.2)
    k = (
        d.input(dtype, [batch, keyHeads, size, keys], "unit")
        if isTransposed
        else operand(keyHeads, keys, size, [0, 2, 3, 1] if isSplit else [0, 1, 3, 2])
    )
    v = operand(keyHeads, keys, valueSize, rows)
    scores = d.node("MatMul", [q, k], isResult=False)
    scale = d.constant(dtype.type(size**-0.5 if isScaled else d.choose(1, size**-0.5)))
    scores = d.node("Mul", [scores, scale], isResult=False)
    weights = d.node("Softmax", [_mask(d, dtype, scores, (batch, queries, keys))], axis=-1, isResult=False)
    if d.chance(0.3):
        isNaN = d.node("IsNaN", [weights], isResult=False)
        weights = d.node("Where", [isNaN, d.constant(dtype.type(0)), weights], isResult=False)
    mixed = d.node(operator, [weights, v], dtypes=[dtype], isResult=not isSplit)
    if isSplit:
        d.node("Transpose", [mixed], dtypes=[dtype], perm=rows)
    d.isWhole, d.slack = True, 4


OPERATORS = {"MatMul": drawAttention}
