// RUN: tenon-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(tenon-choose-forms))' | FileCheck %s
// RUN: tenon-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(tenon-choose-forms{budget=1e-7}))' | FileCheck %s --check-prefix=EXACT
// RUN: tenon-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(tenon-choose-forms{budget=1e-7 force=*=products_b_ac}))' | FileCheck %s --check-prefix=OUTER

// Attention without a softmax: with 256 queries and keys of 8 elements, the 256 x 256 scores are not computed. Another
// order rounds other sums, which a budget may rule out.
// CHECK-LABEL: @linear_attention
// CHECK: %[[STATE:.*]] = tenon.contract %arg1, %arg2 {lhs_dims = array<i64: 1, 2>, result_dims = array<i64: 2, 3>, rhs_dims = array<i64: 1, 3>} : (tensor<256x8xf32>, tensor<256x8xf32>) -> tensor<8x8xf32>
// CHECK: %[[RESULT:.*]] = tenon.contract %arg0, %[[STATE]] {lhs_dims = array<i64: 0, 2>, result_dims = array<i64: 0, 3>, rhs_dims = array<i64: 2, 3>} : (tensor<256x8xf32>, tensor<8x8xf32>) -> tensor<256x8xf32>
// CHECK: return %[[RESULT]]
// EXACT-LABEL: @linear_attention
// EXACT: tenon.contract %arg0, %arg1 {{.*}} -> tensor<256x256xf32>
// EXACT-NOT: tensor<8x8xf32>
// What is forced needs no budget. Queries and values share no sum: that order there is not, here.
// OUTER-LABEL: @linear_attention
// OUTER-NOT: tensor<256x8x256x8xf32>
func.func @linear_attention(%q: tensor<256x8xf32>, %k: tensor<256x8xf32>, %v: tensor<256x8xf32>) -> tensor<256x8xf32> {
  %0 = tenon.contract %q, %k {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 1, 2>, result_dims = array<i64: 0, 1>}
    : (tensor<256x8xf32>, tensor<256x8xf32>) -> tensor<256x256xf32>
  %1 = tenon.contract %0, %v {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 2, 1>, result_dims = array<i64: 0, 1>}
    : (tensor<256x256xf32>, tensor<256x8xf32>) -> tensor<256x8xf32>
  return %1 : tensor<256x8xf32>
}

// -----

// With more elements than keys the order as it is given is the best. Of four factors the contraction in the middle belongs
// to two sites, of which one may change.
// CHECK-LABEL: @given
// CHECK: tenon.contract %arg0, %arg1 {{.*}} -> tensor<4x4xf32>
// CHECK: -> tensor<4x64xf32>
func.func @given(%q: tensor<4x64xf32>, %k: tensor<4x64xf32>, %v: tensor<4x64xf32>) -> tensor<4x64xf32> {
  %0 = tenon.contract %q, %k {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 1, 2>, result_dims = array<i64: 0, 1>}
    : (tensor<4x64xf32>, tensor<4x64xf32>) -> tensor<4x4xf32>
  %1 = tenon.contract %0, %v {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 2, 1>, result_dims = array<i64: 0, 1>}
    : (tensor<4x4xf32>, tensor<4x64xf32>) -> tensor<4x64xf32>
  return %1 : tensor<4x64xf32>
}

// CHECK-LABEL: @four_factors
// CHECK-COUNT-3: tenon.contract
// CHECK-NOT: tenon.contract
// CHECK: return
func.func @four_factors(%a: tensor<99x2xf32>, %b: tensor<2x99xf32>, %c: tensor<99x3xf32>, %d: tensor<3x5xf32>) -> tensor<99x5xf32> {
  %0 = tenon.contract %a, %b {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 2, 1>, result_dims = array<i64: 0, 1>} : (tensor<99x2xf32>, tensor<2x99xf32>) -> tensor<99x99xf32>
  %1 = tenon.contract %0, %c {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 2, 1>, result_dims = array<i64: 0, 1>} : (tensor<99x99xf32>, tensor<99x3xf32>) -> tensor<99x3xf32>
  %2 = tenon.contract %1, %d {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 2, 1>, result_dims = array<i64: 0, 1>} : (tensor<99x3xf32>, tensor<3x5xf32>) -> tensor<99x5xf32>
  return %2 : tensor<99x5xf32>
}

