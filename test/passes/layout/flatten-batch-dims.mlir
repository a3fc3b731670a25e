// RUN: tenon-opt %s --tenon-flatten-batch-dims --canonicalize | FileCheck %s
// Rows of several dimensions become one, and what follows element by element works on it.

// CHECK-LABEL: @linear
// CHECK: %[[X:.*]] = tenon.reshape %arg0 : ({{.*}}) -> tensor<?x8xf32, #tenon.shape<N * 5, 8>>
// CHECK: %[[P:.*]] = tenon.contract %[[X]], %arg1 {lhs_dims = array<i64: 0, 3>, result_dims = array<i64: 0, 2>, rhs_dims = array<i64: 3, 2>}
// CHECK: %[[S:.*]] = tenon.add %[[P]], %arg2
// CHECK: %[[R:.*]] = tenon.reshape %arg3 : {{.*}} -> tensor<?x64xf32, #tenon.shape<N * 5, 64>>
// CHECK: %[[T:.*]] = tenon.add %[[S]], %[[R]]
// CHECK: %[[OUT:.*]] = tenon.reshape %[[T]] : {{.*}} -> tensor<?x5x64xf32, #tenon.shape<N, 5, 64>>
// CHECK: return %[[OUT]]
func.func @linear(%x: tensor<?x5x8xf32, #tenon.shape<N, 5, 8>>, %w: tensor<8x64xf32>, %b: tensor<64xf32>,
                  %r: tensor<?x5x64xf32, #tenon.shape<N, 5, 64>>) -> tensor<?x5x64xf32, #tenon.shape<N, 5, 64>> {
  %0 = tenon.contract %x, %w {lhs_dims = array<i64: 0, 1, 3>, rhs_dims = array<i64: 3, 2>, result_dims = array<i64: 0, 1, 2>}
    : (tensor<?x5x8xf32, #tenon.shape<N, 5, 8>>, tensor<8x64xf32>) -> tensor<?x5x64xf32, #tenon.shape<N, 5, 64>>
  %1 = tenon.add %0, %b : (tensor<?x5x64xf32, #tenon.shape<N, 5, 64>>, tensor<64xf32>) -> tensor<?x5x64xf32, #tenon.shape<N, 5, 64>>
  %2 = tenon.add %1, %r : (tensor<?x5x64xf32, #tenon.shape<N, 5, 64>>, tensor<?x5x64xf32, #tenon.shape<N, 5, 64>>) -> tensor<?x5x64xf32, #tenon.shape<N, 5, 64>>
  return %2 : tensor<?x5x64xf32, #tenon.shape<N, 5, 64>>
}

// A convolution of single pixels. What is stretched along some of the rows stays as it is.
// CHECK-LABEL: @pixels
// CHECK: tenon.contract {{.*}} -> tensor<49x32xf32>
// CHECK: tenon.relu {{.*}} -> tensor<49x32xf32>
// CHECK: tenon.reshape {{.*}} -> tensor<1x7x7x32xf32>
// CHECK: tenon.mul {{.*}} -> tensor<1x7x7x32xf32>
func.func @pixels(%x: tensor<1x7x7x16xf32>, %f: tensor<1x1x16x32xf32>, %column: tensor<1x7x1x1xf32>) -> tensor<1x7x7x32xf32> {
  %0 = tenon.convolve %x, %f {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>,
    high = array<i64: 0, 0>, groups = 1 : i64, channels_last} : (tensor<1x7x7x16xf32>, tensor<1x1x16x32xf32>) -> tensor<1x7x7x32xf32>
  %1 = tenon.relu %0 : (tensor<1x7x7x32xf32>) -> tensor<1x7x7x32xf32>
  %2 = tenon.mul %1, %column : (tensor<1x7x7x32xf32>, tensor<1x7x1x1xf32>) -> tensor<1x7x7x32xf32>
  return %2 : tensor<1x7x7x32xf32>
}

// Strides skip pixels, and a batch of matrices is no rows.
// CHECK-LABEL: @others
// CHECK-NOT: tenon.reshape
// CHECK: tenon.convolve
// CHECK-NOT: tenon.reshape
// CHECK: tenon.contract {{.*}} -> tensor<2x3x5xf32>
// CHECK-NOT: tenon.reshape
// CHECK: return
func.func @others(%x: tensor<1x8x8x16xf32>, %f: tensor<1x1x16x32xf32>, %a: tensor<2x3x4xf32>, %b: tensor<2x4x5xf32>)
    -> (tensor<1x4x4x32xf32>, tensor<2x3x5xf32>) {
  %0 = tenon.convolve %x, %f {strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>,
    high = array<i64: 0, 0>, groups = 1 : i64, channels_last} : (tensor<1x8x8x16xf32>, tensor<1x1x16x32xf32>) -> tensor<1x4x4x32xf32>
  %1 = tenon.contract %a, %b {lhs_dims = array<i64: 0, 1, 3>, rhs_dims = array<i64: 0, 3, 2>, result_dims = array<i64: 0, 1, 2>}
    : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  return %0, %1 : tensor<1x4x4x32xf32>, tensor<2x3x5xf32>
}

// Where the model itself gives a product's rows their shape back, what follows comes before that, too.
// CHECK-LABEL: @rows_of_the_model
// CHECK: tenon.contract {{.*}} -> tensor<6x4xf32>
// CHECK: tenon.add {{.*}} -> tensor<6x4xf32>
// CHECK: tenon.tanh {{.*}} -> tensor<6x4xf32>
// CHECK: %[[R:.*]] = tenon.reshape %arg3 : (tensor<2x3x4xf32>) -> tensor<6x4xf32>
// CHECK: tenon.add %{{.*}}, %[[R]] {{.*}} -> tensor<6x4xf32>
// CHECK: tenon.reshape {{.*}} -> tensor<2x3x4xf32>
func.func @rows_of_the_model(%x: tensor<6x5xf32>, %w: tensor<5x4xf32>, %bias: tensor<4xf32>, %r: tensor<2x3x4xf32>) -> tensor<2x3x4xf32> {
  %0 = tenon.contract %x, %w {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 2, 1>, result_dims = array<i64: 0, 1>}
    : (tensor<6x5xf32>, tensor<5x4xf32>) -> tensor<6x4xf32>
  %1 = tenon.add %0, %bias : (tensor<6x4xf32>, tensor<4xf32>) -> tensor<6x4xf32>
  %2 = tenon.reshape %1 : (tensor<6x4xf32>) -> tensor<2x3x4xf32>
  %3 = tenon.tanh %2 : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  %4 = tenon.add %3, %r : (tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  return %4 : tensor<2x3x4xf32>
}
