# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints a model in the tenon dialect: so many layers of N x N weights, all different, each 4 N^2 bytes.

    layers.py LAYERS N
"""
import sys

layers, n = map(int, sys.argv[1:])
print(f"""func.func @main(%x: tensor<4x{n}xf32, #tenon.shape<4, {n}>> {{tenon.name = "x"}})
    -> (tensor<4x{n}xf32, #tenon.shape<4, {n}>> {{tenon.name = "y"}}) {{
  %rows = tenon.iota {{axis = 0 : i64}} : () -> tensor<{n}x{n}xf32>
  %columns = tenon.iota {{axis = 1 : i64}} : () -> tensor<{n}x{n}xf32>
  %w0 = tenon.mul %rows, %columns : (tensor<{n}x{n}xf32>, tensor<{n}x{n}xf32>) -> tensor<{n}x{n}xf32>""")
last = "%x"
for i in range(1, layers + 1):
    print(f"""  %a{i} = tenon.add %w{i - 1}, %rows : (tensor<{n}x{n}xf32>, tensor<{n}x{n}xf32>) -> tensor<{n}x{n}xf32>
  %w{i} = tenon.sin %a{i} : (tensor<{n}x{n}xf32>) -> tensor<{n}x{n}xf32>
  %p{i} = tenon.contract {last}, %w{i} {{lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 2, 1>, result_dims = array<i64: 0, 1>}}
    : (tensor<4x{n}xf32, #tenon.shape<4, {n}>>, tensor<{n}x{n}xf32>) -> tensor<4x{n}xf32, #tenon.shape<4, {n}>>
  %y{i} = tenon.tanh %p{i} : (tensor<4x{n}xf32, #tenon.shape<4, {n}>>) -> tensor<4x{n}xf32, #tenon.shape<4, {n}>>""")
    last = f"%y{i}"
print(f"""  return {last} : tensor<4x{n}xf32, #tenon.shape<4, {n}>>
}}""")
