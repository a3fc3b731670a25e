#!/usr/bin/env python3
# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Products for machines with multiply-adds of f16 and without."""

import random
import struct

random.seed(1)


def emitWeight(name, shape, element, scale=1.0, first=None):
    numbers = [random.uniform(-scale, scale) for _ in range(shape[0] * shape[1])]
    if first is not None:
        numbers[0] = first
    packed = {"f32": lambda x: struct.pack("<f", x), "f16": lambda x: struct.pack("<e", x), "bf16": lambda x: struct.pack("<f", x)[2:]}[element]
    data = b"".join(map(packed, numbers)).hex().upper()
    print(f'  %{name} = tenon.weight dense<"0x{data}"> : tensor<{shape[0]}x{shape[1]}x{element}> {{name = "{name}"}}')


def emitProducts(name, rows=64, depth=128, columns=96, number=1, element="f32", looksUp=False, isTransposed=False, isRhs=True, isKept=True, **weight):
    """So many products of the same rows, which are dynamic where `rows` is a name."""
    dims = f", #tenon.shape<{rows}, {depth}>" if isinstance(rows, str) else ""
    count = "?" if dims else rows
    x = f"tensor<{count}x{depth}xf32{dims}>"
    shape = (columns, depth) if isTransposed else (depth, columns)
    w = f"tensor<{shape[0]}x{shape[1]}xf32>"
    result = f"{count}x{columns}" if isKept else f"{columns}x{count}"
    y = f"tensor<{result}xf32{dims.replace(str(depth), str(columns))}>"
    results = [y] * number + ([f"tensor<2x{shape[1]}xf32>"] if looksUp else [])
    print(f"func.func @{name}(%x: {x}, %i: tensor<2xi64>) -> ({', '.join(results)}) {{")
    for i in range(number):
        emitWeight(f"w{i}", shape, element, **weight)
        matrix = f"%w{i}"
        if element != "f32":
            print(f"  %f{i} = tenon.cast %w{i} : (tensor<{shape[0]}x{shape[1]}x{element}>) -> {w}")
            matrix = f"%f{i}"
        own = [2, 1] if isTransposed else [1, 2]
        operands = [("%x", x, [0, 1]), (matrix, w, own)]
        (lhs, lhsType, lhsDims), (rhs, rhsType, rhsDims) = operands if isRhs else operands[::-1]
        resultDims = [0, 2] if isKept else [2, 0]
        print(f"  %{i} = tenon.contract {lhs}, {rhs} {{lhs_dims = array<i64: {lhsDims[0]}, {lhsDims[1]}>, rhs_dims = array<i64: {rhsDims[0]}, {rhsDims[1]}>,")
        print(f"    result_dims = array<i64: {resultDims[0]}, {resultDims[1]}>}} : ({lhsType}, {rhsType}) -> {y}")
    if looksUp:
        print(f"  %{number} = tenon.gather %w0, %i {{axis = 0 : i64}} : ({w}, tensor<2xi64>) -> {results[-1]}")
    print(f"  return {', '.join(f'%{i}' for i in range(len(results)))} : {', '.join(results)}\n}}")


def emitOthers():
    """What is no product of f32 rows with a constant."""
    print("""func.func @integers(%x: tensor<64x128xui8>) -> tensor<64x96xi32> {
  %w = tenon.weight dense<3> : tensor<128x96xi8>
  %0 = tenon.contract %x, %w {lhs_dims = array<i64: 0, 1>, rhs_dims = array<i64: 1, 2>, result_dims = array<i64: 0, 2>, result_type = i32}
    : (tensor<64x128xui8>, tensor<128x96xi8>) -> tensor<64x96xi32>
  return %0 : tensor<64x96xi32>
}
func.func @doubles(%x: tensor<64x128xf64>, %w: tensor<128x96xf64>) -> tensor<64x96xf64> {
  %0 = tenon.contract %x, %w {lhs_dims = array<i64: 0, 1>, rhs_dims = array<i64: 1, 2>, result_dims = array<i64: 0, 2>}
    : (tensor<64x128xf64>, tensor<128x96xf64>) -> tensor<64x96xf64>
  return %0 : tensor<64x96xf64>
}
func.func @dynamic_depth(%x: tensor<64x?xf32, #tenon.shape<64, K>>, %w: tensor<?x96xf32, #tenon.shape<K, 96>>) -> tensor<64x96xf32> {
  %0 = tenon.contract %x, %w {lhs_dims = array<i64: 0, 1>, rhs_dims = array<i64: 1, 2>, result_dims = array<i64: 0, 2>}
    : (tensor<64x?xf32, #tenon.shape<64, K>>, tensor<?x96xf32, #tenon.shape<K, 96>>) -> tensor<64x96xf32>
  return %0 : tensor<64x96xf32>
}""")


def emitConvolve(name, channels=64, filters=64, window=3, stride=1, pad=1, groups=1, batch=1, isLast=True):
    size, out = 28, (28 + 2 * pad - window) // stride + 1
    dims = lambda *extents: f"tensor<{'x'.join(map(str, extents))}xf32>"
    x, y = (dims(batch, s, s, c) if isLast else dims(batch, c, s, s) for s, c in ((size, channels), (out, filters)))
    shape = (window, window, channels // groups, filters) if isLast else (filters, channels // groups, window, window)
    print(f"func.func @{name}(%x: {x}) -> {y} {{")
    data = struct.pack(f"<{window * window * channels // groups * filters}f", *(random.uniform(-1, 1) for _ in range(window * window * channels // groups * filters)))
    print(f'  %w = tenon.weight dense<"0x{data.hex().upper()}"> : {dims(*shape)} {{name = "w"}}')
    print(f"  %0 = tenon.convolve %x, %w {{{'channels_last, ' if isLast else ''}dilations = array<i64: 1, 1>, groups = {groups} : i64, high = array<i64: {pad}, {pad}>,")
    print(f"    low = array<i64: {pad}, {pad}>, strides = array<i64: {stride}, {stride}>}} : ({x}, {dims(*shape)}) -> {y}")
    print(f"  return %0 : {y}\n}}")


for name, machine in (("f16", "vector_bytes = 16, vector_registers = 32, f16_fma = 1"), ("without", "vector_bytes = 16, vector_registers = 32")):
    print(f"module @{name} attributes {{tenon.machine = #tenon.machine<{machine}>}} {{")
    emitProducts("rows", number=2)
    emitProducts("dynamic_rows", rows="N")
    emitProducts("transposed", isTransposed=True)
    emitProducts("matrix_first", isRhs=False)
    emitProducts("halves", element="f16")
    emitProducts("bfloats", element="bf16")
    emitProducts("large_matrix", scale=1e20)
    emitProducts("few_rows", rows=4)
    emitProducts("columns_first", isKept=False)
    emitProducts("looked_up", looksUp=True)
    emitProducts("beyond_scales", scale=1e30)
    emitProducts("infinite", first=float("inf"))
    emitOthers()
    emitConvolve("strided", stride=2, batch=2)
    emitConvolve("single_pixels", window=1, stride=2, pad=0)
    emitConvolve("few_channels", channels=3, stride=2)
    emitConvolve("unit_strides")
    emitConvolve("grouped", groups=2)
    emitConvolve("channels_first", isLast=False, stride=2)
    print("}")
