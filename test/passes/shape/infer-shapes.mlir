// RUN: tenon-opt %s --split-input-file --verify-diagnostics --tenon-infer-shapes | FileCheck %s

// What the operands tell goes on through the chain, and to the signature.
// CHECK-LABEL: @constants_reach_results
// CHECK-SAME: -> tensor<8xf32>
func.func @constants_reach_results(%a: tensor<4xf32>, %b: tensor<4xf32>)
    -> tensor<?xf32, #tenon.shape<N>> {
  // CHECK: tenon.concat {{.*}} -> tensor<8xf32>
  %0 = tenon.concat %a, %b {axis = 0 : i64} : (tensor<4xf32>, tensor<4xf32>) -> tensor<?xf32, #tenon.shape<N>>
  // CHECK: tenon.exp {{.*}} -> tensor<8xf32>
  %1 = tenon.exp %0 : (tensor<?xf32, #tenon.shape<N>>) -> tensor<?xf32, #tenon.shape<N>>
  return %1 : tensor<?xf32, #tenon.shape<N>>
}

// -----

// CHECK-LABEL: @a_symbol_is_better_than_nothing
func.func @a_symbol_is_better_than_nothing(%a: tensor<?xf32, #tenon.shape<N>>) -> tensor<?xf32> {
  // CHECK: tenon.exp {{.*}} -> tensor<?xf32, #tenon.shape<N>>
  %0 = tenon.exp %a : (tensor<?xf32, #tenon.shape<N>>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

// CHECK-LABEL: @what_is_known_stays
func.func @what_is_known_stays(%a: tensor<?xf32, #tenon.shape<N>>) -> tensor<4xf32> {
  // CHECK: tenon.exp {{.*}} -> tensor<4xf32>
  %0 = tenon.exp %a : (tensor<?xf32, #tenon.shape<N>>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// Of an argument of which nothing is known, nothing follows.
// CHECK-LABEL: @nothing_follows
// CHECK-NOT: #tenon.shape<{{[A-Za-z0-9]}}
// CHECK: return
func.func @nothing_follows(%a: tensor<?xf32>) -> tensor<?xf32> {
  %0 = tenon.exp %a : (tensor<?xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

func.func @contradiction(%a: tensor<4xf32>, %b: tensor<3xf32>) -> tensor<6xf32> {
  %0 = tenon.concat %a, %b {axis = 0 : i64} : (tensor<4xf32>, tensor<3xf32>) -> tensor<?xf32>
  // expected-error @+1 {{results in 6, but its operands give 7}}
  %1 = tenon.exp %0 : (tensor<?xf32>) -> tensor<6xf32>
  return %1 : tensor<6xf32>
}

// -----

func.func @operands_contradict(%a: tensor<4xf32>, %b: tensor<3xf32>) -> tensor<?xf32> {
  %0 = tenon.concat %a, %b {axis = 0 : i64} : (tensor<4xf32>, tensor<3xf32>) -> tensor<?xf32>
  // expected-error @+1 {{shapes}}
  %1 = tenon.add %0, %a : (tensor<?xf32>, tensor<4xf32>) -> tensor<?xf32>
  return %1 : tensor<?xf32>
}
