// RUN: tenon-opt %s --tenon-fuse --tenon-outline --tenon-in-place-operands --tenon-to-linalg --tenon-form-contractions --tenon-tile-kernels --tenon-to-plan --cse | FileCheck %s
// The inputs of a concat are computed where its result lies, or copied there; what a contraction reads is a view.

// CHECK: plan.program @main
// CHECK-DAG: %[[X:.*]] = plan.input 0
// CHECK-DAG: %[[Y:.*]] = plan.input 1
// CHECK: %[[JOINED:.*]] = plan.alloc %c96
// CHECK: %[[A:.*]] = plan.alias %[[JOINED]][%c0] size %c48
// CHECK: %[[T:.*]] = plan.alias %[[JOINED]][%c48{{.*}}] size %c24
// CHECK: %[[COPY:.*]] = plan.alias %[[JOINED]][%c72{{.*}}] size %c24
// CHECK: plan.launch @k0_exp(%[[X]]) -> (%[[A]])
// CHECK: plan.launch @k1_transpose(%[[Y]]) -> (%[[T]])
// CHECK: plan.copy %[[Y]] to %[[COPY]]
// CHECK: plan.launch @k2_reduce(%[[JOINED]])
// CHECK: %[[PART:.*]] = plan.alias %[[JOINED]][%c36{{.*}}] size %c24
// CHECK: plan.launch @k3_contract(%[[PART]])
func.func @main(%x: tensor<4x3xf32>, %y: tensor<3x2xf32>) -> (tensor<f32>, tensor<2x2xf32>) {
  %a = tenon.exp %x : (tensor<4x3xf32>) -> tensor<4x3xf32>
  %t = tenon.transpose %y {permutation = array<i64: 1, 0>} : (tensor<3x2xf32>) -> tensor<2x3xf32>
  %v = tenon.reshape %y : (tensor<3x2xf32>) -> tensor<2x3xf32>
  %c = tenon.concat %a, %t, %v {axis = 0 : i64} : (tensor<4x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<8x3xf32>
  %r = tenon.reduce sum, %c {axes = array<i64: 0, 1>} : (tensor<8x3xf32>) -> tensor<f32>
  %s = tenon.slice %c {starts = #tenon.shape<3, 0>, steps = array<i64: 1, 1>} : (tensor<8x3xf32>) -> tensor<2x3xf32>
  %m = tenon.contract %s, %s {lhs_dims = array<i64: 0, 1>, rhs_dims = array<i64: 2, 1>, result_dims = array<i64: 0, 2>} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x2xf32>
  return %r, %m : tensor<f32>, tensor<2x2xf32>
}
