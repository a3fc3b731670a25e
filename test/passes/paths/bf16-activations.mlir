// RUN: tenon-opt %s --pass-pipeline='builtin.module(func.func(tenon-choose-paths{budget=2.5e-3}))' | FileCheck %s
// RUN: tenon-opt %s --pass-pipeline='builtin.module(func.func(tenon-choose-paths{budget=1e-3}))' | FileCheck %s --check-prefix=EXACT
// RUN: tenon-opt %s --pass-pipeline='builtin.module(func.func(tenon-choose-paths{budget=2.5e-3 total-budget=2e-3}))' | FileCheck %s --check-prefix=SHARED
// An activation that is rounded for products is stored so where elementwise operations alone read it besides.

// EXACT-COUNT-9: tenon.cast
// EXACT-NOT: tenon.cast

// CHECK-LABEL: @residual
// CHECK: %[[X:.*]] = tenon.relu
// CHECK-NEXT: %[[ROUNDED:.*]] = tenon.cast %[[X]] : (tensor<128x256xf32>) -> tensor<128x256xbf16>
// CHECK-NEXT: %[[WIDENED:.*]] = tenon.cast %[[ROUNDED]] : (tensor<128x256xbf16>) -> tensor<128x256xf32>
// CHECK: tenon.add %[[WIDENED]], %arg1
// CHECK: return %[[ROUNDED]]
// The total is enough for one activation.
// SHARED-LABEL: @residual
// SHARED: tenon.add %{{[0-9]+}}, %arg1
// SHARED-LABEL: @two
// SHARED: %[[SMALL:.*]] = tenon.relu %arg0
// SHARED: tenon.neg %[[SMALL]]
func.func @residual(%x: tensor<128x256xf32>, %y: tensor<128x256xf32>) -> (tensor<128x256xbf16>, tensor<128x256xf32>) {
  %0 = tenon.relu %x : (tensor<128x256xf32>) -> tensor<128x256xf32>
  %2 = tenon.add %0, %y : (tensor<128x256xf32>, tensor<128x256xf32>) -> tensor<128x256xf32>
  %1 = tenon.cast %0 : (tensor<128x256xf32>) -> tensor<128x256xbf16>
  return %1, %2 : tensor<128x256xbf16>, tensor<128x256xf32>
}

// CHECK-LABEL: @two
// CHECK-COUNT-4: tenon.cast
func.func @two(%x: tensor<8x8xf32>, %y: tensor<128x256xf32>)
    -> (tensor<8x8xbf16>, tensor<8x8xf32>, tensor<128x256xbf16>, tensor<128x256xf32>) {
  %0 = tenon.relu %x : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = tenon.cast %0 : (tensor<8x8xf32>) -> tensor<8x8xbf16>
  %2 = tenon.neg %0 : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %3 = tenon.relu %y : (tensor<128x256xf32>) -> tensor<128x256xf32>
  %4 = tenon.cast %3 : (tensor<128x256xf32>) -> tensor<128x256xbf16>
  %5 = tenon.neg %3 : (tensor<128x256xf32>) -> tensor<128x256xf32>
  return %1, %2, %4, %5 : tensor<8x8xbf16>, tensor<8x8xf32>, tensor<128x256xbf16>, tensor<128x256xf32>
}

// Not: an output, an input, what other operations read, and what has no other reader.
// CHECK-LABEL: @output
// CHECK-COUNT-1: tenon.cast
// CHECK-NOT: tenon.cast
func.func @output(%x: tensor<128x256xf32>) -> (tensor<128x256xbf16>, tensor<128x256xf32>) {
  %0 = tenon.relu %x : (tensor<128x256xf32>) -> tensor<128x256xf32>
  %1 = tenon.cast %0 : (tensor<128x256xf32>) -> tensor<128x256xbf16>
  return %1, %0 : tensor<128x256xbf16>, tensor<128x256xf32>
}

// CHECK-LABEL: @input
// CHECK-COUNT-1: tenon.cast
// CHECK-NOT: tenon.cast
func.func @input(%x: tensor<128x256xf32>) -> (tensor<128x256xbf16>, tensor<128x256xf32>) {
  %0 = tenon.cast %x : (tensor<128x256xf32>) -> tensor<128x256xbf16>
  %1 = tenon.relu %x : (tensor<128x256xf32>) -> tensor<128x256xf32>
  return %0, %1 : tensor<128x256xbf16>, tensor<128x256xf32>
}

// CHECK-LABEL: @reader
// CHECK-COUNT-2: tenon.cast
// CHECK-NOT: tenon.cast
func.func @reader(%x: tensor<128x256xf32>, %i: tensor<3xi64>) -> (tensor<128x256xbf16>, tensor<3x256xf32>, tensor<128x256xbf16>) {
  %0 = tenon.relu %x : (tensor<128x256xf32>) -> tensor<128x256xf32>
  %1 = tenon.cast %0 : (tensor<128x256xf32>) -> tensor<128x256xbf16>
  %2 = tenon.gather %0, %i {axis = 0 : i64} : (tensor<128x256xf32>, tensor<3xi64>) -> tensor<3x256xf32>
  %3 = tenon.neg %x : (tensor<128x256xf32>) -> tensor<128x256xf32>
  %4 = tenon.cast %3 : (tensor<128x256xf32>) -> tensor<128x256xbf16>
  return %1, %2, %4 : tensor<128x256xbf16>, tensor<3x256xf32>, tensor<128x256xbf16>
}

// Numbers that stay bf16 where they come from are no activation of f32.
// CHECK-LABEL: @widened
// CHECK-COUNT-2: tenon.cast
// CHECK-NOT: tenon.cast
func.func @widened(%x: tensor<128x256xbf16>) -> (tensor<128x256xbf16>, tensor<128x256xf32>) {
  %0 = tenon.cast %x : (tensor<128x256xbf16>) -> tensor<128x256xf32>
  %1 = tenon.neg %0 : (tensor<128x256xf32>) -> tensor<128x256xf32>
  %2 = tenon.cast %1 : (tensor<128x256xf32>) -> tensor<128x256xbf16>
  return %2, %1 : tensor<128x256xbf16>, tensor<128x256xf32>
}
