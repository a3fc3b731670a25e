# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Writes an inverted bottleneck, whose depthwise convolution could be in a kernel with the product before it or with the one behind it."""

import random
import struct

draw = random.Random(5)


def weight(name, *shape):
    count, dims = 1, "x".join(map(str, shape))
    for extent in shape:
        count *= extent
    data = b"".join(struct.pack("<f", draw.uniform(-0.25, 0.25)) for _ in range(count))
    print(f'  %{name} = tenon.weight dense<"0x{data.hex().upper()}"> : tensor<{dims}xf32> {{name = "{name}"}}')


def product(result, x, matrix, rows, depth, columns, node):
    indices = "lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 2, 1>, result_dims = array<i64: 0, 1>"
    types = f"(tensor<{rows}x{depth}xf32>, tensor<{depth}x{columns}xf32>) -> tensor<{rows}x{columns}xf32>"
    print(f'  %{result} = tenon.contract %{x}, %{matrix} {{{indices}}} : {types} loc("{node}")')


print('func.func @main(%x: tensor<1024x16xf32> {tenon.name = "x"}) -> (tensor<1024x16xf32> {tenon.name = "y"}) {')
weight("e", 16, 96)
weight("d", 3, 3, 1, 96)
weight("p", 96, 16)
product("0", "x", "e", 1024, 16, 96, "expand")
print('  %1 = tenon.reshape %0 : (tensor<1024x96xf32>) -> tensor<1x32x32x96xf32> loc("image")')
window = "channels_last, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, groups = 96 : i64"
print(f'  %2 = tenon.convolve %1, %d {{{window}}} : (tensor<1x32x32x96xf32>, tensor<3x3x1x96xf32>) -> tensor<1x32x32x96xf32> loc("depthwise")')
print('  %3 = tenon.reshape %2 : (tensor<1x32x32x96xf32>) -> tensor<1024x96xf32> loc("rows")')
product("4", "3", "p", 1024, 96, 16, "project")
print("  return %4 : tensor<1024x16xf32>\n}")
