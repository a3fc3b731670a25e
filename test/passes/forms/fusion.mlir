// RUN: tenon-opt %s -pass-pipeline='builtin.module(func.func(tenon-choose-forms{late}))' | FileCheck %s
// RUN: tenon-opt %s -pass-pipeline='builtin.module(func.func(tenon-choose-forms{late force=*=materialized_producer,*=recomputed_per_consumer}))' | FileCheck %s --check-prefix=FORCED
// RUN: tenon-opt %s -pass-pipeline='builtin.module(func.func(tenon-choose-forms{late exclude=recomputed_per_consumer}))' | FileCheck %s --check-prefix=RULES
// RUN: tenon-opt %s -pass-pipeline='builtin.module(func.func(tenon-repeat-forms{late forms=materialized_producer}))' | FileCheck %s --check-prefix=REPEATED

// The choice is left a mark that tenon-fuse obeys. By estimate, no loop nest is better off without what is fused with it.
// RULES-NOT: tenon.materialized
// RULES-NOT: tenon.recomputed
// CHECK-NOT: tenon.materialized

// A loop nest with a costly function behind it.
// FORCED-LABEL: @costly_epilogue
// FORCED: tenon.contract {{.*}}tenon.materialized
// FORCED-NOT: tenon.materialized
// REPEATED-LABEL: @costly_epilogue
// REPEATED: tenon.contract {{.*}}tenon.materialized
func.func @costly_epilogue(%x: tensor<128x64xf32>, %w: tensor<64x128xf32>) -> tensor<128x128xf32> {
  %0 = tenon.contract %x, %w {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 2, 1>, result_dims = array<i64: 0, 1>}
    : (tensor<128x64xf32>, tensor<64x128xf32>) -> tensor<128x128xf32>
  %1 = tenon.tanh %0 : (tensor<128x128xf32>) -> tensor<128x128xf32>
  return %1 : tensor<128x128xf32>
}

// Storing sums costs more than to add to them; and few sums cost no more than a launch.
// FORCED-LABEL: @cheap_epilogue
// FORCED-NOT: tenon.materialized
func.func @cheap_epilogue(%x: tensor<128x64xf32>, %w: tensor<64x128xf32>) -> tensor<128x128xf32> {
  %0 = tenon.contract %x, %w {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 2, 1>, result_dims = array<i64: 0, 1>}
    : (tensor<128x64xf32>, tensor<64x128xf32>) -> tensor<128x128xf32>
  %1 = tenon.relu %0 : (tensor<128x128xf32>) -> tensor<128x128xf32>
  return %1 : tensor<128x128xf32>
}
// FORCED-LABEL: @small_epilogue
// FORCED-NOT: tenon.materialized
func.func @small_epilogue(%x: tensor<127x64xf32>, %w: tensor<64x129xf32>) -> tensor<127x129xf32> {
  %0 = tenon.contract %x, %w {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 2, 1>, result_dims = array<i64: 0, 1>}
    : (tensor<127x64xf32>, tensor<64x129xf32>) -> tensor<127x129xf32>
  %1 = tenon.tanh %0 : (tensor<127x129xf32>) -> tensor<127x129xf32>
  return %1 : tensor<127x129xf32>
}
// The bytes that sums are rounded to are stored in their place.
// FORCED-LABEL: @narrowed_epilogue
// FORCED-NOT: tenon.materialized
func.func @narrowed_epilogue(%x: tensor<128x64xf32>, %w: tensor<64x128xf32>) -> tensor<128x128xf16> {
  %0 = tenon.contract %x, %w {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 2, 1>, result_dims = array<i64: 0, 1>}
    : (tensor<128x64xf32>, tensor<64x128xf32>) -> tensor<128x128xf32>
  %1 = tenon.tanh %0 : (tensor<128x128xf32>) -> tensor<128x128xf32>
  %2 = tenon.cast %1 : (tensor<128x128xf32>) -> tensor<128x128xf16>
  return %2 : tensor<128x128xf16>
}

