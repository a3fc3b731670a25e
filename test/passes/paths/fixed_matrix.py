#!/usr/bin/env python3
# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Products of f32 with seeded weights, for a machine whose caches hold few of them."""

import random
import struct

random.seed(1)


def emitWeight(name, rows, columns, largest=None):
    numbers = [random.uniform(-1, 1) for _ in range(rows * columns)]
    if largest:
        numbers[0] = largest
    data = struct.pack(f"<{len(numbers)}f", *numbers)
    print(f'  %{name} = tenon.weight dense<"0x{data.hex().upper()}"> : tensor<{rows}x{columns}xf32> {{name = "{name}"}}')
    return f"tensor<{rows}x{columns}xf32>"


def emitContract(name, rows, depth, columns, largest=None, attributes=""):
    x, y = f"tensor<{rows}x{depth}xf32>", f"tensor<{rows}x{columns}xf32>"
    print(f"func.func @{name}(%x: {x}) -> {y} {attributes}{{")
    w = emitWeight("w", depth, columns, largest)
    print("  %0 = tenon.contract %x, %w {lhs_dims = array<i64: 0, 1>, rhs_dims = array<i64: 1, 2>, result_dims = array<i64: 0, 2>}")
    print(f"    : ({x}, {w}) -> {y}")
    print(f"  return %0 : {y}\n}}")


def emitTied(name):
    """An embedding that is the matrix of the output, too."""
    print(f"func.func @{name}(%i: tensor<1xi64>) -> tensor<1x300xf32> {{")
    w = emitWeight("w", 300, 64)
    print(f"  %0 = tenon.gather %w, %i {{axis = 0 : i64}} : ({w}, tensor<1xi64>) -> tensor<1x64xf32>")
    print("  %1 = tenon.contract %0, %w {lhs_dims = array<i64: 0, 1>, rhs_dims = array<i64: 2, 1>, result_dims = array<i64: 0, 2>}")
    print(f"    : (tensor<1x64xf32>, {w}) -> tensor<1x300xf32>")
    print("  return %1 : tensor<1x300xf32>\n}")


def emitSmall(name):
    """Beside a product of many rows one of a row is nothing."""
    print(f"func.func @{name}(%x: tensor<512x64xf32>, %y: tensor<1x64xf32>) -> (tensor<512x512xf32>, tensor<1x64xf32>) {{")
    w, v = emitWeight("w", 64, 512), emitWeight("v", 64, 64)
    print("  %0 = tenon.contract %x, %w {lhs_dims = array<i64: 0, 1>, rhs_dims = array<i64: 1, 2>, result_dims = array<i64: 0, 2>}")
    print(f"    : (tensor<512x64xf32>, {w}) -> tensor<512x512xf32>")
    print("  %1 = tenon.contract %y, %v {lhs_dims = array<i64: 0, 1>, rhs_dims = array<i64: 1, 2>, result_dims = array<i64: 0, 2>}")
    print(f"    : (tensor<1x64xf32>, {v}) -> tensor<1x64xf32>")
    print("  return %0, %1 : tensor<512x512xf32>, tensor<1x64xf32>\n}")


print("module attributes {tenon.machine = #tenon.machine<vector_bytes = 32, l2_bytes = 4096, llc_bytes = 8192>} {")
emitContract("one_row", 1, 64, 300)
emitContract("few_rows", 3, 64, 300)
emitContract("many_rows", 64, 64, 300)
emitContract("open_rows", "?", 64, 300)
emitContract("no_whole_groups", 1, 62, 300)
emitContract("fours", 1, 60, 300)
emitContract("one_large", 1, 64, 300, largest=40.0)
emitContract("not_finite", 1, 64, 300, largest=float("inf"))
emitContract("in_the_cache", 1, 32, 32)
emitTied("tied")
emitSmall("little_to_save")
emitContract("shared", 1, 64, 300, attributes="attributes {tenon.shares_weights} ")
print("}")
