// RUN: tenon-opt %s -split-input-file -verify-diagnostics

// What verification of composites says.

func.func @softmax_axis(%a: tensor<2x3xf32>) {
  // expected-error @+1 {{has axis 2, but the input has 2 dimensions}}
  %0 = tenon.softmax %a {axis = 2 : i64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @layer_norm_axis(%a: tensor<2x3xf32>, %s: tensor<3xf32>) {
  // expected-error @+1 {{has axis -1, but the input has 2 dimensions}}
  %0 = tenon.layer_norm %a, %s {axis = -1 : i64, epsilon = 1.0e-5 : f64} : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @layer_norm_scale(%a: tensor<2x3xf32>, %s: tensor<4xf32>) {
  // expected-error @+1 {{has a scale of shape 4, which does not broadcast to the input's 2x3}}
  %0 = tenon.layer_norm %a, %s {axis = 1 : i64, epsilon = 1.0e-5 : f64} : (tensor<2x3xf32>, tensor<4xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @layer_norm_bias(%a: tensor<2x3xf32>, %s: tensor<3xf32>, %b: tensor<2x2x3xf32>) {
  // expected-error @+1 {{has a bias of shape 2x2x3, which does not broadcast to the input's 2x3}}
  %0 = tenon.layer_norm %a, %s, %b {axis = 1 : i64, epsilon = 1.0e-5 : f64} : (tensor<2x3xf32>, tensor<3xf32>, tensor<2x2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @rms_norm_scale(%a: tensor<2x3xf32>, %s: tensor<2xf32>) {
  // expected-error @+1 {{has a scale of shape 2, which does not broadcast to the input's 2x3}}
  %0 = tenon.rms_norm %a, %s {axis = 1 : i64, epsilon = 1.0e-5 : f64} : (tensor<2x3xf32>, tensor<2xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @batch_norm_rank(%a: tensor<3xf32>, %s: tensor<3xf32>) {
  // expected-error @+1 {{needs an input with a channel dimension, found rank 1}}
  %0 = tenon.batch_norm %a, %s, %s, %s, %s {epsilon = 1.0e-5 : f64} : (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @batch_norm_channels(%a: tensor<2x3xf32>, %s: tensor<3xf32>, %t: tensor<2xf32>) {
  // expected-error @+1 {{needs one number for each of 3 channels, found 2}}
  %0 = tenon.batch_norm %a, %s, %t, %s, %s {epsilon = 1.0e-5 : f64} : (tensor<2x3xf32>, tensor<3xf32>, tensor<2xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @dequantize_blocks(%a: tensor<5x3xi8>, %s: tensor<2x3xf32>) {
  // expected-error @+1 {{has a scale of shape 2x3, but wants 3x3, or 1 in place of some}}
  %0 = tenon.dequantize %a, %s {axis = 0 : i64, block = 2 : i64} : (tensor<5x3xi8>, tensor<2x3xf32>) -> tensor<5x3xf32>
  return
}

// -----

func.func @dequantize_floats(%a: tensor<4x3xf32>, %s: tensor<1x1xf32>) {
  // expected-error @+1 {{dequantises integers, found 'tensor<4x3xf32>'}}
  %0 = tenon.dequantize %a, %s {axis = 0 : i64, block = 4 : i64} : (tensor<4x3xf32>, tensor<1x1xf32>) -> tensor<4x3xf32>
  return
}

// -----

func.func @dequantize_blocks_of_less_than_nothing(%a: tensor<4x3xi8>, %s: tensor<1x1xf32>) {
  // expected-error @+1 {{needs blocks of at least 1, found -1}}
  %0 = tenon.dequantize %a, %s {axis = 0 : i64, block = -1 : i64} : (tensor<4x3xi8>, tensor<1x1xf32>) -> tensor<4x3xf32>
  return
}