// A transpose that the contraction reads in pieces of 64 elements, and a row that is computed for each of 128 rows.
// FORCED-LABEL: @prologues
// FORCED: tenon.transpose {{.*}}tenon.materialized
// FORCED: tenon.neg {{.*}}tenon.materialized
// REPEATED-LABEL: @prologues
// REPEATED: tenon.transpose {{.*}}tenon.materialized
// REPEATED: tenon.contract
// REPEATED-NOT: tenon.materialized
// REPEATED: @shared
func.func @prologues(%x: tensor<128x4x64xf32>, %w: tensor<4x64x128xf32>, %b: tensor<128xf32>) -> (tensor<4x128x128xf32>, tensor<128x128xf32>) {
  %0 = tenon.transpose %x {permutation = array<i64: 1, 0, 2>} : (tensor<128x4x64xf32>) -> tensor<4x128x64xf32>
  %1 = tenon.contract %0, %w {lhs_dims = array<i64: 0, 1, 3>, rhs_dims = array<i64: 0, 3, 2>, result_dims = array<i64: 0, 1, 2>}
    : (tensor<4x128x64xf32>, tensor<4x64x128xf32>) -> tensor<4x128x128xf32>
  %2 = tenon.neg %b : (tensor<128xf32>) -> tensor<128xf32>
  %3 = tenon.weight dense<2.0> : tensor<128x128xf32>
  %4 = tenon.exp %3 : (tensor<128x128xf32>) -> tensor<128x128xf32>
  %5 = tenon.add %4, %2 : (tensor<128x128xf32>, tensor<128xf32>) -> tensor<128x128xf32>
  return %1, %5 : tensor<4x128x128xf32>, tensor<128x128xf32>
}

// A launch is saved at the price of one more vector addition for each vector.
// CHECK-LABEL: @shared
// CHECK: tenon.mul {{.*}}tenon.recomputed
// FORCED-LABEL: @shared
// FORCED: tenon.mul {{.*}}tenon.recomputed
func.func @shared(%m: tensor<16x128xf32>, %s: tensor<f32>) -> (tensor<16x128xf32>, tensor<16xf32>) {
  %0 = tenon.mul %m, %s : (tensor<16x128xf32>, tensor<f32>) -> tensor<16x128xf32>
  %1 = tenon.exp %0 : (tensor<16x128xf32>) -> tensor<16x128xf32>
  %2 = tenon.reduce sum, %0 {axes = array<i64: 1>} : (tensor<16x128xf32>) -> tensor<16xf32>
  return %1, %2 : tensor<16x128xf32>, tensor<16xf32>
}

