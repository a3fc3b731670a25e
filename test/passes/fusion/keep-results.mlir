// RUN: tenon-opt %s -pass-pipeline='builtin.module(func.func(tenon-keep-results))' | FileCheck %s

// Each launch gets an output, also the one that the model returns.
// CHECK-LABEL: func.func @main
// CHECK-SAME: -> (tensor<4xf32> {tenon.name = "y"}, tensor<4xf32> {tenon.name = "0 k0_exp: first + second"}, tensor<4xf32> {tenon.name = "1 k0_exp: third"})
// CHECK: %[[A:.*]] = tenon.launch @k0_exp(%arg0)
// CHECK: %[[B:.*]] = tenon.launch @k0_exp(%[[A]])
// CHECK: return %[[B]], %[[A]], %[[B]]
func.func @main(%x: tensor<4xf32> {tenon.name = "x"}) -> (tensor<4xf32> {tenon.name = "y"}) {
  %0 = tenon.launch @k0_exp(%x) {sizes = #tenon.shape<>} : (tensor<4xf32>) -> tensor<4xf32> loc(fused["first", "second"])
  %1 = tenon.launch @k0_exp(%0) {sizes = #tenon.shape<>} : (tensor<4xf32>) -> tensor<4xf32> loc("third")
  return %1 : tensor<4xf32>
}

// A kernel is left alone.
// CHECK-LABEL: func.func private @k0_exp
// CHECK-NOT: tenon.name
// CHECK: return %{{[0-9]+}} : tensor<4xf32>
func.func private @k0_exp(%x: tensor<4xf32>) -> tensor<4xf32> attributes {tenon.kernel} {
  %0 = tenon.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
