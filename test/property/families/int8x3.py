# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""The same as int8x6, with two terms of each factor."""

from families import int8x6

TARGETS = int8x6.TARGETS
OTHERS = ("bf16_rounded", "bf16_dot2_rounded", "int8_groups_rounded", "int8_rounded")
OPTIONS = ("--tolerance", "1e-2", "--force", "*=int8x3", *(option for path in OTHERS for option in ("--exclude", path)))
# The root mean square of the error is some 1e-4 of that of results; of many results one is off by five times as much.
SLACK = 100
OPERATORS = int8x6.makeDrawers(SLACK)
