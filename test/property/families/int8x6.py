# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Products and convolutions of f32 whose factors are split to three terms of int8, in tile registers, which are computed here where there are none."""

import products
from draw import NUMBERS, makeSize
from families import int16, tiles

TARGETS = ("x86-64-v3+amx-int8+amx-bf16",)
# Others would be less exact than this one is tested for.
OTHERS = ("bf16x3", "bf16_rounded", "bf16_dot2_rounded", "int8_groups_rounded", "int16_groups_rounded", "int8_rounded", "int8x3")
OPTIONS = ("--tolerance", "1e-3", "--force", "*=int8x6", *(option for path in OTHERS for option in ("--exclude", path)))
FLOAT = NUMBERS["float32"]
# Parts of a step, whole ones, some of them, and sums in parts of their length.
DEPTHS = (1, 3, 4, 31, 63, 64, 65, 100, 128, 250, 320, 1024, 3072)
WIDTHS = (4, 5, 16, 17, 31, 32, 33, 48, 100, 131)
ROWS = (1, 2, 15, 16, 17, 31, 32, 33, 48, 64, 97, 129)
# Sums of three terms are nearly as exact as those of f32.
SLACK = 4


def makeRows(d):
    outer = [d.size(1, 3) for _ in range(d.choose(0, 0, 1, 2))]
    rows = d.choose(*ROWS)
    return [*outer, makeSize(rows, f"{d.name}.rows") if d.chance(0.4) else rows]


def makeDrawers(slack):
    def drawMatMul(d, operator):
        depth, columns = d.choose(*DEPTHS), d.choose(*WIDTHS)
        x = d.input(FLOAT, [*makeRows(d), depth], d.choose("unit", "positive"))
        if d.chance(0.3):
            x = d.node("Relu", [x], dtypes=[FLOAT], isResult=d.chance(0.5))
        if d.chance(0.3):
            w = d.node("Transpose", [d.weight(FLOAT, [columns, depth])], dtypes=[FLOAT], isResult=False, perm=[1, 0])
        else:
            w = d.weight(FLOAT, [depth, columns])
        products.finish(d, d.node(operator, [x, w], dtypes=[FLOAT], isResult=False), columns, slack)

    def drawAs(draw, more=1):
        def drawOther(d, operator):
            draw(d, operator)
            d.slack = more * slack

        return drawOther

    def drawTwo(d, operator):
        """One product after the other, or two of the same rows, which are split once."""
        depth, columns = d.choose(*DEPTHS), d.choose(32, 48, 64, 100)
        x = d.input(FLOAT, [*makeRows(d), depth], "unit")
        products.finish(d, products.drawTwo(d, x, depth, columns), 64, 2 * slack)

    def drawConv(d, operator):
        products.drawConv(d, operator, (1, 1, 3), (3, 16, 32, 48, 64, 100), tiles.WIDTHS)
        d.isWhole, d.slack = True, 2 * slack

    return {
        "MatMul": drawMatMul,
        "MatMul of the largest": drawAs(int16.drawLargest),
        "MatMul of specials": drawAs(int16.drawSpecial),
        "MatMul of scales": drawAs(int16.drawScaled),
        "MatMul twice": drawTwo,
        "Conv": drawConv,
        "Conv of scales": drawAs(int16.drawScaledConv, more=2),
    }


OPERATORS = makeDrawers(SLACK)
