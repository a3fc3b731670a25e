// RUN: tenon-opt %s --tenon-lower-quantized-matmuls | FileCheck %s
// Products of quantised numbers multiply bytes: unsigned ones with a signed constant.

// A zero point takes sums of the weight's columns with it. (s8 less 3) is (u8 less 131).
// CHECK-LABEL: @zero_point_of_the_input
// CHECK-DAG: %[[W:.*]] = tenon.weight dense_resource<w>
// CHECK-DAG: %[[ZERO:.*]] = tenon.weight dense<131> : tensor<i32>
// CHECK-DAG: %[[ONES:.*]] = tenon.weight dense<1> : tensor<8xui8>
// CHECK: %[[X:.*]] = tenon.xor %arg0
// CHECK: %[[U:.*]] = tenon.cast %[[X]] : (tensor<4x8xi8>) -> tensor<4x8xui8>
// CHECK: %[[SUM:.*]] = tenon.contract %[[U]], %[[W]] {{.*}}result_type = i32
// CHECK: tenon.contract %[[W]], %[[ONES]] {{.*}} : (tensor<8x5xi8>, tensor<8xui8>) -> tensor<5xi32>
// CHECK: %[[C:.*]] = tenon.mul %{{.*}}, %[[ZERO]]
// CHECK: tenon.sub %[[SUM]], %[[C]]
func.func @zero_point_of_the_input(%x: tensor<4x8xi8>) -> tensor<4x5xi32> {
  %w = tenon.weight dense_resource<w> : tensor<8x5xi8>
  %three = tenon.weight dense<3> : tensor<i32>
  %0 = tenon.cast %x : (tensor<4x8xi8>) -> tensor<4x8xi32>
  %1 = tenon.sub %0, %three : (tensor<4x8xi32>, tensor<i32>) -> tensor<4x8xi32>
  %2 = tenon.cast %w : (tensor<8x5xi8>) -> tensor<8x5xi32>
  %3 = tenon.contract %1, %2 {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 2, 1>, result_dims = array<i64: 0, 1>}
    : (tensor<4x8xi32>, tensor<8x5xi32>) -> tensor<4x5xi32>
  return %3 : tensor<4x5xi32>
}

// A weight that is 128 too large has no zero point in signed bytes; any other one takes sums of rows with it.
// CHECK-LABEL: @unsigned_weights
// CHECK: %[[S:.*]] = tenon.cast %{{.*}} : (tensor<8x5xui8>) -> tensor<8x5xi8>
// CHECK: %[[FIRST:.*]] = tenon.contract %arg0, %[[S]]
// CHECK: %[[SECOND:.*]] = tenon.contract %arg0
// CHECK: tenon.contract %arg0, %{{.*}} : (tensor<4x8xui8>, tensor<8xi8>) -> tensor<4xi32>
// CHECK: %[[LESS:.*]] = tenon.sub %[[SECOND]]
// CHECK: return %[[FIRST]], %[[LESS]]
func.func @unsigned_weights(%x: tensor<4x8xui8>) -> (tensor<4x5xi32>, tensor<4x5xi32>) {
  %w = tenon.weight dense_resource<w> : tensor<8x5xui8>
  %middle = tenon.weight dense<128> : tensor<ui8>
  %seven = tenon.weight dense<7> : tensor<i32>
  %0 = tenon.cast %x : (tensor<4x8xui8>) -> tensor<4x8xi32>
  %1 = tenon.cast %w : (tensor<8x5xui8>) -> tensor<8x5xi32>
  %2 = tenon.cast %middle : (tensor<ui8>) -> tensor<i32>
  %3 = tenon.sub %1, %2 : (tensor<8x5xi32>, tensor<i32>) -> tensor<8x5xi32>
  %4 = tenon.contract %0, %3 {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 2, 1>, result_dims = array<i64: 0, 1>}
    : (tensor<4x8xi32>, tensor<8x5xi32>) -> tensor<4x5xi32>
  %5 = tenon.sub %1, %seven : (tensor<8x5xi32>, tensor<i32>) -> tensor<8x5xi32>
  %6 = tenon.contract %0, %5 {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 2, 1>, result_dims = array<i64: 0, 1>}
    : (tensor<4x8xi32>, tensor<8x5xi32>) -> tensor<4x5xi32>
  return %4, %6 : tensor<4x5xi32>, tensor<4x5xi32>
}

