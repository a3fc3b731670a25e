// RUN: tenon-opt %s -pass-pipeline='builtin.module(func.func(tenon-simplify))' | FileCheck %s
// Zeros between pixels are not multiplied: each pixel has as many results as the zeros and itself take up.

// Four taps, two results a pixel: two taps each. The first and the last result lie beyond the ends.
// CHECK-LABEL: @as_many_taps_for_each_result
// CHECK-SAME: %[[X:.*]]: tensor<1x3x5xf32>
// CHECK: %[[REVERSED:.*]] = tenon.slice {{.*}} {starts = #tenon.shape<0, 0, 0, 0, 1>, steps = array<i64: 1, 1, 1, 1, -1>}
// CHECK: %[[MOVED:.*]] = tenon.transpose %[[REVERSED]] {permutation = array<i64: 0, 4, 1, 2, 3>}
// CHECK: %[[FILTER:.*]] = tenon.reshape %[[MOVED]] : {{.*}} -> tensor<12x3x2xf32>
// CHECK: %[[Y:.*]] = tenon.convolve %[[X]], %[[FILTER]] {{.*}} high = array<i64: 1>, low = array<i64: 1>{{.*}} -> tensor<1x12x6xf32>
// CHECK: tenon.reshape %[[Y]] : (tensor<1x12x6xf32>) -> tensor<1x1x2x6x6xf32>
// CHECK: tenon.transpose {{.*}} -> tensor<1x1x6x6x2xf32>
// CHECK: %[[ALL:.*]] = tenon.reshape {{.*}} -> tensor<1x6x12xf32>
// CHECK: tenon.slice %[[ALL]] {starts = #tenon.shape<0, 0, 1>, {{.*}} -> tensor<1x6x10xf32>
// CHECK-NOT: tenon.pad
func.func @as_many_taps_for_each_result(%x: tensor<1x3x5xf32>) -> tensor<1x6x10xf32> {
  %w = tenon.weight dense<2.0> : tensor<6x3x4xf32>
  %zero = tenon.weight dense<0.0> : tensor<f32>
  %0 = tenon.pad constant, %x, %zero {low = #tenon.shape<0, 0, 0>, interior = array<i64: 0, 0, 1>}
    : (tensor<1x3x5xf32>, tensor<f32>) -> tensor<1x3x9xf32>
  %1 = tenon.convolve %0, %w {strides = array<i64: 1>, dilations = array<i64: 1>, low = array<i64: 2>, high = array<i64: 2>,
    groups = 1 : i64} : (tensor<1x3x9xf32>, tensor<6x3x4xf32>) -> tensor<1x6x10xf32>
  return %1 : tensor<1x6x10xf32>
}

// Three taps of open images: one more is zero. Each group has its own results.
// CHECK-LABEL: @fewer_taps_for_some_results
// CHECK: tenon.pad constant, %{{.*}} : (tensor<4x1x3xf32>, tensor<f32>) -> tensor<4x1x4xf32>
// CHECK: tenon.convolve {{.*}} groups = 2 {{.*}} (tensor<?x2x?xf32, {{.*}}>, tensor<8x1x2xf32>)
// CHECK: tenon.transpose {{.*}} {permutation = array<i64: 0, 1, 3, 4, 2>}
func.func @fewer_taps_for_some_results(%x: tensor<?x2x?xf32, #tenon.shape<N, 2, L>>)
    -> tensor<?x4x?xf32, #tenon.shape<N, 4, 2 * L + 1>> {
  %w = tenon.weight dense<2.0> : tensor<4x1x3xf32>
  %zero = tenon.weight dense<0.0> : tensor<f32>
  %0 = tenon.pad constant, %x, %zero {low = #tenon.shape<0, 0, 0>, interior = array<i64: 0, 0, 1>}
    : (tensor<?x2x?xf32, #tenon.shape<N, 2, L>>, tensor<f32>) -> tensor<?x2x?xf32, #tenon.shape<N, 2, 2 * L + -1>>
  %1 = tenon.convolve %0, %w {strides = array<i64: 1>, dilations = array<i64: 1>, low = array<i64: 2>, high = array<i64: 2>,
    groups = 2 : i64} : (tensor<?x2x?xf32, #tenon.shape<N, 2, 2 * L + -1>>, tensor<4x1x3xf32>) -> tensor<?x4x?xf32, #tenon.shape<N, 4, 2 * L + 1>>
  return %1 : tensor<?x4x?xf32, #tenon.shape<N, 4, 2 * L + 1>>
}

// Taps that are apart themselves, and filters that only the run gives, stay as they are.
// CHECK-LABEL: @others
// CHECK-COUNT-2: tenon.pad
func.func @others(%x: tensor<1x1x5xf32>, %f: tensor<1x1x2xf32>) -> (tensor<1x1x7xf32>, tensor<1x1x8xf32>) {
  %w = tenon.weight dense<2.0> : tensor<1x1x2xf32>
  %zero = tenon.weight dense<0.0> : tensor<f32>
  %0 = tenon.pad constant, %x, %zero {low = #tenon.shape<0, 0, 0>, interior = array<i64: 0, 0, 1>}
    : (tensor<1x1x5xf32>, tensor<f32>) -> tensor<1x1x9xf32>
  %1 = tenon.convolve %0, %w {strides = array<i64: 1>, dilations = array<i64: 2>, low = array<i64: 0>, high = array<i64: 0>,
    groups = 1 : i64} : (tensor<1x1x9xf32>, tensor<1x1x2xf32>) -> tensor<1x1x7xf32>
  %2 = tenon.pad constant, %x, %zero {low = #tenon.shape<0, 0, 0>, interior = array<i64: 0, 0, 1>}
    : (tensor<1x1x5xf32>, tensor<f32>) -> tensor<1x1x9xf32>
  %3 = tenon.convolve %2, %f {strides = array<i64: 1>, dilations = array<i64: 1>, low = array<i64: 0>, high = array<i64: 0>,
    groups = 1 : i64} : (tensor<1x1x9xf32>, tensor<1x1x2xf32>) -> tensor<1x1x8xf32>
  return %1, %3 : tensor<1x1x7xf32>, tensor<1x1x8xf32>
}
