# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Reductions, places of extremes, running sums, and what orders or counts elements."""

import numpy
import onnx
from draw import NUMBERS, isFloat

# No operation has a path of its own error: measuring one would only take time.
OPTIONS = ("--no-measure-error",)

INT64 = NUMBERS["int64"]
# Of no elements these have no value that all agree on.
NOT_EMPTY = ("ReduceMax", "ReduceMin", "ReduceMean", "ReduceLogSumExp", "ReduceLogSum")
KINDS = {"ReduceLogSum": "positive", "ReduceMax": "special", "ReduceMin": "special"}


def drawReduce(d, operator):
    # Logarithms and roots of integers are integers that nobody asks for.
    dtype = d.dtype(operator, only=isFloat if "Log" in operator else None)
    shape = d.shape(low=1 if operator in NOT_EMPTY else 0, high=13)
    limits = {"low": 1, "high": 2} if dtype.kind in "iu" else {}
    x = d.input(dtype, shape, KINDS.get(operator, "unit"), **limits)
    axes = d.axes(len(shape), low=0) if shape else []
    keep = d.choose(None, 0, 1)
    d.isWhole, d.slack = True, 4
    if len(onnx.defs.get_schema(operator, d.opset).inputs) == 1:
        d.node(operator, [x], axes=axes or None, keepdims=keep)
        return
    noop = d.choose(None, 0, 1)
    operands = [x] if d.chance(0.2) else [x, d.operand(numpy.array(axes, numpy.int64))]
    d.node(operator, operands, keepdims=keep, noop_with_empty_axes=noop)


def drawArg(d, operator):
    shape = d.shape(low_rank=1, low=1, high=17)
    x = d.input(d.dtype(operator), shape, d.choose("plain", "whole"))
    attributes = {"axis": d.axis(len(shape)), "keepdims": d.choose(0, 1), "select_last_index": d.choose(0, 1)}
    d.node(operator, [x], dtypes=[INT64], **attributes)


def drawRunning(d, operator):
    shape = d.shape(low_rank=1, high_rank=3)
    x = d.input(d.dtype(operator), shape, "unit", **({"low": 1, "high": 2} if operator == "CumProd" else {}))
    axis = d.operand(numpy.array(d.axis(len(shape)), d.choose(numpy.int32, numpy.int64)))
    d.isWhole, d.slack = True, 4
    d.node(operator, [x, axis], exclusive=d.choose(0, 1), reverse=d.choose(0, 1))


def drawTopK(d, operator):
    shape = d.shape(low_rank=1, high_rank=3)
    axis = d.axis(len(shape))
    shape[axis] = d.size(1, 19)
    dtype = d.dtype(operator)
    # All different: which of equals comes first is not the reference's to say.
    count = int(numpy.prod(shape))
    order = numpy.random.default_rng(d.integer(0, 1 << 30)).permutation(count)
    if count > 100 and dtype.itemsize < 4:
        dtype = NUMBERS["float32"]
    x = d.given(order.astype(dtype).reshape(shape), shape)
    k = d.operand(numpy.array([d.integer(0, int(shape[axis]))], numpy.int64))
    d.node(operator, [x, k], 2, [dtype, INT64], axis=axis, largest=d.choose(0, 1), sorted=1)


def drawNonZero(d, operator):
    x = d.input(d.dtype(operator), d.shape(low_rank=1), low=-1, high=1, kind="whole")
    d.node(operator, [x], dtypes=[INT64])


def drawUnique(d, operator):
    shape = d.shape(low_rank=1, high_rank=2, low=1)
    dtype = d.dtype(operator, only=lambda dtype: dtype.kind != "b")
    x = d.input(dtype, shape, "whole", low=0, high=3)
    axis = d.axis(len(shape)) if d.chance(0.5) else None
    d.node(operator, [x], 4, [dtype, INT64, INT64, INT64], axis=axis, sorted=1)


def drawCompress(d, operator):
    shape = d.shape(low_rank=1, high_rank=3, low=1)
    axis = d.axis(len(shape)) if d.chance(0.7) else None
    dtype = d.dtype(operator)
    length = int(shape[axis]) if axis is not None else int(numpy.prod(shape))
    condition = d.numbers(NUMBERS["bool"], (d.integer(1, length),))
    d.node(operator, [d.input(dtype, shape), d.given(condition)], axis=axis)


OPERATORS = {
    **dict.fromkeys(
        ("ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1", "ReduceL2", "ReduceSumSquare", *NOT_EMPTY), drawReduce
    ),
    **dict.fromkeys(("ArgMax", "ArgMin"), drawArg),
    **dict.fromkeys(("CumSum", "CumProd"), drawRunning),
    "TopK": drawTopK,
    "NonZero": drawNonZero,
    "Unique": drawUnique,
    "Compress": drawCompress,
}