// Neither factor is a constant: the one with the columns becomes signed, whose zero point is its own less 128, here none of its own.
// CHECK-LABEL: @both_computed
// CHECK: %[[MATRIX:.*]] = tenon.cast {{.*}} : (tensor<8x5xui8>) -> tensor<8x5xi8>
// CHECK: %[[SUM:.*]] = tenon.contract %arg0, %[[MATRIX]] {{.*}}result_type = i32{{.*}} : (tensor<4x8xui8>, tensor<8x5xi8>) -> tensor<4x5xi32>
// CHECK: %[[ROWS:.*]] = tenon.contract %arg0, %{{.*}} : (tensor<4x8xui8>, tensor<8xi8>) -> tensor<4xi32>
// CHECK: tenon.sub %[[SUM]]
// CHECK-NOT: tenon.reduce
// CHECK: return
func.func @both_computed(%x: tensor<4x8xui8>, %y: tensor<8x5xui8>) -> tensor<4x5xi32> {
  %0 = tenon.cast %x : (tensor<4x8xui8>) -> tensor<4x8xi32>
  %1 = tenon.cast %y : (tensor<8x5xui8>) -> tensor<8x5xi32>
  %2 = tenon.contract %0, %1 {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 2, 1>, result_dims = array<i64: 0, 1>}
    : (tensor<4x8xi32>, tensor<8x5xi32>) -> tensor<4x5xi32>
  return %2 : tensor<4x5xi32>
}

// A zero point of the rows takes sums of the computed columns with it, along which vectors run.
// CHECK-LABEL: @zero_point_of_rows
// CHECK: tenon.contract %arg0, %arg1 {{.*}} : (tensor<4x8xui8>, tensor<8x5xi8>) -> tensor<4x5xi32>
// CHECK: tenon.reduce sum, %{{.*}} {axes = array<i64: 0>, keepdims = true} : (tensor<8x5xi32>) -> tensor<1x5xi32>
func.func @zero_point_of_rows(%x: tensor<4x8xui8>, %y: tensor<8x5xi8>) -> tensor<4x5xi32> {
  %three = tenon.weight dense<3> : tensor<i32>
  %0 = tenon.cast %x : (tensor<4x8xui8>) -> tensor<4x8xi32>
  %1 = tenon.sub %0, %three : (tensor<4x8xi32>, tensor<i32>) -> tensor<4x8xi32>
  %2 = tenon.cast %y : (tensor<8x5xi8>) -> tensor<8x5xi32>
  %3 = tenon.contract %1, %2 {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 2, 1>, result_dims = array<i64: 0, 1>}
    : (tensor<4x8xi32>, tensor<8x5xi32>) -> tensor<4x5xi32>
  return %3 : tensor<4x5xi32>
}

// Queries and keys, dequantised: attention looks for their product.
// CHECK-LABEL: @dequantised_both
// CHECK: tenon.contract {{.*}} -> tensor<4x5xf32>
func.func @dequantised_both(%x: tensor<4x8xui8>, %y: tensor<8x5xi8>) -> tensor<4x5xf32> {
  %s = tenon.weight dense<0.5> : tensor<f32>
  %0 = tenon.cast %x : (tensor<4x8xui8>) -> tensor<4x8xi32>
  %1 = tenon.cast %0 : (tensor<4x8xi32>) -> tensor<4x8xf32>
  %2 = tenon.mul %1, %s : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %3 = tenon.cast %y : (tensor<8x5xi8>) -> tensor<8x5xi32>
  %4 = tenon.cast %3 : (tensor<8x5xi32>) -> tensor<8x5xf32>
  %5 = tenon.mul %4, %s : (tensor<8x5xf32>, tensor<f32>) -> tensor<8x5xf32>
  %6 = tenon.contract %2, %5 {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 2, 1>, result_dims = array<i64: 0, 1>}
    : (tensor<4x8xf32>, tensor<8x5xf32>) -> tensor<4x5xf32>
  return %6 : tensor<4x5xf32>
}

