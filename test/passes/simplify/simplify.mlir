// RUN: tenon-opt %s -pass-pipeline='builtin.module(func.func(tenon-simplify))' | FileCheck %s

// CHECK-LABEL: @scales_join_the_filter
// CHECK-SAME: %[[X:.*]]: tensor<1x2x4xf32>
// CHECK: %[[SCALED:.*]] = tenon.mul %{{.*}}, %{{.*}} -> tensor<3x2x2xf32>
// CHECK: %[[Y:.*]] = tenon.convolve %[[X]], %[[SCALED]]
// CHECK-NOT: tenon.mul
// CHECK: return %[[Y]]
func.func @scales_join_the_filter(%x: tensor<1x2x4xf32>) -> tensor<1x3x3xf32> {
  %f = tenon.weight dense<2.0> : tensor<3x2x2xf32>
  %s = tenon.weight dense<[[1.0], [2.0], [3.0]]> : tensor<3x1xf32>
  %0 = tenon.convolve %x, %f {strides = array<i64: 1>, dilations = array<i64: 1>, low = array<i64: 0>,
      high = array<i64: 0>, groups = 1 : i64} : (tensor<1x2x4xf32>, tensor<3x2x2xf32>) -> tensor<1x3x3xf32>
  %1 = tenon.mul %0, %s : (tensor<1x3x3xf32>, tensor<3x1xf32>) -> tensor<1x3x3xf32>
  return %1 : tensor<1x3x3xf32>
}

// A filter that the caller gives is not known before the run.
// CHECK-LABEL: @no_scaling_of_a_filter_that_is_no_weight
// CHECK: %[[Y:.*]] = tenon.convolve
// CHECK: tenon.mul %[[Y]]
func.func @no_scaling_of_a_filter_that_is_no_weight(%x: tensor<1x2x4xf32>, %f: tensor<3x2x2xf32>) -> tensor<1x3x3xf32> {
  %s = tenon.weight dense<[[1.0], [2.0], [3.0]]> : tensor<3x1xf32>
  %0 = tenon.convolve %x, %f {strides = array<i64: 1>, dilations = array<i64: 1>, low = array<i64: 0>,
      high = array<i64: 0>, groups = 1 : i64} : (tensor<1x2x4xf32>, tensor<3x2x2xf32>) -> tensor<1x3x3xf32>
  %1 = tenon.mul %0, %s : (tensor<1x3x3xf32>, tensor<3x1xf32>) -> tensor<1x3x3xf32>
  return %1 : tensor<1x3x3xf32>
}

// The scale differs along the result's positions, not its channels.
// CHECK-LABEL: @no_scaling_along_positions
// CHECK: %[[Y:.*]] = tenon.convolve
// CHECK: tenon.mul %[[Y]]
func.func @no_scaling_along_positions(%x: tensor<1x2x4xf32>) -> tensor<1x3x3xf32> {
  %f = tenon.weight dense<2.0> : tensor<3x2x2xf32>
  %s = tenon.weight dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %0 = tenon.convolve %x, %f {strides = array<i64: 1>, dilations = array<i64: 1>, low = array<i64: 0>,
      high = array<i64: 0>, groups = 1 : i64} : (tensor<1x2x4xf32>, tensor<3x2x2xf32>) -> tensor<1x3x3xf32>
  %1 = tenon.mul %0, %s : (tensor<1x3x3xf32>, tensor<3xf32>) -> tensor<1x3x3xf32>
  return %1 : tensor<1x3x3xf32>
}

