// RUN: tenon-opt %s --tenon-promote-accumulators | FileCheck %s
// RUN: tenon-opt %s --tenon-promote-accumulators=all | FileCheck %s --check-prefix=ALL
// A product of halves with a weight is one of f32, whose operands are widened where they are read.

// Two products share what widens their input.
// CHECK-LABEL: @weights
// CHECK: %[[X:.*]] = tenon.cast %arg0 : (tensor<4x8xbf16>) -> tensor<4x8xf32>
// CHECK: %[[V:.*]] = tenon.weight dense_resource<v>
// CHECK: %[[SUM:.*]] = tenon.contract %[[X]], %{{.*}} : (tensor<4x8xf32>, tensor<8x5xf32>) -> tensor<4x5xf32>
// CHECK: tenon.cast %[[SUM]] : (tensor<4x5xf32>) -> tensor<4x5xbf16>
// CHECK: %[[WIDE:.*]] = tenon.cast %[[V]] : (tensor<8x5xbf16>) -> tensor<8x5xf32>
// CHECK: tenon.contract %[[X]], %[[WIDE]]
func.func @weights(%x: tensor<4x8xbf16>) -> (tensor<4x5xbf16>, tensor<4x5xbf16>) {
  %v = tenon.weight dense_resource<v> : tensor<8x5xbf16>
  %w = tenon.weight dense_resource<w> : tensor<8x5xbf16>
  %0 = tenon.contract %x, %w {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 2, 1>, result_dims = array<i64: 0, 1>}
    : (tensor<4x8xbf16>, tensor<8x5xbf16>) -> tensor<4x5xbf16>
  %1 = tenon.contract %x, %v {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 2, 1>, result_dims = array<i64: 0, 1>}
    : (tensor<4x8xbf16>, tensor<8x5xbf16>) -> tensor<4x5xbf16>
  return %0, %1 : tensor<4x5xbf16>, tensor<4x5xbf16>
}

// Each kernel widens what it reads, in a loop, too.
// CHECK-LABEL: @cast_weight
// CHECK: %[[OUTSIDE:.*]] = tenon.cast %{{.*}} : (tensor<8x5xbf16>) -> tensor<8x5xf32>
// CHECK: tenon.loop
// CHECK: %[[INSIDE:.*]] = tenon.cast %{{.*}} : (tensor<8x5xbf16>) -> tensor<8x5xf32>
// CHECK-NEXT: tenon.contract %{{.*}}, %[[INSIDE]]
// CHECK: tenon.yield
// CHECK: tenon.contract %{{.*}}, %[[OUTSIDE]]
func.func @cast_weight(%go: tensor<i1>, %x: tensor<4x8xf32>, %h: tensor<4x5xf32>) -> (tensor<4x5xf32>, tensor<4x5xf32>) {
  %w = tenon.weight dense_resource<w> : tensor<8x5xbf16>
  %0 = tenon.cast %w : (tensor<8x5xbf16>) -> tensor<8x5xf32>
  %1 = tenon.loop %go (%h) : tensor<i1>, (tensor<4x5xf32>) -> tensor<4x5xf32> {
  ^bb0(%v: tensor<4x5xf32>):
    %2 = tenon.contract %x, %0 {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 2, 1>, result_dims = array<i64: 0, 1>}
      : (tensor<4x8xf32>, tensor<8x5xf32>) -> tensor<4x5xf32>
    tenon.yield %go, %2 : tensor<i1>, tensor<4x5xf32>
  }
  %3 = tenon.contract %x, %0 {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 2, 1>, result_dims = array<i64: 0, 1>}
    : (tensor<4x8xf32>, tensor<8x5xf32>) -> tensor<4x5xf32>
  return %1, %3 : tensor<4x5xf32>, tensor<4x5xf32>
}

// CHECK-LABEL: @no_weight
// CHECK-NOT: tenon.cast
// ALL-LABEL: @no_weight
// ALL: tenon.contract {{.*}} : (tensor<4x8xf32>, tensor<8x5xf32>) -> tensor<4x5xf32>
// ALL-NEXT: tenon.cast
func.func @no_weight(%x: tensor<4x8xf16>, %w: tensor<8x5xf16>) -> tensor<4x5xf16> {
  %0 = tenon.contract %x, %w {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 2, 1>, result_dims = array<i64: 0, 1>}
    : (tensor<4x8xf16>, tensor<8x5xf16>) -> tensor<4x5xf16>
  return %0 : tensor<4x5xf16>
}

{-#
  dialect_resources: {
    builtin: {
      v: "0x080000000102030405060701020304050607010203040506070102030405060701020304050607010203040506070102030405060701020304050607010203040506070102030405060701020304050607010203",
      w: "0x080000000102030405060701020304050607010203040506070102030405060701020304050607010203040506070102030405060701020304050607010203040506070102030405060701020304050607010203"
    }
  }
#-}
