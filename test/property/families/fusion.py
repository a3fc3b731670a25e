# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Products whose kernels compute costly epilogues, operands that are broadcast, and a result that several kernels read: what is materialized
or recomputed is a form of the graph."""

from draw import NUMBERS

OPTIONS = ("--force", "*=materialized_producer", "--force", "*=recomputed_per_consumer")
FLOAT, HALF = NUMBERS["float32"], NUMBERS["float16"]


def _addCostly(d, dtype, value):
    """A costly function, and others before or behind it."""
    for step in ["", "cheap", "more"]:
        if step == "cheap" and d.chance(0.5):
            value = d.node("Relu", [value], dtypes=[dtype], isResult=False)
        if step == "more" and d.chance(0.3):
            value = d.node("Neg", [value], dtypes=[dtype], isResult=False)
        if not step:
            value = d.node(d.choose("Tanh", "Sigmoid", "Erf"), [value], dtypes=[dtype], isResult=False)
    return value


def drawFused(d, operator):
    """Two products, each with an epilogue that reads the same cheap result; one of them reads a row that is computed for each of its rows."""
    dtype = d.choose(FLOAT, FLOAT, FLOAT, HALF)
    # A choice is of known sizes, and of as many elements as a launch costs.
    rows, columns, k = d.choose(128, 131, 257), d.choose(128, 129, 144), d.choose(1, 5, 16, 33)
    mask = d.input(dtype, [rows, columns], "unit")
    shared = d.node(d.choose("Mul", "Add"), [mask, d.constant(dtype.type(0.5))], dtypes=[dtype], isResult=False)
    row = d.node("Neg", [d.input(dtype, [columns], "unit")], dtypes=[dtype], isResult=False)
    for i in range(2):
        # Each product has rows of its own, so that the two are no siblings.
        x = d.input(dtype, [rows, k], "unit")
        value = d.node("MatMul", [x, d.weight(dtype, [k, columns])], dtypes=[dtype], isResult=False)
        if i == 0:
            value = d.node("Add", [value, row], dtypes=[dtype], isResult=False)
        value = _addCostly(d, dtype, value)
        value = d.node("Add", [value, shared], dtypes=[dtype], isResult=False)
        d.node(d.choose("Identity", "Abs"), [value], dtypes=[dtype])
    d.isWhole, d.slack = True, 8


def drawTransposed(d, operator):
    """A result that is transposed for a product and for what is elementwise, and one that is read in both orders."""
    batch, rows, k = d.choose(2, 3), d.choose(65, 96), d.choose(128, 131)
    x = d.input(FLOAT, [batch, k, rows], "unit")
    mask = d.input(FLOAT, [batch, rows, k], "unit")
    shared = d.node("Mul", [mask, d.constant(FLOAT.type(-0.5))], dtypes=[FLOAT], isResult=False)
    transposed = d.node("Transpose", [x], dtypes=[FLOAT], isResult=False, perm=[0, 2, 1])
    d.node("Add", [transposed, shared], dtypes=[FLOAT])
    d.node("ReduceMax", [shared, d.constant(NUMBERS["int64"].type(0).reshape(1))], dtypes=[FLOAT], keepdims=0)
    product = d.node("MatMul", [mask, d.weight(FLOAT, [k, 96])], dtypes=[FLOAT], isResult=False)
    d.node("Tanh", [product], dtypes=[FLOAT])
    d.isWhole, d.slack = True, 8


# In turn: plans.py takes the first cases of all batches, and so graphs of both kinds.
IN_TURN = True
OPERATORS = {"MatMul epilogue": drawFused, "Transpose": drawTransposed}
