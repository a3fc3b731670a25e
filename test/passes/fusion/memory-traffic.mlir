// RUN: tenon-opt %s -pass-pipeline='builtin.module(func.func(tenon-fuse),tenon-outline)' | FileCheck %s

// All that is read and written, once: 200 + 400 + 40 + 200 bytes.
// CHECK-DAG: func.func private @{{k[0-9]+}}_contract{{.*}}tenon.bytes = #tenon.shape<840>
func.func @product(%x: tensor<5x10xf32>, %w: tensor<10x10xf32>, %b: tensor<10xf32>) -> tensor<5x10xf32> {
  %0 = tenon.contract %x, %w {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 2, 1>, result_dims = array<i64: 0, 1>}
    : (tensor<5x10xf32>, tensor<10x10xf32>) -> tensor<5x10xf32>
  %1 = tenon.add %0, %b : (tensor<5x10xf32>, tensor<10xf32>) -> tensor<5x10xf32>
  return %1 : tensor<5x10xf32>
}

// Of a table no more is read than is looked up: 96 + 48 + 96 bytes.
// CHECK-DAG: func.func private @{{k[0-9]+}}_gather{{.*}}tenon.bytes = #tenon.shape<240>
func.func @lookup(%table: tensor<1000x4xf32>, %i: tensor<2x3xi64>) -> tensor<2x3x4xf32> {
  %0 = tenon.gather %table, %i {axis = 0 : i64} : (tensor<1000x4xf32>, tensor<2x3xi64>) -> tensor<2x3x4xf32>
  return %0 : tensor<2x3x4xf32>
}
