# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Products of matrices, in all the forms that ONNX has for them."""

import numpy
from draw import NUMBERS, isFloat


def _matrices(d, batchedLimit=2):
    """Shapes of two operands of MatMul: vectors, matrices, and stacks of them that broadcast."""
    m, k, n = d.size(), d.size(), d.size()
    if d.chance(0.08):
        m = d.integer(65, 140)
    batch = d.shape(0, batchedLimit, 0, 5)
    left, right = [*d.operandOf(batch), m, k], [*d.operandOf(batch), k, n]
    if d.chance(0.1):
        left = [k]
    if d.chance(0.1):
        right = [k]
    return left, right


def drawMatMul(d, operator):
    dtype = d.dtype(operator)
    left, right = _matrices(d)
    d.isWhole, d.slack = True, 4
    d.node(operator, [d.input(dtype, left, "unit"), d.input(dtype, right, "unit")])


def drawGemm(d, operator):
    dtype = d.dtype(operator)
    m, k, n = d.size(), d.size(), d.size()
    left, right = d.choose(0, 1), d.choose(0, 1)
    operands = [d.input(dtype, [k, m] if left else [m, k], "unit"), d.input(dtype, [n, k] if right else [k, n], "unit")]
    if d.chance(0.7):
        operands.append(d.input(dtype, d.operandOf([m, n]), "unit"))
    scales = {"alpha": d.real(-2, 2), "beta": d.real(-2, 2)} if isFloat(dtype) and d.chance(0.6) else {}
    d.isWhole, d.slack = True, 4
    d.node(operator, operands, transA=left, transB=right, **scales)


EQUATIONS = (
    ("ij,jk->ik", "ij", "jk"),
    ("ij,kj->ik", "ij", "kj"),
    ("bij,bjk->bik", "bij", "bjk"),
    ("bhid,bhjd->bhij", "bhid", "bhjd"),
    ("ij->ji", "ij"),
    ("ij->i", "ij"),
    ("ij->", "ij"),
    ("ii->i", "ii"),
    ("i,i->", "i", "i"),
    ("i,j->ij", "i", "j"),
    ("ijk,ij->k", "ijk", "ij"),
    ("...ij,...jk->...ik", "bij", "bjk"),
    ("ij,jk", "ij", "jk"),
    ("ab,bc,cd->ad", "ab", "bc", "cd"),
)


# A constant matrix for each b, as it is stored and transposed, and in which the dimensions stand elsewhere.
STACKED = (
    ("bij,bjk->bik", "bij", "bjk"),
    ("bij,bkj->bik", "bij", "bkj"),
    ("ibj,bjk->ibk", "ibj", "bjk"),
    ("bj,bjk->bk", "bj", "bjk"),
    ("aibj,jbak->abik", "aibj", "jbak"),
)


def _drawStacked(d, operator):
    equation, left, right = d.choose(*STACKED)
    limits = {"a": 3, "b": 9, "i": 33}
    sizes = {letter: d.size(0, limits[letter]) for letter in "abi"}
    # Around panels and register blocks.
    sizes.update({letter: d.choose(1, 3, 7, 31, 32, 33, 64, 97) for letter in "jk"})
    sizes.update({letter: d.integer(0, limits[letter]) for letter in "ab" if letter in right})
    dtype = NUMBERS["float32"]
    d.isWhole, d.slack = True, 4
    x = d.input(dtype, [sizes[letter] for letter in left], "unit")
    d.node(operator, [x, d.weight(dtype, [sizes[letter] for letter in right])], dtypes=[dtype], equation=equation)


def drawEinsum(d, operator):
    if d.chance(0.4):
        return _drawStacked(d, operator)
    equation, *operands = d.choose(*EQUATIONS)
    dtype = d.dtype(operator)
    sizes = {letter: d.size(0, 9) for letter in sorted({*"".join(operands)})}
    d.isWhole, d.slack = True, 4
    d.node(operator, [d.input(dtype, [sizes[letter] for letter in each], "unit") for each in operands], equation=equation)


def drawMatMulInteger(d, operator):
    left, right = d.dtype(operator), d.dtype(operator, 1)
    m, k, n = d.size(), d.size(), d.size()
    operands = [d.input(left, [m, k], "special"), d.input(right, [k, n], "special")]
    if d.chance(0.6):
        operands += [d.input(left, (), "special"), d.input(right, (), "special")]
    d.node(operator, operands, dtypes=[NUMBERS["int32"]])


def drawQLinearMatMul(d, operator):
    left, right, result = d.dtype(operator), d.dtype(operator, 3), d.dtype(operator, 7)
    scale = NUMBERS["float32"] if d.opset < 21 else d.dtype(operator, 1)
    m, k, n = d.size(1), d.size(1), d.size(1)
    quantised = lambda dtype, shape: [d.input(dtype, shape, "special"), d.input(scale, (), low=0.01, high=0.1), d.input(dtype, (), low=0, high=9)]
    d.steps, d.isWidened = 1, True
    operands = [*quantised(left, [m, k]), *quantised(right, [k, n])]
    operands += [d.input(scale, (), low=0.1, high=1.0), d.constant(numpy.zeros((), result))]
    d.node(operator, operands, dtypes=[result])


OPERATORS = {
    "MatMul": drawMatMul,
    "Gemm": drawGemm,
    "Einsum": drawEinsum,
    "MatMulInteger": drawMatMulInteger,
    "QLinearMatMul": drawQLinearMatMul,
}
