# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Winograd convolutions whose transformed squares and filters are rounded to bf16: in vectors where this machine has the instruction, else as
the tolerance allows, and in AMX tiles, which are emulated."""

from families import winograd

TARGETS = ("x86-64-v3+amx-bf16",)
OPTIONS = ("--force", "*=winograd-bf16-2", "--tolerance", "2e-2")
# Twice the tolerance, which is relative to the largest element and was kept for other inputs than these.
SLACK = 4000
# Bounded functions of sums of many products would make their largest element smaller, and not their errors.
ACTIVATIONS = ("Relu", "LeakyRelu")


def drawConv(d, operator):
    winograd.drawWinograd(d, operator, SLACK, ACTIVATIONS)


OPERATORS = {"Conv": drawConv}
