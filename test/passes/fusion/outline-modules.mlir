// RUN: tenon-opt %s --pass-pipeline='builtin.module(builtin.module(tenon-outline))' --mlir-disable-threading | FileCheck %s
// Modules of several targets share no kernel, though one pass outlines both.

// CHECK-LABEL: module @first
// CHECK: tenon.launch @[[K:[^(]*]](
// CHECK: func.func private @[[K]](
module @first {
  func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
    %0 = tenon.dispatch -> tensor<2xf32> {
      %1 = tenon.relu %x : (tensor<2xf32>) -> tensor<2xf32>
      tenon.yield %1 : tensor<2xf32>
    }
    return %0 : tensor<2xf32>
  }
}

// CHECK-LABEL: module @second
// CHECK: tenon.launch @[[K:[^(]*]](
// CHECK: func.func private @[[K]](
module @second {
  func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
    %0 = tenon.dispatch -> tensor<2xf32> {
      %1 = tenon.relu %x : (tensor<2xf32>) -> tensor<2xf32>
      tenon.yield %1 : tensor<2xf32>
    }
    return %0 : tensor<2xf32>
  }
}