// Scales follow the sums; those of the weight lie along the columns. The division that follows is a multiplication.
// CHECK-LABEL: @dequantised
// CHECK: %[[SUM:.*]] = tenon.contract %arg0, %{{.*}} : (tensor<4x8xui8>, tensor<5x8xi8>) -> tensor<4x5xi32>
// CHECK: %[[NUMBER:.*]] = tenon.cast %[[SUM]] : (tensor<4x5xi32>) -> tensor<4x5xf32>
// CHECK: %[[SCALE:.*]] = tenon.mul {{.*}} -> tensor<1x5xf32>
// CHECK: tenon.mul %[[NUMBER]], %[[SCALE]]
// CHECK: tenon.reciprocal
// CHECK-NOT: tenon.div
func.func @dequantised(%x: tensor<4x8xui8>) -> tensor<4x5xf32> {
  %w = tenon.weight dense_resource<w> : tensor<5x8xi8>
  %s = tenon.weight dense<0.5> : tensor<f32>
  %t = tenon.weight dense_resource<t> : tensor<5x1xf32>
  %0 = tenon.cast %x : (tensor<4x8xui8>) -> tensor<4x8xi32>
  %1 = tenon.cast %0 : (tensor<4x8xi32>) -> tensor<4x8xf32>
  %2 = tenon.mul %1, %s : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %3 = tenon.cast %w : (tensor<5x8xi8>) -> tensor<5x8xi32>
  %4 = tenon.cast %3 : (tensor<5x8xi32>) -> tensor<5x8xf32>
  %5 = tenon.mul %4, %t : (tensor<5x8xf32>, tensor<5x1xf32>) -> tensor<5x8xf32>
  %6 = tenon.contract %2, %5 {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 1, 2>, result_dims = array<i64: 0, 1>}
    : (tensor<4x8xf32>, tensor<5x8xf32>) -> tensor<4x5xf32>
  %7 = tenon.div %6, %s : (tensor<4x5xf32>, tensor<f32>) -> tensor<4x5xf32>
  return %7 : tensor<4x5xf32>
}

// Beyond the border lies the zero point.
// CHECK-LABEL: @border
// CHECK: %[[ZERO:.*]] = tenon.cast %{{.*}} : (tensor<i32>) -> tensor<ui8>
// CHECK: %[[PADDED:.*]] = tenon.pad{{ *}}constant, %arg0, %[[ZERO]]
// CHECK: %[[SUM:.*]] = tenon.convolve %[[PADDED]]
// CHECK-SAME: (tensor<1x4x8xui8>, tensor<3x4x3xi8>) -> tensor<1x3x6xi32>
// CHECK: tenon.contract {{.*}} : (tensor<3x4x3xi8>, tensor<4x3xui8>) -> tensor<3xi32>
// CHECK: tenon.sub %[[SUM]]
func.func @border(%x: tensor<1x4x6xui8>) -> tensor<1x3x6xi32> {
  %w = tenon.weight dense_resource<f> : tensor<3x4x3xi8>
  %p = tenon.weight dense<9> : tensor<i32>
  %0 = tenon.cast %x : (tensor<1x4x6xui8>) -> tensor<1x4x6xi32>
  %1 = tenon.sub %0, %p : (tensor<1x4x6xi32>, tensor<i32>) -> tensor<1x4x6xi32>
  %2 = tenon.cast %w : (tensor<3x4x3xi8>) -> tensor<3x4x3xi32>
  %3 = tenon.convolve %1, %2 {strides = array<i64: 1>, dilations = array<i64: 1>, low = array<i64: 1>, high = array<i64: 1>,
    groups = 1 : i64} : (tensor<1x4x6xi32>, tensor<3x4x3xi32>) -> tensor<1x3x6xi32>
  return %3 : tensor<1x3x6xi32>
}

// Groups are summed in f32, which holds all of these integers.
// CHECK-LABEL: @groups
// CHECK: tenon.convolve {{.*}} -> tensor<1x4x4xf32>
// CHECK: tenon.cast {{.*}} : (tensor<1x4x4xf32>) -> tensor<1x4x4xi32>
func.func @groups(%x: tensor<1x4x6xui8>) -> tensor<1x4x4xi32> {
  %w = tenon.weight dense<3> : tensor<4x2x3xi8>
  %0 = tenon.cast %x : (tensor<1x4x6xui8>) -> tensor<1x4x6xi32>
  %2 = tenon.cast %w : (tensor<4x2x3xi8>) -> tensor<4x2x3xi32>
  %3 = tenon.convolve %0, %2 {strides = array<i64: 1>, dilations = array<i64: 1>, low = array<i64: 0>, high = array<i64: 0>,
    groups = 2 : i64} : (tensor<1x4x6xi32>, tensor<4x2x3xi32>) -> tensor<1x4x4xi32>
  return %3 : tensor<1x4x4xi32>
}

