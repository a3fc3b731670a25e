// RUN: tenon-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(tenon-choose-forms))' | FileCheck %s
// RUN: tenon-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(tenon-choose-forms{force=*=merged_products}))' | FileCheck %s --check-prefix=FORCED
// RUN: tenon-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(tenon-choose-forms{exclude=merged_products}))' | FileCheck %s --check-prefix=EXCLUDED
// RUN: tenon-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(tenon-choose-forms{force=*=merged_products,query=separate_products}))' | FileCheck %s --check-prefix=LAST
// RUN: not tenon-opt %s --pass-pipeline='builtin.module(func.func(tenon-choose-forms{force=*=joined}))' 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: error: there is no path 'joined'; the paths are {{.*}}separate_products, merged_products

// EXCLUDED-NOT: tenon.slice
// LAST-NOT: tensor<2x6xf32>

// Three products of the same row are one, with their biases; indices may have other numbers in each. Of one row the
// parts are contiguous.
// CHECK-LABEL: @one_row
// CHECK: %[[W:.*]] = tenon.weight dense_resource<[[MATRIX:merged_[0-9a-f]+]]> : tensor<2x6xf32> {name = "q (merged)"}
// CHECK: %[[B:.*]] = tenon.weight dense_resource<[[BIAS:merged_[0-9a-f]+]]> : tensor<6xf32>
// CHECK: %[[PRODUCT:.*]] = tenon.contract %arg0, %[[W]] {{.*}} -> tensor<1x6xf32>
// CHECK: %[[SUM:.*]] = tenon.add %[[PRODUCT]], %[[B]]
// CHECK: %[[ALL:.*]] = tenon.relu %[[SUM]]
// CHECK: %[[Q:.*]] = tenon.slice %[[ALL]] {starts = #tenon.shape<0, 0>, steps = array<i64: 1, 1>} : (tensor<1x6xf32>) -> tensor<1x2xf32>
// CHECK: %[[K:.*]] = tenon.slice %[[ALL]] {starts = #tenon.shape<0, 2>, {{.*}} -> tensor<1x1xf32>
// CHECK: %[[V:.*]] = tenon.slice %[[ALL]] {starts = #tenon.shape<0, 3>, {{.*}} -> tensor<1x3xf32>
// CHECK: tenon.concat %[[Q]], %[[K]], %[[V]], %[[Q]], %[[K]], %[[V]]
// Rows of 1, 2, 5, 7, 8, 9 and 3, 4, 6, 10, 11, 12.
// CHECK-DAG: [[MATRIX]]: "0x400000000000803F000000400000A0400000E040000000410000104100004040000080400000C040000020410000304100004041"
// 0.5, 0.25 and 1 once, 2 three times.
// CHECK-DAG: [[BIAS]]: "0x400000000000003F0000803E0000803F000000400000004000000040"
func.func @one_row(%x: tensor<1x2xf32>) -> tensor<1x12xf32> {
  %q = tenon.weight dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32> {name = "q"}
  %k = tenon.weight dense<[[5.0], [6.0]]> : tensor<2x1xf32> {name = "k"}
  %v = tenon.weight dense<[[7.0, 8.0, 9.0], [10.0, 11.0, 12.0]]> : tensor<2x3xf32> {name = "v"}
  %0 = tenon.contract %x, %q {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 2, 1>, result_dims = array<i64: 0, 1>}
    : (tensor<1x2xf32>, tensor<2x2xf32>) -> tensor<1x2xf32> loc("query")
  %1 = tenon.contract %x, %k {lhs_dims = array<i64: 0, 1>, rhs_dims = array<i64: 1, 2>, result_dims = array<i64: 0, 2>}
    : (tensor<1x2xf32>, tensor<2x1xf32>) -> tensor<1x1xf32>
  %2 = tenon.contract %x, %v {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 2, 1>, result_dims = array<i64: 0, 1>}
    : (tensor<1x2xf32>, tensor<2x3xf32>) -> tensor<1x3xf32>
  %b = tenon.weight dense<[0.5, 0.25]> : tensor<2xf32>
  %c = tenon.weight dense<1.0> : tensor<1xf32>
  %d = tenon.weight dense<2.0> : tensor<3xf32>
  %3 = tenon.add %0, %b : (tensor<1x2xf32>, tensor<2xf32>) -> tensor<1x2xf32>
  %4 = tenon.add %1, %c : (tensor<1x1xf32>, tensor<1xf32>) -> tensor<1x1xf32>
  %5 = tenon.add %2, %d : (tensor<1x3xf32>, tensor<3xf32>) -> tensor<1x3xf32>
  %6 = tenon.relu %3 : (tensor<1x2xf32>) -> tensor<1x2xf32>
  %7 = tenon.relu %4 : (tensor<1x1xf32>) -> tensor<1x1xf32>
  %8 = tenon.relu %5 : (tensor<1x3xf32>) -> tensor<1x3xf32>
  %9 = tenon.concat %6, %7, %8, %6, %7, %8 {axis = 1 : i64}
    : (tensor<1x2xf32>, tensor<1x1xf32>, tensor<1x3xf32>, tensor<1x2xf32>, tensor<1x1xf32>, tensor<1x3xf32>) -> tensor<1x12xf32>
  return %9 : tensor<1x12xf32>
}

