// RUN: tenon-opt %s -split-input-file -verify-diagnostics

// What verification of weights, sizes and moves of elements says.

func.func @resource_without_data() {
  // expected-error @+1 {{refers to the resource 'nowhere', which has no data}}
  %0 = tenon.weight dense_resource<nowhere> : tensor<4xf32>
  return
}

// -----

func.func @sizes_and_result() {
  // expected-error @+1 {{has 2 values for a result of type 'tensor<3xi64>'}}
  %0 = tenon.sizes #tenon.shape<N, 3> -> tensor<3xi64>
  return
}

// -----

func.func @reshape_element_type(%a: tensor<2x3xf32>) {
  // expected-error @+1 {{changes the element type from 'f32' to 'i32'}}
  %0 = tenon.reshape %a : (tensor<2x3xf32>) -> tensor<6xi32>
  return
}

// -----

func.func @reshape_count(%a: tensor<2x3xf32>) {
  // expected-error @+1 {{makes 8 elements (4x2) of 6 (2x3)}}
  %0 = tenon.reshape %a : (tensor<2x3xf32>) -> tensor<4x2xf32>
  return
}

// -----

func.func @transpose_dimension(%a: tensor<2x3xf32>) {
  // expected-error @+2 {{permutation names dimension 2 of an input with 2}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = tenon.transpose %a {permutation = array<i64: 0, 2>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @transpose_twice(%a: tensor<2x3xf32>) {
  // expected-error @+1 {{needs a permutation of 2 dimensions, found [1, 1]}}
  %0 = tenon.transpose %a {permutation = array<i64: 1, 1>} : (tensor<2x3xf32>) -> tensor<3x3xf32>
  return
}

// -----

func.func @broadcast_element_type(%a: tensor<3xf32>) {
  // expected-error @+1 {{changes the element type}}
  %0 = tenon.broadcast %a : (tensor<3xf32>) -> tensor<2x3xf64>
  return
}

// -----

func.func @broadcast_shrinks(%a: tensor<2x3xf32>) {
  // expected-error @+1 {{cannot broadcast 2x3 to 1x3}}
  %0 = tenon.broadcast %a : (tensor<2x3xf32>) -> tensor<1x3xf32>
  return
}

// -----

