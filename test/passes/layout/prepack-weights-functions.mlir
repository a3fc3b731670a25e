// RUN: tenon-opt %s --mlir-disable-threading --pass-pipeline='builtin.module(func.func(tenon-choose-forms{force=*=merged_products},tenon-prepack-weights))' | FileCheck %s
// A pass packs the weights of each function of its own. Operations that another function had have left memory that
// those of this one get.

// CHECK-LABEL: @f0
// CHECK: %[[W:.*]] = tenon.weight {{.*}} : tensor<2x2x32xf32>
// CHECK: tenon.unpack %[[W]]
// CHECK: return
func.func @f0(%x: tensor<3x2xf32>) -> (tensor<3x33xf32>, tensor<3x9xf32>) {
  %w = tenon.weight dense_resource<w> : tensor<2x33xf32>
  %v = tenon.weight dense_resource<v> : tensor<2x9xf32>
  %0 = tenon.contract %x, %w {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 2, 1>, result_dims = array<i64: 0, 1>}
    : (tensor<3x2xf32>, tensor<2x33xf32>) -> tensor<3x33xf32>
  %1 = tenon.contract %x, %v {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 2, 1>, result_dims = array<i64: 0, 1>}
    : (tensor<3x2xf32>, tensor<2x9xf32>) -> tensor<3x9xf32>
  return %0, %1 : tensor<3x33xf32>, tensor<3x9xf32>
}

// CHECK-LABEL: @f1
// CHECK: %[[W:.*]] = tenon.weight {{.*}} : tensor<2x2x32xf32>
// CHECK: tenon.unpack %[[W]]
// CHECK: return
func.func @f1(%x: tensor<3x2xf32>) -> (tensor<3x33xf32>, tensor<3x9xf32>) {
  %w = tenon.weight dense_resource<w> : tensor<2x33xf32>
  %v = tenon.weight dense_resource<v> : tensor<2x9xf32>
  %0 = tenon.contract %x, %w {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 2, 1>, result_dims = array<i64: 0, 1>}
    : (tensor<3x2xf32>, tensor<2x33xf32>) -> tensor<3x33xf32>
  %1 = tenon.contract %x, %v {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 2, 1>, result_dims = array<i64: 0, 1>}
    : (tensor<3x2xf32>, tensor<2x9xf32>) -> tensor<3x9xf32>
  return %0, %1 : tensor<3x33xf32>, tensor<3x9xf32>
}

// CHECK-LABEL: @f2
// CHECK: %[[W:.*]] = tenon.weight {{.*}} : tensor<2x2x32xf32>
// CHECK: tenon.unpack %[[W]]
// CHECK: return
func.func @f2(%x: tensor<3x2xf32>) -> (tensor<3x33xf32>, tensor<3x9xf32>) {
  %w = tenon.weight dense_resource<w> : tensor<2x33xf32>
  %v = tenon.weight dense_resource<v> : tensor<2x9xf32>
  %0 = tenon.contract %x, %w {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 2, 1>, result_dims = array<i64: 0, 1>}
    : (tensor<3x2xf32>, tensor<2x33xf32>) -> tensor<3x33xf32>
  %1 = tenon.contract %x, %v {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 2, 1>, result_dims = array<i64: 0, 1>}
    : (tensor<3x2xf32>, tensor<2x9xf32>) -> tensor<3x9xf32>
  return %0, %1 : tensor<3x33xf32>, tensor<3x9xf32>
}

// CHECK-LABEL: @f3
// CHECK: %[[W:.*]] = tenon.weight {{.*}} : tensor<2x2x32xf32>
// CHECK: tenon.unpack %[[W]]
// CHECK: return
func.func @f3(%x: tensor<3x2xf32>) -> (tensor<3x33xf32>, tensor<3x9xf32>) {
  %w = tenon.weight dense_resource<w> : tensor<2x33xf32>
  %v = tenon.weight dense_resource<v> : tensor<2x9xf32>
  %0 = tenon.contract %x, %w {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 2, 1>, result_dims = array<i64: 0, 1>}
    : (tensor<3x2xf32>, tensor<2x33xf32>) -> tensor<3x33xf32>
  %1 = tenon.contract %x, %v {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 2, 1>, result_dims = array<i64: 0, 1>}
    : (tensor<3x2xf32>, tensor<2x9xf32>) -> tensor<3x9xf32>
  return %0, %1 : tensor<3x33xf32>, tensor<3x9xf32>
}