// -----

// No other order: of integers, whose wrapped sums might be anything, of a product that something else reads, of an extent
// that is stretched, along a diagonal.
// CHECK-LABEL: @refused
// CHECK-NOT: -> tensor<8x8x
// CHECK: return
func.func @refused(%i: tensor<99x8xi32>, %x: tensor<99x8xf32>, %y: tensor<99x1xf32>) -> (tensor<99x8xi32>, tensor<99x99xf32>, tensor<99x8xf32>, tensor<99x8xf32>, tensor<8xf32>) {
  %0 = tenon.contract %i, %i {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 1, 2>, result_dims = array<i64: 0, 1>} : (tensor<99x8xi32>, tensor<99x8xi32>) -> tensor<99x99xi32>
  %1 = tenon.contract %0, %i {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 2, 1>, result_dims = array<i64: 0, 1>} : (tensor<99x99xi32>, tensor<99x8xi32>) -> tensor<99x8xi32>
  %2 = tenon.contract %x, %x {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 1, 2>, result_dims = array<i64: 0, 1>} : (tensor<99x8xf32>, tensor<99x8xf32>) -> tensor<99x99xf32>
  %3 = tenon.contract %2, %x {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 2, 1>, result_dims = array<i64: 0, 1>} : (tensor<99x99xf32>, tensor<99x8xf32>) -> tensor<99x8xf32>
  %4 = tenon.contract %x, %y {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 1, 2>, result_dims = array<i64: 0, 1>} : (tensor<99x8xf32>, tensor<99x1xf32>) -> tensor<99x99xf32>
  %5 = tenon.contract %4, %x {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 2, 1>, result_dims = array<i64: 0, 1>} : (tensor<99x99xf32>, tensor<99x8xf32>) -> tensor<99x8xf32>
  %6 = tenon.contract %x, %x {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 1, 2>, result_dims = array<i64: 0, 1>} : (tensor<99x8xf32>, tensor<99x8xf32>) -> tensor<99x99xf32>
  %7 = tenon.contract %6, %x {lhs_dims = array<i64: 0, 0>, rhs_dims = array<i64: 0, 1>, result_dims = array<i64: 1>} : (tensor<99x99xf32>, tensor<99x8xf32>) -> tensor<8xf32>
  return %1, %2, %3, %5, %7 : tensor<99x8xi32>, tensor<99x99xf32>, tensor<99x8xf32>, tensor<99x8xf32>, tensor<8xf32>
}

// -----

// The first factor and the last one may share the sum that is best done first: the 99 x 99 products of the first two are not
// needed.
// CHECK-LABEL: @outer_pair
// CHECK: %[[FIRST:.*]] = tenon.contract %arg0, %arg2 {lhs_dims = array<i64: 0, 2>, result_dims = array<i64: 2, 3>, rhs_dims = array<i64: 0, 3>} : (tensor<99x8xf32>, tensor<99x4xf32>) -> tensor<8x4xf32>
// CHECK: tenon.contract %arg1, %[[FIRST]] {lhs_dims = array<i64: 1, 2>, result_dims = array<i64: 1, 3>, rhs_dims = array<i64: 2, 3>} : (tensor<99x8xf32>, tensor<8x4xf32>) -> tensor<99x4xf32>
// OUTER-LABEL: @outer_pair
// OUTER: tenon.contract %arg0, %arg2 {{.*}} -> tensor<8x4xf32>
func.func @outer_pair(%a: tensor<99x8xf32>, %b: tensor<99x8xf32>, %c: tensor<99x4xf32>) -> tensor<99x4xf32> {
  %0 = tenon.contract %a, %b {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 1, 2>, result_dims = array<i64: 0, 1>}
    : (tensor<99x8xf32>, tensor<99x8xf32>) -> tensor<99x99xf32>
  %1 = tenon.contract %0, %c {lhs_dims = array<i64: 2, 0>, rhs_dims = array<i64: 2, 1>, result_dims = array<i64: 0, 1>}
    : (tensor<99x99xf32>, tensor<99x4xf32>) -> tensor<99x4xf32>
  return %1 : tensor<99x4xf32>
}
