#!/usr/bin/env python3
# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Convolutions and products of f32 with seeded constants, for machines with dot products of four int8 and without."""

import random
import struct

random.seed(1)


def emitWeight(shape, element="f32", scale=1):
    count = 1
    for extent in shape:
        count *= extent
    data = b"".join(struct.pack("<f", scale * random.uniform(-1, 1))[0 if element == "f32" else 2 :] for _ in range(count))
    type = f"tensor<{'x'.join(map(str, shape))}x{element}>"
    print(f'  %w = tenon.weight dense<"0x{data.hex().upper()}"> : {type} {{name = "w"}}')
    return type


def emitConvolve(name, channels=48, filters=40, groups=1, after="", element="f32", isConstant=True, scale=1):
    """A window of 3 x 3 with a border. `after` is the operation that computes the images."""
    x, y = f"tensor<2x28x28x{channels}xf32>", f"tensor<2x14x14x{filters}xf32>"
    shape = [3, 3, channels // groups, filters]
    w = f"tensor<{'x'.join(map(str, shape))}xf32>"
    print(f"func.func @{name}(%x: {x}{'' if isConstant else f', %w: {w}'}) -> {y} {{")
    source, matrix = "%x", "%w"
    if isConstant:
        stored = emitWeight(shape, element, scale)
        if element != "f32":
            print(f"  %f = tenon.cast %w : ({stored}) -> {w}")
            matrix = "%f"
    if after == "max":
        print("  %zero = tenon.weight dense<0.0> : tensor<f32>")
        print(f"  %r = tenon.max %x, %zero : ({x}, tensor<f32>) -> {x}")
        source = "%r"
    elif after in ("silu", "gate"):
        print(f"  %s = tenon.sigmoid %x : ({x}) -> {x}")
        print(f"  %r = tenon.mul {'%x, %s' if after == 'silu' else '%s, %s'} : ({x}, {x}) -> {x}")
        source = "%r"
    elif after == "transpose":
        print(f"  %t = tenon.transpose %x {{permutation = array<i64: 0, 3, 1, 2>}} : ({x}) -> tensor<2x{channels}x28x28xf32>")
        print(f"  %n = tenon.neg %t : (tensor<2x{channels}x28x28xf32>) -> tensor<2x{channels}x28x28xf32>")
        print(f"  %r = tenon.transpose %n {{permutation = array<i64: 0, 2, 3, 1>}} : (tensor<2x{channels}x28x28xf32>) -> {x}")
        source = "%r"
    elif after:
        print(f"  %r = tenon.{after} %x : ({x}) -> {x}")
        source = "%r"
    print(f"  %0 = tenon.convolve {source}, {matrix} {{channels_last, dilations = array<i64: 1, 1>, groups = {groups} : i64,")
    print(f"    high = array<i64: 1, 1>, low = array<i64: 1, 1>, strides = array<i64: 2, 2>}} : ({x}, {w}) -> {y}")
    print(f"  return %0 : {y}\n}}")


def emitContract(name, depth=100, columns=96, isTransposed=False):
    x, y = f"tensor<64x{depth}xf32>", f"tensor<64x{columns}xf32>"
    print(f"func.func @{name}(%x: {x}) -> {y} {{")
    w = emitWeight([columns, depth] if isTransposed else [depth, columns])
    print(f"  %0 = tenon.contract %x, %w {{lhs_dims = array<i64: 0, 1>, rhs_dims = array<i64: {'2, 1' if isTransposed else '1, 2'}>,")
    print(f"    result_dims = array<i64: 0, 2>}} : ({x}, {w}) -> {y}")
    print(f"  return %0 : {y}\n}}")


for name, machine in (("dot4", "int8_dot = 4"), ("without", "int8_dot = 2")):
    print(f"module @{name} attributes {{tenon.machine = #tenon.machine<{machine}>}} {{")
    emitConvolve("of_both_signs")
    emitConvolve("after_relu", after="max")
    emitConvolve("after_exp", after="exp")
    emitConvolve("after_tanh", after="tanh")
    emitConvolve("after_silu", after="silu")
    emitConvolve("after_squares", after="gate")
    emitConvolve("after_transpose", after="transpose")
    emitConvolve("odd_channels", channels=37, filters=53)
    emitConvolve("halves", element="bf16")
    emitConvolve("few_filters", filters=3)
    emitConvolve("groups", groups=2)
    emitConvolve("computed_filter", isConstant=False)
    emitConvolve("beyond_numbers", scale=1e38)
    emitContract("rows")
    emitContract("transposed", isTransposed=True)
    print("}")
