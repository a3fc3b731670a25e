# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""The same as `fixed`, within a tolerance for which 8 to 12 bits are enough."""

from families import fixed

TARGETS = fixed.TARGETS
OPTIONS = ("--tolerance", "4e-2")


def _loosen(draw):
    def drawLoosely(d, operator):
        draw(d, operator)
        d.slack = 8000

    return drawLoosely


OPERATORS = {name: _loosen(draw) for name, draw in fixed.OPERATORS.items()}
