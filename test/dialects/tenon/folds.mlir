// RUN: tenon-opt %s -canonicalize | FileCheck %s

// CHECK-LABEL: @adding_zero
// CHECK-SAME: (%[[X:.*]]: tensor<2x3xf32>)
// CHECK: return %[[X]]
func.func @adding_zero(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %zero = tenon.weight dense<0.0> : tensor<3xf32>
  %0 = tenon.add %x, %zero : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %1 = tenon.sub %0, %zero : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return %1 : tensor<2x3xf32>
}

// The zeros stretch the other operand, which would be lost.
// CHECK-LABEL: @no_fold_where_zeros_stretch
// CHECK: tenon.add
func.func @no_fold_where_zeros_stretch(%x: tensor<3xf32>) -> tensor<2x3xf32> {
  %zero = tenon.weight dense<0.0> : tensor<2x3xf32>
  %0 = tenon.add %x, %zero : (tensor<3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// CHECK-LABEL: @multiplying_by_one
// CHECK-SAME: (%[[X:.*]]: tensor<3xi32>)
// CHECK: return %[[X]]
func.func @multiplying_by_one(%x: tensor<3xi32>) -> tensor<3xi32> {
  %one = tenon.weight dense<1> : tensor<i32>
  %0 = tenon.mul %one, %x : (tensor<i32>, tensor<3xi32>) -> tensor<3xi32>
  %1 = tenon.div %0, %one : (tensor<3xi32>, tensor<i32>) -> tensor<3xi32>
  return %1 : tensor<3xi32>
}

// CHECK-LABEL: @cast_to_its_own_type
// CHECK-NOT: tenon.cast
func.func @cast_to_its_own_type(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = tenon.cast %x : (tensor<3xf32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// CHECK-LABEL: @bitcast_to_its_own_type
// CHECK-NOT: tenon.bitcast
func.func @bitcast_to_its_own_type(%x: tensor<3xi4>) -> tensor<3xi4> {
  %0 = tenon.bitcast %x : (tensor<3xi4>) -> tensor<3xi4>
  return %0 : tensor<3xi4>
}

// CHECK-LABEL: @sizes_that_are_known
// CHECK: tenon.weight dense<[2, 3]> : tensor<2xi64>
func.func @sizes_that_are_known() -> tensor<2xi64> {
  %0 = tenon.sizes #tenon.shape<2, 3> -> tensor<2xi64>
  return %0 : tensor<2xi64>
}

// CHECK-LABEL: @no_fold_of_symbols
// CHECK: tenon.sizes #tenon.shape<N, 3>
func.func @no_fold_of_symbols() -> tensor<2xi64> {
  %0 = tenon.sizes #tenon.shape<N, 3> -> tensor<2xi64>
  return %0 : tensor<2xi64>
}

// CHECK-LABEL: @reshapes_join
// CHECK-SAME: (%[[X:.*]]: tensor<2x6xf32>)
// CHECK-NEXT: %[[R:.*]] = tenon.reshape %[[X]] : (tensor<2x6xf32>) -> tensor<4x3xf32>
// CHECK-NEXT: return %[[R]]
func.func @reshapes_join(%x: tensor<2x6xf32>) -> tensor<4x3xf32> {
  %0 = tenon.reshape %x : (tensor<2x6xf32>) -> tensor<12xf32>
  %1 = tenon.reshape %0 : (tensor<12xf32>) -> tensor<4x3xf32>
  return %1 : tensor<4x3xf32>
}

// CHECK-LABEL: @reshape_of_a_weight
// CHECK-NEXT: tenon.weight dense<{{\[\[}}1, 2], [3, 4]]> : tensor<2x2xi32>
// CHECK-NEXT: return
func.func @reshape_of_a_weight() -> tensor<2x2xi32> {
  %0 = tenon.weight dense<[1, 2, 3, 4]> : tensor<4xi32>
  %1 = tenon.reshape %0 : (tensor<4xi32>) -> tensor<2x2xi32>
  return %1 : tensor<2x2xi32>
}

// [a, b, c] -> [c, a, b] -> [b, a, c], that is dimensions 1, 0, 2 of the first.
// CHECK-LABEL: @transposes_join
// CHECK-NEXT: tenon.transpose %{{.*}} {permutation = array<i64: 1, 0, 2>} : (tensor<2x3x4xf32>) -> tensor<3x2x4xf32>
// CHECK-NEXT: return
func.func @transposes_join(%x: tensor<2x3x4xf32>) -> tensor<3x2x4xf32> {
  %0 = tenon.transpose %x {permutation = array<i64: 2, 0, 1>} : (tensor<2x3x4xf32>) -> tensor<4x2x3xf32>
  %1 = tenon.transpose %0 {permutation = array<i64: 2, 1, 0>} : (tensor<4x2x3xf32>) -> tensor<3x2x4xf32>
  return %1 : tensor<3x2x4xf32>
}

// CHECK-LABEL: @transpose_and_back
// CHECK-SAME: (%[[X:.*]]: tensor<2x3xf32>)
// CHECK-NEXT: return %[[X]]
func.func @transpose_and_back(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = tenon.transpose %x {permutation = array<i64: 1, 0>} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %1 = tenon.transpose %0 {permutation = array<i64: 1, 0>} : (tensor<3x2xf32>) -> tensor<2x3xf32>
  return %1 : tensor<2x3xf32>
}

// CHECK-LABEL: @broadcast_of_a_splat
// CHECK-NEXT: tenon.weight dense<2.000000e+00> : tensor<4x3xf32>
func.func @broadcast_of_a_splat() -> tensor<4x3xf32> {
  %0 = tenon.weight dense<2.0> : tensor<1x3xf32>
  %1 = tenon.broadcast %0 : (tensor<1x3xf32>) -> tensor<4x3xf32>
  return %1 : tensor<4x3xf32>
}

// CHECK-LABEL: @slice_of_everything
// CHECK-NOT: tenon.slice
func.func @slice_of_everything(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = tenon.slice %x {starts = #tenon.shape<0>, steps = array<i64: 1>} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: @no_fold_of_a_reversal
// CHECK: tenon.slice
func.func @no_fold_of_a_reversal(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = tenon.slice %x {starts = #tenon.shape<3>, steps = array<i64: -1>} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: @concat_of_one
// CHECK-NOT: tenon.concat
func.func @concat_of_one(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = tenon.concat %x {axis = 0 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: @unused_operations_vanish
// CHECK-NEXT: return
func.func @unused_operations_vanish(%x: tensor<4xf32>) {
  %0 = tenon.softmax %x {axis = 0 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  return
}