func.func @slice_ranks(%a: tensor<2x3xf32>) {
  // expected-error @+1 {{needs a start, a step and a result extent for each of 2 dimensions}}
  %0 = tenon.slice %a {starts = #tenon.shape<0>, steps = array<i64: 1, 1>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @slice_step(%a: tensor<2x3xf32>) {
  // expected-error @+1 {{has a step of 0 in dimension 1}}
  %0 = tenon.slice %a {starts = #tenon.shape<0, 0>, steps = array<i64: 1, 0>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @slice_outside(%a: tensor<2x3xf32>) {
  // expected-error @+1 {{reads elements 1 to 3 of dimension 1, which has 3}}
  %0 = tenon.slice %a {starts = #tenon.shape<0, 1>, steps = array<i64: 1, 1>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @slice_backwards_outside(%a: tensor<2x3xf32>) {
  // expected-error @+1 {{reads elements 1 to -1 of dimension 1, which has 3}}
  %0 = tenon.slice %a {starts = #tenon.shape<0, 1>, steps = array<i64: 1, -1>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @pad_ranks(%a: tensor<2x3xf32>, %v: tensor<f32>) {
  // expected-error @+1 {{needs low, interior and a result extent for each of 2 dimensions}}
  %0 = tenon.pad constant, %a, %v {low = #tenon.shape<1>, interior = array<i64: 0, 0>} : (tensor<2x3xf32>, tensor<f32>) -> tensor<3x3xf32>
  return
}

// -----

func.func @pad_value(%a: tensor<2x3xf32>, %v: tensor<1xf32>) {
  // expected-error @+1 {{needs a scalar value, and one element type throughout}}
  %0 = tenon.pad constant, %a, %v {low = #tenon.shape<1, 0>, interior = array<i64: 0, 0>} : (tensor<2x3xf32>, tensor<1xf32>) -> tensor<3x3xf32>
  return
}

// -----

func.func @pad_interior_of_edges(%a: tensor<2x3xf32>, %v: tensor<f32>) {
  // expected-error @+1 {{has interior padding of 1, which mode edge does not allow}}
  %0 = tenon.pad edge, %a, %v {low = #tenon.shape<1, 0>, interior = array<i64: 1, 0>} : (tensor<2x3xf32>, tensor<f32>) -> tensor<4x3xf32>
  return
}

// -----

func.func @concat_of_nothing() {
  // expected-error @+2 {{needs at least one input}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = "tenon.concat"() {axis = 0 : i64} : () -> tensor<2xf32>
  return
}

// -----

func.func @concat_axis(%a: tensor<2x3xf32>) {
  // expected-error @+2 {{has axis 2, but the inputs have 2 dimensions}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = tenon.concat %a, %a {axis = 2 : i64} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @concat_element_type(%a: tensor<2x3xf32>, %b: tensor<2x3xi32>) {
  // expected-error @+2 {{inputs differ in rank or element type: 'tensor<2x3xf32>' and 'tensor<2x3xi32>'}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = tenon.concat %a, %b {axis = 0 : i64} : (tensor<2x3xf32>, tensor<2x3xi32>) -> tensor<4x3xf32>
  return
}

// -----

func.func @concat_other_dimension(%a: tensor<2x3xf32>, %b: tensor<2x4xf32>) {
  // expected-error @+2 {{inputs have 3 and 4 elements in dimension 1, which is not the axis 0}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = tenon.concat %a, %b {axis = 0 : i64} : (tensor<2x3xf32>, tensor<2x4xf32>) -> tensor<4x3xf32>
  return
}

// -----

func.func @iota_axis() {
  // expected-error @+1 {{has axis 1, but the result has 1 dimensions}}
  %0 = tenon.iota {axis = 1 : i64} : () -> tensor<4xi64>
  return
}

// -----

func.func @resource_of_another_size() {
  // expected-error @+1 {{needs 16 bytes, but its resource has 8}}
  %0 = tenon.weight dense_resource<two> : tensor<4xf32>
  return
}

{-# dialect_resources: { builtin: { two: "0x040000000000803F00000040" } } #-}

// -----

func.func @unpack_words(%a: tensor<1x2x32xi8>) {
  // expected-error @+1 {{needs an input with one more dimension, for the panels, and of its own type or of i32}}
  %0 = tenon.unpack %a {axis = 0 : i64, packed_i32_axis = 1 : i64} : (tensor<1x2x32xi8>) -> tensor<32x16xui4>
  return
}

// -----

func.func @unpack_bits_without_words(%a: tensor<1x40x32xi32>) {
  // expected-error @+1 {{has numbers of 20 bits, which are an even number from 8 to 24 and need a 'packed_i32_axis'}}
  %0 = tenon.unpack %a {axis = 0 : i64, bits = 20 : i64} : (tensor<1x40x32xi32>) -> tensor<32x64xi32>
  return
}

// -----

func.func @unpack_of_some_bits(%a: tensor<1x40x32xi32>) {
  // expected-error @+1 {{has numbers of 13 bits, which are an even number from 8 to 24}}
  %0 = tenon.unpack %a {axis = 0 : i64, packed_i32_axis = 1 : i64, bits = 13 : i64} : (tensor<1x40x32xi32>) -> tensor<32x64xi32>
  return
}

// -----

func.func @unpack_a_fraction_of_a_group(%a: tensor<1x40x32xi32>) {
  // expected-error @+1 {{needs whole groups of 8 numbers along dimension 1}}
  %0 = tenon.unpack %a {axis = 0 : i64, packed_i32_axis = 1 : i64, bits = 20 : i64} : (tensor<1x40x32xi32>) -> tensor<32x60xi32>
  return
}

// -----

func.func @unpack_fewer_groups(%a: tensor<1x40x32xi32>) {
  // expected-error @+1 {{needs panels of}}
  %0 = tenon.unpack %a {axis = 0 : i64, packed_i32_axis = 1 : i64, bits = 24 : i64} : (tensor<1x40x32xi32>) -> tensor<32x64xi32>
  return
}

// -----

func.func @terms_of_f64(%a: tensor<4x8xf64>) {
  // expected-error @+1 {{needs f32, and bf16 or i8 of two dimensions more}}
  %0 = tenon.split_terms %a : (tensor<4x8xf64>) -> tensor<4x1x3x8xbf16>
  return
}

// -----

func.func @too_few_steps(%a: tensor<4x40xf32>) {
  // expected-error @+1 {{needs steps of 4x2, found 4x1x3x20}}
  %0 = tenon.split_terms %a : (tensor<4x40xf32>) -> tensor<4x1x3x20xbf16>
  return
}

// -----

func.func @four_terms(%a: tensor<4x2x4x20xbf16>) {
  // expected-error @+1 {{needs one to three terms, and steps of a constant length}}
  %0 = tenon.merge_terms %a : (tensor<4x2x4x20xbf16>) -> tensor<4x40xf32>
  return
}

// -----

func.func @panels_of_terms(%a: tensor<2x2x3x10x32xbf16>) {
  // expected-error @+1 {{has panels and steps of another size than its result}}
  %0 = tenon.unpack_terms %a {axis = 1 : i64, depth_axis = 0 : i64} : (tensor<2x2x3x10x32xbf16>) -> tensor<40x40xf32>
  return
}

// -----

func.func @terms_along_columns(%a: tensor<3x2x3x10x32xbf16>) {
  // expected-error @+1 {{needs two different dimensions of the result, found 1 and 1}}
  %0 = tenon.unpack_terms %a {axis = 1 : i64, depth_axis = 1 : i64} : (tensor<3x2x3x10x32xbf16>) -> tensor<40x40xf32>
  return
}

// -----

func.func @terms_of_whole_floats(%a: tensor<3x2x3x10x32xf32>) {
  // expected-error @+1 {{needs one term of f32, found 3}}
  %0 = tenon.unpack_terms %a {axis = 1 : i64, depth_axis = 0 : i64} : (tensor<3x2x3x10x32xf32>) -> tensor<40x40xf32>
  return
}

// -----

func.func @merge_terms_of_whole_floats(%a: tensor<4x2x3x20xf32>) {
  // expected-error @+1 {{needs f32, and bf16 or i8 of two dimensions more}}
  %0 = tenon.merge_terms %a : (tensor<4x2x3x20xf32>) -> tensor<4x40xf32>
  return
}

// -----

func.func @unpack_groups_of_four_outside(%a: tensor<1x2x128xi8>) {
  // expected-error @+1 {{interleaves groups of four along dimension 1, which is not the last one besides its axis}}
  %0 = tenon.unpack %a {axis = 1 : i64, k4_axis = 1 : i64} : (tensor<1x2x128xi8>) -> tensor<5x4xi8>
  return
}

// -----

func.func @unpack_dynamic_panels(%a: tensor<1x2x?xf32, #tenon.shape<1, 2, N>>) {
  // expected-error @+1 {{needs panels of a constant number of elements}}
  %0 = tenon.unpack %a {axis = 1 : i64} : (tensor<1x2x?xf32, #tenon.shape<1, 2, N>>) -> tensor<2x4xf32>
  return
}

// -----

func.func @unpack_terms_of_f16(%a: tensor<2x2x3x10x32xf16>) {
  // expected-error @+1 {{needs an input of bf16, i8 or f32 with three dimensions more than the f32 of the result, all constant}}
  %0 = tenon.unpack_terms %a {axis = 1 : i64, depth_axis = 0 : i64} : (tensor<2x2x3x10x32xf16>) -> tensor<40x32xf32>
  return
}

// -----

func.func @unpack_terms_of_bytes(%a: tensor<2x2x3x10x62xi8>) {
  // expected-error @+1 {{needs one to three terms, and 4 neighbours of each column}}
  %0 = tenon.unpack_terms %a {axis = 1 : i64, depth_axis = 0 : i64} : (tensor<2x2x3x10x62xi8>) -> tensor<80x32xf32>
  return
}

// -----

func.func @unpack_terms_of_odd_columns(%a: tensor<2x2x3x10x31xbf16>) {
  // expected-error @+1 {{needs one to three terms, and 2 neighbours of each column}}
  %0 = tenon.unpack_terms %a {axis = 1 : i64, depth_axis = 0 : i64} : (tensor<2x2x3x10x31xbf16>) -> tensor<40x32xf32>
  return
}
