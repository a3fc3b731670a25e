// RUN: tenon-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(tenon-choose-forms{budget=1e-3}))' | FileCheck %s
// RUN: tenon-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(tenon-choose-forms))' | FileCheck %s --check-prefix=EXACT
// RUN: tenon-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(tenon-choose-forms{exclude=split_reduction}))' | FileCheck %s --check-prefix=WHOLE
// RUN: tenon-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(tenon-choose-forms{force=*=split_reduction}))' | FileCheck %s --check-prefix=FORCED

// WHOLE-NOT: tenon.reshape

// A Gram matrix has one tile or two: its sums are computed in 64 parts, which are views of the operands.
// CHECK-LABEL: @gram
// CHECK: %[[X:.*]] = tenon.reshape %arg0 : (tensor<16x50176xf32>) -> tensor<16x64x784xf32>
// CHECK: %[[Y:.*]] = tenon.reshape %arg0 : (tensor<16x50176xf32>) -> tensor<16x64x784xf32>
// CHECK: %[[PARTS:.*]] = tenon.contract %[[X]], %[[Y]] {lhs_dims = array<i64: 0, 3, 2>, result_dims = array<i64: 3, 0, 1>, rhs_dims = array<i64: 1, 3, 2>} : (tensor<16x64x784xf32>, tensor<16x64x784xf32>) -> tensor<64x16x16xf32>
// CHECK: tenon.reduce sum, %[[PARTS]] {axes = array<i64: 0>} : (tensor<64x16x16xf32>) -> tensor<16x16xf32>
func.func @gram(%x: tensor<16x50176xf32>) -> tensor<16x16xf32> {
  %0 = tenon.contract %x, %x {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 1, 2>, result_dims = array<i64: 0, 1>}
    : (tensor<16x50176xf32>, tensor<16x50176xf32>) -> tensor<16x16xf32>
  return %0 : tensor<16x16xf32>
}

// -----

// Four tiles are enough for all threads. Whole sums of so many products are less exact than parts, though, which counts
// where the budget is smaller than their error.
// CHECK-LABEL: @four_tiles
// CHECK-NOT: tenon.reduce
// CHECK: return
// EXACT-LABEL: @four_tiles
// EXACT: tenon.reduce sum
func.func @four_tiles(%x: tensor<64x50176xf32>) -> tensor<64x64xf32> {
  %0 = tenon.contract %x, %x {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 1, 2>, result_dims = array<i64: 0, 1>}
    : (tensor<64x50176xf32>, tensor<64x50176xf32>) -> tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}

// -----

// Where there are tiles for all threads, too.
// CHECK-LABEL: @many_tiles
// CHECK-NOT: tenon.reduce
// CHECK: return
// EXACT-LABEL: @many_tiles
// EXACT: tenon.contract {{.*}} -> tensor<8x512x512xf32>
// EXACT: tenon.reduce sum
func.func @many_tiles(%x: tensor<512x32768xf32>) -> tensor<512x512xf32> {
  %0 = tenon.contract %x, %x {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 1, 2>, result_dims = array<i64: 0, 1>}
    : (tensor<512x32768xf32>, tensor<512x32768xf32>) -> tensor<512x512xf32>
  return %0 : tensor<512x512xf32>
}

// -----

// The longest of several summed dimensions is split, and the matrix may be a constant.
// CHECK-LABEL: @longest
// CHECK: tenon.reshape %arg0 : (tensor<5x2x12288xf32>) -> tensor<5x2x{{.*}}xf32>
// CHECK: tenon.contract
// CHECK: tenon.reduce sum
// CHECK: tenon.relu
func.func @longest(%x: tensor<5x2x12288xf32>) -> tensor<5x10xf32> {
  %w = tenon.weight dense<0.5> : tensor<2x12288x10xf32>
  %0 = tenon.contract %x, %w {lhs_dims = array<i64: 0, 1, 2>, rhs_dims = array<i64: 1, 2, 3>, result_dims = array<i64: 0, 3>}
    : (tensor<5x2x12288xf32>, tensor<2x12288x10xf32>) -> tensor<5x10xf32>
  %1 = tenon.relu %0 : (tensor<5x10xf32>) -> tensor<5x10xf32>
  return %1 : tensor<5x10xf32>
}

// -----