// -----

// The number of rows need not be known. Factors that are the same for all columns stay as they are; matrices may be
// transposed. Here both parts are copied for the caller, so that one product does not pay.
// CHECK-LABEL: @any_rows
// CHECK-NOT: tenon.slice
// FORCED-LABEL: @any_rows
// FORCED-DAG: %[[W:.*]] = tenon.weight {{.*}} : tensor<5x3xf32>
// FORCED-DAG: %[[F:.*]] = tenon.weight dense<5.000000e-01> : tensor<f32>
// FORCED: %[[PRODUCT:.*]] = tenon.contract %arg0, %[[W]] {{.*}} -> tensor<?x5xf32, #tenon.shape<N, 5>>
// FORCED: %[[SCALED:.*]] = tenon.mul %[[PRODUCT]], %[[F]]
// FORCED: tenon.slice %[[SCALED]] {starts = #tenon.shape<0, 0>, {{.*}} -> tensor<?x4xf32, #tenon.shape<N, 4>>
// FORCED: tenon.slice %[[SCALED]] {starts = #tenon.shape<0, 4>, {{.*}} -> tensor<?x1xf32, #tenon.shape<N, 1>>
func.func @any_rows(%x: tensor<?x3xf32, #tenon.shape<N, 3>>) -> (tensor<?x4xf32, #tenon.shape<N, 4>>, tensor<?x1xf32, #tenon.shape<N, 1>>) {
  %f = tenon.weight dense<0.5> : tensor<f32>
  %a = tenon.weight dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0], [1.0, 0.0, 1.0]]> : tensor<4x3xf32>
  %b = tenon.weight dense<[[1.0, 2.0, 4.0]]> : tensor<1x3xf32>
  %0 = tenon.contract %x, %a {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 1, 2>, result_dims = array<i64: 0, 1>}
    : (tensor<?x3xf32, #tenon.shape<N, 3>>, tensor<4x3xf32>) -> tensor<?x4xf32, #tenon.shape<N, 4>>
  %1 = tenon.contract %x, %b {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 1, 2>, result_dims = array<i64: 0, 1>}
    : (tensor<?x3xf32, #tenon.shape<N, 3>>, tensor<1x3xf32>) -> tensor<?x1xf32, #tenon.shape<N, 1>>
  %2 = tenon.mul %0, %f : (tensor<?x4xf32, #tenon.shape<N, 4>>, tensor<f32>) -> tensor<?x4xf32, #tenon.shape<N, 4>>
  %3 = tenon.mul %1, %f : (tensor<?x1xf32, #tenon.shape<N, 1>>, tensor<f32>) -> tensor<?x1xf32, #tenon.shape<N, 1>>
  return %2, %3 : tensor<?x4xf32, #tenon.shape<N, 4>>, tensor<?x1xf32, #tenon.shape<N, 1>>
}

// -----

// Convolutions of the same image are siblings, too; of different windows they are not.
// FORCED-LABEL: @convolutions
// FORCED: tenon.convolve %arg0, {{.*}} : (tensor<1x2x4x4xf32>, tensor<3x2x1x1xf32>) -> tensor<1x3x4x4xf32>
// FORCED: tenon.slice {{.*}} {starts = #tenon.shape<0, 2, 0, 0>
// FORCED: tenon.convolve %arg0, {{.*}} : (tensor<1x2x4x4xf32>, tensor<1x2x3x3xf32>) -> tensor<1x1x4x4xf32>
func.func @convolutions(%x: tensor<1x2x4x4xf32>) -> (tensor<1x2x4x4xf32>, tensor<1x1x4x4xf32>, tensor<1x1x4x4xf32>) {
  %a = tenon.weight dense<[[[[1.0]], [[2.0]]], [[[3.0]], [[4.0]]]]> : tensor<2x2x1x1xf32>
  %b = tenon.weight dense<[[[[5.0]], [[6.0]]]]> : tensor<1x2x1x1xf32>
  %c = tenon.weight dense<[[[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]], [[1.0, 0.0, 1.0], [0.0, 1.0, 0.0], [1.0, 0.0, 1.0]]]]> : tensor<1x2x3x3xf32>
  %0 = tenon.convolve %x, %a {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>, groups = 1 : i64}
    : (tensor<1x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x4x4xf32>
  %1 = tenon.convolve %x, %c {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, groups = 1 : i64}
    : (tensor<1x2x4x4xf32>, tensor<1x2x3x3xf32>) -> tensor<1x1x4x4xf32>
  %2 = tenon.convolve %x, %b {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>, groups = 1 : i64}
    : (tensor<1x2x4x4xf32>, tensor<1x2x1x1xf32>) -> tensor<1x1x4x4xf32>
  return %0, %1, %2 : tensor<1x2x4x4xf32>, tensor<1x1x4x4xf32>, tensor<1x1x4x4xf32>
}

// -----

// Matrices of bf16 that are widened stay so.
// FORCED-LABEL: @widened
// FORCED: %[[W:.*]] = tenon.weight {{.*}} : tensor<2x3xbf16>
// FORCED: %[[WIDE:.*]] = tenon.cast %[[W]] : (tensor<2x3xbf16>) -> tensor<2x3xf32>
// FORCED: tenon.contract %arg0, %[[WIDE]] {{.*}} -> tensor<1x3xf32>
// FORCED-NOT: tenon.cast
func.func @widened(%x: tensor<1x2xf32>) -> (tensor<1x2xf32>, tensor<1x1xf32>) {
  %a = tenon.weight dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xbf16>
  %b = tenon.weight dense<[[5.0], [2.0]]> : tensor<2x1xbf16>
  %c = tenon.cast %a : (tensor<2x2xbf16>) -> tensor<2x2xf32>
  %d = tenon.cast %b : (tensor<2x1xbf16>) -> tensor<2x1xf32>
  %0 = tenon.contract %x, %c {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 2, 1>, result_dims = array<i64: 0, 1>}
    : (tensor<1x2xf32>, tensor<2x2xf32>) -> tensor<1x2xf32>
  %1 = tenon.contract %x, %d {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 2, 1>, result_dims = array<i64: 0, 1>}
    : (tensor<1x2xf32>, tensor<2x1xf32>) -> tensor<1x1xf32>
  return %0, %1 : tensor<1x2xf32>, tensor<1x1xf32>
}

// -----

// A bias of a single value that has more elements than a file would is not written out.
// FORCED-LABEL: @large_splat
// FORCED: tenon.contract {{.*}} -> tensor<65537x2xf32>
// FORCED: tenon.slice {{.*}} -> tensor<65537x1xf32>
// FORCED: tenon.add {{.*}} -> tensor<65537x1xf32>
func.func @large_splat(%x: tensor<65537x2xf32>) -> (tensor<65537x1xf32>, tensor<65537x1xf32>) {
  %a = tenon.weight dense<[[1.0], [3.0]]> : tensor<2x1xf32>
  %b = tenon.weight dense<[[5.0], [2.0]]> : tensor<2x1xf32>
  %s = tenon.weight dense<0.5> : tensor<65537x1xf32>
  %t = tenon.weight dense<0.25> : tensor<65537x1xf32>
  %0 = tenon.contract %x, %a {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 2, 1>, result_dims = array<i64: 0, 1>}
    : (tensor<65537x2xf32>, tensor<2x1xf32>) -> tensor<65537x1xf32>
  %1 = tenon.contract %x, %b {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 2, 1>, result_dims = array<i64: 0, 1>}
    : (tensor<65537x2xf32>, tensor<2x1xf32>) -> tensor<65537x1xf32>
  %2 = tenon.add %0, %s : (tensor<65537x1xf32>, tensor<65537x1xf32>) -> tensor<65537x1xf32>
  %3 = tenon.add %1, %t : (tensor<65537x1xf32>, tensor<65537x1xf32>) -> tensor<65537x1xf32>
  return %2, %3 : tensor<65537x1xf32>, tensor<65537x1xf32>
}

// -----

// What follows one product alone is not part of the merged one.
// FORCED-LABEL: @different_epilogues
// FORCED: %[[ALL:.*]] = tenon.contract %arg0
// FORCED: %[[A:.*]] = tenon.slice %[[ALL]]
// FORCED: %[[B:.*]] = tenon.slice %[[ALL]]
// FORCED: tenon.relu %[[A]]
// FORCED: tenon.tanh %[[B]]
func.func @different_epilogues(%x: tensor<1x2xf32>) -> (tensor<1x2xf32>, tensor<1x2xf32>) {
  %a = tenon.weight dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %b = tenon.weight dense<[[5.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %0 = tenon.contract %x, %a {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 2, 1>, result_dims = array<i64: 0, 1>}
    : (tensor<1x2xf32>, tensor<2x2xf32>) -> tensor<1x2xf32>
  %1 = tenon.contract %x, %b {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 2, 1>, result_dims = array<i64: 0, 1>}
    : (tensor<1x2xf32>, tensor<2x2xf32>) -> tensor<1x2xf32>
  %2 = tenon.relu %0 : (tensor<1x2xf32>) -> tensor<1x2xf32>
  %3 = tenon.tanh %1 : (tensor<1x2xf32>) -> tensor<1x2xf32>
  return %2, %3 : tensor<1x2xf32>, tensor<1x2xf32>
}

// -----

// No siblings: a matrix that is not constant, one that is used twice and would be stored twice, one of another number
// of rows, a product along another dimension, one of another type, one of other rows.
// FORCED-LABEL: @refused
// FORCED-NOT: tenon.slice
func.func @refused(%x: tensor<2x2xf32>, %y: tensor<2x2xf32>, %h: tensor<2x2xf16>) -> (tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf16>) {
  %a = tenon.weight dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %b = tenon.weight dense<[[5.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %c = tenon.weight dense<[[6.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %d = tenon.weight dense<[[7.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf16>
  %s = tenon.weight dense<3.0> : tensor<2x2xf32>
  %0 = tenon.contract %x, %y {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 2, 1>, result_dims = array<i64: 0, 1>} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %1 = tenon.contract %x, %a {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 2, 1>, result_dims = array<i64: 0, 1>} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %2 = tenon.contract %y, %a {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 2, 1>, result_dims = array<i64: 0, 1>} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %3 = tenon.contract %x, %b {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 1, 2>, result_dims = array<i64: 0, 1>} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %4 = tenon.contract %x, %c {lhs_dims = array<i64: 2, 0>, rhs_dims = array<i64: 2, 1>, result_dims = array<i64: 0, 1>} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %5 = tenon.contract %x, %s {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 2, 1>, result_dims = array<i64: 0, 1>} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %6 = tenon.contract %h, %d {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 2, 1>, result_dims = array<i64: 0, 1>} : (tensor<2x2xf16>, tensor<2x2xf16>) -> tensor<2x2xf16>
  return %0, %1, %2, %3, %4, %5, %6 : tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf16>
}
