// RUN: tenon-opt %s | tenon-opt | FileCheck %s

// Result extents follow from the operands': a constant that disagreed would be refused.

#image = #tenon.shape<N, 3, H, W>

// (H + 2 - 3) floordiv 2 + 1 = (H + 1) floordiv 2 = H ceildiv 2; no padding along W, and dilation 2: (W - 5) floordiv 1 + 1 = W - 4.
// CHECK-LABEL: @extents_of_a_convolution
// CHECK: tensor<?x4x?x?xf32, #tenon.shape<N, 4, H ceildiv 2, W + -4>>
func.func @extents_of_a_convolution(%x: tensor<?x3x?x?xf32, #image>, %f: tensor<4x3x3x3xf32>) {
  %0 = tenon.convolve %x, %f {strides = array<i64: 2, 1>, dilations = array<i64: 1, 2>, low = array<i64: 1, 0>,
      high = array<i64: 1, 0>, groups = 1 : i64} : (tensor<?x3x?x?xf32, #image>, tensor<4x3x3x3xf32>)
    -> tensor<?x4x?x?xf32, #tenon.shape<N, 4, (H + -1) floordiv 2 + 1, W + -4>>
  return
}

// CHECK-LABEL: @a_batch_stretches
// CHECK: tenon.contract {{.*}} -> tensor<?x2x5xf32, #tenon.shape<B, 2, 5>>
func.func @a_batch_stretches(%a: tensor<?x2x3xf32, #tenon.shape<B, 2, 3>>, %b: tensor<1x3x5xf32>) {
  %0 = tenon.contract %a, %b {lhs_dims = array<i64: 0, 1, 3>, rhs_dims = array<i64: 0, 3, 2>, result_dims = array<i64: 0, 1, 2>}
    : (tensor<?x2x3xf32, #tenon.shape<B, 2, 3>>, tensor<1x3x5xf32>) -> tensor<?x2x5xf32, #tenon.shape<B, 2, 5>>
  return
}

// CHECK-LABEL: @integers_widen
// CHECK: tenon.contract {{.*}}result_type = i32{{.*}} : (tensor<2x3xi8>, tensor<3x4xui8>) -> tensor<2x4xi32>
func.func @integers_widen(%a: tensor<2x3xi8>, %b: tensor<3x4xui8>) {
  %0 = tenon.contract %a, %b {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 2, 1>, result_dims = array<i64: 0, 1>,
      result_type = i32} : (tensor<2x3xi8>, tensor<3x4xui8>) -> tensor<2x4xi32>
  return
}

// 7 elements, windows of 2 with stride 2: 3 windows, or 4 where the last may hang over.
// CHECK-LABEL: @rounding_up
// CHECK: -> tensor<1x1x3xf32>
// CHECK: -> tensor<1x1x4xf32>
func.func @rounding_up(%x: tensor<1x1x7xf32>) {
  %0 = tenon.pool max, %x {window = array<i64: 2>, strides = array<i64: 2>, dilations = array<i64: 1>,
      low = array<i64: 0>, high = array<i64: 0>} : (tensor<1x1x7xf32>) -> tensor<1x1x3xf32>
  %1 = tenon.pool max, %x {window = array<i64: 2>, strides = array<i64: 2>, dilations = array<i64: 1>,
      low = array<i64: 0>, high = array<i64: 0>, ceil = true} : (tensor<1x1x7xf32>) -> tensor<1x1x4xf32>
  return
}

// 3 elements, padded by 1 on both sides, windows of 2 with stride 2: a third would start in the high padding.
// CHECK-LABEL: @no_window_that_starts_in_the_high_padding
// CHECK: -> tensor<1x1x2xf32>
func.func @no_window_that_starts_in_the_high_padding(%x: tensor<1x1x3xf32>) {
  %0 = tenon.pool max, %x {window = array<i64: 2>, strides = array<i64: 2>, dilations = array<i64: 1>,
      low = array<i64: 1>, high = array<i64: 1>, ceil = true} : (tensor<1x1x3xf32>) -> tensor<1x1x2xf32>
  return
}
