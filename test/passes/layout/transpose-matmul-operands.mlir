// RUN: tenon-opt %s -pass-pipeline='builtin.module(func.func(tenon-transpose-matmul-operands))' | FileCheck %s

// Columns are to run along memory.
// CHECK-LABEL: @rows_times_rows
// CHECK: %[[T:.*]] = tenon.transpose %arg1 {permutation = array<i64: 1, 0>} : {{.*}} -> tensor<32x?xf32
// CHECK-NEXT: tenon.contract %arg0, %[[T]] {lhs_dims = array<i64: 0, 2>, result_dims = array<i64: 0, 1>, rhs_dims = array<i64: 2, 1>}
func.func @rows_times_rows(%x: tensor<64x32xf32>, %y: tensor<?x32xf32, #tenon.shape<N, 32>>) -> tensor<64x?xf32, #tenon.shape<64, N>> {
  %0 = tenon.contract %x, %y {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 1, 2>, result_dims = array<i64: 0, 1>}
    : (tensor<64x32xf32>, tensor<?x32xf32, #tenon.shape<N, 32>>) -> tensor<64x?xf32, #tenon.shape<64, N>>
  return %0 : tensor<64x?xf32, #tenon.shape<64, N>>
}

// Of a batch, too; whichever side has the columns, and other dimensions stay in their order.
// CHECK-LABEL: @batches
// CHECK: %[[T:.*]] = tenon.transpose %arg0 {permutation = array<i64: 0, 2, 3, 1>} : (tensor<4x48x8x64xf32>) -> tensor<4x8x64x48xf32>
// CHECK-NEXT: tenon.contract %[[T]], %arg1 {lhs_dims = array<i64: 0, 2, 4, 3>,
func.func @batches(%x: tensor<4x48x8x64xf32>, %y: tensor<4x40x8x64xf32>) -> tensor<4x40x8x48xf32> {
  %0 = tenon.contract %x, %y {lhs_dims = array<i64: 0, 3, 2, 4>, rhs_dims = array<i64: 0, 1, 2, 4>, result_dims = array<i64: 0, 1, 2, 3>}
    : (tensor<4x48x8x64xf32>, tensor<4x40x8x64xf32>) -> tensor<4x40x8x48xf32>
  return %0 : tensor<4x40x8x48xf32>
}

// A large matrix is put in panels at once, and what it is a transpose of is read for that; rows are to run along the sum.
// CHECK-LABEL: @panels
// CHECK-NEXT: %[[R:.*]] = tenon.reshape %arg1 : (tensor<160x96xf32>) -> tensor<5x32x96xf32>
// CHECK-NEXT: %[[P:.*]] = tenon.transpose %[[R]] {permutation = array<i64: 0, 2, 1>} : {{.*}} -> tensor<5x96x32xf32>
// CHECK-NEXT: %[[M:.*]] = tenon.unpack %[[P]] {axis = 1 : i64} : (tensor<5x96x32xf32>) -> tensor<96x160xf32>
// CHECK-NEXT: %[[X:.*]] = tenon.transpose %arg0 {permutation = array<i64: 1, 0>}
// CHECK-NEXT: tenon.contract %[[X]], %[[M]] {lhs_dims = array<i64: 0, 2>, result_dims = array<i64: 0, 1>, rhs_dims = array<i64: 2, 1>}
func.func @panels(%x: tensor<96x70xf32>, %y: tensor<160x96xf32>) -> tensor<70x160xf32> {
  %0 = tenon.transpose %y {permutation = array<i64: 1, 0>} : (tensor<160x96xf32>) -> tensor<96x160xf32>
  %1 = tenon.contract %x, %0 {lhs_dims = array<i64: 2, 0>, rhs_dims = array<i64: 2, 1>, result_dims = array<i64: 0, 1>}
    : (tensor<96x70xf32>, tensor<96x160xf32>) -> tensor<70x160xf32>
  return %1 : tensor<70x160xf32>
}

// A row times such a matrix is a dot product; few products do not pay for a pass; a packed weight has its order; and the columns
// of few rows lie as they are wanted.
// CHECK-LABEL: @left_alone
// CHECK-NOT: tenon.transpose
// CHECK: return
func.func @left_alone(%row: tensor<1x64xf32>, %keys: tensor<300x64xf32>, %x: tensor<3x5xf32>, %y: tensor<7x5xf32>, %z: tensor<16x64xf32>, %i: tensor<64x64xi32>)
    -> (tensor<1x300xf32>, tensor<3x7xf32>, tensor<16x32xf32>, tensor<16x300xf32>, tensor<64x64xi32>) {
  %0 = tenon.contract %row, %keys {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 1, 2>, result_dims = array<i64: 0, 1>}
    : (tensor<1x64xf32>, tensor<300x64xf32>) -> tensor<1x300xf32>
  %1 = tenon.contract %x, %y {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 1, 2>, result_dims = array<i64: 0, 1>}
    : (tensor<3x5xf32>, tensor<7x5xf32>) -> tensor<3x7xf32>
  %packed = tenon.weight dense<1.0> : tensor<2x64x16xf32>
  %w = tenon.unpack %packed {axis = 0 : i64} : (tensor<2x64x16xf32>) -> tensor<32x64xf32>
  %2 = tenon.contract %z, %w {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 1, 2>, result_dims = array<i64: 0, 1>}
    : (tensor<16x64xf32>, tensor<32x64xf32>) -> tensor<16x32xf32>
  %v = tenon.reshape %keys : (tensor<300x64xf32>) -> tensor<64x300xf32>
  %3 = tenon.contract %z, %v {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 2, 1>, result_dims = array<i64: 0, 1>}
    : (tensor<16x64xf32>, tensor<64x300xf32>) -> tensor<16x300xf32>
  %4 = tenon.contract %i, %i {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 1, 2>, result_dims = array<i64: 0, 1>}
    : (tensor<64x64xi32>, tensor<64x64xi32>) -> tensor<64x64xi32>
  return %0, %1, %2, %3, %4 : tensor<1x300xf32>, tensor<3x7xf32>, tensor<16x32xf32>, tensor<16x300xf32>, tensor<64x64xi32>
}

// Nor is a diagonal.
// CHECK-LABEL: @diagonal
// CHECK-NOT: tenon.transpose
// CHECK: return
func.func @diagonal(%x: tensor<70x80xf32>, %y: tensor<160x160x80xf32>) -> tensor<70x160xf32> {
  %0 = tenon.contract %x, %y {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 1, 1, 2>, result_dims = array<i64: 0, 1>}
    : (tensor<70x80xf32>, tensor<160x160x80xf32>) -> tensor<70x160xf32>
  return %0 : tensor<70x160xf32>
}

// The signed factor of int8 gets panels of 32 columns, in groups of four along the sum, where rows have it last.
// CHECK-LABEL: @k4_groups
func.func @k4_groups(%x: tensor<70x16xui8>, %y: tensor<70x50xi8>) -> tensor<16x50xi32> {
  // CHECK: %[[LONGER:.*]] = tenon.pad constant, %arg1, {{.*}} -> tensor<72x64xi8>
  // CHECK: %[[PARTS:.*]] = tenon.reshape %[[LONGER]] : (tensor<72x64xi8>) -> tensor<18x4x2x32xi8>
  // CHECK: %[[T:.*]] = tenon.transpose %[[PARTS]] {permutation = array<i64: 2, 0, 3, 1>}
  // CHECK: %[[PANELS:.*]] = tenon.reshape %[[T]] : (tensor<2x18x32x4xi8>) -> tensor<2x18x128xi8>
  // CHECK: tenon.unpack %[[PANELS]] {axis = 1 : i64, k4_axis = 0 : i64} : (tensor<2x18x128xi8>) -> tensor<70x50xi8>
  // CHECK: %[[X:.*]] = tenon.transpose %arg0 {permutation = array<i64: 1, 0>} : (tensor<70x16xui8>) -> tensor<16x70xui8>
  // CHECK: tenon.contract %[[X]],
  // CHECK-SAME: lhs_dims = array<i64: 0, 2>
  %0 = tenon.contract %x, %y {lhs_dims = array<i64: 2, 0>, rhs_dims = array<i64: 2, 1>, result_dims = array<i64: 0, 1>, result_type = i32}
    : (tensor<70x16xui8>, tensor<70x50xi8>) -> tensor<16x50xi32>
  return %0 : tensor<16x50xi32>
}

// What a path that is measured needs besides says so.
// CHECK-LABEL: @measured
// CHECK: tenon.transpose %arg1 {permutation = array<i64: 1, 0>, tenon.served_region = "a product"}
// CHECK-NEXT: tenon.contract {{.*}}tenon.region = "a product"
func.func @measured(%x: tensor<64x32xf32>, %y: tensor<?x32xf32, #tenon.shape<N, 32>>) -> tensor<64x?xf32, #tenon.shape<64, N>> {
  %0 = tenon.contract %x, %y {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 1, 2>, result_dims = array<i64: 0, 1>, tenon.region = "a product"}
    : (tensor<64x32xf32>, tensor<?x32xf32, #tenon.shape<N, 32>>) -> tensor<64x?xf32, #tenon.shape<64, N>>
  return %0 : tensor<64x?xf32, #tenon.shape<64, N>>
}
