# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Prints a module that multiplies 512 rows by a constant matrix of f32: large enough for tiles of AMX."""

import random
import struct

random.seed(1)
count = 512 * 512
bits = struct.pack(f"<{count}f", *(random.gauss(0, 1) for _ in range(count))).hex().upper()
matrix = "tensor<512x512xf32>"
print(f"""
func.func @main(%x: {matrix} {{tenon.name = "x"}}) -> ({matrix} {{tenon.name = "y"}}) {{
  %w = tenon.weight dense<"0x{bits}"> : {matrix} {{name = "w"}}
  %y = tenon.contract %x, %w {{lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 2, 1>, result_dims = array<i64: 0, 1>}}
    : ({matrix}, {matrix}) -> {matrix}
  return %y : {matrix}
}}""")
