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

// -----

// Keys and values that are stacked in one tensor: what is new of both is appended together, and each reads its part.
// CHECK: tenon.state @past : tensor<16x2x3x4xf32> live "n"
// CHECK-LABEL: func.func @main(
// CHECK-SAME: %[[K:[^:]*]]: tensor<3x?x4xf32, #tenon.shape<3, m, 4>>, %[[V:[^:]*]]: tensor<3x?x4xf32, #tenon.shape<3, m, 4>>) -> (tensor<3x4xf32>, tensor<3x4xf32>)
func.func @main(%past: tensor<2x3x?x4xf32, #tenon.shape<2, 3, n, 4>> {tenon.name = "past"},
                %k: tensor<3x?x4xf32, #tenon.shape<3, m, 4>>, %v: tensor<3x?x4xf32, #tenon.shape<3, m, 4>>,
                %h: tensor<f32> {tenon.name = "h"})
    -> (tensor<2x3x?x4xf32, #tenon.shape<2, 3, n + m, 4>> {tenon.name = "present"}, tensor<3x4xf32>, tensor<3x4xf32>,
        tensor<f32> {tenon.name = "hn"}) {
  %k0 = tenon.slice %past {starts = #tenon.shape<0, 0, 0, 0>, steps = array<i64: 1, 1, 1, 1>}
    : (tensor<2x3x?x4xf32, #tenon.shape<2, 3, n, 4>>) -> tensor<1x3x?x4xf32, #tenon.shape<1, 3, n, 4>>
  %k1 = tenon.reshape %k0 : (tensor<1x3x?x4xf32, #tenon.shape<1, 3, n, 4>>) -> tensor<3x?x4xf32, #tenon.shape<3, n, 4>>
  %v0 = tenon.slice %past {starts = #tenon.shape<1, 0, 0, 0>, steps = array<i64: 1, 1, 1, 1>}
    : (tensor<2x3x?x4xf32, #tenon.shape<2, 3, n, 4>>) -> tensor<1x3x?x4xf32, #tenon.shape<1, 3, n, 4>>
  %v1 = tenon.reshape %v0 : (tensor<1x3x?x4xf32, #tenon.shape<1, 3, n, 4>>) -> tensor<3x?x4xf32, #tenon.shape<3, n, 4>>
  %k2 = tenon.concat %k1, %k {axis = 1 : i64}
    : (tensor<3x?x4xf32, #tenon.shape<3, n, 4>>, tensor<3x?x4xf32, #tenon.shape<3, m, 4>>) -> tensor<3x?x4xf32, #tenon.shape<3, n + m, 4>>
  %v2 = tenon.concat %v1, %v {axis = 1 : i64}
    : (tensor<3x?x4xf32, #tenon.shape<3, n, 4>>, tensor<3x?x4xf32, #tenon.shape<3, m, 4>>) -> tensor<3x?x4xf32, #tenon.shape<3, n + m, 4>>
  // CHECK-DAG: %[[K0:.*]] = tenon.reshape %[[K]] : {{.*}} -> tensor<1x3x?x4xf32, #tenon.shape<1, 3, m, 4>>
  // CHECK-DAG: %[[V0:.*]] = tenon.reshape %[[V]] : {{.*}} -> tensor<1x3x?x4xf32, #tenon.shape<1, 3, m, 4>>
  // CHECK: %[[NEW:.*]] = tenon.concat %[[K0]], %[[V0]] {axis = 0 : i64}
  // CHECK: %[[ROWS:.*]] = tenon.transpose %[[NEW]] {permutation = array<i64: 2, 0, 1, 3>}
  // CHECK: tenon.state.update @past at #tenon.shape<n> extends, %[[ROWS]]
  // CHECK: %[[ALL:.*]] = tenon.state.read @past : tensor<?x2x3x4xf32, #tenon.shape<n + m, 2, 3, 4>>
  // CHECK: %[[BACK:.*]] = tenon.transpose %[[ALL]] {permutation = array<i64: 1, 2, 0, 3>}
  // CHECK: %[[KS:.*]] = tenon.slice %[[BACK]] {starts = #tenon.shape<0, 0, 0, 0>
  // CHECK: %[[K3:.*]] = tenon.reshape %[[KS]]
  // CHECK: %[[VS:.*]] = tenon.slice %[[BACK]] {starts = #tenon.shape<1, 0, 0, 0>
  // CHECK: %[[V3:.*]] = tenon.reshape %[[VS]]
  %k3 = tenon.reshape %k2 : (tensor<3x?x4xf32, #tenon.shape<3, n + m, 4>>) -> tensor<1x3x?x4xf32, #tenon.shape<1, 3, n + m, 4>>
  %v3 = tenon.reshape %v2 : (tensor<3x?x4xf32, #tenon.shape<3, n + m, 4>>) -> tensor<1x3x?x4xf32, #tenon.shape<1, 3, n + m, 4>>
  %present = tenon.concat %k3, %v3 {axis = 0 : i64}
    : (tensor<1x3x?x4xf32, #tenon.shape<1, 3, n + m, 4>>, tensor<1x3x?x4xf32, #tenon.shape<1, 3, n + m, 4>>)
    -> tensor<2x3x?x4xf32, #tenon.shape<2, 3, n + m, 4>>
  // CHECK: tenon.reduce sum, %[[K3]]
  // CHECK: tenon.reduce sum, %[[V3]]
  %a = tenon.reduce sum, %k2 {axes = array<i64: 1>} : (tensor<3x?x4xf32, #tenon.shape<3, n + m, 4>>) -> tensor<3x4xf32>
  %b = tenon.reduce sum, %v2 {axes = array<i64: 1>} : (tensor<3x?x4xf32, #tenon.shape<3, n + m, 4>>) -> tensor<3x4xf32>
  return %present, %a, %b, %h : tensor<2x3x?x4xf32, #tenon.shape<2, 3, n + m, 4>>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<f32>
}
