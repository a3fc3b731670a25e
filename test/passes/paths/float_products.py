#!/usr/bin/env python3
# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Products of f32 with seeded weights, for machines with tile registers that multiply bf16 and without."""

import random
import struct

random.seed(1)


def emitWeight(*shape):
    count = 1
    for extent in shape:
        count *= extent
    data = struct.pack(f"<{count}f", *(random.uniform(-1, 1) for _ in range(count)))
    text = "x".join(map(str, shape))
    print(f'  %w = tenon.weight dense<"0x{data.hex().upper()}"> : tensor<{text}xf32> {{name = "w"}}')
    return f"tensor<{text}xf32>"


def emitContracts(name, rows, depth, columns, number=1):
    """Products of the same rows."""
    x, y = f"tensor<{rows}x{depth}xf32>", f"tensor<{rows}x{columns}xf32>"
    print(f"func.func @{name}(%x: {x}) -> ({', '.join([y] * number)}) {{")
    w = emitWeight(depth, columns)
    for i in range(number):
        print(f"  %{i} = tenon.contract %x, %w {{lhs_dims = array<i64: 0, 1>, rhs_dims = array<i64: 1, 2>,")
        print(f"    result_dims = array<i64: 0, 2>}} : ({x}, {w}) -> {y}")
    print(f"  return {', '.join(f'%{i}' for i in range(number))} : {', '.join([y] * number)}\n}}")


def emitRoundedLater(name):
    """Rows that the model itself rounds, after the product."""
    x, y, z = "tensor<128x256xf32>", "tensor<128x512xf32>", "tensor<128x256xbf16>"
    print(f"func.func @{name}(%x: {x}) -> ({y}, {z}) {{")
    w = emitWeight(256, 512)
    print(f"  %0 = tenon.contract %x, %w {{lhs_dims = array<i64: 0, 1>, rhs_dims = array<i64: 1, 2>, result_dims = array<i64: 0, 2>}} : ({x}, {w}) -> {y}")
    print(f"  %1 = tenon.cast %x : ({x}) -> {z}")
    print(f"  return %0, %1 : {y}, {z}\n}}")


def emitHalves(name, hasHalfRows):
    """A product with a matrix of bf16, of rows of such or of f32."""
    x = "tensor<128x256xbf16>" if hasHalfRows else "tensor<128x256xf32>"
    print(f"func.func @{name}(%x: {x}) -> tensor<128x300xf32> {{")
    data = bytes(random.choice(((0, 0x3F), (0x80, 0xBE)))[i % 2] for i in range(2 * 256 * 300))
    print(f'  %w = tenon.weight dense<"0x{data.hex().upper()}"> : tensor<256x300xbf16> {{name = "w"}}')
    print("  %1 = tenon.cast %w : (tensor<256x300xbf16>) -> tensor<256x300xf32>")
    if hasHalfRows:
        print(f"  %0 = tenon.cast %x : ({x}) -> tensor<128x256xf32>")
    print(f"  %2 = tenon.contract {'%0' if hasHalfRows else '%x'}, %1 {{lhs_dims = array<i64: 0, 1>, rhs_dims = array<i64: 1, 2>,")
    print("    result_dims = array<i64: 0, 2>} : (tensor<128x256xf32>, tensor<256x300xf32>) -> tensor<128x300xf32>")
    print("  return %2 : tensor<128x300xf32>\n}")


def emitWidened(name):
    """Of rows of f16, in another shape."""
    print(f"func.func @{name}(%x: tensor<2x64x256xf16>) -> tensor<128x300xf32> {{")
    w = emitWeight(256, 300)
    print("  %0 = tenon.cast %x : (tensor<2x64x256xf16>) -> tensor<2x64x256xf32>")
    print("  %1 = tenon.reshape %0 : (tensor<2x64x256xf32>) -> tensor<128x256xf32>")
    print("  %2 = tenon.contract %1, %w {lhs_dims = array<i64: 0, 1>, rhs_dims = array<i64: 1, 2>,")
    print(f"    result_dims = array<i64: 0, 2>}} : (tensor<128x256xf32>, {w}) -> tensor<128x300xf32>")
    print("  return %2 : tensor<128x300xf32>\n}")


def emitTied(name):
    """Rows of an embedding, and their products with all of it."""
    print(f"func.func @{name}(%i: tensor<128xi64>, %x: tensor<128x256xf32>) -> (tensor<128x256xf32>, tensor<128x300xf32>) {{")
    w = emitWeight(300, 256)
    print(f"  %0 = tenon.gather %w, %i {{axis = 0 : i64}} : ({w}, tensor<128xi64>) -> tensor<128x256xf32>")
    print("  %1 = tenon.contract %x, %w {lhs_dims = array<i64: 0, 1>, rhs_dims = array<i64: 2, 1>,")
    print(f"    result_dims = array<i64: 0, 2>}} : (tensor<128x256xf32>, {w}) -> tensor<128x300xf32>")
    print("  return %0, %1 : tensor<128x256xf32>, tensor<128x300xf32>\n}")


def emitConvolve(name, size, channels, filters, window=3):
    x, y = f"tensor<1x{size}x{size}x{channels}xf32>", f"tensor<1x{size // 2}x{size // 2}x{filters}xf32>"
    print(f"func.func @{name}(%x: {x}) -> {y} {{")
    w = emitWeight(window, window, channels, filters)
    print("  %0 = tenon.convolve %x, %w {channels_last, dilations = array<i64: 1, 1>, groups = 1 : i64,")
    low = window // 2
    print(f"    high = array<i64: 0, 0>, low = array<i64: {low}, {low}>, strides = array<i64: 2, 2>}}")
    print(f"    : ({x}, {w}) -> {y}")
    print(f"  return %0 : {y}\n}}")


print("module @tile_registers attributes {tenon.machine = #tenon.machine<amx_bf16 = 1, l2_bound = 1>} {")
emitContracts("many_rows", 128, 250, 300, number=2)
emitContracts("open_rows", "?", 256, 512)
emitContracts("few_columns", 512, 256, 64)
emitWidened("widened_rows")
emitContracts("one_row", 1, 200, 300)
emitContracts("little_work", 16, 32, 32)
emitConvolve("window", 28, 64, 128)
emitConvolve("single_pixels", 28, 256, 512, window=1)
emitHalves("halves", True)
emitHalves("half_matrix", False)
emitRoundedLater("rounded_later")
print("}\nmodule @pairs attributes {tenon.machine = #tenon.machine<bf16_pairs = 1>} {")
emitHalves("halves", True)
emitHalves("half_matrix", False)
emitContracts("many_rows", 128, 256, 300, number=2)
emitContracts("odd_depth", 128, 251, 300)
emitConvolve("window", 28, 64, 128)
emitTied("tied")
print("}\nmodule @bytes attributes {tenon.machine = #tenon.machine<amx_bf16 = 1, amx_int8 = 1, l2_bound = 1>} {")
emitContracts("many_rows", 128, 750, 300, number=2)
emitContracts("open_rows", "?", 256, 512)
emitContracts("one_row", 1, 200, 300)
emitConvolve("window", 28, 64, 128)
emitConvolve("single_pixels", 28, 256, 512, window=1)
emitHalves("half_matrix", False)
print("}\nmodule @vectors_alone {")
emitContracts("many_rows", 128, 200, 300)
print("}")
