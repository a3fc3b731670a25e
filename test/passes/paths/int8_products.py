#!/usr/bin/env python3
# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Products of unsigned bytes with signed ones of seeded weights, as modules for machines with tile registers and without."""

import random

random.seed(1)


def emitWeight(*shape, makeBytes=random.randbytes):
    count = 1
    for extent in shape:
        count *= extent
    text = "x".join(map(str, shape))
    print(f'  %w = tenon.weight dense<"0x{makeBytes(count).hex().upper()}"> : tensor<{text}xi8>')
    return f"tensor<{text}xi8>"


def emitContract(name, rows, depth, columns, makeBytes=random.randbytes):
    x, y = f"tensor<{rows}x{depth}xui8>", f"tensor<{rows}x{columns}xi32>"
    print(f"func.func @{name}(%x: {x}) -> {y} {{")
    w = emitWeight(depth, columns, makeBytes=makeBytes)
    print("  %0 = tenon.contract %x, %w {lhs_dims = array<i64: 0, 1>, rhs_dims = array<i64: 1, 2>,")
    print(f"    result_dims = array<i64: 0, 2>, result_type = i32}} : ({x}, {w}) -> {y}")
    print(f"  return %0 : {y}\n}}")


def emitConvolve(name, size, channels, filters, stride=1, makeBytes=random.randbytes, isOpen=False):
    def makeType(size, channels, element):
        images, dims = ("?", f", #tenon.shape<N, {size}, {size}, {channels}>") if isOpen else ("1", "")
        return f"tensor<{images}x{size}x{size}x{channels}x{element}{dims}>"

    x, y = makeType(size, channels, "ui8"), makeType(size // stride, filters, "i32")
    print(f"func.func @{name}(%x: {x}) -> {y} {{")
    w = emitWeight(3, 3, channels, filters, makeBytes=makeBytes)
    print("  %0 = tenon.convolve %x, %w {channels_last, dilations = array<i64: 1, 1>, groups = 1 : i64,")
    print(f"    high = array<i64: 1, 1>, low = array<i64: 1, 1>, result_type = i32, strides = array<i64: {stride}, {stride}>}}")
    print(f"    : ({x}, {w}) -> {y}")
    print(f"  return %0 : {y}\n}}")


print("module @tile_registers attributes {tenon.machine = #tenon.machine<amx_int8 = 1, int8_dot = 4>} {")
emitContract("many_rows", 64, 64, 32)
emitContract("one_row", 1, 64, 32)
emitContract("little_depth", 64, 3, 32)
emitConvolve("window", 28, 64, 64)
print("}\nmodule @vectors_alone attributes {tenon.machine = #tenon.machine<int8_dot = 2>} {")
emitContract("many_rows", 64, 64, 32)
emitContract("seven_bits", 64, 64, 32, lambda count: bytes(random.randint(-64, 64) % 256 for _ in range(count)))
# Rows of 32 columns: the first two, with which neighbours are 64 and 64, 65 and 64, -64 and -65 in one column.
for name, first, second in (("fits", 64, 64), ("too_large", 65, 64), ("too_small", -64, -65), ("signs_differ", 127, -128)):
    emitContract(name, 64, 3, 32, lambda count: bytes([first % 256, *[0] * 31, second % 256, *[0] * 31, *[127] * 32]))
emitContract("one_row", 1, 64, 32, lambda count: bytes(random.randint(-64, 64) % 256 for _ in range(count)))
emitConvolve("squares", 64, 63, 32)
# The largest sums of 115 channels and of 116 are on both sides of 2^25.
for channels in (115, 116):
    emitConvolve(f"largest_of_{channels}", 64, channels, 32, makeBytes=lambda count: bytes([127] * (count - 1) + [126]))
emitConvolve("few_squares", 4, 512, 512, makeBytes=lambda count: bytes([1] * (count - 1) + [2]))
emitConvolve("few_squares_of_open_images", 4, 512, 512, makeBytes=lambda count: bytes([1] * (count - 1) + [2]), isOpen=True)
emitConvolve("strides", 64, 64, 32, stride=2)
print("}\nmodule @plain attributes {tenon.machine = #tenon.machine<int8_dot = 1>} {")
emitConvolve("squares", 64, 64, 32)
print("}\nmodule @dot4 attributes {tenon.machine = #tenon.machine<int8_dot = 4>} {")
emitContract("seven_bits", 64, 64, 32, lambda count: bytes(random.randint(-64, 64) % 256 for _ in range(count)))
print("}")
