// RUN: tenon-opt %s -tenon-fuse-attention | FileCheck %s
// RUN: tenon-opt %s -pass-pipeline='builtin.module(func.func(tenon-fuse-attention,tenon-fuse))' | FileCheck %s --check-prefix=REGION

// The transpose of the result goes into its indices, the scale into the body.
// CHECK-LABEL: @scaled_heads
// CHECK-SAME: %[[Q:[a-z0-9]+]]: {{[^,]*}}, %[[K:[a-z0-9]+]]: {{[^,]*}}, %[[V:[a-z0-9]+]]:
// CHECK-NEXT: tenon.attention %[[Q]], %[[K]], %[[V]] {
// CHECK-NEXT: ^bb0(%[[SCORES:.*]]: tensor<2x9x7xf32>):
// CHECK-NEXT: %[[SCALE:.*]] = tenon.weight
// CHECK-NEXT: %[[SCALED:.*]] = tenon.mul %[[SCORES]], %[[SCALE]]
// CHECK-NEXT: tenon.yield %[[SCALED]]
// CHECK-NEXT: key_dims = array<i64: 0, 2, 3>, query_dims = array<i64: 0, 1, 3>, result_dims = array<i64: 1, 0, 4>
// CHECK-SAME: score_dims = array<i64: 0, 1, 2>, value_dims = array<i64: 0, 2, 4>
// CHECK-NEXT: return
// REGION-LABEL: @scaled_heads
// REGION-NEXT: tenon.dispatch
// REGION-NEXT: tenon.attention
// REGION: return
func.func @scaled_heads(%q: tensor<2x9x4xf32>, %k: tensor<2x7x4xf32>, %v: tensor<2x7x5xf32>) -> tensor<9x2x5xf32> {
  %scale = tenon.weight dense<0.5> : tensor<f32>
  %0 = tenon.contract %q, %k {lhs_dims = array<i64: 0, 1, 3>, rhs_dims = array<i64: 0, 2, 3>, result_dims = array<i64: 0, 1, 2>}
    : (tensor<2x9x4xf32>, tensor<2x7x4xf32>) -> tensor<2x9x7xf32>
  %1 = tenon.mul %0, %scale : (tensor<2x9x7xf32>, tensor<f32>) -> tensor<2x9x7xf32>
  %2 = tenon.softmax %1 {axis = 2 : i64} : (tensor<2x9x7xf32>) -> tensor<2x9x7xf32>
  %3 = tenon.contract %2, %v {lhs_dims = array<i64: 0, 1, 3>, rhs_dims = array<i64: 0, 3, 2>, result_dims = array<i64: 0, 1, 2>}
    : (tensor<2x9x7xf32>, tensor<2x7x5xf32>) -> tensor<2x9x5xf32>
  %4 = tenon.transpose %3 {permutation = array<i64: 1, 0, 2>} : (tensor<2x9x5xf32>) -> tensor<9x2x5xf32>
  return %4 : tensor<9x2x5xf32>
}

