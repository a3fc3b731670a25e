# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Attention of f32 whose factors a wide tolerance lets the compiler round to bf16, where this machine has the instruction. Attention in one
kernel is taken so or not at all."""

from families import attention, rounded

OPTIONS = ("--tolerance", "2e-2", "--exclude", "fused_attention")


def drawAttention(d, operator):
    attention.drawAttention(d, operator, dtypes=(attention.FLOAT,), isScaled=True)
    d.slack = rounded.SLACK


OPERATORS = {"MatMul": drawAttention}
