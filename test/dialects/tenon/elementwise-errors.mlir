// RUN: tenon-opt %s -split-input-file -verify-diagnostics

// What verification of element by element operations says.

func.func @element_types_differ(%a: tensor<2x3xf32>, %b: tensor<2x3xi32>) {
  // expected-error @+2 {{operands have element types 'f32' and 'i32', which must be equal}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = tenon.add %a, %b : (tensor<2x3xf32>, tensor<2x3xi32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @shapes_do_not_broadcast(%a: tensor<2x3xf32>, %b: tensor<2xf32>) {
  // expected-error @+2 {{shapes 2x3 and 2 do not broadcast against each other}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = tenon.mul %a, %b : (tensor<2x3xf32>, tensor<2xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @three_shapes_do_not_broadcast(%c: tensor<4xi1>, %a: tensor<2x3xf32>, %b: tensor<2x3xf32>) {
  // expected-error @+2 {{shapes 4 and 2x3 and 2x3 do not broadcast against each other}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = tenon.select %c, %a, %b : (tensor<4xi1>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @choices_differ(%c: tensor<3xi1>, %a: tensor<2x3xf32>, %b: tensor<f64>) {
  // expected-error @+2 {{the two choices have element types 'f32' and 'f64', which must be equal}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = tenon.select %c, %a, %b : (tensor<3xi1>, tensor<2x3xf32>, tensor<f64>) -> tensor<2x3xf32>
  return
}

// -----

func.func @result_is_not_what_follows(%a: tensor<2x3xf32>) {
  // expected-error @+2 {{'tenon.exp' op inferred type(s) 'tensor<2x3xf32>' are incompatible with return type(s) of operation 'tensor<3x2xf32>'}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = tenon.exp %a : (tensor<2x3xf32>) -> tensor<3x2xf32>
  return
}

// -----

func.func @cast_changes_the_shape(%a: tensor<2x3xf32>) {
  // expected-error @+1 {{changes the shape from 'tensor<2x3xf32>' to 'tensor<3x2xi32>'}}
  %0 = tenon.cast %a : (tensor<2x3xf32>) -> tensor<3x2xi32>
  return
}

// -----

func.func @bitcast_to_another_width(%a: tensor<4xi1>) {
  // expected-error @+1 {{takes the bits of 'i1', of which there are 8, for 'ui4', which has 4}}
  %0 = tenon.bitcast %a : (tensor<4xi1>) -> tensor<4xui4>
  return
}

// -----

func.func @bitcast_changes_the_shape(%a: tensor<2x3xf32>) {
  // expected-error @+1 {{changes the shape from 'tensor<2x3xf32>' to 'tensor<3x2xi32>'}}
  %0 = tenon.bitcast %a : (tensor<2x3xf32>) -> tensor<3x2xi32>
  return
}

// -----

func.func @sum_of_small_integers(%a: tensor<2xi4>) {
  // expected-error @+1 {{operand #0 must be ranked tensor of}}
  %0 = tenon.add %a, %a : (tensor<2xi4>, tensor<2xi4>) -> tensor<2xi4>
  return
}

// -----

func.func @exp_of_integers(%a: tensor<2xi32>) {
  // expected-error @+1 {{operand #0 must be ranked tensor of}}
  %0 = tenon.exp %a : (tensor<2xi32>) -> tensor<2xi32>
  return
}

// -----

func.func @and_of_floats(%a: tensor<2x3xf32>) {
  // expected-error @+1 {{operand #0 must be ranked tensor of}}
  %0 = tenon.and %a, %a : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @unranked(%a: tensor<*xf32>) {
  // expected-error @+1 {{operand #0 must be ranked tensor of}}
  %0 = tenon.neg %a : (tensor<*xf32>) -> tensor<*xf32>
  return
}
