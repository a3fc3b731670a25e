# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Products of f32 with seeded random matrices of floats, as functions of the dialect."""

import random
import struct

random.seed(1)


def emitProduct(name, rows="64", depth=128, columns=96, isTransposed=False, element="f32", largest=1.0, looksUp=False, number=1):
    """So many products of the same rows, of which a lookup may read the first matrix, too."""
    shape = (columns, depth) if isTransposed else (depth, columns)
    x, w, y = f"tensor<{rows}x{depth}xf32>", f"tensor<{shape[0]}x{shape[1]}xf32>", f"tensor<{rows}x{columns}xf32>"
    results = [y] * number + ([f"tensor<2x{shape[1]}xf32>"] if looksUp else [])
    print(f"func.func @{name}(%x: {x}, %i: tensor<2xi64>) -> ({', '.join(results)}) {{")
    for i in range(number):
        # The upper half of an f32 is a bf16.
        data = b"".join(struct.pack("<f", random.uniform(-largest, largest))[0 if element == "f32" else 2 :] for _ in range(depth * columns))
        stored = f"tensor<{shape[0]}x{shape[1]}x{element}>"
        print(f'  %w{i} = tenon.weight dense<"0x{data.hex().upper()}"> : {stored} {{name = "w{i}"}}')
        matrix = f"%w{i}"
        if element != "f32":
            matrix = f"%f{i}"
            print(f"  {matrix} = tenon.cast %w{i} : ({stored}) -> {w}")
        print(f"  %{i} = tenon.contract %x, {matrix} {{lhs_dims = array<i64: 0, 1>, rhs_dims = array<i64: {'2, 1' if isTransposed else '1, 2'}>,")
        print(f"    result_dims = array<i64: 0, 2>}} : ({x}, {w}) -> {y}")
    if looksUp:
        print(f"  %{number} = tenon.gather %w0, %i {{axis = 0 : i64}} : ({w}, tensor<2xi64>) -> {results[-1]}")
    print(f"  return {', '.join(f'%{i}' for i in range(len(results)))} : {', '.join(results)}\n}}")
