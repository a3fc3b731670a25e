// RUN: tenon-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(tenon-choose-forms{late}))' | FileCheck %s
// RUN: tenon-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(tenon-repeat-forms{late forms=split_keys}))' | FileCheck %s --check-prefix=REPEATED
// RUN: tenon-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(tenon-repeat-forms{late}))' | FileCheck %s --check-prefix=DEFAULT

// Few queries pass over many keys a split of them at a time, those of all heads together.
// A graph whose forms are not known keeps its products: one kernel is not for a single query.
// DEFAULT-NOT: tenon.combine_splits
// REPEATED-LABEL: @open_keys
// REPEATED: tenon.combine_splits
// CHECK-LABEL: @open_keys
// CHECK: %[[PARTS:.*]] = tenon.attention %arg0
// CHECK: tenon.mul
// CHECK: split_keys = 32 : i64
// CHECK-SAME: -> tensor<?x16x1x66xf32, #tenon.shape<n ceildiv 32, 16, 1, 66>>
// CHECK: %[[RESULT:.*]] = tenon.combine_splits %[[PARTS]]
// CHECK-SAME: -> tensor<16x1x64xf32>
// CHECK: return %[[RESULT]]
func.func @open_keys(%q: tensor<16x1x64xf32>, %k: tensor<?x16x64xf32, #tenon.shape<n, 16, 64>>, %v: tensor<?x16x64xf32, #tenon.shape<n, 16, 64>>) -> tensor<16x1x64xf32> {
  %f = tenon.weight dense<0.125> : tensor<f32>
  %0 = tenon.contract %q, %k {lhs_dims = array<i64: 0, 1, 3>, rhs_dims = array<i64: 2, 0, 3>, result_dims = array<i64: 0, 1, 2>}
    : (tensor<16x1x64xf32>, tensor<?x16x64xf32, #tenon.shape<n, 16, 64>>) -> tensor<16x1x?xf32, #tenon.shape<16, 1, n>>
  %1 = tenon.mul %0, %f : (tensor<16x1x?xf32, #tenon.shape<16, 1, n>>, tensor<f32>) -> tensor<16x1x?xf32, #tenon.shape<16, 1, n>>
  %2 = tenon.softmax %1 {axis = 2 : i64} : (tensor<16x1x?xf32, #tenon.shape<16, 1, n>>) -> tensor<16x1x?xf32, #tenon.shape<16, 1, n>>
  %3 = tenon.contract %2, %v {lhs_dims = array<i64: 0, 1, 3>, rhs_dims = array<i64: 3, 0, 2>, result_dims = array<i64: 0, 1, 2>}
    : (tensor<16x1x?xf32, #tenon.shape<16, 1, n>>, tensor<?x16x64xf32, #tenon.shape<n, 16, 64>>) -> tensor<16x1x64xf32>
  return %3 : tensor<16x1x64xf32>
}

// -----

// Where positions are compared, kernels skip the blocks of keys that no query sees.
// CHECK-LABEL: @window
// CHECK-NOT: split_keys
func.func @window(%q: tensor<4x2x64xf32>, %k: tensor<?x4x64xf32, #tenon.shape<n, 4, 64>>, %v: tensor<?x4x64xf32, #tenon.shape<n, 4, 64>>) -> tensor<4x2x64xf32> {
  %first = tenon.weight dense<100> : tensor<i64>
  %low = tenon.weight dense<0xFF800000> : tensor<f32>
  %keys = tenon.iota {axis = 0 : i64} : () -> tensor<?xi64, #tenon.shape<n>>
  %visible = tenon.compare gt, %keys, %first : (tensor<?xi64, #tenon.shape<n>>, tensor<i64>) -> tensor<?xi1, #tenon.shape<n>>
  %0 = tenon.contract %q, %k {lhs_dims = array<i64: 0, 1, 3>, rhs_dims = array<i64: 2, 0, 3>, result_dims = array<i64: 0, 1, 2>}
    : (tensor<4x2x64xf32>, tensor<?x4x64xf32, #tenon.shape<n, 4, 64>>) -> tensor<4x2x?xf32, #tenon.shape<4, 2, n>>
  %1 = tenon.select %visible, %0, %low : (tensor<?xi1, #tenon.shape<n>>, tensor<4x2x?xf32, #tenon.shape<4, 2, n>>, tensor<f32>) -> tensor<4x2x?xf32, #tenon.shape<4, 2, n>>
  %2 = tenon.softmax %1 {axis = 2 : i64} : (tensor<4x2x?xf32, #tenon.shape<4, 2, n>>) -> tensor<4x2x?xf32, #tenon.shape<4, 2, n>>
  %3 = tenon.contract %2, %v {lhs_dims = array<i64: 0, 1, 3>, rhs_dims = array<i64: 3, 0, 2>, result_dims = array<i64: 0, 1, 2>}
    : (tensor<4x2x?xf32, #tenon.shape<4, 2, n>>, tensor<?x4x64xf32, #tenon.shape<n, 4, 64>>) -> tensor<4x2x64xf32>
  return %3 : tensor<4x2x64xf32>
}
