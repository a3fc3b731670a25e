# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Winograd convolutions with squares of 4 x 4 results, rounded to bf16."""

from families import squares, winograd

TARGETS = squares.TARGETS
OPTIONS = ("--force", "*=winograd-bf16-4", "--tolerance", "5e-2")
SLACK = 10000


def drawConv(d, operator):
    winograd.drawWinograd(d, operator, SLACK, squares.ACTIVATIONS)


OPERATORS = {"Conv": drawConv}
