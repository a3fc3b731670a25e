// RUN: tenon-opt %s -pass-pipeline='builtin.module(func.func(tenon-simplify))' | FileCheck %s
// What is written out as means, roots and divisions is one operation.

// CHECK-LABEL: @root_mean_square
// CHECK-SAME: %[[X:.*]]: tensor<4x8xf32>
// CHECK: tenon.rms_norm %[[X]], %{{.*}} {axis = 1 : i64, epsilon = 1.000000e+00 : f64}
// CHECK-NOT: tenon.reduce
func.func @root_mean_square(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %two = tenon.weight dense<2.0> : tensor<f32>
  %size = tenon.weight dense<8.0> : tensor<f32>
  %one = tenon.weight dense<1.0> : tensor<f32>
  %0 = tenon.pow %x, %two : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %1 = tenon.reduce sum, %0 {axes = array<i64: 1>} : (tensor<4x8xf32>) -> tensor<4xf32>
  %2 = tenon.reshape %1 : (tensor<4xf32>) -> tensor<4x1xf32>
  %3 = tenon.div %2, %size : (tensor<4x1xf32>, tensor<f32>) -> tensor<4x1xf32>
  %4 = tenon.add %3, %one : (tensor<4x1xf32>, tensor<f32>) -> tensor<4x1xf32>
  %5 = tenon.sqrt %4 : (tensor<4x1xf32>) -> tensor<4x1xf32>
  %6 = tenon.div %one, %5 : (tensor<f32>, tensor<4x1xf32>) -> tensor<4x1xf32>
  %7 = tenon.mul %x, %6 : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  return %7 : tensor<4x8xf32>
}

// Of open rows, and of what is left of the mean.
// CHECK-LABEL: @distance_from_the_mean
// CHECK-SAME: %[[X:.*]]: tensor<?x8xf32, #tenon.shape<N, 8>>
// CHECK: tenon.layer_norm %[[X]], %{{.*}} {axis = 1 : i64, epsilon = 1.000000e+00 : f64}
// CHECK-NOT: tenon.reduce
func.func @distance_from_the_mean(%x: tensor<?x8xf32, #tenon.shape<N, 8>>) -> tensor<?x8xf32, #tenon.shape<N, 8>> {
  %size = tenon.weight dense<8.0> : tensor<f32>
  %one = tenon.weight dense<1.0> : tensor<f32>
  %0 = tenon.reduce sum, %x {axes = array<i64: 1>, keepdims = true} : (tensor<?x8xf32, #tenon.shape<N, 8>>) -> tensor<?x1xf32, #tenon.shape<N, 1>>
  %1 = tenon.div %0, %size : (tensor<?x1xf32, #tenon.shape<N, 1>>, tensor<f32>) -> tensor<?x1xf32, #tenon.shape<N, 1>>
  %2 = tenon.sub %x, %1 : (tensor<?x8xf32, #tenon.shape<N, 8>>, tensor<?x1xf32, #tenon.shape<N, 1>>) -> tensor<?x8xf32, #tenon.shape<N, 8>>
  %3 = tenon.mul %2, %2 : (tensor<?x8xf32, #tenon.shape<N, 8>>, tensor<?x8xf32, #tenon.shape<N, 8>>) -> tensor<?x8xf32, #tenon.shape<N, 8>>
  %4 = tenon.reduce sum, %3 {axes = array<i64: 1>, keepdims = true} : (tensor<?x8xf32, #tenon.shape<N, 8>>) -> tensor<?x1xf32, #tenon.shape<N, 1>>
  %5 = tenon.div %4, %size : (tensor<?x1xf32, #tenon.shape<N, 1>>, tensor<f32>) -> tensor<?x1xf32, #tenon.shape<N, 1>>
  %6 = tenon.add %one, %5 : (tensor<f32>, tensor<?x1xf32, #tenon.shape<N, 1>>) -> tensor<?x1xf32, #tenon.shape<N, 1>>
  %7 = tenon.sqrt %6 : (tensor<?x1xf32, #tenon.shape<N, 1>>) -> tensor<?x1xf32, #tenon.shape<N, 1>>
  %8 = tenon.div %2, %7 : (tensor<?x8xf32, #tenon.shape<N, 8>>, tensor<?x1xf32, #tenon.shape<N, 1>>) -> tensor<?x8xf32, #tenon.shape<N, 8>>
  return %8 : tensor<?x8xf32, #tenon.shape<N, 8>>
}

// The sum is divided by something else than the extent.
// CHECK-LABEL: @no_mean
// CHECK: tenon.reduce
// CHECK-NOT: _norm
func.func @no_mean(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %size = tenon.weight dense<7.0> : tensor<f32>
  %one = tenon.weight dense<1.0> : tensor<f32>
  %0 = tenon.mul %x, %x : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = tenon.reduce sum, %0 {axes = array<i64: 1>, keepdims = true} : (tensor<4x8xf32>) -> tensor<4x1xf32>
  %2 = tenon.div %1, %size : (tensor<4x1xf32>, tensor<f32>) -> tensor<4x1xf32>
  %3 = tenon.add %2, %one : (tensor<4x1xf32>, tensor<f32>) -> tensor<4x1xf32>
  %4 = tenon.sqrt %3 : (tensor<4x1xf32>) -> tensor<4x1xf32>
  %5 = tenon.div %x, %4 : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  return %5 : tensor<4x8xf32>
}

// It is not settled yet which dimension will be the last.
// CHECK-LABEL: @channels_may_become_the_last
// CHECK: tenon.reduce
// CHECK-NOT: _norm
func.func @channels_may_become_the_last(%x: tensor<1x4x8xf32>, %w: tensor<4x4x1xf32>) -> tensor<1x4x8xf32> {
  %size = tenon.weight dense<8.0> : tensor<f32>
  %one = tenon.weight dense<1.0> : tensor<f32>
  %y = tenon.convolve %x, %w {strides = array<i64: 1>, dilations = array<i64: 1>, low = array<i64: 0>, high = array<i64: 0>,
    groups = 1 : i64} : (tensor<1x4x8xf32>, tensor<4x4x1xf32>) -> tensor<1x4x8xf32>
  %0 = tenon.mul %y, %y : (tensor<1x4x8xf32>, tensor<1x4x8xf32>) -> tensor<1x4x8xf32>
  %1 = tenon.reduce sum, %0 {axes = array<i64: 2>, keepdims = true} : (tensor<1x4x8xf32>) -> tensor<1x4x1xf32>
  %2 = tenon.div %1, %size : (tensor<1x4x1xf32>, tensor<f32>) -> tensor<1x4x1xf32>
  %3 = tenon.add %2, %one : (tensor<1x4x1xf32>, tensor<f32>) -> tensor<1x4x1xf32>
  %4 = tenon.sqrt %3 : (tensor<1x4x1xf32>) -> tensor<1x4x1xf32>
  %5 = tenon.div %y, %4 : (tensor<1x4x8xf32>, tensor<1x4x1xf32>) -> tensor<1x4x8xf32>
  return %5 : tensor<1x4x8xf32>
}
