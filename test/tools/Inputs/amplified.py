# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Prints a module whose error is FACTOR times what its convolution is off by: amplified.py FACTOR.

The sine of large numbers is as far off as they are, and never larger than 1."""

import random
import struct
import sys

random.seed(1)
count = 3 * 3 * 32 * 40
bits = struct.pack(f"<{count}f", *(random.gauss(0, 1) for _ in range(count))).hex().upper()
x, w, y = "tensor<1x56x56x32xf32>", "tensor<3x3x32x40xf32>", "tensor<1x56x56x40xf32>"
print(f"""
func.func @main(%x: {x} {{tenon.name = "x"}}) -> ({y} {{tenon.name = "y"}}) {{
  %w = tenon.weight dense<"0x{bits}"> : {w} {{name = "w"}}
  %factor = tenon.weight dense<{float(sys.argv[1])}> : tensor<f32>
  %0 = tenon.convolve %x, %w {{channels_last, dilations = array<i64: 1, 1>, groups = 1 : i64,
    high = array<i64: 1, 1>, low = array<i64: 1, 1>, strides = array<i64: 1, 1>}} : ({x}, {w}) -> {y}
  %1 = tenon.mul %0, %factor : ({y}, tensor<f32>) -> {y}
  %2 = tenon.sin %1 : ({y}) -> {y}
  return %2 : {y}
}}""")
