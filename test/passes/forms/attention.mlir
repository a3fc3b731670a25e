// RUN: tenon-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(tenon-choose-forms{late}))' | FileCheck %s
// RUN: tenon-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(tenon-choose-forms{late exclude=fused_attention}))' | FileCheck %s --check-prefix=SPLIT
// RUN: tenon-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(tenon-choose-forms))' | FileCheck %s --check-prefix=EARLY
// RUN: tenon-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(tenon-repeat-forms{late}))' | FileCheck %s
// RUN: tenon-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(tenon-repeat-forms{late forms=split_attention}))' | FileCheck %s --check-prefix=SPLIT

// Attention is one operation unless somebody demands another form. What only its scores needed is not left over.
// SPLIT-NOT: tenon.attention %
// EARLY-NOT: tenon.attention
// CHECK-LABEL: @heads
// CHECK-NOT: tenon.contract
// CHECK: %[[RESULT:.*]] = tenon.attention %arg0, %arg1, %arg2 {
// CHECK: tenon.mul
// CHECK-NOT: tenon.softmax
// CHECK: return %[[RESULT]]
// SPLIT-LABEL: @heads
// SPLIT: tenon.contract
// SPLIT: tenon.softmax
// SPLIT: tenon.contract
func.func @heads(%q: tensor<2x16x8xf32>, %k: tensor<2x16x8xf32>, %v: tensor<2x16x8xf32>) -> tensor<2x16x8xf32> {
  %f = tenon.weight dense<0.5> : tensor<f32>
  %0 = tenon.contract %q, %k {lhs_dims = array<i64: 0, 1, 3>, rhs_dims = array<i64: 0, 2, 3>, result_dims = array<i64: 0, 1, 2>}
    : (tensor<2x16x8xf32>, tensor<2x16x8xf32>) -> tensor<2x16x16xf32>
  %1 = tenon.mul %0, %f : (tensor<2x16x16xf32>, tensor<f32>) -> tensor<2x16x16xf32>
  %2 = tenon.softmax %1 {axis = 2 : i64} : (tensor<2x16x16xf32>) -> tensor<2x16x16xf32>
  %3 = tenon.contract %2, %v {lhs_dims = array<i64: 0, 1, 3>, rhs_dims = array<i64: 0, 3, 2>, result_dims = array<i64: 0, 1, 2>}
    : (tensor<2x16x16xf32>, tensor<2x16x8xf32>) -> tensor<2x16x8xf32>
  return %3 : tensor<2x16x8xf32>
}

// -----

// There is no choice where queries do not share keys, or where something else reads the scores.
// CHECK-LABEL: @few_queries
// CHECK-NOT: tenon.attention
func.func @few_queries(%q: tensor<2x1x8xf32>, %k: tensor<2x16x8xf32>, %v: tensor<2x16x8xf32>) -> tensor<2x1x8xf32> {
  %0 = tenon.contract %q, %k {lhs_dims = array<i64: 0, 1, 3>, rhs_dims = array<i64: 0, 2, 3>, result_dims = array<i64: 0, 1, 2>}
    : (tensor<2x1x8xf32>, tensor<2x16x8xf32>) -> tensor<2x1x16xf32>
  %1 = tenon.softmax %0 {axis = 2 : i64} : (tensor<2x1x16xf32>) -> tensor<2x1x16xf32>
  %2 = tenon.contract %1, %v {lhs_dims = array<i64: 0, 1, 3>, rhs_dims = array<i64: 0, 3, 2>, result_dims = array<i64: 0, 1, 2>}
    : (tensor<2x1x16xf32>, tensor<2x16x8xf32>) -> tensor<2x1x8xf32>
  return %2 : tensor<2x1x8xf32>
}

// CHECK-LABEL: @scores_are_read
// CHECK-NOT: tenon.attention
func.func @scores_are_read(%q: tensor<2x16x8xf32>, %k: tensor<2x16x8xf32>, %v: tensor<2x16x8xf32>) -> (tensor<2x16x8xf32>, tensor<2x16x16xf32>) {
  %0 = tenon.contract %q, %k {lhs_dims = array<i64: 0, 1, 3>, rhs_dims = array<i64: 0, 2, 3>, result_dims = array<i64: 0, 1, 2>}
    : (tensor<2x16x8xf32>, tensor<2x16x8xf32>) -> tensor<2x16x16xf32>
  %1 = tenon.softmax %0 {axis = 2 : i64} : (tensor<2x16x16xf32>) -> tensor<2x16x16xf32>
  %2 = tenon.contract %1, %v {lhs_dims = array<i64: 0, 1, 3>, rhs_dims = array<i64: 0, 3, 2>, result_dims = array<i64: 0, 1, 2>}
    : (tensor<2x16x16xf32>, tensor<2x16x8xf32>) -> tensor<2x16x8xf32>
  return %2, %1 : tensor<2x16x8xf32>, tensor<2x16x16xf32>
}
