// RUN: tenon-opt %s --pass-pipeline='builtin.module(func.func(tenon-simplify,canonicalize))' | FileCheck %s

// An adapter becomes part of the matrix that it changes: of 5 x 4 rows, through a bias, with a scale.
// CHECK-LABEL: @adapter
// CHECK-DAG: %[[W:.*]] = tenon.weight dense<{{.*}}> : tensor<6x3xf32>
// CHECK-DAG: %[[A:.*]] = tenon.weight dense<{{.*}}> : tensor<6x2xf32>
// CHECK-DAG: %[[B:.*]] = tenon.weight dense<{{.*}}> : tensor<3x2xf32>
// CHECK: %[[SCALED:.*]] = tenon.mul {{.*}}, %[[A]] {{.*}} -> tensor<6x2xf32>
// CHECK: %[[CHANGE:.*]] = tenon.contract %[[SCALED]], %[[B]] {lhs_dims = array<i64: 0, 1>, result_dims = array<i64: 0, 2>, rhs_dims = array<i64: 2, 1>} {{.*}} -> tensor<6x3xf32>
// CHECK: %[[SUM:.*]] = tenon.add %[[CHANGE]], %[[W]]
// CHECK: %[[Y:.*]] = tenon.contract %arg0, %[[SUM]] {{.*}} -> tensor<5x4x3xf32>
// CHECK: %[[Z:.*]] = tenon.add %[[Y]], {{.*}} -> tensor<5x4x3xf32>
// CHECK: return %[[Z]]
func.func @adapter(%x: tensor<5x4x6xf32>) -> tensor<5x4x3xf32> {
  %w = tenon.weight dense<"0x000000003F0000003E0000003D000000000000003F0000003E0000003D000000000000003F0000003E0000003D000000000000003F0000003E0000003D0000000000003F3E3D0000"> : tensor<6x3xf32>
  %a = tenon.weight dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0], [9.0, 1.0], [2.0, 3.0]]> : tensor<6x2xf32>
  %b = tenon.weight dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]> : tensor<3x2xf32>
  %s = tenon.weight dense<[5.0e-1]> : tensor<1xf32>
  %bias = tenon.weight dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %0 = tenon.contract %x, %w {lhs_dims = array<i64: 0, 1, 2>, rhs_dims = array<i64: 2, 3>, result_dims = array<i64: 0, 1, 3>}
    : (tensor<5x4x6xf32>, tensor<6x3xf32>) -> tensor<5x4x3xf32>
  %1 = tenon.add %0, %bias : (tensor<5x4x3xf32>, tensor<3xf32>) -> tensor<5x4x3xf32>
  %2 = tenon.contract %x, %a {lhs_dims = array<i64: 0, 1, 2>, rhs_dims = array<i64: 2, 3>, result_dims = array<i64: 0, 1, 3>}
    : (tensor<5x4x6xf32>, tensor<6x2xf32>) -> tensor<5x4x2xf32>
  %3 = tenon.contract %2, %b {lhs_dims = array<i64: 0, 1, 2>, rhs_dims = array<i64: 3, 2>, result_dims = array<i64: 0, 1, 3>}
    : (tensor<5x4x2xf32>, tensor<3x2xf32>) -> tensor<5x4x3xf32>
  %4 = tenon.mul %3, %s : (tensor<5x4x3xf32>, tensor<1xf32>) -> tensor<5x4x3xf32>
  %5 = tenon.add %1, %4 : (tensor<5x4x3xf32>, tensor<5x4x3xf32>) -> tensor<5x4x3xf32>
  return %5 : tensor<5x4x3xf32>
}

// Weights may stand where they are read first, behind the product that they become part of.
// CHECK-LABEL: @late_weights
// CHECK-COUNT-2: tenon.contract
// CHECK-NOT: tenon.contract
// CHECK: return
func.func @late_weights(%x: tensor<5x2xf32>) -> tensor<5x2xf32> {
  %w = tenon.weight dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %0 = tenon.contract %x, %w {lhs_dims = array<i64: 0, 1>, rhs_dims = array<i64: 1, 2>, result_dims = array<i64: 0, 2>} : (tensor<5x2xf32>, tensor<2x2xf32>) -> tensor<5x2xf32>
  %a = tenon.weight dense<[[1.0], [2.0]]> : tensor<2x1xf32>
  %1 = tenon.contract %x, %a {lhs_dims = array<i64: 0, 1>, rhs_dims = array<i64: 1, 2>, result_dims = array<i64: 0, 2>} : (tensor<5x2xf32>, tensor<2x1xf32>) -> tensor<5x1xf32>
  %b = tenon.weight dense<[[3.0, 4.0]]> : tensor<1x2xf32>
  %2 = tenon.contract %1, %b {lhs_dims = array<i64: 0, 1>, rhs_dims = array<i64: 1, 2>, result_dims = array<i64: 0, 2>} : (tensor<5x1xf32>, tensor<1x2xf32>) -> tensor<5x2xf32>
  %s = tenon.weight dense<5.0e-1> : tensor<f32>
  %3 = tenon.mul %2, %s : (tensor<5x2xf32>, tensor<f32>) -> tensor<5x2xf32>
  %4 = tenon.add %0, %3 : (tensor<5x2xf32>, tensor<5x2xf32>) -> tensor<5x2xf32>
  return %4 : tensor<5x2xf32>
}

