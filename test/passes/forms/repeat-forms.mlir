// RUN: tenon-opt %s --pass-pipeline='builtin.module(func.func(tenon-repeat-forms{forms=separate_products,merged_products}))' | FileCheck %s
// RUN: tenon-opt %s --pass-pipeline='builtin.module(func.func(tenon-repeat-forms))' | FileCheck %s --check-prefix=NONE
// NONE-NOT: tenon.slice

// Sites are counted in the order of the function: the second one takes the form that is named second, whatever it costs.
// CHECK-LABEL: @two_sites
// CHECK-DAG: tenon.contract %arg0, {{.*}} -> tensor<3x1xf32>
// CHECK-DAG: tenon.contract %arg0, {{.*}} -> tensor<3x2xf32>
// CHECK-DAG: %[[ALL:.*]] = tenon.contract %arg1, {{.*}} -> tensor<3x3xf32>
// CHECK-DAG: tenon.slice %[[ALL]] {starts = #tenon.shape<0, 0>
// CHECK-DAG: tenon.slice %[[ALL]] {starts = #tenon.shape<0, 1>
func.func @two_sites(%x: tensor<3x2xf32>, %y: tensor<3x2xf32>) -> (tensor<3x1xf32>, tensor<3x2xf32>, tensor<3x1xf32>, tensor<3x2xf32>) {
  %a = tenon.weight dense<[[1.0], [2.0]]> : tensor<2x1xf32>
  %b = tenon.weight dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %c = tenon.weight dense<[[3.0], [2.0]]> : tensor<2x1xf32>
  %d = tenon.weight dense<[[5.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %0 = tenon.contract %x, %a {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 2, 1>, result_dims = array<i64: 0, 1>} : (tensor<3x2xf32>, tensor<2x1xf32>) -> tensor<3x1xf32>
  %1 = tenon.contract %x, %b {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 2, 1>, result_dims = array<i64: 0, 1>} : (tensor<3x2xf32>, tensor<2x2xf32>) -> tensor<3x2xf32>
  %2 = tenon.contract %y, %c {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 2, 1>, result_dims = array<i64: 0, 1>} : (tensor<3x2xf32>, tensor<2x1xf32>) -> tensor<3x1xf32>
  %3 = tenon.contract %y, %d {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 2, 1>, result_dims = array<i64: 0, 1>} : (tensor<3x2xf32>, tensor<2x2xf32>) -> tensor<3x2xf32>
  return %0, %1, %2, %3 : tensor<3x1xf32>, tensor<3x2xf32>, tensor<3x1xf32>, tensor<3x2xf32>
}
