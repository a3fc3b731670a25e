# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Winograd convolutions whose transformed squares and filters are rounded to bf16, where this machine has the instruction. Where it has
none, those that the tolerance allows."""

import pathlib

from families import winograd

# The path is for processors of AMD, of which these have the instruction.
HAS_PAIRS = {"avx512_bf16", "AuthenticAMD"} <= {*pathlib.Path("/proc/cpuinfo").read_text().split()}


def pin(path):
    return ("--force", f"*={path}") if HAS_PAIRS else ()


OPTIONS = (*pin("winograd-bf16-2"), "--tolerance", "2e-2")
# Twice the tolerance, which is relative to the largest element and was kept for other inputs than these.
SLACK = 4000
# Bounded functions of sums of many products would make their largest element smaller, and not their errors.
ACTIVATIONS = ("Relu", "LeakyRelu")


def drawConv(d, operator):
    winograd.drawWinograd(d, operator, SLACK, ACTIVATIONS)


OPERATORS = {"Conv": drawConv}