// Reductions to one element, whose other dimensions are reduced with each part; not those to several.
// CHECK-LABEL: @reductions
// CHECK: %[[X:.*]] = tenon.reshape %arg0 : (tensor<2x3x4096x33xf32>) -> tensor<2x3x{{.*}}x33xf32>
// CHECK: %[[PARTS:.*]] = tenon.reduce max, %[[X]] {axes = array<i64: 0, 1, 3, 4>} : {{.*}} -> tensor<[[N:[0-9]+]]xf32>
// CHECK: tenon.reduce max, %[[PARTS]] {axes = array<i64: 0>} : (tensor<[[N]]xf32>) -> tensor<f32>
// With dimensions that are kept, the parts stay where they are.
// CHECK: %[[Y:.*]] = tenon.reshape %arg1 : (tensor<1x262144xf32>) -> tensor<1x[[M:[0-9]+]]x{{[0-9]+}}xf32>
// CHECK: %[[SUMS:.*]] = tenon.reduce sum, %[[Y]] {axes = array<i64: 2>, keepdims = true} : {{.*}} -> tensor<1x[[M]]x1xf32>
// CHECK: tenon.reduce sum, %[[SUMS]] {axes = array<i64: 1>} : (tensor<1x[[M]]x1xf32>) -> tensor<1x1xf32>
// CHECK: tenon.reduce sum, %arg2
func.func @reductions(%x: tensor<2x3x4096x33xf32>, %y: tensor<1x262144xf32>, %z: tensor<2x262144xf32>) -> (tensor<f32>, tensor<1x1xf32>, tensor<2xf32>) {
  %0 = tenon.reduce max, %x {axes = array<i64: 0, 1, 2, 3>} : (tensor<2x3x4096x33xf32>) -> tensor<f32>
  %1 = tenon.reduce sum, %y {axes = array<i64: 1>, keepdims = true} : (tensor<1x262144xf32>) -> tensor<1x1xf32>
  %2 = tenon.reduce sum, %z {axes = array<i64: 1>} : (tensor<2x262144xf32>) -> tensor<2xf32>
  return %0, %1, %2 : tensor<f32>, tensor<1x1xf32>, tensor<2xf32>
}

// -----

// No parts: of integers, of a result with tiles for all threads, of a prime depth, of a depth that is not known, along a
// diagonal, of an extent that is stretched, of sums that are short.
// FORCED-LABEL: @refused
// FORCED-NOT: tenon.reduce
// FORCED: return
func.func @refused(%i: tensor<4x50176xi32>, %x: tensor<512x16384xf32>, %p: tensor<16x50021xf32>, %n: tensor<16x?xf32, #tenon.shape<16, N>>,
                   %d: tensor<65536x65536xf32>, %v: tensor<65536x16xf32>, %one: tensor<16x1xf32>, %s: tensor<4x512xf32>)
    -> (tensor<4x4xi32>, tensor<512x512xf32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<16xf32>, tensor<16x16xf32>, tensor<4x4xf32>) {
  %0 = tenon.contract %i, %i {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 1, 2>, result_dims = array<i64: 0, 1>} : (tensor<4x50176xi32>, tensor<4x50176xi32>) -> tensor<4x4xi32>
  %1 = tenon.contract %x, %x {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 1, 2>, result_dims = array<i64: 0, 1>} : (tensor<512x16384xf32>, tensor<512x16384xf32>) -> tensor<512x512xf32>
  %2 = tenon.contract %p, %p {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 1, 2>, result_dims = array<i64: 0, 1>} : (tensor<16x50021xf32>, tensor<16x50021xf32>) -> tensor<16x16xf32>
  %3 = tenon.contract %n, %n {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 1, 2>, result_dims = array<i64: 0, 1>} : (tensor<16x?xf32, #tenon.shape<16, N>>, tensor<16x?xf32, #tenon.shape<16, N>>) -> tensor<16x16xf32>
  %4 = tenon.contract %d, %v {lhs_dims = array<i64: 0, 0>, rhs_dims = array<i64: 0, 1>, result_dims = array<i64: 1>} : (tensor<65536x65536xf32>, tensor<65536x16xf32>) -> tensor<16xf32>
  %5 = tenon.contract %v, %one {lhs_dims = array<i64: 2, 0>, rhs_dims = array<i64: 1, 2>, result_dims = array<i64: 0, 1>} : (tensor<65536x16xf32>, tensor<16x1xf32>) -> tensor<16x16xf32>
  %6 = tenon.contract %s, %s {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 1, 2>, result_dims = array<i64: 0, 1>} : (tensor<4x512xf32>, tensor<4x512xf32>) -> tensor<4x4xf32>
  return %0, %1, %2, %3, %4, %5, %6 : tensor<4x4xi32>, tensor<512x512xf32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<16xf32>, tensor<16x16xf32>, tensor<4x4xf32>
}
