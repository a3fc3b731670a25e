#!/usr/bin/env python3
# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Convolutions with filters of seeded random elements, channels last, as a module of one function each.

The arguments are attributes of the module; `--batches` gives the same convolution of 1, 8 and a dynamic number of images."""

import random
import struct
import sys

random.seed(1)


def getType(batch, *extents):
    """A batch of None is dynamic."""
    if batch is not None:
        return f"tensor<{'x'.join(map(str, (batch, *extents)))}xf32>"
    return f"tensor<?x{'x'.join(map(str, extents))}xf32, #tenon.shape<n, {', '.join(map(str, extents))}>>"


def emit(name, size, channels, filters, window=3, stride=1, pad=0, batch=1):
    count = window * window * channels * filters
    bits = struct.pack(f"<{count}f", *(random.gauss(0, 1) for _ in range(count))).hex()
    out = (size + 2 * pad - window) // stride + 1
    x = getType(batch, size, size, channels)
    w = f"tensor<{window}x{window}x{channels}x{filters}xf32>"
    y = getType(batch, out, out, filters)
    print(f"func.func @{name}(%x: {x}) -> {y} {{")
    print(f'  %w = tenon.weight dense<"0x{bits.upper()}"> : {w} {{name = "w"}}')
    print("  %0 = tenon.convolve %x, %w {channels_last, dilations = array<i64: 1, 1>, groups = 1 : i64,")
    print(f"    high = array<i64: {pad}, {pad}>, low = array<i64: {pad}, {pad}>, strides = array<i64: {stride}, {stride}>}}")
    print(f"    : ({x}, {w}) -> {y}")
    print(f"  return %0 : {y}\n}}")


def emitVolume(name, frames, size, channels, filters):
    count = 27 * channels * filters
    bits = struct.pack(f"<{count}f", *(random.gauss(0, 1) for _ in range(count))).hex()
    x = f"tensor<1x{frames}x{size}x{size}x{channels}xf32>"
    w = f"tensor<3x3x3x{channels}x{filters}xf32>"
    y = f"tensor<1x{frames}x{size}x{size}x{filters}xf32>"
    print(f"func.func @{name}(%x: {x}) -> {y} {{")
    print(f'  %w = tenon.weight dense<"0x{bits.upper()}"> : {w}')
    print("  %0 = tenon.convolve %x, %w {channels_last, dilations = array<i64: 1, 1, 1>, groups = 1 : i64,")
    print("    high = array<i64: 1, 1, 1>, low = array<i64: 1, 1, 1>, strides = array<i64: 1, 1, 1>}")
    print(f"    : ({x}, {w}) -> {y}")
    print(f"  return %0 : {y}\n}}")


if "--batches" in sys.argv:
    for batch in (1, 8, None):
        emit(f"batch_{batch}", 14, 256, 256, pad=1, batch=batch)
    sys.exit()

print(f"module attributes {{{', '.join(sys.argv[1:])}}} {{")
emit("large", 56, 32, 40, pad=1)
emit("strided", 56, 32, 32, stride=2)
emit("one_element", 56, 32, 32, window=1)
emit("few_channels", 56, 1, 32)
emit("small_result", 3, 32, 32)
emitVolume("volume", 8, 56, 32, 32)
emit("many_channels", 7, 64, 64, pad=1)
emit("large_weights", 7, 256, 256, pad=1)
emit("many_squares", 56, 64, 64, pad=1)
print("}")
