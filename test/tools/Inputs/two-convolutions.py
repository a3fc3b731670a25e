# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Prints a model of two convolutions of different sizes, `first` and `second`, which Winograd's algorithm is faster for."""

import random
import struct

random.seed(1)


def emit(number, node, operand, size, channels, filters):
    count = 9 * channels * filters
    bits = struct.pack(f"<{count}f", *(random.gauss(0, 1) for _ in range(count))).hex().upper()
    x, w, y = f"tensor<1x{size}x{size}x{channels}xf32>", f"tensor<3x3x{channels}x{filters}xf32>", f"tensor<1x{size}x{size}x{filters}xf32>"
    print(f'  %w{number} = tenon.weight dense<"0x{bits}"> : {w} {{name = "{node}.w"}}')
    print(f"  %{number} = tenon.convolve %{operand}, %w{number} {{channels_last, dilations = array<i64: 1, 1>, groups = 1 : i64,")
    print("    high = array<i64: 1, 1>, low = array<i64: 1, 1>, strides = array<i64: 1, 1>}")
    print(f'    : ({x}, {w}) -> {y} loc("{node}")')


x, y = "tensor<1x28x28x32xf32>", "tensor<1x28x28x64xf32>"
print(f'func.func @main(%x: {x} {{tenon.name = "x"}}) -> ({y} {{tenon.name = "y"}}) {{')
emit(0, "first", "x", 28, 32, 48)
emit(1, "second", "0", 28, 48, 64)
print(f"  return %1 : {y}\n}}")
