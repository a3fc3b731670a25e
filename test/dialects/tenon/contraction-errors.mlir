// RUN: tenon-opt %s -split-input-file -verify-diagnostics

// What verification of contractions, windows and reductions says.

func.func @element_types_differ(%a: tensor<2x3xf32>, %b: tensor<3x4xf16>) {
  // expected-error @+2 {{operands have element types 'f32' and 'f16', which must be equal}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = tenon.contract %a, %b {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 2, 1>, result_dims = array<i64: 0, 1>}
    : (tensor<2x3xf32>, tensor<3x4xf16>) -> tensor<2x4xf32>
  return
}

// -----

func.func @too_few_indices(%a: tensor<2x3xf32>, %b: tensor<3x4xf32>) {
  // expected-error @+2 {{has 1 indices for an operand of rank 2}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = tenon.contract %a, %b {lhs_dims = array<i64: 0>, rhs_dims = array<i64: 2, 1>, result_dims = array<i64: 0, 1>}
    : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @shared_extents_differ(%a: tensor<2x3xf32>, %b: tensor<5x4xf32>) {
  // expected-error @+2 {{shapes 2x3 and 5x4 do not fit: 3 and 5 elements have to be multiplied pair by pair}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = tenon.contract %a, %b {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 2, 1>, result_dims = array<i64: 0, 1>}
    : (tensor<2x3xf32>, tensor<5x4xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @unknown_result_index(%a: tensor<2x3xf32>, %b: tensor<3x4xf32>) {
  // expected-error @+2 {{result index 7 runs over neither operand}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = tenon.contract %a, %b {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 2, 1>, result_dims = array<i64: 0, 7>}
    : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @result_index_twice(%a: tensor<2x3xf32>, %b: tensor<3x2xf32>) {
  // expected-error @+1 {{has result index 0 twice}}
  %0 = tenon.contract %a, %b {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 2, 1>, result_dims = array<i64: 0, 0>}
    : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>
  return
}

// -----

func.func @convolve_ranks_differ(%a: tensor<1x4x8x8xf32>, %b: tensor<6x4x3xf32>) {
  // expected-error @+2 {{needs an input and a filter of one rank, at least 3, found 1x4x8x8 and 6x4x3}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = tenon.convolve %a, %b {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>,
    high = array<i64: 0, 0>, groups = 1 : i64} : (tensor<1x4x8x8xf32>, tensor<6x4x3xf32>) -> tensor<1x6x6x6xf32>
  return
}

// -----

func.func @filter_of_unknown_size(%a: tensor<1x4x8x8xf32>, %b: tensor<6x4x?x3xf32, #tenon.shape<6, 4, K, 3>>) {
  // expected-error @+2 {{needs a filter of constant window sizes, found 6x4xKx3}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = tenon.convolve %a, %b {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>,
    high = array<i64: 0, 0>, groups = 1 : i64} : (tensor<1x4x8x8xf32>, tensor<6x4x?x3xf32, #tenon.shape<6, 4, K, 3>>) -> tensor<1x6x6x6xf32>
  return
}

// -----

func.func @one_stride_for_two_dimensions(%a: tensor<1x4x8x8xf32>, %b: tensor<6x4x3x3xf32>) {
  // expected-error @+1 {{needs window, strides, dilations, low and high for each of 2 spatial dimensions}}
  %0 = tenon.convolve %a, %b {strides = array<i64: 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>,
    high = array<i64: 0, 0>, groups = 1 : i64} : (tensor<1x4x8x8xf32>, tensor<6x4x3x3xf32>) -> tensor<1x6x6x6xf32>
  return
}

// -----

func.func @stride_of_zero(%a: tensor<1x4x8x8xf32>, %b: tensor<6x4x3x3xf32>) {
  // expected-error @+1 {{needs a window, strides and dilations of at least 1, found 3, 0, 1}}
  %0 = tenon.convolve %a, %b {strides = array<i64: 1, 0>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>,
    high = array<i64: 0, 0>, groups = 1 : i64} : (tensor<1x4x8x8xf32>, tensor<6x4x3x3xf32>) -> tensor<1x6x6x6xf32>
  return
}

// -----

func.func @window_does_not_fit(%a: tensor<1x4x8x8xf32>, %b: tensor<6x4x3x3xf32>) {
  // expected-error @+2 {{a window that reaches over 9 elements does not fit into 8 elements with 0 of padding}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = tenon.convolve %a, %b {strides = array<i64: 1, 1>, dilations = array<i64: 1, 4>, low = array<i64: 0, 0>,
    high = array<i64: 0, 0>, groups = 1 : i64} : (tensor<1x4x8x8xf32>, tensor<6x4x3x3xf32>) -> tensor<1x6x6x6xf32>
  return
}

// -----

func.func @dilation_of_zero(%a: tensor<1x4x8x8xf32>, %b: tensor<6x4x3x3xf32>) {
  // expected-error @+1 {{needs a window, strides and dilations of at least 1, found 3, 1, 0}}
  %0 = tenon.convolve %a, %b {strides = array<i64: 1, 1>, dilations = array<i64: 1, 0>, low = array<i64: 0, 0>,
    high = array<i64: 0, 0>, groups = 1 : i64} : (tensor<1x4x8x8xf32>, tensor<6x4x3x3xf32>) -> tensor<1x6x6x8xf32>
  return
}

// -----

func.func @padding_beyond_reason(%a: tensor<1x4x8x8xf32>, %b: tensor<6x4x3x3xf32>) {
  // expected-error @+1 {{has a window, stride, dilation or padding beyond 2^31}}
  %0 = tenon.convolve %a, %b {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>,
    high = array<i64: 0, 4294967296>, groups = 1 : i64} : (tensor<1x4x8x8xf32>, tensor<6x4x3x3xf32>) -> tensor<1x6x6x4294967302xf32>
  return
}

// -----

func.func @no_groups(%a: tensor<1x4x8x8xf32>, %b: tensor<6x4x3x3xf32>) {
  // expected-error @+1 {{has 0 groups, which must be at least 1}}
  %0 = tenon.convolve %a, %b {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>,
    high = array<i64: 0, 0>, groups = 0 : i64} : (tensor<1x4x8x8xf32>, tensor<6x4x3x3xf32>) -> tensor<1x6x6x6xf32>
  return
}

// -----

func.func @channels_and_groups(%a: tensor<1x4x8x8xf32>, %b: tensor<6x4x3x3xf32>) {
  // expected-error @+1 {{has an input of 4 channels, but a filter for 4 channels in each of 2 groups}}
  %0 = tenon.convolve %a, %b {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>,
    high = array<i64: 0, 0>, groups = 2 : i64} : (tensor<1x4x8x8xf32>, tensor<6x4x3x3xf32>) -> tensor<1x6x6x6xf32>
  return
}

// -----

func.func @filters_and_groups(%a: tensor<1x4x8x8xf32>, %b: tensor<5x2x3x3xf32>) {
  // expected-error @+1 {{has 5 filters, which 2 groups do not divide}}
  %0 = tenon.convolve %a, %b {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>,
    high = array<i64: 0, 0>, groups = 2 : i64} : (tensor<1x4x8x8xf32>, tensor<5x2x3x3xf32>) -> tensor<1x5x6x6xf32>
  return
}

// -----

func.func @pool_without_spatial_dimensions(%a: tensor<4x8xf32>) {
  // expected-error @+2 {{needs an input of rank 3 or more, and window, strides, dilations, low and high for each spatial dimension; the input is 4x8}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = tenon.pool max, %a {window = array<i64: 2, 2>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>,
    low = array<i64: 0, 0>, high = array<i64: 0, 0>} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @pool_window_of_zero(%a: tensor<1x4x8x8xf32>) {
  // expected-error @+1 {{needs a window, strides and dilations of at least 1, found 0, 2, 1}}
  %0 = tenon.pool max, %a {window = array<i64: 0, 2>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>,
    low = array<i64: 0, 0>, high = array<i64: 0, 0>} : (tensor<1x4x8x8xf32>) -> tensor<1x4x5x4xf32>
  return
}

// -----

func.func @reduce_axis(%a: tensor<2x3xf32>) {
  // expected-error @+1 {{has axis 2, but the input has 2 dimensions}}
  %0 = tenon.reduce sum, %a {axes = array<i64: 2>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @reduce_axes_unsorted(%a: tensor<2x3xf32>) {
  // expected-error @+1 {{needs sorted and distinct axes, found 0 after 1}}
  %0 = tenon.reduce sum, %a {axes = array<i64: 1, 0>} : (tensor<2x3xf32>) -> tensor<f32>
  return
}

// -----

func.func @arg_reduce_sum(%a: tensor<2x3xf32>) {
  // expected-error @+1 {{finds a maximum or a minimum, not a sum}}
  %0 = tenon.arg_reduce sum, %a {axis = 1 : i64} : (tensor<2x3xf32>) -> tensor<2xi64>
  return
}

// -----

func.func @arg_reduce_axis(%a: tensor<2x3xf32>) {
  // expected-error @+1 {{has axis -1, but the input has 2 dimensions}}
  %0 = tenon.arg_reduce max, %a {axis = -1 : i64} : (tensor<2x3xf32>) -> tensor<2x3xi64>
  return
}

// -----

func.func @scan_max(%a: tensor<2x3xf32>) {
  // expected-error @+1 {{computes sums or products, not a max}}
  %0 = tenon.scan max, %a {axis = 1 : i64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @scan_axis(%a: tensor<2x3xf32>) {
  // expected-error @+1 {{has axis 2, but the input has 2 dimensions}}
  %0 = tenon.scan sum, %a {axis = 2 : i64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @lu_of_no_square(%a: tensor<2x3x4xf32>) {
  // expected-error @+1 {{needs square matrices, found 2x3x4}}
  %f, %s = tenon.lu %a : (tensor<2x3x4xf32>) -> (tensor<2x3x4xf32>, tensor<2xf32>)
  return
}

// -----

func.func @winograd_of_other_squares(%x: tensor<1x8x8x2xf32>, %f: tensor<1x16x2x32xf32>) {
  // expected-error @+1 {{needs a filter [panels, 36, channels, columns], found 'tensor<1x16x2x32xf32>'}}
  %0 = tenon.winograd %x, %f {filters = 4 : i64, high = array<i64: 1, 1>, low = array<i64: 1, 1>, outputs = 4 : i64, tile = array<i64: 4, 4, 32>, window = 3 : i64}
    : (tensor<1x8x8x2xf32>, tensor<1x16x2x32xf32>) -> tensor<1x8x8x4xf32>
  return
}

// -----

func.func @winograd_of_other_channels(%x: tensor<1x8x8x3xf32>, %f: tensor<1x16x2x32xf32>) {
  // expected-error @+1 {{needs an input of as many channels as its filter has, 2}}
  %0 = tenon.winograd %x, %f {filters = 4 : i64, high = array<i64: 1, 1>, low = array<i64: 1, 1>, outputs = 2 : i64, tile = array<i64: 2, 2, 32>, window = 3 : i64}
    : (tensor<1x8x8x3xf32>, tensor<1x16x2x32xf32>) -> tensor<1x8x8x4xf32>
  return
}

// -----

func.func @winograd_of_other_pairs(%x: tensor<1x8x8x5xui8>, %f: tensor<1x16x2x32xi32>) {
  // expected-error @+1 {{needs an input of as many channels as its filter has, 2 times two}}
  %0 = tenon.winograd %x, %f {filters = 4 : i64, high = array<i64: 1, 1>, low = array<i64: 1, 1>, outputs = 2 : i64, tile = array<i64: 2, 2, 32>, window = 3 : i64}
    : (tensor<1x8x8x5xui8>, tensor<1x16x2x32xi32>) -> tensor<1x8x8x4xi32>
  return
}

// -----

func.func @winograd_of_other_types(%x: tensor<1x8x8x4xi8>, %f: tensor<1x16x2x32xi32>) {
  // expected-error @+1 {{needs f32 with a filter of f32, bf16 or i32, or unsigned bytes and a filter of i32}}
  %0 = tenon.winograd %x, %f {filters = 4 : i64, high = array<i64: 1, 1>, low = array<i64: 1, 1>, outputs = 2 : i64, tile = array<i64: 2, 2, 32>, window = 3 : i64}
    : (tensor<1x8x8x4xi8>, tensor<1x16x2x32xi32>) -> tensor<1x8x8x4xi32>
  return
}

// -----

func.func @winograd_of_bytes_with_floats(%x: tensor<1x8x8x4xui8>, %f: tensor<1x16x2x64xbf16>) {
  // expected-error @+1 {{needs f32 with a filter of f32, bf16 or i32, or unsigned bytes and a filter of i32}}
  %0 = tenon.winograd %x, %f {filters = 4 : i64, high = array<i64: 1, 1>, low = array<i64: 1, 1>, outputs = 2 : i64, tile = array<i64: 2, 2, 32>, window = 3 : i64}
    : (tensor<1x8x8x4xui8>, tensor<1x16x2x64xbf16>) -> tensor<1x8x8x4xui8>
  return
}

// -----

func.func @winograd_of_half_a_pair(%x: tensor<1x8x8x4xf32>, %f: tensor<1x16x2x33xbf16>) {
  // expected-error @+1 {{needs a filter whose columns are pairs of bf16, found 'tensor<1x16x2x33xbf16>'}}
  %0 = tenon.winograd %x, %f {filters = 4 : i64, high = array<i64: 1, 1>, low = array<i64: 1, 1>, outputs = 2 : i64, tile = array<i64: 2, 2, 32>, window = 3 : i64}
    : (tensor<1x8x8x4xf32>, tensor<1x16x2x33xbf16>) -> tensor<1x8x8x4xf32>
  return
}

// -----

func.func @winograd_of_fewer_pairs(%x: tensor<1x8x8x5xf32>, %f: tensor<1x16x2x64xbf16>) {
  // expected-error @+1 {{needs an input of as many channels as its filter has, at most 2 times two}}
  %0 = tenon.winograd %x, %f {filters = 4 : i64, high = array<i64: 1, 1>, low = array<i64: 1, 1>, outputs = 2 : i64, tile = array<i64: 2, 2, 32>, window = 3 : i64}
    : (tensor<1x8x8x5xf32>, tensor<1x16x2x64xbf16>) -> tensor<1x8x8x4xf32>
  return
}

// -----

func.func @winograd_of_parts_of_squares(%x: tensor<1x8x8x2xf32>, %f: tensor<1x16x2x32xf32>) {
  // expected-error @+1 {{needs a tile of whole squares and panels}}
  %0 = tenon.winograd %x, %f {filters = 4 : i64, high = array<i64: 1, 1>, low = array<i64: 1, 1>, outputs = 2 : i64, tile = array<i64: 3, 2, 32>, window = 3 : i64}
    : (tensor<1x8x8x2xf32>, tensor<1x16x2x32xf32>) -> tensor<1x8x8x4xf32>
  return
}

// -----

func.func @winograd_of_too_large_a_tile(%x: tensor<1x8x8x2xf32>, %f: tensor<1x16x2x32xf32>) {
  // expected-error @+1 {{needs a tile that a thread can keep, found 2000000 x 2000000 elements}}
  %0 = tenon.winograd %x, %f {filters = 4 : i64, high = array<i64: 1, 1>, low = array<i64: 1, 1>, outputs = 2 : i64, tile = array<i64: 2000000, 2000000, 32>, window = 3 : i64}
    : (tensor<1x8x8x2xf32>, tensor<1x16x2x32xf32>) -> tensor<1x8x8x4xf32>
  return
}

// -----

func.func @winograd_of_more_filters(%x: tensor<1x8x8x2xf32>, %f: tensor<1x16x2x32xf32>) {
  // expected-error @+1 {{has 40 filters, more than the panels hold}}
  %0 = tenon.winograd %x, %f {filters = 40 : i64, high = array<i64: 1, 1>, low = array<i64: 1, 1>, outputs = 2 : i64, tile = array<i64: 2, 2, 32>, window = 3 : i64}
    : (tensor<1x8x8x2xf32>, tensor<1x16x2x32xf32>) -> tensor<1x8x8x40xf32>
  return
}

// -----

func.func @winograd_of_lines(%x: tensor<1x8x2xf32>, %f: tensor<1x16x2x32xf32>) {
  // expected-error @+2 {{needs an input of two spatial dimensions, and low and high for both, found 1x8x2}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = tenon.winograd %x, %f {filters = 4 : i64, high = array<i64: 1, 1>, low = array<i64: 1, 1>, outputs = 2 : i64, tile = array<i64: 2, 2, 32>, window = 3 : i64}
    : (tensor<1x8x2xf32>, tensor<1x16x2x32xf32>) -> tensor<1x8x8x4xf32>
  return
}
