#!/usr/bin/env python3
# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Products of f32 with constant matrices of floats, for machines with dot products of two i16 and without."""

import sys

sys.dont_write_bytecode = True

from matrices import emitProduct

for name, machine in (("dot4", "int8_dot = 4"), ("without", "int8_dot = 2")):
    print(f"module @{name} attributes {{tenon.machine = #tenon.machine<{machine}>}} {{")
    emitProduct("rows", number=2)
    emitProduct("transposed", depth=96, isTransposed=True)
    emitProduct("bf16", element="bf16")
    emitProduct("looked_up", isTransposed=True, looksUp=True)
    emitProduct("open", rows="?")
    emitProduct("prime_depth", depth=131)
    emitProduct("few_columns", columns=3)
    emitProduct("huge", largest=1e32)
    print("}")
