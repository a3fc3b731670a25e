// RUN: tenon-opt %s -split-input-file -verify-diagnostics -tenon-verify-launches | FileCheck %s

func.func private @k(%x: tensor<?xf32, #tenon.shape<s0>>) -> tensor<?xf32, #tenon.shape<s0>>
    attributes {tenon.kernel, tenon.symbols = ["s0"]} {
  return %x : tensor<?xf32, #tenon.shape<s0>>
}
// CHECK-LABEL: func.func @agreeing
func.func @agreeing(%x: tensor<?xf32, #tenon.shape<N>>) -> tensor<?xf32, #tenon.shape<N>> {
  // CHECK: tenon.launch @k
  %0 = tenon.launch @k(%x) {sizes = #tenon.shape<N>} : (tensor<?xf32, #tenon.shape<N>>) -> tensor<?xf32, #tenon.shape<N>>
  return %0 : tensor<?xf32, #tenon.shape<N>>
}

// -----

func.func @left(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{internal compiler error: 'tenon.dispatch' op was not outlined into a kernel}}
  %0 = tenon.dispatch -> tensor<4xf32> {
    tenon.yield %x : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

// -----

// expected-error @+1 {{internal compiler error: 'func.func' op is a kernel, but not private}}
func.func @public() attributes {tenon.kernel} {
  return
}

// -----

func.func private @other(tensor<4xf32>) -> tensor<4xf32> attributes {tenon.kernel}
// expected-note @+1 {{the kernel is here}}
func.func private @nested(%x: tensor<4xf32>) -> tensor<4xf32> attributes {tenon.kernel} {
  // expected-error @+1 {{internal compiler error: 'tenon.launch' op is in a kernel}}
  %0 = tenon.launch @other(%x) {sizes = #tenon.shape<>} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// expected-note @+1 {{the kernel is here}}
func.func private @function(tensor<4xf32>) -> tensor<4xf32>
func.func @no_kernel(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{op launches a function without 'tenon.kernel'}}
  %0 = tenon.launch @function(%x) {sizes = #tenon.shape<>} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// expected-note @+1 {{the kernel is here}}
func.func private @two(tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> attributes {tenon.kernel}
func.func @operands(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{op has 1 operands and 1 results for a kernel with 2 and 1}}
  %0 = tenon.launch @two(%x) {sizes = #tenon.shape<>} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// expected-note @+1 {{the kernel is here}}
func.func private @sized(tensor<4xf32>) -> tensor<4xf32> attributes {tenon.kernel, tenon.symbols = ["s0"]}
func.func @sizes(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{op has 0 sizes for a kernel with 1 symbols}}
  %0 = tenon.launch @sized(%x) {sizes = #tenon.shape<>} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
