// RUN: tenon-opt %s -split-input-file -tenon-pair-states='pairs=past=present,h=hn capacity=16' | FileCheck %s

// What is new is written behind the live rows, and nothing else; whoever reads past and new together reads the state.
// CHECK: tenon.state @past : tensor<16x1x2x4xf32> live "n"
// CHECK: tenon.state @h : tensor<3xf32>
// CHECK-LABEL: func.func @main(
// CHECK-SAME: %[[NEW:[^:]*]]: tensor<1x2x?x4xf32, #tenon.shape<1, 2, m, 4>> {tenon.name = "new"}) ->
// CHECK-SAME: (tensor<1x2x4xf32> {tenon.name = "sum"})
func.func @main(%past: tensor<1x2x?x4xf32, #tenon.shape<1, 2, n, 4>> {tenon.name = "past"},
                %new: tensor<1x2x?x4xf32, #tenon.shape<1, 2, m, 4>> {tenon.name = "new"},
                %h: tensor<3xf32> {tenon.name = "h"})
    -> (tensor<1x2x?x4xf32, #tenon.shape<1, 2, n + m, 4>> {tenon.name = "present"},
        tensor<1x2x4xf32> {tenon.name = "sum"}, tensor<3xf32> {tenon.name = "hn"}) {
  // CHECK: %[[H:.*]] = tenon.state.read @h : tensor<3xf32>
  // CHECK: %[[ROWS:.*]] = tenon.transpose %[[NEW]] {permutation = array<i64: 2, 0, 1, 3>}
  // CHECK: tenon.state.update @past at #tenon.shape<n> extends, %[[ROWS]]
  // CHECK: %[[ALL:.*]] = tenon.state.read @past : tensor<?x1x2x4xf32, #tenon.shape<n + m, 1, 2, 4>>
  // CHECK: %[[BACK:.*]] = tenon.transpose %[[ALL]] {permutation = array<i64: 1, 2, 0, 3>}
  // CHECK-NOT: tenon.concat
  %present = tenon.concat %past, %new {axis = 2 : i64}
    : (tensor<1x2x?x4xf32, #tenon.shape<1, 2, n, 4>>, tensor<1x2x?x4xf32, #tenon.shape<1, 2, m, 4>>)
    -> tensor<1x2x?x4xf32, #tenon.shape<1, 2, n + m, 4>>
  // CHECK: %[[SUM:.*]] = tenon.reduce sum, %[[BACK]]
  %sum = tenon.reduce sum, %present {axes = array<i64: 2>}
    : (tensor<1x2x?x4xf32, #tenon.shape<1, 2, n + m, 4>>) -> tensor<1x2x4xf32>
  // CHECK: %[[HN:.*]] = tenon.relu %[[H]]
  %hn = tenon.relu %h : (tensor<3xf32>) -> tensor<3xf32>
  // CHECK: tenon.state.update @h at #tenon.shape<0>, %[[HN]] : tensor<3xf32>
  // CHECK: return %[[SUM]] : tensor<1x2x4xf32>
  return %present, %sum, %hn
    : tensor<1x2x?x4xf32, #tenon.shape<1, 2, n + m, 4>>, tensor<1x2x4xf32>, tensor<3xf32>
}

// -----

// What is no concat is written as a whole, after everything that reads what was there.
// CHECK-LABEL: func.func @main(
func.func @main(%past: tensor<?x4xf32, #tenon.shape<n, 4>> {tenon.name = "past"}, %h: tensor<f32> {tenon.name = "h"})
    -> (tensor<?x4xf32, #tenon.shape<n + 1, 4>> {tenon.name = "present"}, tensor<f32> {tenon.name = "hn"}) {
  // CHECK-DAG: %[[PAST:.*]] = tenon.state.read @past : tensor<?x4xf32, #tenon.shape<n, 4>>
  // CHECK: %[[ALL:.*]] = tenon.concat %{{.*}}, %[[PAST]]
  %zero = tenon.weight dense<0.0> : tensor<1x4xf32>
  %present = tenon.concat %zero, %past {axis = 0 : i64}
    : (tensor<1x4xf32>, tensor<?x4xf32, #tenon.shape<n, 4>>) -> tensor<?x4xf32, #tenon.shape<n + 1, 4>>
  // CHECK: tenon.state.update @past at #tenon.shape<0> extends, %[[ALL]]
  return %present, %h : tensor<?x4xf32, #tenon.shape<n + 1, 4>>, tensor<f32>
}
