// RUN: tenon-opt %s --tenon-keep-weights-quantized | FileCheck %s
// Constants of few bits that products and gathers read are dequantised there.

// One scale a column: all of a column are a block.
// CHECK-LABEL: @columns
// CHECK-DAG: %[[W:.*]] = tenon.weight dense_resource<w>
// CHECK-DAG: %[[Z:.*]] = tenon.weight {{.*}} : tensor<1x5xi8>
// CHECK-DAG: %[[S:.*]] = tenon.weight {{.*}} : tensor<1x5xf32>
// CHECK: %[[D:.*]] = tenon.dequantize %[[W]], %[[S]], %[[Z]] {axis = 0 : i64, block = 8 : i64}
// CHECK: tenon.contract %arg0, %[[D]]
func.func @columns(%x: tensor<4x8xf32>) -> tensor<4x5xf32> {
  %w = tenon.weight dense_resource<w> : tensor<8x5xi8>
  %z = tenon.weight dense<[1, 2, 3, 4, 5]> : tensor<5xi8>
  %s = tenon.weight dense<[0.1, 0.2, 0.3, 0.4, 0.5]> : tensor<5xf32>
  %0 = tenon.cast %w : (tensor<8x5xi8>) -> tensor<8x5xi32>
  %1 = tenon.cast %z : (tensor<5xi8>) -> tensor<5xi32>
  %2 = tenon.sub %0, %1 : (tensor<8x5xi32>, tensor<5xi32>) -> tensor<8x5xi32>
  %3 = tenon.cast %2 : (tensor<8x5xi32>) -> tensor<8x5xf32>
  %4 = tenon.mul %3, %s : (tensor<8x5xf32>, tensor<5xf32>) -> tensor<8x5xf32>
  %5 = tenon.contract %x, %4 {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 2, 1>, result_dims = array<i64: 0, 1>}
    : (tensor<4x8xf32>, tensor<8x5xf32>) -> tensor<4x5xf32>
  return %5 : tensor<4x5xf32>
}

// What is no constant stays as it is.
// CHECK-LABEL: @no_constant
// CHECK-NOT: tenon.dequantize
func.func @no_constant(%x: tensor<4x8xf32>, %w: tensor<8x5xi8>) -> tensor<4x5xf32> {
  %s = tenon.weight dense<0.5> : tensor<f32>
  %0 = tenon.cast %w : (tensor<8x5xi8>) -> tensor<8x5xf32>
  %1 = tenon.mul %0, %s : (tensor<8x5xf32>, tensor<f32>) -> tensor<8x5xf32>
  %2 = tenon.contract %x, %1 {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 2, 1>, result_dims = array<i64: 0, 1>}
    : (tensor<4x8xf32>, tensor<8x5xf32>) -> tensor<4x5xf32>
  return %2 : tensor<4x5xf32>
}

// Signed numbers of four bits become unsigned, with a zero point; then rows are gathered before they are dequantised.
// CHECK-LABEL: @embedding
// CHECK: %[[U:.*]] = tenon.cast %{{.*}} : (tensor<6x8xi8>) -> tensor<6x8xui4>
// CHECK-DAG: %[[X:.*]] = tenon.gather %[[U]], %arg0 {axis = 0 : i64} : (tensor<6x8xui4>, tensor<2x3xi64>) -> tensor<2x3x8xui4>
// CHECK-DAG: %[[S:.*]] = tenon.gather %{{.*}}, %arg0 {axis = 0 : i64} : (tensor<6x2xf32>, tensor<2x3xi64>) -> tensor<2x3x2xf32>
// CHECK-DAG: %[[Z:.*]] = tenon.reshape %{{.*}} : (tensor<1x1xui4>) -> tensor<1x1x1xui4>
// CHECK: tenon.dequantize %[[X]], %[[S]], %[[Z]] {axis = 2 : i64, block = 4 : i64}
func.func @embedding(%ids: tensor<2x3xi64>) -> tensor<2x3x8xf32> {
  %w = tenon.weight dense_resource<e> : tensor<6x8xi4>
  %s = tenon.weight dense_resource<s> : tensor<6x2xf32>
  %0 = tenon.dequantize %w, %s {axis = 1 : i64, block = 4 : i64} : (tensor<6x8xi4>, tensor<6x2xf32>) -> tensor<6x8xf32>
  %1 = tenon.gather %0, %ids {axis = 0 : i64} : (tensor<6x8xf32>, tensor<2x3xi64>) -> tensor<2x3x8xf32>
  return %1 : tensor<2x3x8xf32>
}

// Equal numbers are one weight.
// CHECK-LABEL: @equal
// CHECK: %[[W:.*]] = tenon.weight dense_resource<u>
// CHECK-NOT: tenon.weight
// CHECK: return %[[W]], %[[W]]
func.func @equal() -> (tensor<2x2xui4>, tensor<2x2xui4>) {
  %0 = tenon.weight dense_resource<u> : tensor<2x2xui4>
  %1 = tenon.weight dense_resource<v> : tensor<2x2xui4>
  return %0, %1 : tensor<2x2xui4>, tensor<2x2xui4>
}

{-#
  dialect_resources: {
    builtin: {
      w: "0x0800000001020304050607010203040506070102030405060701020304050607010203040506070102030405",
      e: "0x08000000010203040506070102030405060701020304050607010203040506070102030405060701020304050607010203040506",
      s: "0x040000000000003F0000003F0000003F0000003F0000003F0000003F0000003F0000003F0000003F0000003F0000003F0000003F",
      u: "0x0800000001020304",
      v: "0x0800000001020304"
    }
  }
#-}
