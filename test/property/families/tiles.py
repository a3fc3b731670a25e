# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Products and convolutions of sizes for which tile registers are chosen, where there are such: they are computed here."""

import numpy
import products
from draw import NUMBERS, makeSize
from onnx import TensorProto

TARGETS = ("x86-64-v3+amx-int8+amx-bf16",)
FLOAT, BYTES = NUMBERS["float32"], (NUMBERS["uint8"], NUMBERS["int8"])
# Whole steps of parts and others, and sums that are done in parts of their length.
DEPTHS = (64, 96, 100, 250, 256, 320, 768, 1024, 1536, 1568, 1800, 3072)
WIDTHS = (31, 32, 48, 64, 100, 192, 257, 384)
ROWS = (8, 16, 17, 32, 33, 64, 100, 129, 200)


def _rows(d):
    """Of a product: the last ones, which are open in some cases, are many."""
    outer = [d.size(1, 3) for _ in range(d.choose(0, 0, 1, 2))]
    rows = d.choose(*ROWS) if not outer else d.choose(8, 17, 32, 50)
    return [*outer, makeSize(rows, f"{d.name}.rows") if d.chance(0.4) else rows]


def _few(d, rows, depths, widths):
    """A depth and a width of no more products than take a moment."""
    count = int(numpy.prod([int(size) for size in rows]))
    fits = [(k, n) for k in depths for n in widths if count * k * n < 30_000_000]
    return d.choose(*fits)


def drawMatMul(d, operator):
    rows = _rows(d)
    k, n = _few(d, rows, DEPTHS, WIDTHS)
    x = d.input(FLOAT, [*rows, k], "unit")
    if d.chance(0.3):
        x = d.node("Relu", [x], dtypes=[FLOAT], isResult=d.chance(0.5))
    value = d.node(operator, [x, d.weight(FLOAT, [k, n])], dtypes=[FLOAT], isResult=d.chance(0.2))
    for step in [step for step in ("bias", "tanh") if d.chance(0.4)]:
        operands = [value, d.weight(FLOAT, [n])] if step == "bias" else [value]
        value = d.node("Add" if step == "bias" else "Tanh", operands, dtypes=[FLOAT], isResult=False)
    d.node("Identity" if d.chance(0.5) else "Neg", [value], dtypes=[FLOAT])
    d.isWhole, d.slack = True, 4


def drawTwo(d, operator):
    """One product after the other, or two of the same rows."""
    rows = _rows(d)
    k, n = _few(d, rows, DEPTHS, WIDTHS)
    x = d.input(FLOAT, [*rows, k], "unit")
    first = d.node("MatMul", [x, d.weight(FLOAT, [k, n])], dtypes=[FLOAT], isResult=d.chance(0.5))
    isChain = d.chance(0.5)
    d.node("MatMul", [first if isChain else x, d.weight(FLOAT, [n if isChain else k, 64])], dtypes=[FLOAT])
    d.isWhole, d.slack = True, 8


def drawHalves(d, operator):
    """A matrix of bf16, which is a part by itself, with rows of such or of f32; or rows of f16, which the kernel cuts."""
    rows, half = _rows(d), NUMBERS["bfloat16"]
    k, n = _few(d, rows, DEPTHS, WIDTHS)
    ofMatrix, ofRows = d.choose((half, FLOAT), (half, half), (FLOAT, NUMBERS["float16"]))
    w = d.node("Cast", [d.weight(ofMatrix, [k, n])], dtypes=[FLOAT], isResult=False, to=TensorProto.FLOAT)
    x = d.input(ofRows, [*rows, k], "unit")
    x = d.node("Cast", [x], dtypes=[FLOAT], isResult=False, to=TensorProto.FLOAT)
    d.node("MatMul", [x, w], dtypes=[FLOAT])
    d.isWhole, d.slack = True, 4


def drawMatMulInteger(d, operator):
    rows = _rows(d)
    k, n = _few(d, rows, DEPTHS, WIDTHS)
    left = d.choose(*BYTES)
    operands = [d.input(left, [*rows, k], "special"), d.weight(d.choose(*BYTES), [k, n], "special")]
    d.node(operator, operands, dtypes=[NUMBERS["int32"]])


def drawConv(d, operator):
    products.drawConv(d, operator, (1, 1, 3), (16, 32, 48, 64, 100), WIDTHS)
    d.isWhole, d.slack = True, 8


OPERATORS = {
    "MatMul": drawMatMul,
    "MatMul twice": drawTwo,
    "Cast": drawHalves,
    "MatMulInteger": drawMatMulInteger,
    "Conv": drawConv,
}
