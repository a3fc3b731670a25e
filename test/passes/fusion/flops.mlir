// RUN: tenon-opt %s -pass-pipeline='builtin.module(func.func(tenon-fuse),tenon-outline)' | FileCheck %s

// Two for each product that is summed, one for each element of what follows; moving elements is none.
// CHECK-DAG: func.func private @{{k[0-9]+}}_transpose{{.*}}tenon.flops = #tenon.shape<0>
// CHECK-DAG: func.func private @{{k[0-9]+}}_contract{{.*}}tenon.flops = #tenon.shape<1100>
func.func @product(%x: tensor<5x10xf32>, %w: tensor<10x10xf32>, %b: tensor<10xf32>) -> tensor<5x10xf32> {
  %0 = tenon.transpose %w {permutation = array<i64: 1, 0>} : (tensor<10x10xf32>) -> tensor<10x10xf32>
  %1 = tenon.contract %x, %0 {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 2, 1>, result_dims = array<i64: 0, 1>}
    : (tensor<5x10xf32>, tensor<10x10xf32>) -> tensor<5x10xf32>
  %2 = tenon.add %1, %b : (tensor<5x10xf32>, tensor<10xf32>) -> tensor<5x10xf32>
  %3 = tenon.relu %2 : (tensor<5x10xf32>) -> tensor<5x10xf32>
  return %3 : tensor<5x10xf32>
}

// Of a convolution in groups each element sums those of its group: 1 * 4 * 7 * 7 * 2 * 9 * 3.
// CHECK-DAG: func.func private @{{k[0-9]+}}_convolve{{.*}}tenon.flops = #tenon.shape<10584>
func.func @groups(%x: tensor<1x7x7x6xf32>, %f: tensor<3x3x3x4xf32>) -> tensor<1x7x7x4xf32> {
  %0 = tenon.convolve %x, %f {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>,
    high = array<i64: 1, 1>, groups = 2 : i64, channels_last} : (tensor<1x7x7x6xf32>, tensor<3x3x3x4xf32>) -> tensor<1x7x7x4xf32>
  return %0 : tensor<1x7x7x4xf32>
}

// CHECK-DAG: func.func private @{{k[0-9]+}}_reduce{{.*}}tenon.flops = #tenon.shape<30>
func.func @sum(%x: tensor<5x6xf32>) -> tensor<5xf32> {
  %0 = tenon.reduce sum, %x {axes = array<i64: 1>} : (tensor<5x6xf32>) -> tensor<5xf32>
  return %0 : tensor<5xf32>
}

// Dynamic extents are counted by symbols.
// CHECK-DAG: func.func private @{{k[0-9]+}}_neg{{.*}}tenon.flops = #tenon.shape<s0>
func.func @open(%x: tensor<?xf32, #tenon.shape<N>>) -> tensor<?xf32, #tenon.shape<N>> {
  %0 = tenon.neg %x : (tensor<?xf32, #tenon.shape<N>>) -> tensor<?xf32, #tenon.shape<N>>
  return %0 : tensor<?xf32, #tenon.shape<N>>
}
