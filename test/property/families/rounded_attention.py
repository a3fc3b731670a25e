# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Attention of f32 whose factors a wide tolerance lets the compiler round to bf16, where this machine has the instruction, and in AMX tiles,
which are emulated. Attention in one kernel is taken so or not at all."""

from families import attention, rounded

TARGETS = ("x86-64-v3+amx-bf16",)
OPTIONS = ("--tolerance", "2e-2", "--exclude", "fused_attention", "--force", "*=fused_attention_bf16")

# Products in AMX tiles have sizes of at least 32: whole steps of pairs, odd numbers, and rows that two tiles share.
SIZES = (3, 16, 32, 33, 40, 64, 67, 80, 130)


def drawAttention(d, operator):
    attention.drawAttention(d, operator, dtypes=(attention.FLOAT,), sizes=SIZES, isScaled=True)
    d.slack = rounded.SLACK


OPERATORS = {"MatMul": drawAttention}
