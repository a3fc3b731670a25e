#!/usr/bin/env python3
# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Convolutions with filters of seeded random elements, channels last, as a module of one function each."""

import random
import struct

random.seed(1)


def emit(name, size, channels, filters, window=3, stride=1, pad=0, before=""):
    count = window * window * channels * filters
    bits = struct.pack(f"<{count}f", *(random.gauss(0, 1) for _ in range(count))).hex()
    inner = size + (2 if before else 0)
    out = (inner + 2 * pad - window) // stride + 1
    x, padded = f"tensor<1x{size}x{size}x{channels}xf32>", f"tensor<1x{inner}x{inner}x{channels}xf32>"
    w = f"tensor<{window}x{window}x{channels}x{filters}xf32>"
    y = f"tensor<1x{out}x{out}x{filters}xf32>"
    value = "%x"
    print(f"func.func @{name}(%x: {x}) -> {y} {{")
    print(f'  %w = tenon.weight dense<"0x{bits.upper()}"> : {w} {{name = "w"}}')
    if before:
        value = "%p"
        print(f"  %z = tenon.weight dense<{before}> : tensor<f32>")
        print(f"  %p = tenon.pad constant, %x, %z {{low = #tenon.shape<0, 1, 1, 0>, interior = array<i64: 0, 0, 0, 0>}}")
        print(f"    : ({x}, tensor<f32>) -> {padded}")
    print(f"  %0 = tenon.convolve {value}, %w {{channels_last, dilations = array<i64: 1, 1>, groups = 1 : i64,")
    print(f"    high = array<i64: {pad}, {pad}>, low = array<i64: {pad}, {pad}>, strides = array<i64: {stride}, {stride}>}}")
    print(f"    : ({padded}, {w}) -> {y}")
    print(f"  return %0 : {y}\n}}")


emit("large", 56, 32, 40, pad=1)
emit("padded_before", 56, 32, 32, before="0.0")
emit("padded_with_ones", 56, 32, 32, before="1.0")
emit("strided", 56, 32, 32, stride=2)
emit("one_element", 56, 32, 32, window=1)
emit("few_channels", 56, 1, 32)
emit("small_result", 3, 32, 32)