// CHECK-LABEL: @squares_are_products
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>
// CHECK: tenon.mul %[[X]], %[[X]]
// CHECK-NOT: tenon.pow
func.func @squares_are_products(%x: tensor<4xf32>) -> tensor<4xf32> {
  %two = tenon.weight dense<2.0> : tensor<f32>
  %0 = tenon.pow %x, %two : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// They differ at -infinity and at -0.
// CHECK-LABEL: @no_root_for_a_power_of_one_half
// CHECK: tenon.pow
func.func @no_root_for_a_power_of_one_half(%x: tensor<4xf32>) -> tensor<4xf32> {
  %half = tenon.weight dense<0.5> : tensor<f32>
  %0 = tenon.pow %x, %half : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: @transpose_of_ones_is_a_reshape
// CHECK: tenon.reshape %{{.*}} : (tensor<1x5x3xf32>) -> tensor<5x1x3xf32>
func.func @transpose_of_ones_is_a_reshape(%x: tensor<1x5x3xf32>) -> tensor<5x1x3xf32> {
  %0 = tenon.transpose %x {permutation = array<i64: 1, 0, 2>} : (tensor<1x5x3xf32>) -> tensor<5x1x3xf32>
  return %0 : tensor<5x1x3xf32>
}

// CHECK-LABEL: @no_reshape_where_elements_move
// CHECK: tenon.transpose
func.func @no_reshape_where_elements_move(%x: tensor<1x5x3xf32>) -> tensor<3x1x5xf32> {
  %0 = tenon.transpose %x {permutation = array<i64: 2, 0, 1>} : (tensor<1x5x3xf32>) -> tensor<3x1x5xf32>
  return %0 : tensor<3x1x5xf32>
}

// A weight that is read in two ways stays one.
// CHECK-LABEL: @transposed_weight
// CHECK: %[[W:.*]] = tenon.weight
// CHECK-NOT: tenon.transpose
// CHECK: tenon.contract %arg0, %[[W]] {lhs_dims = array<i64: 0, 2>, result_dims = array<i64: 0, 1>, rhs_dims = array<i64: 1, 2>}
func.func @transposed_weight(%x: tensor<3x2xf32>) -> tensor<3x2xf32> {
  %w = tenon.weight dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %t = tenon.transpose %w {permutation = array<i64: 1, 0>} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %0 = tenon.contract %x, %t {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 2, 1>, result_dims = array<i64: 0, 1>}
    : (tensor<3x2xf32>, tensor<2x2xf32>) -> tensor<3x2xf32>
  return %0 : tensor<3x2xf32>
}

// CHECK-LABEL: @zeros_around_the_input_are_padding
// CHECK-SAME: %[[X:.*]]: tensor<1x2x4xf32>
// CHECK: tenon.convolve %[[X]], {{.*}} high = array<i64: 3>, low = array<i64: 1>
func.func @zeros_around_the_input_are_padding(%x: tensor<1x2x4xf32>, %f: tensor<3x2x2xf32>) -> tensor<1x3x7xf32> {
  %z = tenon.weight dense<0.0> : tensor<f32>
  %0 = tenon.pad constant, %x, %z {low = #tenon.shape<0, 0, 1>, interior = array<i64: 0, 0, 0>}
      : (tensor<1x2x4xf32>, tensor<f32>) -> tensor<1x2x7xf32>
  %1 = tenon.convolve %0, %f {strides = array<i64: 1>, dilations = array<i64: 1>, low = array<i64: 0>,
      high = array<i64: 1>, groups = 1 : i64} : (tensor<1x2x7xf32>, tensor<3x2x2xf32>) -> tensor<1x3x7xf32>
  return %1 : tensor<1x3x7xf32>
}

// Channels of zeros are no padding, nor is what something else reads, too.
// CHECK-LABEL: @other_pads_stay
// CHECK-COUNT-2: tenon.pad
func.func @other_pads_stay(%x: tensor<1x2x4xf32>, %f: tensor<3x3x2xf32>, %g: tensor<3x2x2xf32>)
    -> (tensor<1x3x3xf32>, tensor<1x3x5xf32>, tensor<1x2x6xf32>) {
  %z = tenon.weight dense<0.0> : tensor<f32>
  %0 = tenon.pad constant, %x, %z {low = #tenon.shape<0, 1, 0>, interior = array<i64: 0, 0, 0>}
      : (tensor<1x2x4xf32>, tensor<f32>) -> tensor<1x3x4xf32>
  %1 = tenon.convolve %0, %f {strides = array<i64: 1>, dilations = array<i64: 1>, low = array<i64: 0>,
      high = array<i64: 0>, groups = 1 : i64} : (tensor<1x3x4xf32>, tensor<3x3x2xf32>) -> tensor<1x3x3xf32>
  %2 = tenon.pad constant, %x, %z {low = #tenon.shape<0, 0, 1>, interior = array<i64: 0, 0, 0>}
      : (tensor<1x2x4xf32>, tensor<f32>) -> tensor<1x2x6xf32>
  %3 = tenon.convolve %2, %g {strides = array<i64: 1>, dilations = array<i64: 1>, low = array<i64: 0>,
      high = array<i64: 0>, groups = 1 : i64} : (tensor<1x2x6xf32>, tensor<3x2x2xf32>) -> tensor<1x3x5xf32>
  return %1, %3, %2 : tensor<1x3x3xf32>, tensor<1x3x5xf32>, tensor<1x2x6xf32>
}

// One known place along a dimension is a slice; one that there is not stays to be clamped.
// CHECK-LABEL: @known_places_are_slices
// CHECK: %[[S:.*]] = tenon.slice %{{.*}} {starts = #tenon.shape<2, 0>, steps = array<i64: 1, 1>} : (tensor<3x5xf32>) -> tensor<1x5xf32>
// CHECK: tenon.reshape %[[S]] : (tensor<1x5xf32>) -> tensor<5xf32>
// CHECK: tenon.gather
// CHECK: tenon.gather
func.func @known_places_are_slices(%x: tensor<3x5xf32>) -> (tensor<5xf32>, tensor<5xf32>, tensor<3x5xf32>) {
  %two = tenon.weight dense<2> : tensor<i64>
  %nine = tenon.weight dense<9> : tensor<i64>
  %three = tenon.weight dense<[2, 0, 2]> : tensor<3xi64>
  %0 = tenon.gather %x, %two {axis = 0 : i64} : (tensor<3x5xf32>, tensor<i64>) -> tensor<5xf32>
  %1 = tenon.gather %x, %nine {axis = 0 : i64} : (tensor<3x5xf32>, tensor<i64>) -> tensor<5xf32>
  %2 = tenon.gather %x, %three {axis = 0 : i64} : (tensor<3x5xf32>, tensor<3xi64>) -> tensor<3x5xf32>
  return %0, %1, %2 : tensor<5xf32>, tensor<5xf32>, tensor<3x5xf32>
}

// A place counted from the end; where it is just one of the values that were joined, that value is what is taken.
// CHECK-LABEL: @last_of_joined
// CHECK: %[[ALL:.*]] = tenon.concat
// CHECK: %[[Y:.*]] = tenon.reshape %arg1 : (tensor<1x1x4xf32>) -> tensor<1x4xf32>
// CHECK: %[[TWO:.*]] = tenon.slice %[[ALL]] {{.*}} -> tensor<2x1x4xf32>
// CHECK: return %[[Y]], %[[TWO]]
func.func @last_of_joined(%a: tensor<1x1x4xf32>, %b: tensor<1x1x4xf32>) -> (tensor<1x4xf32>, tensor<2x1x4xf32>) {
  %last = tenon.weight dense<-1> : tensor<i64>
  %0 = tenon.concat %a, %a, %b {axis = 0 : i64} : (tensor<1x1x4xf32>, tensor<1x1x4xf32>, tensor<1x1x4xf32>) -> tensor<3x1x4xf32>
  %1 = tenon.reshape %0 : (tensor<3x1x4xf32>) -> tensor<1x3x4xf32>
  %2 = tenon.gather %1, %last {axis = 1 : i64} : (tensor<1x3x4xf32>, tensor<i64>) -> tensor<1x4xf32>
  %3 = tenon.slice %0 {starts = #tenon.shape<1, 0, 0>, steps = array<i64: 1, 1, 1>} : (tensor<3x1x4xf32>) -> tensor<2x1x4xf32>
  return %2, %3 : tensor<1x4xf32>, tensor<2x1x4xf32>
}

// A convolution of halves is one of f32, rounded as before.
// CHECK-LABEL: @convolution_of_halves
// CHECK-DAG: %[[X:.*]] = tenon.cast %arg0 : (tensor<1x3x8x8xf16>) -> tensor<1x3x8x8xf32>
// CHECK-DAG: %[[W:.*]] = tenon.cast %arg1 : (tensor<4x3x3x3xf16>) -> tensor<4x3x3x3xf32>
// CHECK: %[[Y:.*]] = tenon.convolve %[[X]], %[[W]] {{.*}} -> tensor<1x4x6x6xf32>
// CHECK: tenon.cast %[[Y]] : (tensor<1x4x6x6xf32>) -> tensor<1x4x6x6xf16>
func.func @convolution_of_halves(%x: tensor<1x3x8x8xf16>, %w: tensor<4x3x3x3xf16>) -> tensor<1x4x6x6xf16> {
  %0 = tenon.convolve %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>,
    groups = 1 : i64} : (tensor<1x3x8x8xf16>, tensor<4x3x3x3xf16>) -> tensor<1x4x6x6xf16>
  return %0 : tensor<1x4x6x6xf16>
}

// A product takes a transpose over, and the constant stays one that a lookup reads, too.
// CHECK-LABEL: @tied_halves
// CHECK-NOT: tenon.transpose
// CHECK: tenon.contract {{.*}}rhs_dims = array<i64: 2, 1>{{.*}} : (tensor<4x3xf32>, tensor<2x3xf32>) -> tensor<4x2xf32>
func.func @tied_halves(%i: tensor<4xi64>) -> tensor<4x2xf32> {
  %w = tenon.weight dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf16>
  %0 = tenon.cast %w : (tensor<2x3xf16>) -> tensor<2x3xf32>
  %1 = tenon.gather %0, %i {axis = 0 : i64} : (tensor<2x3xf32>, tensor<4xi64>) -> tensor<4x3xf32>
  %2 = tenon.transpose %0 {permutation = array<i64: 1, 0>} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %3 = tenon.contract %1, %2 {lhs_dims = array<i64: 0, 1>, rhs_dims = array<i64: 1, 2>, result_dims = array<i64: 0, 2>}
    : (tensor<4x3xf32>, tensor<3x2xf32>) -> tensor<4x2xf32>
  return %3 : tensor<4x2xf32>
}

// Constants of halves are moved before they are widened: what reads them may widen them itself.
// CHECK-LABEL: @moved_halves
// CHECK: %[[T:.*]] = tenon.transpose %{{.*}} : (tensor<2x3xf16>) -> tensor<3x2xf16>
// CHECK: %[[W:.*]] = tenon.cast %[[T]] : (tensor<3x2xf16>) -> tensor<3x2xf32>
// CHECK: %[[G:.*]] = tenon.gather %{{.*}}, %arg0 {{.*}} -> tensor<4x3xf16>
// CHECK: %[[E:.*]] = tenon.cast %[[G]] : (tensor<4x3xf16>) -> tensor<4x3xf32>
// CHECK: return %[[W]], %[[E]]
func.func @moved_halves(%i: tensor<4xi64>) -> (tensor<3x2xf32>, tensor<4x3xf32>) {
  %w = tenon.weight dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf16>
  %0 = tenon.cast %w : (tensor<2x3xf16>) -> tensor<2x3xf32>
  %1 = tenon.transpose %0 {permutation = array<i64: 1, 0>} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %2 = tenon.gather %0, %i {axis = 0 : i64} : (tensor<2x3xf32>, tensor<4xi64>) -> tensor<4x3xf32>
  return %1, %2 : tensor<3x2xf32>, tensor<4x3xf32>
}
