# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Products with small results and long sums, which are computed in parts that are added afterwards."""

import numpy
import onnx
from draw import NUMBERS

OPTIONS = ("--force", "*=split_reduction")
FLOAT, DOUBLE = NUMBERS["float32"], NUMBERS["float64"]
# Multiples of 4 and of odd numbers; of a prime there are no equal parts.
DEPTHS = (8192, 9000, 10395, 12288, 7919)


def drawMatMul(d, operator):
    """With a bias and an activation behind it, as a classifier has on a long vector."""
    dtype = d.choose(FLOAT, FLOAT, DOUBLE)
    rows, depth, columns = d.choose(1, 5, 17, 33), d.choose(*DEPTHS), d.choose(1, 7, 10, 32, 33)
    batch = d.choose([], [], [2])
    x = d.input(dtype, [*batch, rows, depth], "unit")
    matrix = d.weight(dtype, [depth, columns]) if d.chance(0.5) else d.input(dtype, [*batch, depth, columns], "unit")
    d.isWhole, d.slack = True, 16
    sums = d.node("MatMul", [x, matrix], dtypes=[dtype], isResult=False)
    if d.chance(0.5):
        sums = d.node("Add", [sums, d.weight(dtype, [columns])], dtypes=[dtype], isResult=False)
    d.node(d.choose("Relu", "Neg"), [sums], dtypes=[dtype])


def drawGram(d, operator):
    """Of one value with itself, along pixels."""
    batch, channels, height, width = d.choose(1, 2), d.choose(3, 8, 24), d.choose(64, 96), d.choose(96, 127, 128)
    x = d.input(FLOAT, [batch, channels, height, width], "unit")
    equation = d.choose("nchw,ndhw->ncd", "nchw,ndhw->cd", "nchw,nchw->nc")
    d.isWhole, d.slack = True, 16
    d.node("Einsum", [x, x], dtypes=[FLOAT], equation=equation)


def drawGradient(d, operator):
    """Of a matrix: rows of inputs and of gradients, both across memory."""
    rows, inputs, outputs = d.choose(*DEPTHS), d.choose(3, 16, 27), d.choose(1, 5, 16)
    x, gradient = d.input(FLOAT, [rows, inputs], "unit"), d.input(FLOAT, [rows, outputs], "unit")
    d.isWhole, d.slack = True, 16
    d.node("Gemm", [x, gradient], dtypes=[FLOAT], transA=1)


def drawReduction(d, operator):
    """To one element, or to several."""
    dtype = d.choose(FLOAT, FLOAT, DOUBLE)
    dims, axes = d.choose(([3, 4096, 33], [1]), ([3, 4096, 33], [0, 1, 2]), ([8192, 65], [0, 1]), ([262144], [0]), ([1, 270336], [1]), ([2, 7, 96, 256], [1, 2, 3]))
    x = d.input(dtype, dims, "unit")
    d.isWhole, d.slack = True, 16
    keep = d.choose(0, 1)
    if len(onnx.defs.get_schema(operator, d.opset).inputs) == 1:
        d.node(operator, [x], dtypes=[dtype], axes=axes, keepdims=keep)
    else:
        d.node(operator, [x, d.constant(numpy.array(axes, numpy.int64))], dtypes=[dtype], keepdims=keep)


OPERATORS = {"MatMul": drawMatMul, "Einsum": drawGram, "Gemm": drawGradient, "ReduceMax": drawReduction, "ReduceL1": drawReduction}