// A mask of positions is computed in the body; of what depends on keys alone the values are read.
// CHECK-LABEL: @mask_of_positions_and_data
// CHECK: %[[KEYS:.*]] = tenon.reshape %{{.*}} -> tensor<?x1x?xi1
// CHECK-NEXT: tenon.attention
// CHECK: tenon.iota
// CHECK: tenon.compare le
// CHECK: tenon.and %{{.*}}, %[[KEYS]]
// CHECK: tenon.select
// CHECK: tenon.yield
func.func @mask_of_positions_and_data(%q: tensor<?x?x4xf32, #tenon.shape<B, S, 4>>, %keys: tensor<?x?xi1, #tenon.shape<B, S>>)
    -> tensor<?x?x4xf32, #tenon.shape<B, S, 4>> {
  %low = tenon.weight dense<-1.0e+09> : tensor<f32>
  %p = tenon.iota {axis = 0 : i64} : () -> tensor<?xi64, #tenon.shape<S>>
  %pq = tenon.reshape %p : (tensor<?xi64, #tenon.shape<S>>) -> tensor<?x1xi64, #tenon.shape<S, 1>>
  %before = tenon.compare le, %p, %pq : (tensor<?xi64, #tenon.shape<S>>, tensor<?x1xi64, #tenon.shape<S, 1>>) -> tensor<?x?xi1, #tenon.shape<S, S>>
  %given = tenon.reshape %keys : (tensor<?x?xi1, #tenon.shape<B, S>>) -> tensor<?x1x?xi1, #tenon.shape<B, 1, S>>
  %mask = tenon.and %before, %given : (tensor<?x?xi1, #tenon.shape<S, S>>, tensor<?x1x?xi1, #tenon.shape<B, 1, S>>) -> tensor<?x?x?xi1, #tenon.shape<B, S, S>>
  %0 = tenon.contract %q, %q {lhs_dims = array<i64: 0, 1, 3>, rhs_dims = array<i64: 0, 2, 3>, result_dims = array<i64: 0, 1, 2>}
    : (tensor<?x?x4xf32, #tenon.shape<B, S, 4>>, tensor<?x?x4xf32, #tenon.shape<B, S, 4>>) -> tensor<?x?x?xf32, #tenon.shape<B, S, S>>
  %1 = tenon.select %mask, %0, %low : (tensor<?x?x?xi1, #tenon.shape<B, S, S>>, tensor<?x?x?xf32, #tenon.shape<B, S, S>>, tensor<f32>) -> tensor<?x?x?xf32, #tenon.shape<B, S, S>>
  %2 = tenon.softmax %1 {axis = 2 : i64} : (tensor<?x?x?xf32, #tenon.shape<B, S, S>>) -> tensor<?x?x?xf32, #tenon.shape<B, S, S>>
  %3 = tenon.contract %2, %q {lhs_dims = array<i64: 0, 1, 3>, rhs_dims = array<i64: 0, 3, 2>, result_dims = array<i64: 0, 1, 2>}
    : (tensor<?x?x?xf32, #tenon.shape<B, S, S>>, tensor<?x?x4xf32, #tenon.shape<B, S, 4>>) -> tensor<?x?x4xf32, #tenon.shape<B, S, 4>>
  return %3 : tensor<?x?x4xf32, #tenon.shape<B, S, 4>>
}

// Heads in groups have another shape where they meet the mask.
// CHECK-LABEL: @groups_of_heads
// CHECK: tenon.attention
// CHECK-NEXT: ^bb0(%{{.*}}: tensor<2x3x9x7xf32>):
// CHECK-NEXT: tenon.reshape
// CHECK-NEXT: tenon.add
// CHECK-NEXT: tenon.reshape
// CHECK-NEXT: tenon.yield
func.func @groups_of_heads(%q: tensor<2x3x9x4xf32>, %k: tensor<2x7x4xf32>, %v: tensor<2x7x5xf32>, %mask: tensor<6x9x7xf32>) -> tensor<2x3x9x5xf32> {
  %0 = tenon.contract %q, %k {lhs_dims = array<i64: 0, 1, 2, 4>, rhs_dims = array<i64: 0, 3, 4>, result_dims = array<i64: 0, 1, 2, 3>}
    : (tensor<2x3x9x4xf32>, tensor<2x7x4xf32>) -> tensor<2x3x9x7xf32>
  %1 = tenon.reshape %0 : (tensor<2x3x9x7xf32>) -> tensor<6x9x7xf32>
  %2 = tenon.add %1, %mask : (tensor<6x9x7xf32>, tensor<6x9x7xf32>) -> tensor<6x9x7xf32>
  %3 = tenon.softmax %2 {axis = 2 : i64} : (tensor<6x9x7xf32>) -> tensor<6x9x7xf32>
  %4 = tenon.reshape %3 : (tensor<6x9x7xf32>) -> tensor<2x3x9x7xf32>
  %5 = tenon.contract %4, %v {lhs_dims = array<i64: 0, 1, 2, 4>, rhs_dims = array<i64: 0, 4, 3>, result_dims = array<i64: 0, 1, 2, 3>}
    : (tensor<2x3x9x7xf32>, tensor<2x7x5xf32>) -> tensor<2x3x9x5xf32>
  return %5 : tensor<2x3x9x5xf32>
}

// CHECK-LABEL: @no_scores_that_something_else_reads
// CHECK-NOT: tenon.attention
func.func @no_scores_that_something_else_reads(%q: tensor<9x4xf32>, %k: tensor<7x4xf32>, %v: tensor<7x5xf32>) -> (tensor<9x5xf32>, tensor<9x7xf32>) {
  %0 = tenon.contract %q, %k {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 1, 2>, result_dims = array<i64: 0, 1>} : (tensor<9x4xf32>, tensor<7x4xf32>) -> tensor<9x7xf32>
  %1 = tenon.softmax %0 {axis = 1 : i64} : (tensor<9x7xf32>) -> tensor<9x7xf32>
  %2 = tenon.contract %1, %v {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 2, 1>, result_dims = array<i64: 0, 1>} : (tensor<9x7xf32>, tensor<7x5xf32>) -> tensor<9x5xf32>
  return %2, %0 : tensor<9x5xf32>, tensor<9x7xf32>
}

// The softmax runs along the queries.
// CHECK-LABEL: @no_softmax_of_another_dimension
// CHECK-NOT: tenon.attention
func.func @no_softmax_of_another_dimension(%q: tensor<9x4xf32>, %k: tensor<9x4xf32>, %v: tensor<9x5xf32>) -> tensor<9x5xf32> {
  %0 = tenon.contract %q, %k {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 1, 2>, result_dims = array<i64: 0, 1>} : (tensor<9x4xf32>, tensor<9x4xf32>) -> tensor<9x9xf32>
  %1 = tenon.softmax %0 {axis = 0 : i64} : (tensor<9x9xf32>) -> tensor<9x9xf32>
  %2 = tenon.contract %1, %v {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 2, 1>, result_dims = array<i64: 0, 1>} : (tensor<9x9xf32>, tensor<9x5xf32>) -> tensor<9x5xf32>
  return %2 : tensor<9x5xf32>
}

// The queries of heads that share keys are done together.
// CHECK-LABEL: @one_token
// CHECK: tenon.attention
// CHECK-NEXT: ^bb0(%{{.*}}: tensor<2x3x1x7xf32>):
// CHECK: query_dims = array<i64: 0, 1, 2, 4>
func.func @one_token(%q: tensor<2x3x1x4xf32>, %k: tensor<2x7x4xf32>, %v: tensor<2x7x5xf32>) -> tensor<2x3x1x5xf32> {
  %0 = tenon.contract %q, %k {lhs_dims = array<i64: 0, 1, 2, 4>, rhs_dims = array<i64: 0, 3, 4>, result_dims = array<i64: 0, 1, 2, 3>}
    : (tensor<2x3x1x4xf32>, tensor<2x7x4xf32>) -> tensor<2x3x1x7xf32>
  %1 = tenon.softmax %0 {axis = 3 : i64} : (tensor<2x3x1x7xf32>) -> tensor<2x3x1x7xf32>
  %2 = tenon.contract %1, %v {lhs_dims = array<i64: 0, 1, 2, 4>, rhs_dims = array<i64: 0, 4, 3>, result_dims = array<i64: 0, 1, 2, 3>}
    : (tensor<2x3x1x7xf32>, tensor<2x7x5xf32>) -> tensor<2x3x1x5xf32>
  return %2 : tensor<2x3x1x5xf32>
}

// One tile would leave all threads but one without work.
// CHECK-LABEL: @no_single_tile_of_few
// CHECK-NOT: tenon.attention
func.func @no_single_tile_of_few(%q: tensor<1x3x4xf32>, %k: tensor<1x7x4xf32>, %v: tensor<1x7x5xf32>) -> tensor<1x3x5xf32> {
  %0 = tenon.contract %q, %k {lhs_dims = array<i64: 0, 1, 3>, rhs_dims = array<i64: 0, 2, 3>, result_dims = array<i64: 0, 1, 2>}
    : (tensor<1x3x4xf32>, tensor<1x7x4xf32>) -> tensor<1x3x7xf32>
  %1 = tenon.softmax %0 {axis = 2 : i64} : (tensor<1x3x7xf32>) -> tensor<1x3x7xf32>
  %2 = tenon.contract %1, %v {lhs_dims = array<i64: 0, 1, 3>, rhs_dims = array<i64: 0, 3, 2>, result_dims = array<i64: 0, 1, 2>}
    : (tensor<1x3x7xf32>, tensor<1x7x5xf32>) -> tensor<1x3x5xf32>
  return %2 : tensor<1x3x5xf32>
}

// CHECK-LABEL: @no_few_queries
// CHECK-NOT: tenon.attention
func.func @no_few_queries(%q: tensor<1x4xf32>, %k: tensor<7x4xf32>, %v: tensor<7x5xf32>) -> tensor<1x5xf32> {
  %0 = tenon.contract %q, %k {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 1, 2>, result_dims = array<i64: 0, 1>} : (tensor<1x4xf32>, tensor<7x4xf32>) -> tensor<1x7xf32>
  %1 = tenon.softmax %0 {axis = 1 : i64} : (tensor<1x7xf32>) -> tensor<1x7xf32>
  %2 = tenon.contract %1, %v {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 2, 1>, result_dims = array<i64: 0, 1>} : (tensor<1x7xf32>, tensor<7x5xf32>) -> tensor<1x5xf32>
  return %2 : tensor<1x5xf32>
}

// CHECK-LABEL: @no_sizes_that_are_open
// CHECK-NOT: tenon.attention
func.func @no_sizes_that_are_open(%q: tensor<9x?xf32, #tenon.shape<9, D>>, %k: tensor<7x?xf32, #tenon.shape<7, D>>, %v: tensor<7x5xf32>) -> tensor<9x5xf32> {
  %0 = tenon.contract %q, %k {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 1, 2>, result_dims = array<i64: 0, 1>}
    : (tensor<9x?xf32, #tenon.shape<9, D>>, tensor<7x?xf32, #tenon.shape<7, D>>) -> tensor<9x7xf32>
  %1 = tenon.softmax %0 {axis = 1 : i64} : (tensor<9x7xf32>) -> tensor<9x7xf32>
  %2 = tenon.contract %1, %v {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 2, 1>, result_dims = array<i64: 0, 1>} : (tensor<9x7xf32>, tensor<7x5xf32>) -> tensor<9x5xf32>
  return %2 : tensor<9x5xf32>
}

// What is written after a softmax whose keys may all be hidden is said of the operation.
// CHECK-LABEL: @zeros_for_queries_without_keys
// CHECK: tenon.attention
// CHECK: zeroes_queries}
// CHECK-NEXT: return
func.func @zeros_for_queries_without_keys(%q: tensor<9x4xf32>, %k: tensor<7x4xf32>, %v: tensor<7x5xf32>) -> tensor<9x5xf32> {
  %zero = tenon.weight dense<0.0> : tensor<f32>
  %0 = tenon.contract %q, %k {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 1, 2>, result_dims = array<i64: 0, 1>} : (tensor<9x4xf32>, tensor<7x4xf32>) -> tensor<9x7xf32>
  %1 = tenon.softmax %0 {axis = 1 : i64} : (tensor<9x7xf32>) -> tensor<9x7xf32>
  %2 = tenon.isnan %1 : (tensor<9x7xf32>) -> tensor<9x7xi1>
  %3 = tenon.select %2, %zero, %1 : (tensor<9x7xi1>, tensor<f32>, tensor<9x7xf32>) -> tensor<9x7xf32>
  %4 = tenon.contract %3, %v {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 2, 1>, result_dims = array<i64: 0, 1>} : (tensor<9x7xf32>, tensor<7x5xf32>) -> tensor<9x5xf32>
  return %4 : tensor<9x5xf32>
}

// Factors of queries and of keys become one of the scores, so that the kernel reads the parts of a product that queries and
// keys are as they lie in memory. (f16 keeps its factors: without them its scores might be too large.)
// CHECK-LABEL: @scaled_parts
// CHECK: tenon.attention
// CHECK-NEXT: ^bb0(%[[SCORES:.*]]: tensor<2x9x9xf32>):
// CHECK-NEXT: %[[SCALE:.*]] = tenon.weight dense<1.500000e-01> : tensor<f32>
// CHECK-NEXT: tenon.mul %[[SCORES]], %[[SCALE]]
// REGION-LABEL: @scaled_parts
// REGION-NEXT: tenon.dispatch
// REGION: tenon.slice
// REGION: tenon.transpose
// REGION: tenon.attention
// REGION-NOT: tenon.dispatch
// REGION: return
func.func @scaled_parts(%x: tensor<9x6x4xf32>) -> tensor<2x9x4xf32> {
  %third = tenon.weight dense<0.3> : tensor<f32>
  %half = tenon.weight dense<0.5> : tensor<1xf32>
  %0 = tenon.slice %x {starts = #tenon.shape<0, 0, 0>, steps = array<i64: 1, 1, 1>} : (tensor<9x6x4xf32>) -> tensor<9x2x4xf32>
  %1 = tenon.slice %x {starts = #tenon.shape<0, 2, 0>, steps = array<i64: 1, 1, 1>} : (tensor<9x6x4xf32>) -> tensor<9x2x4xf32>
  %2 = tenon.slice %x {starts = #tenon.shape<0, 4, 0>, steps = array<i64: 1, 1, 1>} : (tensor<9x6x4xf32>) -> tensor<9x2x4xf32>
  %3 = tenon.transpose %0 {permutation = array<i64: 1, 0, 2>} : (tensor<9x2x4xf32>) -> tensor<2x9x4xf32>
  %4 = tenon.transpose %1 {permutation = array<i64: 1, 2, 0>} : (tensor<9x2x4xf32>) -> tensor<2x4x9xf32>
  %5 = tenon.transpose %2 {permutation = array<i64: 1, 0, 2>} : (tensor<9x2x4xf32>) -> tensor<2x9x4xf32>
  %6 = tenon.mul %3, %third : (tensor<2x9x4xf32>, tensor<f32>) -> tensor<2x9x4xf32>
  %7 = tenon.mul %4, %half : (tensor<2x4x9xf32>, tensor<1xf32>) -> tensor<2x4x9xf32>
  %8 = tenon.contract %6, %7 {lhs_dims = array<i64: 0, 1, 3>, rhs_dims = array<i64: 0, 3, 2>, result_dims = array<i64: 0, 1, 2>}
    : (tensor<2x9x4xf32>, tensor<2x4x9xf32>) -> tensor<2x9x9xf32>
  %9 = tenon.softmax %8 {axis = 2 : i64} : (tensor<2x9x9xf32>) -> tensor<2x9x9xf32>
  %10 = tenon.contract %9, %5 {lhs_dims = array<i64: 0, 1, 3>, rhs_dims = array<i64: 0, 3, 2>, result_dims = array<i64: 0, 1, 2>}
    : (tensor<2x9x9xf32>, tensor<2x9x4xf32>) -> tensor<2x9x4xf32>
  return %10 : tensor<2x9x4xf32>
}
