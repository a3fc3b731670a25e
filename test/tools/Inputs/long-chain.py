# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Writes a model in which each node reads the one before and another one further up: long-chain.py COUNT."""

import sys

count = int(sys.argv[1])
print('func.func @main(%0: tensor<4x4xf32> {tenon.name = "x"}) -> (tensor<4x4xf32> {tenon.name = "y"}) {')
OPS = ["add", "softmax", "mul", "softmax"]
for i in range(1, count + 1):
    op = OPS[i % 4]
    far = max(0, i - 2 - i * i % (9 if i % 40 else i))
    operands, types, attrs = (
        (f"%{i - 1}", "tensor<4x4xf32>", f"{{axis = {i % 8 // 4} : i64}} ")
        if op == "softmax"
        else (f"%{i - 1}, %{far}", "tensor<4x4xf32>, tensor<4x4xf32>", "")
    )
    print(f'  %{i} = tenon.{op} {operands} {attrs}: ({types}) -> tensor<4x4xf32> loc("/layers.{i // 4}/cell/{op}_{i}")')
print(f"  return %{count} : tensor<4x4xf32>\n}}")