// Where each channel is a group, kernels read the bytes (kernel/Contraction.h).
// CHECK-LABEL: @depthwise
// CHECK: tenon.convolve %arg0, {{.*}}groups = 4 : i64{{.*}}result_type = i32{{.*}} : (tensor<1x4x6xui8>, tensor<4x1x3xi8>) -> tensor<1x4x4xi32>
func.func @depthwise(%x: tensor<1x4x6xui8>) -> tensor<1x4x4xi32> {
  %w = tenon.weight dense_resource<g> : tensor<4x1x3xi8>
  %0 = tenon.cast %x : (tensor<1x4x6xui8>) -> tensor<1x4x6xi32>
  %2 = tenon.cast %w : (tensor<4x1x3xi8>) -> tensor<4x1x3xi32>
  %3 = tenon.convolve %0, %2 {strides = array<i64: 1>, dilations = array<i64: 1>, low = array<i64: 0>, high = array<i64: 0>,
    groups = 4 : i64} : (tensor<1x4x6xi32>, tensor<4x1x3xi32>) -> tensor<1x4x4xi32>
  return %3 : tensor<1x4x4xi32>
}

// CHECK-LABEL: @left_alone
// CHECK-NOT: result_type
func.func @left_alone(%x: tensor<4x8xui8>) -> tensor<4x5xf32> {
  %0 = tenon.cast %x : (tensor<4x8xui8>) -> tensor<4x8xi32>
  // Scales differ among what is summed.
  %w = tenon.weight dense_resource<w> : tensor<8x5xi8>
  %s = tenon.weight dense<0.5> : tensor<f32>
  %t = tenon.weight dense_resource<u> : tensor<8x1xf32>
  %3 = tenon.cast %0 : (tensor<4x8xi32>) -> tensor<4x8xf32>
  %4 = tenon.mul %3, %s : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %5 = tenon.cast %w : (tensor<8x5xi8>) -> tensor<8x5xi32>
  %6 = tenon.cast %5 : (tensor<8x5xi32>) -> tensor<8x5xf32>
  %7 = tenon.mul %6, %t : (tensor<8x5xf32>, tensor<8x1xf32>) -> tensor<8x5xf32>
  %8 = tenon.contract %4, %7 {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 2, 1>, result_dims = array<i64: 0, 1>}
    : (tensor<4x8xf32>, tensor<8x5xf32>) -> tensor<4x5xf32>
  return %8 : tensor<4x5xf32>
}

// Filters with a zero point: what windows see is summed, over the channels first.
// CHECK-LABEL: @zero_point_of_filters
// CHECK: %[[SUM:.*]] = tenon.convolve %arg0, %{{.*}} : (tensor<1x4x6xui8>, tensor<2x4x3xi8>) -> tensor<1x2x4xi32>
// CHECK: %[[CHANNELS:.*]] = tenon.contract %arg0, %{{.*}} : (tensor<1x4x6xui8>, tensor<4xi8>) -> tensor<1x6xi32>
// CHECK: %[[ONE:.*]] = tenon.reshape %[[CHANNELS]] : (tensor<1x6xi32>) -> tensor<1x1x6xi32>
// CHECK: %[[WINDOWS:.*]] = tenon.convolve %[[ONE]], %{{.*}} -> tensor<1x1x4xi32>
// CHECK: %[[SHIFT:.*]] = tenon.mul %[[WINDOWS]]
// CHECK: tenon.sub %[[SUM]], %[[SHIFT]]
func.func @zero_point_of_filters(%x: tensor<1x4x6xui8>) -> tensor<1x2x4xi32> {
  %w = tenon.weight dense_resource<e> : tensor<2x4x3xui8>
  %seven = tenon.weight dense<7> : tensor<i32>
  %0 = tenon.cast %x : (tensor<1x4x6xui8>) -> tensor<1x4x6xi32>
  %1 = tenon.cast %w : (tensor<2x4x3xui8>) -> tensor<2x4x3xi32>
  %2 = tenon.sub %1, %seven : (tensor<2x4x3xi32>, tensor<i32>) -> tensor<2x4x3xi32>
  %3 = tenon.convolve %0, %2 {strides = array<i64: 1>, dilations = array<i64: 1>, low = array<i64: 0>, high = array<i64: 0>, groups = 1 : i64}
    : (tensor<1x4x6xi32>, tensor<2x4x3xi32>) -> tensor<1x2x4xi32>
  return %3 : tensor<1x2x4xi32>
}

{-#
  dialect_resources: {
    builtin: {
      w: "0x08000000000102030405060708090A0B0C0D0E0F101112131415161718191A1B1C1D1E1F2021222324252627",
      e: "0x08000000000102030405060708090A0B0C0D0E0F1011121314151617",
      f: "0x08000000000102030405060708090A0B0C0D0E0F101112131415161718191A1B1C1D1E1F20212223",
      g: "0x08000000000102030405060708090A0B",
      t: "0x040000000000803F000000400000404000008040000000A0",
      u: "0x040000000000803F000000400000404000008040000000A0000000410000003F000000BF"
    }
  }
#-}
