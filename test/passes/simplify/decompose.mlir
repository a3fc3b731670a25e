// RUN: tenon-opt %s -pass-pipeline='builtin.module(func.func(tenon-decompose))' | FileCheck %s
// RUN: tenon-opt %s -pass-pipeline='builtin.module(func.func(tenon-decompose{all=true}))' | FileCheck %s --check-prefix=ALL

// CHECK-LABEL: @kept_dimensions_become_a_reshape
// CHECK: %[[R:.*]] = tenon.reduce sum, {{.*}} {axes = array<i64: 1>} : (tensor<2x3xf32>) -> tensor<2xf32>
// CHECK: tenon.reshape %[[R]] : (tensor<2xf32>) -> tensor<2x1xf32>
func.func @kept_dimensions_become_a_reshape(%x: tensor<2x3xf32>) -> tensor<2x1xf32> {
  %0 = tenon.reduce sum, %x {axes = array<i64: 1>, keepdims = true} : (tensor<2x3xf32>) -> tensor<2x1xf32>
  return %0 : tensor<2x1xf32>
}

// Pixels of one image, channels last, are joined line by line first, as threads have computed them. Of few pixels, and of several
// images, threads have channels and images.
// CHECK-LABEL: @lines_are_joined_first
// CHECK: %[[LINES:.*]] = tenon.reduce sum, %arg0 {axes = array<i64: 2>} : (tensor<1x14x14x96xf32>) -> tensor<1x14x96xf32>
// CHECK: %[[PIXELS:.*]] = tenon.reduce sum, %[[LINES]] {axes = array<i64: 1>} : (tensor<1x14x96xf32>) -> tensor<1x96xf32>
// CHECK: tenon.reduce sum, %arg1 {axes = array<i64: 1, 2>}
// CHECK: tenon.reduce sum, %arg2 {axes = array<i64: 1, 2>}
// CHECK: return %[[PIXELS]]
func.func @lines_are_joined_first(%x: tensor<1x14x14x96xf32>, %few: tensor<1x7x7x960xf32>, %images: tensor<4x14x14x96xf32>)
    -> (tensor<1x96xf32>, tensor<1x960xf32>, tensor<4x96xf32>) {
  %0 = tenon.reduce sum, %x {axes = array<i64: 1, 2>} : (tensor<1x14x14x96xf32>) -> tensor<1x96xf32>
  %1 = tenon.reduce sum, %few {axes = array<i64: 1, 2>} : (tensor<1x7x7x960xf32>) -> tensor<1x960xf32>
  %2 = tenon.reduce sum, %images {axes = array<i64: 1, 2>} : (tensor<4x14x14x96xf32>) -> tensor<4x96xf32>
  return %0, %1, %2 : tensor<1x96xf32>, tensor<1x960xf32>, tensor<4x96xf32>
}

// One result is one tile: what is joined along the last dimension first has 256 results.
// CHECK-LABEL: @very_many_elements_are_joined_in_two_steps
// CHECK: %[[ROWS:.*]] = tenon.reduce max, {{.*}} {axes = array<i64: 2>} : (tensor<1x256x2000xf32>) -> tensor<1x256xf32>
// CHECK: tenon.reduce max, %[[ROWS]] {axes = array<i64: 1>} : (tensor<1x256xf32>) -> tensor<1xf32>
func.func @very_many_elements_are_joined_in_two_steps(%x: tensor<1x256x2000xf32>) -> tensor<1xf32> {
  %0 = tenon.reduce max, %x {axes = array<i64: 1, 2>} : (tensor<1x256x2000xf32>) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}

// CHECK-LABEL: @sum_of_nothing_is_zero
// CHECK: tenon.weight dense<0.000000e+00> : tensor<2x5xf32>
func.func @sum_of_nothing_is_zero(%x: tensor<2x0xf32>, %y: tensor<0x5xf32>) -> tensor<2x5xf32> {
  %0 = tenon.contract %x, %y {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 2, 1>, result_dims = array<i64: 0, 1>}
      : (tensor<2x0xf32>, tensor<0x5xf32>) -> tensor<2x5xf32>
  return %0 : tensor<2x5xf32>
}

