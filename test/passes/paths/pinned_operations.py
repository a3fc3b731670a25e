# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""A function of two equal convolutions and a product, whose nodes have names."""

import random
import struct

random.seed(1)


def getWeight(name, *shape):
    count = 1
    for extent in shape:
        count *= extent
    bits = struct.pack(f"<{count}f", *(random.gauss(0, 1) for _ in range(count))).hex().upper()
    return f'  %{name} = tenon.weight dense<"0x{bits}"> : tensor<{"x".join(map(str, shape))}xf32> {{name = "{name}"}}'


IMAGE, MATRIX = "tensor<1x28x28x32xf32>", "tensor<64x128xf32>"
CONVOLVE = """  %{0} = tenon.convolve %{1}, %w {{channels_last, dilations = array<i64: 1, 1>, groups = 1 : i64,
    high = array<i64: 1, 1>, low = array<i64: 1, 1>, strides = array<i64: 1, 1>}}
    : ({2}, tensor<3x3x32x32xf32>) -> {2} loc("{3}")"""

print(f"func.func @two(%x: {IMAGE}, %y: {MATRIX}) -> ({IMAGE}, {MATRIX}) {{")
print(getWeight("w", 3, 3, 32, 32))
print(CONVOLVE.format(0, "x", IMAGE, "first.conv"))
print(CONVOLVE.format(1, "0", IMAGE, "second"))
print(getWeight("m", 128, 128))
print(f"""  %2 = tenon.contract %y, %m {{lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 2, 1>, result_dims = array<i64: 0, 1>}}
    : ({MATRIX}, tensor<128x128xf32>) -> {MATRIX} loc("product")
  return %1, %2 : {IMAGE}, {MATRIX}
}}""")
