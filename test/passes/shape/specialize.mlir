// RUN: tenon-opt %s --split-input-file "--tenon-specialize=programs=N=128,N=1..512" | FileCheck %s

// One copy for each, before the function itself; what main holds its symbols to stays.
// CHECK: func.func @"main.N=128"
// CHECK-SAME: tenon.program = "N=128"
// CHECK-SAME: tenon.ranges = {M = array<i64: 0, 9>, N = array<i64: 128, 128>}
// CHECK-SAME: tenon.shares_weights
// CHECK: func.func @"main.N=1..512"
// CHECK-SAME: tenon.program = "N=1..512"
// CHECK-SAME: N = array<i64: 2, 512>
// CHECK: func.func @main
// CHECK-NOT: tenon.program
// CHECK-SAME: N = array<i64: 2, 600>
// CHECK-SAME: tenon.shares_weights
func.func @main(%a: tensor<?x?xf32, #tenon.shape<N, M>>) -> tensor<?x?xf32, #tenon.shape<N, M>>
    attributes {tenon.ranges = {M = array<i64: 0, 9>, N = array<i64: 2, 600>}} {
  return %a : tensor<?x?xf32, #tenon.shape<N, M>>
}

// -----

// Kernels are no programs.
// CHECK: func.func private @kernel
// CHECK-NOT: func.func
func.func private @kernel(%a: tensor<?xf32, #tenon.shape<N>>)

// -----

// An imported program for a size, among others, takes the place of a copy for it.
// CHECK-LABEL: func.func @"main.audio=0;N=128"
// CHECK-NOT: func.func @"main.N=128"
// CHECK: func.func @"main.N=1..512"
// CHECK: func.func @main(
func.func @"main.audio=0;N=128"(%a: tensor<128xf32>) attributes {tenon.program = "audio=0;N=128"} {
  return
}
func.func @main(%a: tensor<?xf32, #tenon.shape<N>>) {
  return
}

// -----

// One for several sequences, or for other sizes, does not.
// CHECK-LABEL: func.func @"main.N=129"
// CHECK: func.func @"main.N=128"
// CHECK: func.func @main(
func.func @"main.N=129"(%a: tensor<129xf32>) attributes {tenon.program = "N=129"} {
  return
}
func.func @main(%a: tensor<?xf32, #tenon.shape<N>>) {
  return
}
