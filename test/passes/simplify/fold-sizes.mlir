// A row of a constant table that the sizes of a run choose is no constant, though its own size is one.
// RUN: tenon compile %s -o %t.tenon --dump-after tenon-fold-constants 2>&1 | FileCheck %s
// RUN: tenon-run %t.tenon --input ones --size N=1 | FileCheck %s --check-prefix=FIRST
// RUN: tenon-run %t.tenon --input ones --size N=4 | FileCheck %s --check-prefix=LAST
// REQUIRES: tool-tenon

// CHECK: tenon.slice
// FIRST: 11
// LAST: 41

module attributes {tenon.ranges = {N = array<i64: 1, 4>}} {
func.func @main(%x: tensor<?xf32, #tenon.shape<N>> {tenon.name = "x"}) -> (tensor<1x1xf32> {tenon.name = "y"}) {
  %table = tenon.weight dense<[[10.0], [20.0], [30.0], [40.0]]> : tensor<4x1xf32>
  %row = tenon.slice %table {starts = #tenon.shape<N + -1, 0>, steps = array<i64: 1, 1>} : (tensor<4x1xf32>) -> tensor<1x1xf32>
  %most = tenon.reduce max, %x {axes = array<i64: 0>, keepdims = false} : (tensor<?xf32, #tenon.shape<N>>) -> tensor<f32>
  %y = tenon.add %row, %most : (tensor<1x1xf32>, tensor<f32>) -> tensor<1x1xf32>
  return %y : tensor<1x1xf32>
}
}
