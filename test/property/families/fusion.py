# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Products whose kernels compute costly epilogues, operands that are broadcast, and a result that several kernels read: what is materialized
or recomputed is a form of the graph."""

from draw import NUMBERS

# No error where a case has none of them.
OPTIONS = ("--exclude", "fused_producer", "--exclude", "stored_once")
FLOAT, HALF, INT64 = NUMBERS["float32"], NUMBERS["float16"], NUMBERS["int64"]


def _multiply(d, dtype, rows, columns):
    """A product of rows of its own, so that two are no siblings."""
    k = d.choose(1, 5, 16, 33)
    return d.node("MatMul", [d.input(dtype, [rows, k], "unit"), d.weight(dtype, [k, columns])], dtypes=[dtype], isResult=False)


def _drawSizes(d):
    """A choice is of known sizes, and of as many elements as a launch costs."""
    return d.choose(128, 131, 257), d.choose(128, 129, 144)


def drawEpilogue(d, operator):
    """A costly function behind a product, and a row that is computed for each of its rows."""
    dtype, (rows, columns) = d.choose(FLOAT, FLOAT, FLOAT, HALF), _drawSizes(d)
    value = _multiply(d, dtype, rows, columns)
    if d.chance(0.5):
        row = d.node(d.choose("Neg", "Abs"), [d.input(dtype, [columns], "unit")], dtypes=[dtype], isResult=False)
        value = d.node("Add", [value, row], dtypes=[dtype], isResult=False)
    for step in ("Relu", d.choose("Tanh", "Sigmoid", "Erf"), "Neg"):
        if step not in ("Relu", "Neg") or d.chance(0.4):
            value = d.node(step, [value], dtypes=[dtype], isResult=False)
    d.node("Identity", [value], dtypes=[dtype])
    d.isWhole, d.slack = True, 8


def drawShared(d, operator):
    """A cheap result that two or three kernels read, some of them of each row."""
    dtype, (rows, columns) = d.choose(FLOAT, FLOAT, FLOAT, HALF), _drawSizes(d)
    columns = d.choose(columns, 7)
    mask, other = d.input(dtype, [rows, columns], "unit"), d.input(dtype, [d.choose(1, rows), columns], "unit")
    shared = d.node(d.choose("Mul", "Add", "Sub"), [mask, other], dtypes=[dtype], isResult=False)
    for kind in d.choose(("product", "reduce"), ("product", "elements"), ("reduce", "elements", "product")):
        if kind == "reduce":
            # Axes are an operand since version 18.
            axes = [d.constant(INT64.type([1]))] if d.opset >= 18 else []
            d.node("ReduceMax", [shared, *axes], dtypes=[dtype], axes=None if axes else [1], keepdims=0)
        else:
            value = _multiply(d, dtype, rows, columns) if kind == "product" else d.input(dtype, [rows, columns], "unit")
            d.node("Add", [value, shared], dtypes=[dtype])
    d.isWhole, d.slack = True, 8


def drawTransposed(d, operator):
    """Heads of rows, which a product of each head reads in pieces."""
    rows, heads, k, columns = d.choose(65, 128, 131), d.choose(2, 3, 4), d.choose(31, 64), d.choose(65, 96)
    x = d.input(FLOAT, [rows, heads, k], "unit")
    transposed = d.node("Transpose", [x], dtypes=[FLOAT], isResult=False, perm=[1, 0, 2])
    product = d.node("MatMul", [transposed, d.input(FLOAT, [heads, k, columns], "unit")], dtypes=[FLOAT], isResult=False)
    d.node(d.choose("Identity", "Tanh"), [product], dtypes=[FLOAT])
    d.isWhole, d.slack = True, 8


# In turn: plans.py takes the first cases of all batches, and so graphs of all kinds, since 5 does not divide 24.
IN_TURN = True
OPERATORS = {
    "MatMul epilogue": drawEpilogue,
    "Mul shared": drawShared,
    "Transpose": drawTransposed,
    "MatMul epilogue of a row": drawEpilogue,
    "Add shared": drawShared,
}