// Large operands are read but once, if the result is small beside them.
// CHECK-LABEL: @shared_of_large_operands
// CHECK-NOT: tenon.recomputed
// FORCED-LABEL: @shared_of_large_operands
// FORCED: tenon.add {{.*}}tenon.recomputed
func.func @shared_of_large_operands(%a: tensor<4096x4096xf32>, %b: tensor<4096x4096xf32>) -> (tensor<4096x4096xf32>, tensor<4096xf32>, tensor<4096xf32>) {
  %0 = tenon.add %a, %b : (tensor<4096x4096xf32>, tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  %1 = tenon.exp %0 : (tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  %2 = tenon.reduce sum, %0 {axes = array<i64: 1>} : (tensor<4096x4096xf32>) -> tensor<4096xf32>
  %3 = tenon.reduce max, %0 {axes = array<i64: 1>} : (tensor<4096x4096xf32>) -> tensor<4096xf32>
  return %1, %2, %3 : tensor<4096x4096xf32>, tensor<4096xf32>, tensor<4096xf32>
}

// A result that the caller reads is in memory anyway.
// FORCED-LABEL: @no_choice
// FORCED-NOT: tenon.recomputed
func.func @no_choice(%m: tensor<16x128xf32>) -> (tensor<16x128xf32>, tensor<16x128xf32>, tensor<16xf32>) {
  %0 = tenon.neg %m : (tensor<16x128xf32>) -> tensor<16x128xf32>
  %1 = tenon.exp %0 : (tensor<16x128xf32>) -> tensor<16x128xf32>
  %2 = tenon.reduce sum, %0 {axes = array<i64: 1>} : (tensor<16x128xf32>) -> tensor<16xf32>
  return %0, %1, %2 : tensor<16x128xf32>, tensor<16x128xf32>, tensor<16xf32>
}

// Nor are dynamic sizes compared.
// FORCED-LABEL: @dynamic
// FORCED-NOT: tenon.recomputed
func.func @dynamic(%m: tensor<?x128xf32, #tenon.shape<N, 128>>, %s: tensor<f32>) -> (tensor<?x128xf32, #tenon.shape<N, 128>>, tensor<?x128xf32, #tenon.shape<N, 128>>) {
  %0 = tenon.mul %m, %s : (tensor<?x128xf32, #tenon.shape<N, 128>>, tensor<f32>) -> tensor<?x128xf32, #tenon.shape<N, 128>>
  %1 = tenon.exp %0 : (tensor<?x128xf32, #tenon.shape<N, 128>>) -> tensor<?x128xf32, #tenon.shape<N, 128>>
  %2 = tenon.tanh %0 : (tensor<?x128xf32, #tenon.shape<N, 128>>) -> tensor<?x128xf32, #tenon.shape<N, 128>>
  return %1, %2 : tensor<?x128xf32, #tenon.shape<N, 128>>, tensor<?x128xf32, #tenon.shape<N, 128>>
}

// FORCED-LABEL: @dynamic_prologue
// FORCED-NOT: tenon.materialized
func.func @dynamic_prologue(%x: tensor<?x65536xf32, #tenon.shape<N, 65536>>, %b: tensor<65536xf32>) -> tensor<?x65536xf32, #tenon.shape<N, 65536>> {
  %0 = tenon.neg %b : (tensor<65536xf32>) -> tensor<65536xf32>
  %1 = tenon.add %x, %0 : (tensor<?x65536xf32, #tenon.shape<N, 65536>>, tensor<65536xf32>) -> tensor<?x65536xf32, #tenon.shape<N, 65536>>
  return %1 : tensor<?x65536xf32, #tenon.shape<N, 65536>>
}

// A transpose before a loop nest, and the loop nest before a costly epilogue: both can be materialized.
// FORCED-LABEL: @prologue_and_epilogue
// FORCED: tenon.transpose {{.*}}tenon.materialized
// FORCED: tenon.contract {{.*}}tenon.materialized
func.func @prologue_and_epilogue(%x: tensor<128x4x64xf32>, %w: tensor<4x64x128xf32>) -> tensor<4x128x128xf32> {
  %0 = tenon.transpose %x {permutation = array<i64: 1, 0, 2>} : (tensor<128x4x64xf32>) -> tensor<4x128x64xf32>
  %1 = tenon.contract %0, %w {lhs_dims = array<i64: 0, 1, 3>, rhs_dims = array<i64: 0, 3, 2>, result_dims = array<i64: 0, 1, 2>}
    : (tensor<4x128x64xf32>, tensor<4x64x128xf32>) -> tensor<4x128x128xf32>
  %2 = tenon.tanh %1 : (tensor<4x128x128xf32>) -> tensor<4x128x128xf32>
  return %2 : tensor<4x128x128xf32>
}

// Neither a broadcast nor a view is better off in memory of its own.
// FORCED-LABEL: @nothing_to_materialize
// FORCED-NOT: tenon.materialized
func.func @nothing_to_materialize(%x: tensor<256x128xf32>, %b: tensor<2x128xf32>, %s: tensor<1x128xf32>) -> (tensor<256x128xf32>, tensor<256x128xf32>) {
  %0 = tenon.slice %b {starts = #tenon.shape<1, 0>, steps = array<i64: 1, 1>} : (tensor<2x128xf32>) -> tensor<1x128xf32>
  %1 = tenon.add %x, %0 : (tensor<256x128xf32>, tensor<1x128xf32>) -> tensor<256x128xf32>
  %2 = tenon.broadcast %s : (tensor<1x128xf32>) -> tensor<256x128xf32>
  %3 = tenon.add %x, %2 : (tensor<256x128xf32>, tensor<256x128xf32>) -> tensor<256x128xf32>
  return %1, %3 : tensor<256x128xf32>, tensor<256x128xf32>
}
