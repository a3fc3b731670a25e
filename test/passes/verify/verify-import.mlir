// RUN: tenon-opt %s -split-input-file -verify-diagnostics -tenon-verify-import | FileCheck %s

// CHECK-LABEL: func.func @imported
func.func @imported(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: tenon.exp
  %0 = tenon.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @other_dialect(%x: tensor<f32>) -> tensor<f32> {
  // expected-error @+1 {{'arith.addf' op is not an operation of the tenon dialect, which models are imported to}}
  %0 = arith.addf %x, %x : tensor<f32>
  return %0 : tensor<f32>
}

// -----

// expected-error @+1 {{is a kernel, which is made by the compiler and cannot be imported}}
func.func private @kernel(tensor<4xf32>) -> tensor<4xf32> attributes {tenon.kernel}

// -----

// expected-error @+1 {{has argument 0 of type 'index', expected a ranked tensor}}
func.func @size(%n: index) {
  return
}

// -----

func.func private @function(tensor<4xf32>) -> tensor<4xf32>
func.func @launched(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{'tenon.launch' op is made by the compiler and cannot be imported}}
  %0 = tenon.launch @function(%x) {sizes = #tenon.shape<>} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// expected-error @+1 {{'plan.program' op is neither a function nor a state, which is all that an imported module has}}
plan.program @program symbols [] inputs [] outputs [] {
}