// Not where the rows are others, where something else reads the matrix or what is between, where a factor is not constant, of
// integers, and of two products that are both of low rank.
// CHECK-LABEL: @refused
// CHECK-NOT: tenon.contract {{.*}} -> tensor<2x2x
// CHECK: return
func.func @refused(%x: tensor<5x2xf32>, %y: tensor<5x2xf32>, %m: tensor<2x2xf32>, %i: tensor<5x2xi32>)
    -> (tensor<5x2xf32>, tensor<5x2xf32>, tensor<5x2xf32>, tensor<5x2xf32>, tensor<5x2xf32>, tensor<5x2xf32>, tensor<5x2xi32>, tensor<5x2xf32>) {
  %w = tenon.weight dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %v = tenon.weight dense<[[1.0, 2.0], [3.0, 5.0]]> : tensor<2x2xf32>
  %a = tenon.weight dense<[[1.0], [2.0]]> : tensor<2x1xf32>
  %b = tenon.weight dense<[[3.0, 4.0]]> : tensor<1x2xf32>
  %k = tenon.weight dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>
  %xa = tenon.contract %x, %a {lhs_dims = array<i64: 0, 1>, rhs_dims = array<i64: 1, 2>, result_dims = array<i64: 0, 2>} : (tensor<5x2xf32>, tensor<2x1xf32>) -> tensor<5x1xf32>
  %xab = tenon.contract %xa, %b {lhs_dims = array<i64: 0, 1>, rhs_dims = array<i64: 1, 2>, result_dims = array<i64: 0, 2>} : (tensor<5x1xf32>, tensor<1x2xf32>) -> tensor<5x2xf32>
  %yv = tenon.contract %y, %v {lhs_dims = array<i64: 0, 1>, rhs_dims = array<i64: 1, 2>, result_dims = array<i64: 0, 2>} : (tensor<5x2xf32>, tensor<2x2xf32>) -> tensor<5x2xf32>
  %other = tenon.add %yv, %xab : (tensor<5x2xf32>, tensor<5x2xf32>) -> tensor<5x2xf32>
  %xw = tenon.contract %x, %w {lhs_dims = array<i64: 0, 1>, rhs_dims = array<i64: 1, 2>, result_dims = array<i64: 0, 2>} : (tensor<5x2xf32>, tensor<2x2xf32>) -> tensor<5x2xf32>
  %yw = tenon.contract %y, %w {lhs_dims = array<i64: 0, 1>, rhs_dims = array<i64: 1, 2>, result_dims = array<i64: 0, 2>} : (tensor<5x2xf32>, tensor<2x2xf32>) -> tensor<5x2xf32>
  %twice = tenon.add %xw, %xab : (tensor<5x2xf32>, tensor<5x2xf32>) -> tensor<5x2xf32>
  %xm = tenon.contract %xa, %b {lhs_dims = array<i64: 0, 1>, rhs_dims = array<i64: 1, 2>, result_dims = array<i64: 0, 2>} : (tensor<5x1xf32>, tensor<1x2xf32>) -> tensor<5x2xf32>
  %xo = tenon.contract %x, %m {lhs_dims = array<i64: 0, 1>, rhs_dims = array<i64: 1, 2>, result_dims = array<i64: 0, 2>} : (tensor<5x2xf32>, tensor<2x2xf32>) -> tensor<5x2xf32>
  %open = tenon.add %xo, %xm : (tensor<5x2xf32>, tensor<5x2xf32>) -> tensor<5x2xf32>
  %ik = tenon.contract %i, %k {lhs_dims = array<i64: 0, 1>, rhs_dims = array<i64: 1, 2>, result_dims = array<i64: 0, 2>} : (tensor<5x2xi32>, tensor<2x2xi32>) -> tensor<5x2xi32>
  %ikk = tenon.contract %ik, %k {lhs_dims = array<i64: 0, 1>, rhs_dims = array<i64: 1, 2>, result_dims = array<i64: 0, 2>} : (tensor<5x2xi32>, tensor<2x2xi32>) -> tensor<5x2xi32>
  %integers = tenon.add %ik, %ikk : (tensor<5x2xi32>, tensor<5x2xi32>) -> tensor<5x2xi32>
  %low = tenon.add %xab, %xm : (tensor<5x2xf32>, tensor<5x2xf32>) -> tensor<5x2xf32>
  return %other, %yw, %twice, %xab, %xm, %open, %integers, %low : tensor<5x2xf32>, tensor<5x2xf32>, tensor<5x2xf32>, tensor<5x2xf32>, tensor<5x2xf32>, tensor<5x2xf32>, tensor<5x2xi32>, tensor<5x2xf32>
}
