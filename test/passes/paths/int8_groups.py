#!/usr/bin/env python3
# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Products of f32 with quantized matrices, for machines with dot products of four int8 and without."""

import random
import sys

sys.dont_write_bytecode = True

from matrices import emitProduct

random.seed(1)


def emitWeight(name, shape, element, data):
    text = "x".join(map(str, shape))
    print(f'  %{name} = tenon.weight dense<"0x{data.hex().upper()}"> : tensor<{text}x{element}> {{name = "{name}"}}')
    return f"tensor<{text}x{element}>"


def emitProducts(name, rows, depth, columns, block, element="i8", zeros=False, number=1):
    x, w, y = f"tensor<{rows}x{depth}xf32>", f"tensor<{depth}x{columns}xf32>", f"tensor<{rows}x{columns}xf32>"
    print(f"func.func @{name}(%x: {x}) -> ({', '.join([y] * number)}) {{")
    limit = 16 if element == "ui4" else 256
    for i in range(number):
        q = emitWeight(f"q{i}", (depth, columns), element, bytes(random.randrange(limit) for _ in range(depth * columns)))
        scale = (0x3C + i).to_bytes(1, "little")
        s = emitWeight(f"s{i}", (-(-depth // block), columns), "f16", (b"\0" + scale) * (-(-depth // block) * columns))
        zero, types = "", f"{q}, {s}"
        if zeros:
            z = emitWeight(f"z{i}", (1, 1), "i8", b"\x08")
            zero, types = f", %z{i}", f"{q}, {s}, {z}"
        print(f"  %w{i} = tenon.dequantize %q{i}, %s{i}{zero} {{axis = 0 : i64, block = {block} : i64, result_type = f32}} : ({types}) -> {w}")
        print(f"  %{i} = tenon.contract %x, %w{i} {{lhs_dims = array<i64: 0, 1>, rhs_dims = array<i64: 1, 2>,")
        print(f"    result_dims = array<i64: 0, 2>}} : ({x}, {w}) -> {y}")
    print(f"  return {', '.join(f'%{i}' for i in range(number))} : {', '.join([y] * number)}\n}}")


def emitFloats(name, depth=128, **options):
    emitProduct(name, rows="8", depth=depth, isTransposed=True, **options)


for name, machine in (("dot4", "int8_dot = 4"), ("without", "int8_dot = 2")):
    print(f"module @{name} attributes {{tenon.machine = #tenon.machine<{machine}>}} {{")
    emitProducts("rows", 8, 128, 96, 32, number=2)
    emitProducts("one_scale", 8, 128, 96, 128)
    emitProducts("short_groups", 8, 48, 96, 16, "ui4")
    emitProducts("part_of_a_group", 8, 136, 96, 32)
    emitProducts("words_in_two_groups", 8, 36, 96, 12)
    emitProducts("nine_bits", 8, 128, 96, 32, zeros=True)
    emitFloats("floats")
    emitFloats("halves", element="bf16")
    emitFloats("looked_up", looksUp=True)
    emitFloats("parts", depth=100)
    print("}")
