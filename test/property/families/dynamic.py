# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""What sizes decide when the model runs: whether a slice's constant bounds lie within a dimension, and which of two dimensions is 1."""

import numpy
from draw import NUMBERS

# Results are compared with the evaluator's, and no path here needs a budget.
OPTIONS = ("--no-measure-error",)
FLOAT, LONG, BOOL = NUMBERS["float32"], NUMBERS["int64"], NUMBERS["bool"]
LENGTHS = [(n,) for n in (1, 1, 2, 3, 4, 5, 6, 7, 9, 11)]


def drawSlice(d, operator):
    """Constant bounds on either side of what the dimension has; sizes may be computed of the result's."""
    (rows,), (columns,) = d.openSizes(*LENGTHS), d.openSizes(*LENGTHS)
    x = d.input(FLOAT, [rows, columns, makeOdd(d)])
    axes = d.structure.sample([0, 1, -1], d.integer(1, 3))
    bound = lambda: d.choose(d.integer(-12, 12), d.integer(-3, 3), 2**63 - 1, -(2**63))
    starts, ends = ([bound() for _ in axes] for _ in range(2))
    steps = [d.choose(1, 1, 1, 2, 3, -1, -2, -(2**63), 2**63 - 1) for _ in axes]
    operands = [d.constant(numpy.array(values, LONG)) for values in (starts, ends, axes, steps)]
    y = d.node(operator, [x, *operands], isResult=d.chance(0.6), dtypes=[FLOAT])
    if not d.outputs or d.chance(0.4):
        d.node("Relu", [d.node("Concat", [y, y], isResult=False, axis=d.choose(0, 1))], dtypes=[FLOAT])


def makeOdd(d):
    return d.choose(1, 3, 5)


def drawPairs(d, rank):
    """Two shapes that broadcast against each other; in every dimension the sizes decide how."""
    pairs = []
    for _ in range(rank):
        n = d.choose(2, 3, 4, 5)
        kind = d.integer(0, 4)
        if kind == 0:
            pairs.append((n, n))
        elif kind == 1:
            pairs.append((n, d.openSizes((1,), (n,))[0]))
        else:
            pairs.append(d.openSizes((n, n), (1, n), (n, 1), (1, 1), (n + 1, n + 1), (1, n + 2)))
    return [list(shape) for shape in zip(*pairs)]


def drawBinary(d, operator):
    a, b = drawPairs(d, d.integer(1, 3))
    b = b[d.integer(0, len(b) - 1) :] if d.chance(0.3) else b
    operands = [d.input(FLOAT, a), d.input(FLOAT, b)]
    if d.chance(0.5):
        operands.reverse()
    y = d.node(operator, operands, dtypes=[FLOAT])
    # The result meets an operand again, and the other one.
    if d.chance(0.5):
        d.node("Max", [y, operands[d.integer(0, 1)]], dtypes=[FLOAT])


def drawWhere(d, operator):
    a, b = drawPairs(d, d.integer(1, 3))
    condition = d.input(BOOL, a)
    d.node(operator, [condition, d.input(FLOAT, b), d.input(FLOAT, [])], dtypes=[FLOAT])


def drawMatMul(d, operator):
    a, b = drawPairs(d, d.integer(1, 2))
    (m,), (k,) = d.openSizes(*LENGTHS), d.openSizes(*LENGTHS)
    x, y = d.input(FLOAT, [*a, m, k], "unit"), d.input(FLOAT, [*b, k, d.integer(1, 5)], "unit")
    d.isWhole = True
    d.node(operator, [x, y], dtypes=[FLOAT])


def drawExpand(d, operator):
    """To the shape of another tensor."""
    a, b = drawPairs(d, d.integer(1, 3))
    shape = d.node("Shape", [d.input(FLOAT, b)], dtypes=[LONG], isResult=False)
    d.node(operator, [d.input(FLOAT, a), shape], dtypes=[FLOAT])


def drawRange(d, operator):
    """From constants to a size, which may lie before them."""
    (n,) = d.openSizes(*LENGTHS)
    x = d.input(FLOAT, [n])
    size = d.node("Squeeze", [d.node("Shape", [x], isResult=False, dtypes=[LONG])], isResult=False, dtypes=[LONG])
    start, delta = d.integer(-3, 9), d.choose(1, 2, 3)
    d.node(operator, [d.constant(numpy.array(start, LONG)), size, d.constant(numpy.array(delta, LONG))], dtypes=[LONG])


def drawLeastOf(d, operator):
    """A slice up to the smaller, or the larger, of a size and a constant, as models with biases by position compute it."""
    (n,) = d.openSizes(*LENGTHS)
    x = d.input(FLOAT, [n, 3])
    size = d.node("Shape", [x], isResult=False, dtypes=[LONG], end=1) if d.opset >= 15 else d.node(
        "Slice", [d.node("Shape", [x], isResult=False, dtypes=[LONG]), *(d.constant(numpy.array([v], LONG)) for v in (0, 1))], isResult=False, dtypes=[LONG]
    )
    bound = d.node(operator, [d.node("Sub", [d.constant(numpy.array([d.integer(0, 5)], LONG)), size], isResult=False, dtypes=[LONG]),
                              d.constant(numpy.array([0], LONG))], isResult=False, dtypes=[LONG])
    bound = d.node("Sub", [d.constant(numpy.array([d.integer(0, 6)], LONG)), bound], isResult=False, dtypes=[LONG])
    table = d.constant(d.numbers(FLOAT, [40, 3], isConstant=True))
    d.node("Slice", [table, d.constant(numpy.array([0], LONG)), d.node("Abs", [bound], isResult=False, dtypes=[LONG])], dtypes=[FLOAT])


OPERATORS = {
    "Slice": drawSlice, "Add": drawBinary, "Sub": drawBinary, "Mul": drawBinary, "Where": drawWhere, "MatMul": drawMatMul,
    "Expand": drawExpand, "Range": drawRange, "Max of sizes": drawLeastOf, "Min of sizes": drawLeastOf,
}