// CHECK-LABEL: @f4
// CHECK: %[[W:.*]] = tenon.weight {{.*}} : tensor<2x2x32xf32>
// CHECK: tenon.unpack %[[W]]
// CHECK: return
func.func @f4(%x: tensor<3x2xf32>) -> (tensor<3x33xf32>, tensor<3x9xf32>) {
  %w = tenon.weight dense_resource<w> : tensor<2x33xf32>
  %v = tenon.weight dense_resource<v> : tensor<2x9xf32>
  %0 = tenon.contract %x, %w {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 2, 1>, result_dims = array<i64: 0, 1>}
    : (tensor<3x2xf32>, tensor<2x33xf32>) -> tensor<3x33xf32>
  %1 = tenon.contract %x, %v {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 2, 1>, result_dims = array<i64: 0, 1>}
    : (tensor<3x2xf32>, tensor<2x9xf32>) -> tensor<3x9xf32>
  return %0, %1 : tensor<3x33xf32>, tensor<3x9xf32>
}

// CHECK-LABEL: @f5
// CHECK: %[[W:.*]] = tenon.weight {{.*}} : tensor<2x2x32xf32>
// CHECK: tenon.unpack %[[W]]
// CHECK: return
func.func @f5(%x: tensor<3x2xf32>) -> (tensor<3x33xf32>, tensor<3x9xf32>) {
  %w = tenon.weight dense_resource<w> : tensor<2x33xf32>
  %v = tenon.weight dense_resource<v> : tensor<2x9xf32>
  %0 = tenon.contract %x, %w {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 2, 1>, result_dims = array<i64: 0, 1>}
    : (tensor<3x2xf32>, tensor<2x33xf32>) -> tensor<3x33xf32>
  %1 = tenon.contract %x, %v {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 2, 1>, result_dims = array<i64: 0, 1>}
    : (tensor<3x2xf32>, tensor<2x9xf32>) -> tensor<3x9xf32>
  return %0, %1 : tensor<3x33xf32>, tensor<3x9xf32>
}

// CHECK-LABEL: @f6
// CHECK: %[[W:.*]] = tenon.weight {{.*}} : tensor<2x2x32xf32>
// CHECK: tenon.unpack %[[W]]
// CHECK: return
func.func @f6(%x: tensor<3x2xf32>) -> (tensor<3x33xf32>, tensor<3x9xf32>) {
  %w = tenon.weight dense_resource<w> : tensor<2x33xf32>
  %v = tenon.weight dense_resource<v> : tensor<2x9xf32>
  %0 = tenon.contract %x, %w {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 2, 1>, result_dims = array<i64: 0, 1>}
    : (tensor<3x2xf32>, tensor<2x33xf32>) -> tensor<3x33xf32>
  %1 = tenon.contract %x, %v {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 2, 1>, result_dims = array<i64: 0, 1>}
    : (tensor<3x2xf32>, tensor<2x9xf32>) -> tensor<3x9xf32>
  return %0, %1 : tensor<3x33xf32>, tensor<3x9xf32>
}

// CHECK-LABEL: @f7
// CHECK: %[[W:.*]] = tenon.weight {{.*}} : tensor<2x2x32xf32>
// CHECK: tenon.unpack %[[W]]
// CHECK: return
func.func @f7(%x: tensor<3x2xf32>) -> (tensor<3x33xf32>, tensor<3x9xf32>) {
  %w = tenon.weight dense_resource<w> : tensor<2x33xf32>
  %v = tenon.weight dense_resource<v> : tensor<2x9xf32>
  %0 = tenon.contract %x, %w {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 2, 1>, result_dims = array<i64: 0, 1>}
    : (tensor<3x2xf32>, tensor<2x33xf32>) -> tensor<3x33xf32>
  %1 = tenon.contract %x, %v {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 2, 1>, result_dims = array<i64: 0, 1>}
    : (tensor<3x2xf32>, tensor<2x9xf32>) -> tensor<3x9xf32>
  return %0, %1 : tensor<3x33xf32>, tensor<3x9xf32>
}

{-# dialect_resources: { builtin: {
  w: "0x04000000000000000000803F0000004000004040000080400000A0400000C0400000E0400000004100001041000020410000304100004041000050410000604100007041000080410000884100009041000098410000A0410000A8410000B0410000B8410000C0410000C8410000D0410000D8410000E0410000E8410000F0410000F84100000042000004420000084200000C4200001042000014420000184200001C4200002042000024420000284200002C4200003042000034420000384200003C4200004042000044420000484200004C4200005042000054420000584200005C4200006042000064420000684200006C4200007042000074420000784200007C420000804200008242",
  v: "0x04000000000000000000803F0000004000004040000080400000A0400000C0400000E04000000041000010410000204100003041000040410000504100006041000070410000804100008841"
} } #-}
