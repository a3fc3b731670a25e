// RUN: tenon-opt %s -pass-pipeline='builtin.module(func.func(tenon-fuse))' | FileCheck %s
// RUN: tenon-opt %s -pass-pipeline='builtin.module(func.func(tenon-fuse))' | FileCheck %s --check-prefix=MARKS
// MARKS-NOT: tenon.materialized
// MARKS-NOT: tenon.recomputed

// A transpose that would be read where it stands in memory.
// CHECK-LABEL: @materialized_prologue
// CHECK: tenon.dispatch
// CHECK-NEXT: tenon.transpose
// CHECK-NEXT: tenon.yield
// CHECK: tenon.dispatch
// CHECK-NEXT: tenon.contract
func.func @materialized_prologue(%a: tensor<3x2xf32>, %b: tensor<3x4xf32>) -> tensor<2x4xf32> {
  %0 = tenon.transpose %a {permutation = array<i64: 1, 0>, tenon.materialized} : (tensor<3x2xf32>) -> tensor<2x3xf32>
  %1 = tenon.contract %0, %b {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 2, 1>, result_dims = array<i64: 0, 1>}
    : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  return %1 : tensor<2x4xf32>
}

// CHECK-LABEL: @materialized_loop_nest
// CHECK: tenon.dispatch
// CHECK-NEXT: tenon.contract
// CHECK-NEXT: tenon.yield
// CHECK: tenon.dispatch
// CHECK-NEXT: tenon.tanh
func.func @materialized_loop_nest(%a: tensor<2x3xf32>, %b: tensor<3x4xf32>) -> tensor<2x4xf32> {
  %0 = tenon.contract %a, %b {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 2, 1>, result_dims = array<i64: 0, 1>, tenon.materialized}
    : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  %1 = tenon.tanh %0 : (tensor<2x4xf32>) -> tensor<2x4xf32>
  return %1 : tensor<2x4xf32>
}

// A view has no kernel to be materialized by.
// CHECK-LABEL: @materialized_view
// CHECK: tenon.dispatch
// CHECK-NEXT: tenon.neg
// CHECK: tenon.reshape
// CHECK: tenon.dispatch
// CHECK-NEXT: tenon.exp
// CHECK-NOT: tenon.dispatch
func.func @materialized_view(%x: tensor<4xf32>) -> tensor<2x2xf32> {
  %0 = tenon.neg %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = tenon.reshape %0 {tenon.materialized} : (tensor<4xf32>) -> tensor<2x2xf32>
  %2 = tenon.exp %1 : (tensor<2x2xf32>) -> tensor<2x2xf32>
  return %2 : tensor<2x2xf32>
}

// Two contractions read %0, each in a kernel with its sums; so does what negates one of them again.
// CHECK-LABEL: @recomputed
// CHECK: tenon.dispatch
// CHECK-NEXT: tenon.neg
// CHECK-NEXT: tenon.contract
// CHECK-NEXT: tenon.add
// CHECK-NEXT: tenon.mul
// CHECK-NEXT: tenon.yield
// CHECK: tenon.dispatch
// CHECK-NEXT: tenon.neg
// CHECK-NEXT: tenon.contract
// CHECK-NEXT: tenon.add
// CHECK-NEXT: tenon.yield
// CHECK-NOT: tenon.dispatch
func.func @recomputed(%m: tensor<2x4xf32>, %a: tensor<2x3xf32>, %b: tensor<3x4xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>) {
  %0 = tenon.neg %m {tenon.recomputed} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %1 = tenon.contract %a, %b {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 2, 1>, result_dims = array<i64: 0, 1>}
    : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  %2 = tenon.add %1, %0 : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %3 = tenon.mul %2, %0 : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %4 = tenon.contract %a, %b {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 2, 1>, result_dims = array<i64: 0, 1>}
    : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  %5 = tenon.add %4, %0 : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  return %3, %5 : tensor<2x4xf32>, tensor<2x4xf32>
}

// A contraction rereads its operands, and the caller reads memory: then all do.
// CHECK-LABEL: @not_recomputed_for_a_contraction
// CHECK: tenon.dispatch
// CHECK-NEXT: tenon.neg
// CHECK-NEXT: tenon.yield
// CHECK-COUNT-2: tenon.dispatch
// CHECK-NOT: tenon.neg
func.func @not_recomputed_for_a_contraction(%a: tensor<2x3xf32>, %b: tensor<3x4xf32>) -> (tensor<2x4xf32>, tensor<2x3xf32>) {
  %0 = tenon.neg %a {tenon.recomputed} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = tenon.contract %0, %b {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 2, 1>, result_dims = array<i64: 0, 1>}
    : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  %2 = tenon.exp %0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %1, %2 : tensor<2x4xf32>, tensor<2x3xf32>
}

// CHECK-LABEL: @not_recomputed_for_the_caller
// CHECK: tenon.dispatch
// CHECK-NEXT: tenon.neg
// CHECK-NEXT: tenon.yield
// CHECK-COUNT-2: tenon.dispatch
// CHECK-NOT: tenon.neg
func.func @not_recomputed_for_the_caller(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>) {
  %0 = tenon.neg %x {tenon.recomputed} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = tenon.exp %0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %2 = tenon.tanh %0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0, %1, %2 : tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>
}

// Costly operations are not repeated, whatever a mark says.
// CHECK-LABEL: @costly_function_once
// CHECK-COUNT-1: tenon.tanh
// CHECK-NOT: tenon.tanh
func.func @costly_function_once(%x: tensor<2x3xf32>, %y: tensor<3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>) {
  %0 = tenon.tanh %y {tenon.recomputed} : (tensor<3xf32>) -> tensor<3xf32>
  %1 = tenon.add %x, %0 : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %2 = tenon.neg %0 : (tensor<3xf32>) -> tensor<3xf32>
  return %1, %2 : tensor<2x3xf32>, tensor<3xf32>
}
