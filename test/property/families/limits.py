# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Integer operators at the limits of their types: sums wrap as two's complement does, divisions never trap."""

import numpy
import onnx
from draw import NUMBERS, isInteger, toOnnx

# No operation has a path of its own error: measuring one would only take time.
OPTIONS = ("--no-measure-error",)

# Before, some operators have no integers.
OLDEST = 18
INT64 = NUMBERS["int64"]
LIMITS = numpy.iinfo(numpy.int64)


def atLimits(d, dtype, shape):
    """The ends of a type, their neighbours, and numbers around zero."""
    limits = numpy.iinfo(dtype)
    ends = [limits.min, limits.min + 1, limits.max - 1, limits.max, limits.max // 2 + 1, 0, 1, 2, 7]
    ends += [-1, -2, -7] if dtype.kind == "i" else []
    source = d._values
    anywhere = source.integers(limits.min, limits.max, shape, dtype=dtype, endpoint=True)
    return numpy.where(source.random(shape) < 0.85, source.choice(numpy.array(ends, dtype), shape), anywhere)


def drawValues(d, dtype, shape):
    return d.given(atLimits(d, dtype, tuple(map(int, shape))), shape)


def drawInteger(d, operator, place=0):
    return d.dtype(operator, place, only=isInteger)


def drawUnary(d, operator):
    d.node(operator, [drawValues(d, drawInteger(d, operator), d.shape())])


def drawPair(d, operator):
    dtype, shape = drawInteger(d, operator), d.shape()
    return dtype, drawValues(d, dtype, shape), drawValues(d, dtype, d.operandOf(shape))


def drawArithmetic(d, operator):
    _, left, right = drawPair(d, operator)
    d.node(operator, [left, right])


def drawComparison(d, operator):
    _, left, right = drawPair(d, operator)
    d.node(operator, [left, right], dtypes=[NUMBERS["bool"]])


def drawDivision(d, operator):
    """Of what is divided by zero no result is defined, but it must not end the run either: it is left out of the comparison."""
    dtype, left, right = drawPair(d, operator)
    attributes = {"fmod": d.choose(0, 1)} if operator == "Mod" else {}
    quotient = d.node(operator, [left, right], dtypes=[dtype], isResult=False, **attributes)
    zero = d.constant(numpy.zeros((), dtype))
    isZero = d.node("Equal", [right, zero], dtypes=[NUMBERS["bool"]], isResult=False)
    d.node("Where", [isZero, zero, quotient], dtypes=[dtype])


def drawShift(d, operator):
    dtype, shape = drawInteger(d, operator), d.shape()
    amount = d.input(dtype, d.operandOf(shape), low=0, high=dtype.itemsize * 8 - 1)
    d.node(operator, [drawValues(d, dtype, shape), amount], direction=d.choose("LEFT", "RIGHT"))


def drawVariadic(d, operator):
    dtype, shape = drawInteger(d, operator), d.shape()
    d.node(operator, [drawValues(d, dtype, d.operandOf(shape)) for _ in range(d.integer(1, 3))])


def drawClip(d, operator):
    dtype = drawInteger(d, operator)
    bounds = [d.given(atLimits(d, dtype, ())) if d.chance(0.7) else "" for _ in range(2)]
    d.node(operator, [drawValues(d, dtype, d.shape()), *bounds])


def drawCast(d, operator):
    source, target = drawInteger(d, operator), d.dtype(operator, -1, only=lambda dtype: isInteger(dtype) or dtype.itemsize == 8)
    d.node(operator, [drawValues(d, source, d.shape())], dtypes=[target], to=toOnnx(target))


def drawReduce(d, operator):
    dtype = drawInteger(d, operator)
    shape = d.shape(low_rank=1, low=1, high=13)
    operands = [drawValues(d, dtype, shape)]
    axes = d.axes(len(shape))
    if len(onnx.defs.get_schema(operator, d.opset).inputs) == 1:
        d.node(operator, operands, axes=axes, keepdims=d.choose(0, 1))
    else:
        d.node(operator, [*operands, d.constant(numpy.array(axes, numpy.int64))], keepdims=d.choose(0, 1))


def drawArg(d, operator):
    shape = d.shape(low_rank=1, low=1, high=17)
    d.node(operator, [drawValues(d, drawInteger(d, operator), shape)], dtypes=[INT64], axis=d.axis(len(shape)), keepdims=d.choose(0, 1))


def drawRunning(d, operator):
    shape = d.shape(low_rank=1, high_rank=3)
    axis = d.operand(numpy.array(d.axis(len(shape)), numpy.int64))
    d.node(operator, [drawValues(d, drawInteger(d, operator), shape), axis], exclusive=d.choose(0, 1), reverse=d.choose(0, 1))


def drawWhere(d, operator):
    dtype, shape = drawInteger(d, operator, 1), d.shape()
    condition = d.input(NUMBERS["bool"], d.operandOf(shape))
    d.node(operator, [condition, drawValues(d, dtype, shape), drawValues(d, dtype, shape)], dtypes=[dtype])


def drawTrilu(d, operator):
    far = d.choose(LIMITS.max, LIMITS.max - 1, LIMITS.min, LIMITS.min + 1, 1 << 40, -(1 << 40), 100, -100)
    x = d.input(d.dtype(operator), d.shape(low_rank=2), "special")
    d.node(operator, [x, d.operand(numpy.array(far, numpy.int64))], upper=d.choose(0, 1))


def drawRange(d, operator):
    """Between the ends of a type, whose distance no number of it holds, in large steps; or close to an end, in small ones."""
    dtype = drawInteger(d, operator)
    limits = numpy.iinfo(dtype)
    ends = (limits.min, limits.min + 1, limits.min + 5, 0, -1, limits.max - 5, limits.max - 1, limits.max)
    start, sign = d.choose(*ends), d.choose(1, -1)
    if d.chance(0.5):
        delta, limit = d.choose(limits.max, limits.max // 2 + 1, limits.max // 3, -limits.max, limits.min), d.choose(*ends)
    else:
        delta = sign * d.integer(1, 3)
        limit = min(max(start + sign * d.integer(-2, 9), limits.min), limits.max)
    d.node(operator, [d.operand(numpy.array(each, dtype)) for each in (start, limit, delta)])


def drawSlice(d, operator):
    """Python's own slices say what is right: the evaluator uses them."""
    shape = d.shape(low_rank=1)
    axes = d.axes(len(shape))
    far = lambda: d.choose(LIMITS.max, LIMITS.max - 1, LIMITS.min, LIMITS.min + 1, 0, 1, -1)
    step = lambda: d.choose(LIMITS.max, LIMITS.min + 1, LIMITS.min, 1, -1, 2)
    columns = [numpy.array([draw() for _ in axes], numpy.int64) for draw in (far, far)]
    steps = numpy.array([step() for _ in axes], numpy.int64)
    operands = [d.operand(column) for column in (*columns, numpy.array(axes, numpy.int64), steps)]
    d.node(operator, [d.input(d.dtype(operator), shape, "special"), *operands])


def drawOneHot(d, operator):
    depth, shape = d.integer(1, 9), d.shape(high_rank=3, high=9)
    indices = drawValues(d, d.choose(NUMBERS["int32"], INT64), shape)
    values = d.constant(numpy.array([3, 5], numpy.int64))
    d.node(operator, [indices, d.operand(numpy.array(depth, numpy.int64)), values], dtypes=[INT64], axis=d.integer(-len(shape) - 1, len(shape)))


OPERATORS = {
    **dict.fromkeys(("Abs", "Neg", "Sign", "BitwiseNot", "Relu", "Identity"), drawUnary),
    **dict.fromkeys(("Add", "Sub", "Mul", "BitwiseAnd", "BitwiseOr", "BitwiseXor"), drawArithmetic),
    **dict.fromkeys(("Div", "Mod"), drawDivision),
    **dict.fromkeys(("Equal", "Less", "Greater", "LessOrEqual", "GreaterOrEqual"), drawComparison),
    "BitShift": drawShift,
    **dict.fromkeys(("Max", "Min"), drawVariadic),
    "Clip": drawClip,
    "Cast": drawCast,
    **dict.fromkeys(("ReduceSum", "ReduceProd", "ReduceMax", "ReduceMin", "ReduceL1", "ReduceSumSquare"), drawReduce),
    **dict.fromkeys(("ArgMax", "ArgMin"), drawArg),
    **dict.fromkeys(("CumSum",), drawRunning),
    "Where": drawWhere,
    "Trilu": drawTrilu,
    "Range": drawRange,
    "Slice": drawSlice,
    "OneHot": drawOneHot,
}
