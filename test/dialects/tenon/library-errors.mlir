// RUN: tenon-opt %s -split-input-file -verify-diagnostics

func.func @plugin_is_a_name(%x: tensor<3xf32>) {
  // expected-error @+1 {{names a plug-in '../x': letters, digits, '_' and '-' are wanted}}
  %0 = tenon.host_call "../x" "" "Scale"(%x) {parameters = {}, present = array<i1: true>} : (tensor<3xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @operands_are_present(%x: tensor<3xf32>) {
  // expected-error @+1 {{has 1 operands, which does not match 'present'}}
  %0 = tenon.host_call "example" "" "Scale"(%x) {parameters = {}, present = array<i1: true, true>} : (tensor<3xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @parameters_are_lists(%x: tensor<3xf32>) {
  // expected-error @+1 {{has an attribute 'by' that is neither numbers nor a string}}
  %0 = tenon.host_call "example" "" "Scale"(%x) {parameters = {by = 1 : i32}, present = array<i1: true>} : (tensor<3xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @results_are_computed(%x: tensor<3xf32>) {
  // expected-error @+1 {{computes results, and infers none}}
  "tenon.host_call"(%x) {plugin = "example", domain = "", callee = "Scale", parameters = {}, present = array<i1: true>} : (tensor<3xf32>) -> ()
  return
}

// -----

func.func @extents_of_all_outputs(%x: tensor<3xf32>) {
  // expected-error @+1 {{infers 3 extents, its result is 'tensor<2xi64>'}}
  %0 = tenon.host_call "example" "" "Scale"(%x) {parameters = {}, present = array<i1: true>, outputs = [tensor<?xf32>, tensor<?x?xf32>], infers}
    : (tensor<3xf32>) -> tensor<2xi64>
  return
}

// -----

func.func @inference_of_no_outputs(%x: tensor<3xf32>) {
  // expected-error @+1 {{infers the shapes of 'outputs' as one vector}}
  %0 = tenon.host_call "example" "" "Scale"(%x) {parameters = {}, present = array<i1: true>, infers} : (tensor<3xf32>) -> tensor<1xi64>
  return
}

// -----

func.func @outputs_are_tensors(%x: tensor<3xf32>) {
  // expected-error @+1 {{has an output that is no tensor: 'f32'}}
  %0 = tenon.host_call "example" "" "Scale"(%x) {parameters = {}, present = array<i1: true>, outputs = [f32], infers}
    : (tensor<3xf32>) -> tensor<1xi64>
  return
}
