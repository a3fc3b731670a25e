#!/usr/bin/env python3
# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Products of f32 with seeded weights, some of which have halves that are worth it."""

import random
import struct

random.seed(1)


def emitWeight(rows, columns):
    data = struct.pack(f"<{rows * columns}f", *(random.uniform(-1, 1) for _ in range(rows * columns)))
    print(f'  %w = tenon.weight dense<"0x{data.hex().upper()}"> : tensor<{rows}x{columns}xf32> {{name = "w"}}')


def emitProduct(name, rows, depth, columns, isTransposed=False, isReadTwice=False, attributes=""):
    """`rows` are those of one dimension or several."""
    text = "x".join(map(str, rows))
    x, y = f"tensor<{text}x{depth}xf32>", f"tensor<{text}x{columns}xf32>"
    print(f"func.func @{name}(%x: {x}) -> {y} {attributes}{{")
    shape = (columns, depth) if isTransposed else (depth, columns)
    emitWeight(*shape)
    w, n, last = f"tensor<{shape[0]}x{shape[1]}xf32>", len(rows), len(rows) + 1
    own = [*range(n)]
    dims = lambda values: ", ".join(map(str, values))
    print(f"  %0 = tenon.contract %x, %w {{lhs_dims = array<i64: {dims([*own, last])}>, rhs_dims = array<i64: {dims([n, last] if isTransposed else [last, n])}>,")
    print(f"    result_dims = array<i64: {dims([*own, n])}>}} : ({x}, {w}) -> {y}")
    if isReadTwice:
        print(f"  %1 = tenon.reduce max, %w {{axes = array<i64: 0>}} : ({w}) -> tensor<{shape[1]}xf32>")
        print(f"  %2 = tenon.add %0, %1 : ({y}, tensor<{shape[1]}xf32>) -> {y}")
    print(f"  return %{2 if isReadTwice else 0} : {y}\n}}")


# Short vectors: a product takes long beside a sum.
print("module attributes {tenon.machine = #tenon.machine<vector_bytes = 16>} {")
emitProduct("rows", [128], 512, 512)
emitProduct("odd_rows", [3, 47], 512, 512, isTransposed=True)
emitProduct("odd_columns", [128], 512, 513)
emitProduct("read_twice", [128], 512, 512, isReadTwice=True)
emitProduct("other_programs", [128], 512, 512, attributes="attributes {tenon.shares_weights} ")
emitProduct("small", [16], 64, 64)
emitProduct("odd_depth", [128], 511, 512)
emitProduct("one_panel", [128], 512, 16)
print("}")
