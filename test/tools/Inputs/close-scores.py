# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""scores.mlir: the largest and the three largest of products whose columns are close to each other."""

import random

ROWS, FEATURES, COLUMNS = 64, 256, 512

random.seed(5)
column = [random.gauss(0, 1) for _ in range(FEATURES)]
matrix = [[x + random.gauss(0, 0.02) for _ in range(COLUMNS)] for x in column]
values = ", ".join("[" + ", ".join(f"{x:.6e}" for x in row) + "]" for row in matrix)
with open("scores.mlir", "w") as file:
    file.write(
        f"""func.func @main(%x: tensor<{ROWS}x{FEATURES}xf32> {{tenon.name = "x"}})
    -> (tensor<{ROWS}xi64> {{tenon.name = "best"}}, tensor<{ROWS}x3xi64> {{tenon.name = "three"}}) {{
  %w = tenon.weight dense<[{values}]> : tensor<{FEATURES}x{COLUMNS}xf32>
  %y = tenon.contract %x, %w {{lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 2, 1>, result_dims = array<i64: 0, 1>}} : (tensor<{ROWS}x{FEATURES}xf32>, tensor<{FEATURES}x{COLUMNS}xf32>) -> tensor<{ROWS}x{COLUMNS}xf32> loc("scores")
  %best = tenon.arg_reduce max, %y {{axis = 1 : i64}} : (tensor<{ROWS}x{COLUMNS}xf32>) -> tensor<{ROWS}xi64>
  %three, %places = tenon.top_k %y {{axis = 1 : i64}} : (tensor<{ROWS}x{COLUMNS}xf32>) -> (tensor<{ROWS}x3xf32>, tensor<{ROWS}x3xi64>)
  return %best, %places : tensor<{ROWS}xi64>, tensor<{ROWS}x3xi64>
}}
"""
    )