// x * factor + offset, factor = scale / sqrt(variance + epsilon), offset = bias - mean * factor.
// CHECK-LABEL: @batch_norm_becomes_two_weights
// CHECK-SAME: %[[X:.*]]: tensor<1x2x4xf32>
// CHECK-NOT: tenon.batch_norm
// CHECK: %[[FACTOR:.*]] = tenon.div
// CHECK: %[[OFFSET:.*]] = tenon.sub
// CHECK: %[[SCALED:.*]] = tenon.mul %[[X]], %{{.*}} : (tensor<1x2x4xf32>, tensor<2x1xf32>)
// CHECK: tenon.add %[[SCALED]], %{{.*}} : (tensor<1x2x4xf32>, tensor<2x1xf32>)
func.func @batch_norm_becomes_two_weights(%x: tensor<1x2x4xf32>, %p: tensor<2xf32>) -> tensor<1x2x4xf32> {
  %0 = tenon.batch_norm %x, %p, %p, %p, %p {epsilon = 1.0e-5 : f64}
    : (tensor<1x2x4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x2x4xf32>
  return %0 : tensor<1x2x4xf32>
}

// Kernels compute these whole, so they are taken apart on demand alone.
// CHECK-LABEL: @composites_stay
// CHECK: tenon.softmax
// CHECK: tenon.gelu
// CHECK: tenon.layer_norm
// CHECK: tenon.rms_norm
// CHECK: tenon.sigmoid
// CHECK: tenon.relu
// ALL-LABEL: @composites_stay
// ALL-NOT: tenon.{{softmax|gelu|layer_norm|rms_norm|sigmoid|relu}}
// ALL: tenon.exp
// ALL: tenon.erf
func.func @composites_stay(%x: tensor<2x4xf32>, %s: tensor<4xf32>) -> tensor<2x4xf32> {
  %0 = tenon.softmax %x {axis = 1 : i64} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %1 = tenon.gelu %0 : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %2 = tenon.layer_norm %1, %s, %s {axis = 1 : i64, epsilon = 1.0e-5 : f64}
    : (tensor<2x4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  %3 = tenon.rms_norm %2, %s {axis = 1 : i64, epsilon = 1.0e-5 : f64}
    : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  %4 = tenon.sigmoid %3 : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %5 = tenon.relu %4 : (tensor<2x4xf32>) -> tensor<2x4xf32>
  return %5 : tensor<2x4xf32>
}

// What blocks have in common is repeated for each of their elements.
// ALL-LABEL: @blocks
// ALL-NOT: tenon.dequantize
// ALL-DAG: %[[X:.*]] = tenon.cast %arg0 : (tensor<3x2xi8>) -> tensor<3x2xf32>
// ALL-DAG: %[[AT:.*]] = tenon.weight dense<[0, 0, 1]> : tensor<3xi64>
// ALL: %[[S:.*]] = tenon.gather %arg1, %[[AT]] {axis = 0 : i64} : (tensor<2x2xf32>, tensor<3xi64>) -> tensor<3x2xf32>
// ALL: tenon.mul %[[X]], %[[S]]
func.func @blocks(%x: tensor<3x2xi8>, %s: tensor<2x2xf32>) -> tensor<3x2xf32> {
  %0 = tenon.dequantize %x, %s {axis = 0 : i64, block = 2 : i64} : (tensor<3x2xi8>, tensor<2x2xf32>) -> tensor<3x2xf32>
  return %0 : tensor<3x2xf32>
}

// Of a convolution of no lines, whose window may not fit once they are padded, nothing is left.
// CHECK-LABEL: @results_without_elements_are_weights
// CHECK-NOT: tenon.convolve
// CHECK: %[[EMPTY:.*]] = tenon.weight dense<> : tensor<1x1x0x5xf32>
// CHECK: return %[[EMPTY]]
func.func @results_without_elements_are_weights(%x: tensor<1x1x0x5xf32>, %filter: tensor<1x1x3x3xf32>) -> tensor<1x1x0x5xf32> {
  %0 = tenon.convolve %x, %filter {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, groups = 1 : i64,
    high = array<i64: 1, 1>} : (tensor<1x1x0x5xf32>, tensor<1x1x3x3xf32>) -> tensor<1x1x0x5xf32>
  return %0 : tensor<1x1x0x5xf32>
}

// Indices have to be in range though nothing is read at them.
// CHECK-LABEL: @indices_of_empty_rows_are_looked_at
// CHECK: tenon.gather
func.func @indices_of_empty_rows_are_looked_at(%x: tensor<4x0xf32>, %i: tensor<3xi64>) -> tensor<3x0xf32> {
  %0 = tenon.gather %x, %i {axis = 0 : i64} : (tensor<4x0xf32>, tensor<3xi64>) -> tensor<3x0xf32>
  return %0 : tensor<3x0xf32>
}
