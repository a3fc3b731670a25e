# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Products with constant matrices, so large that they may be seven products of halves."""

from draw import NUMBERS

# A target of short vectors, for which it pays on every machine that compiles.
OPTIONS = ("--force", "*=strassen", "--tolerance", "1e-4", "--target", "x86-64-v2")
FLOAT = NUMBERS["float32"]
# Halves of the depth are no multiples of vectors, or are several K-blocks, the last of which may be a shorter one; and panels are an odd or an even number,
# the last of which may be a part.
DEPTHS, COLUMNS = (130, 254, 512, 1110), (128, 158, 190, 250, 411)


def drawProduct(d, operator):
    """With what may follow; of an odd number of rows, too, along one dimension or several."""
    rows = d.choose([64], [129], [3, 47], [1, 163], [2, 5, 15], [517])
    depth, columns = d.choose(*DEPTHS), d.choose(*COLUMNS)
    x = d.input(FLOAT, [*rows, depth], "unit")
    d.isWhole, d.slack = True, 64
    if d.chance(0.5):
        x = d.node("Tanh", [x], dtypes=[FLOAT], isResult=False)
    if operator == "Gemm" and len(rows) == 1:
        y = d.node("Gemm", [x, d.weight(FLOAT, [columns, depth]), d.weight(FLOAT, [columns])], dtypes=[FLOAT], isResult=d.chance(0.3), transB=1)
    else:
        y = d.node("MatMul", [x, d.weight(FLOAT, [depth, columns])], dtypes=[FLOAT], isResult=d.chance(0.3))
    if d.chance(0.4):
        y = d.node("Add", [y, d.input(FLOAT, [*rows, columns], "unit")], dtypes=[FLOAT], isResult=False)
    if d.chance(0.4):
        # Another one, of what the first one made.
        y = d.node("MatMul", [y, d.weight(FLOAT, [columns, 158])], dtypes=[FLOAT], isResult=False)
    d.node(d.choose("Relu", "Sigmoid"), [y], dtypes=[FLOAT])


OPERATORS = {"MatMul": drawProduct, "Gemm": drawProduct}
