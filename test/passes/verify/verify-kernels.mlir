// RUN: tenon-opt %s -split-input-file -verify-diagnostics -tenon-verify-kernels=loops | FileCheck %s

// CHECK-LABEL: func.func @loops
func.func @loops(%x: memref<4xf32>, %n: index) attributes {tenon.kernel, tenon.scratch = 96} {
  // CHECK: kernel.scratch 64
  %0 = kernel.scratch 64 : memref<8xf32>
  return
}

// -----

// expected-error @+1 {{internal compiler error: 'func.func' op is a kernel with results, expected destinations instead}}
func.func @result(%x: memref<4xf32>) -> memref<4xf32> attributes {tenon.kernel} {
  return %x : memref<4xf32>
}

// -----

// expected-error @+1 {{is a kernel whose argument 0 is neither buffer nor size: 'tensor<4xf32>'}}
func.func @argument(%x: tensor<4xf32>) attributes {tenon.kernel} {
  return
}

// -----

func.func @tensor(%x: memref<4xf32>) attributes {tenon.kernel} {
  // expected-error @+1 {{internal compiler error: 'tensor.empty' op works on tensors in a kernel on buffers}}
  %0 = tensor.empty() : tensor<4xf32>
  return
}

// -----

// expected-note @+1 {{the kernel is here}}
func.func @scratch() attributes {tenon.kernel, tenon.scratch = 64} {
  // expected-error @+1 {{internal compiler error: 'kernel.scratch' op ends at byte 96 of scratch, of which 'tenon.scratch' has 64}}
  %0 = kernel.scratch 64 : memref<8xf32>
  return
}

// -----

func.func @structured(%x: memref<4xf32>) attributes {tenon.kernel} {
  %zero = arith.constant 0.0 : f32
  // expected-error @+1 {{internal compiler error: 'linalg.fill' op was not lowered to loops}}
  linalg.fill ins(%zero : f32) outs(%x : memref<4xf32>)
  return
}

// -----

func.func @heap() attributes {tenon.kernel} {
  // expected-error @+1 {{internal compiler error: 'memref.alloc' op allocates on the heap in a kernel}}
  %0 = memref.alloc() : memref<4xf32>
  return
}
