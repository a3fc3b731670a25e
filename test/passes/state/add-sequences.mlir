// RUN: tenon-opt %s -split-input-file -verify-diagnostics -tenon-add-sequences=counts=2 | FileCheck %s

// Products are one operation for both sequences, and caches are each one's own.
// CHECK: tenon.state @past : tensor<16x1x4xf32> live "n"
// CHECK-NEXT: tenon.state @past.1 : tensor<16x1x4xf32> live "n.1" sequence 1 of @past
// CHECK-LABEL: func.func @"main.sequences=2"(
// CHECK-SAME: %[[X:[^:]*]]: tensor<2x1x4xf32> {tenon.name = "x"},
// CHECK-SAME: %[[MASK:[^:]*]]: tensor<2x?xf32, #tenon.shape<2, "dimension 1 of 'mask'">> {tenon.name = "mask"})
// CHECK-SAME: -> (tensor<2x1x4xf32> {tenon.name = "y"}) attributes
// CHECK-SAME: tenon.program = "sequences=2"
// CHECK-SAME: tenon.requires = #tenon.shape<(n * -1) + 15, ("n.1" * -1) + 15>
// CHECK-SAME: tenon.requires_text = ["too long", "too long"]
// CHECK-SAME: tenon.sequences = 2
// CHECK: %[[M0:.*]] = tenon.slice %[[MASK]] {starts = #tenon.shape<0, 0>
// CHECK: %[[OWN0:.*]] = tenon.slice %[[M0]] {{.*}} -> tensor<1x?xf32, #tenon.shape<1, n + 1>>
// CHECK: %[[M1:.*]] = tenon.slice %[[MASK]] {starts = #tenon.shape<1, 0>
// CHECK: %[[OWN1:.*]] = tenon.slice %[[M1]] {{.*}} -> tensor<1x?xf32, #tenon.shape<1, "n.1" + 1>>
// CHECK: %[[W:.*]] = tenon.weight
// CHECK-NOT: tenon.weight
// CHECK: %[[K:.*]] = tenon.contract %[[X]], %[[W]] {{.*}} -> tensor<2x1x4xf32>
// CHECK-NOT: tenon.contract
// CHECK: %[[K0:.*]] = tenon.slice %[[K]] {starts = #tenon.shape<0, 0, 0>
// CHECK: %[[K1:.*]] = tenon.slice %[[K]] {starts = #tenon.shape<1, 0, 0>
// CHECK: tenon.state.update @past at #tenon.shape<n> extends, %[[K0]]
// CHECK: tenon.state.update @past.1 at #tenon.shape<"n.1"> extends, %[[K1]]
// CHECK: %[[ALL0:.*]] = tenon.state.read @past : tensor<?x1x4xf32, #tenon.shape<n + 1, 1, 4>>
// CHECK: %[[ALL1:.*]] = tenon.state.read @past.1 : tensor<?x1x4xf32, #tenon.shape<"n.1" + 1, 1, 4>>
// CHECK: %[[S0:.*]] = tenon.contract %[[OWN0]], %[[ALL0]]
// CHECK: %[[S1:.*]] = tenon.contract %[[OWN1]], %[[ALL1]]
// What has one size again is computed together.
// CHECK: %[[S:.*]] = tenon.concat %[[S0]], %[[S1]] {axis = 0 : i64}
// CHECK: %[[Y:.*]] = tenon.add %[[X]], %[[S]] {{.*}} -> tensor<2x1x4xf32>
// CHECK: return %[[Y]] : tensor<2x1x4xf32>
// CHECK-LABEL: func.func @main(
tenon.state @past : tensor<16x1x4xf32> live "n"
func.func @main(%x: tensor<1x1x4xf32> {tenon.name = "x"},
                %mask: tensor<1x?xf32, #tenon.shape<1, n + 1>> {tenon.name = "mask"})
    -> (tensor<1x1x4xf32> {tenon.name = "y"})
    attributes {tenon.requires = #tenon.shape<n * -1 + 15>, tenon.requires_text = ["too long"]} {
  %w = tenon.weight dense<1.0> : tensor<4x4xf32>
  %k = tenon.contract %x, %w {lhs_dims = array<i64: 0, 1, 2>, rhs_dims = array<i64: 2, 3>, result_dims = array<i64: 0, 1, 3>}
    : (tensor<1x1x4xf32>, tensor<4x4xf32>) -> tensor<1x1x4xf32>
  tenon.state.update @past at #tenon.shape<n> extends, %k : tensor<1x1x4xf32>
  %all = tenon.state.read @past : tensor<?x1x4xf32, #tenon.shape<n + 1, 1, 4>>
  %s = tenon.contract %mask, %all {lhs_dims = array<i64: 0, 1>, rhs_dims = array<i64: 1, 2, 3>, result_dims = array<i64: 0, 2, 3>}
    : (tensor<1x?xf32, #tenon.shape<1, n + 1>>, tensor<?x1x4xf32, #tenon.shape<n + 1, 1, 4>>) -> tensor<1x1x4xf32>
  %y = tenon.add %x, %s : (tensor<1x1x4xf32>, tensor<1x1x4xf32>) -> tensor<1x1x4xf32>
  return %y : tensor<1x1x4xf32>
}

// -----

// Other dimensions than the first one, operands that are the same for all, and what mixes sequences.
tenon.state @h : tensor<1x4xf32>
// CHECK-LABEL: func.func @"main.sequences=2"(
// CHECK-SAME: %[[X:[^:]*]]: tensor<2x3xi64>
func.func @main(%x: tensor<1x3xi64> {tenon.name = "x"}) -> (tensor<1x3x4xf32> {tenon.name = "y"}) {
  %table = tenon.weight dense<1.0> : tensor<9x4xf32>
  %bias = tenon.weight dense<2.0> : tensor<4x3x1xf32>
  // CHECK: %[[ROWS:.*]] = tenon.gather %{{.*}}, %[[X]] {axis = 0 : i64} : {{.*}} -> tensor<2x3x4xf32>
  %rows = tenon.gather %table, %x {axis = 0 : i64} : (tensor<9x4xf32>, tensor<1x3xi64>) -> tensor<1x3x4xf32>
  // CHECK: %[[TURNED:.*]] = tenon.transpose %[[ROWS]] {{.*}} -> tensor<4x3x2xf32>
  %turned = tenon.transpose %rows {permutation = array<i64: 2, 1, 0>} : (tensor<1x3x4xf32>) -> tensor<4x3x1xf32>
  // CHECK: %[[MORE:.*]] = tenon.add %[[TURNED]], %{{.*}} : (tensor<4x3x2xf32>, tensor<4x3x1xf32>) -> tensor<4x3x2xf32>
  %more = tenon.add %turned, %bias : (tensor<4x3x1xf32>, tensor<4x3x1xf32>) -> tensor<4x3x1xf32>
  // A sum over the dimension in which sequences lie is one of each.
  // CHECK: %[[P0:.*]] = tenon.slice %[[MORE]] {starts = #tenon.shape<0, 0, 0>
  // CHECK: %[[P1:.*]] = tenon.slice %[[MORE]] {starts = #tenon.shape<0, 0, 1>
  // CHECK: tenon.reduce sum, %[[P0]]
  // CHECK: tenon.reduce sum, %[[P1]]
  %sum = tenon.reduce sum, %more {axes = array<i64: 1, 2>} : (tensor<4x3x1xf32>) -> tensor<4xf32>
  // CHECK: tenon.state.read @h :
  // CHECK: tenon.state.read @h.1 :
  %h = tenon.state.read @h : tensor<1x4xf32>
  // The sums have no dimension left along which they could lie end to end.
  // CHECK: tenon.add {{.*}} -> tensor<1x4xf32>
  // CHECK: tenon.add {{.*}} -> tensor<1x4xf32>
  %next = tenon.add %h, %sum : (tensor<1x4xf32>, tensor<4xf32>) -> tensor<1x4xf32>
  // CHECK: tenon.state.update @h at
  // CHECK: tenon.state.update @h.1 at
  tenon.state.update @h at #tenon.shape<0>, %next : tensor<1x4xf32>
  // CHECK: return %[[ROWS]]
  return %rows : tensor<1x3x4xf32>
}

// -----

// A diagonal is one of each sequence.
tenon.state @d : tensor<1x3xf32>
// CHECK-LABEL: func.func @"main.sequences=2"(
func.func @main(%x: tensor<1x3xf32> {tenon.name = "x"}) -> (tensor<1x3xf32> {tenon.name = "y"}) {
  %w = tenon.weight dense<1.0> : tensor<3xf32>
  // CHECK: %[[SQUARE:.*]] = tenon.reshape {{.*}} -> tensor<2x1xf32>
  // CHECK: %[[S0:.*]] = tenon.slice %[[SQUARE]] {starts = #tenon.shape<0, 0>
  // CHECK: %[[S1:.*]] = tenon.slice %[[SQUARE]] {starts = #tenon.shape<1, 0>
  // CHECK: tenon.contract %[[S0]], {{.*}} -> tensor<1x3xf32>
  // CHECK: tenon.contract %[[S1]], {{.*}} -> tensor<1x3xf32>
  %first = tenon.slice %x {starts = #tenon.shape<0, 0>, steps = array<i64: 1, 1>} : (tensor<1x3xf32>) -> tensor<1x1xf32>
  %square = tenon.reshape %first : (tensor<1x1xf32>) -> tensor<1x1xf32>
  %y = tenon.contract %square, %w {lhs_dims = array<i64: 0, 0>, rhs_dims = array<i64: 1>, result_dims = array<i64: 0, 1>}
    : (tensor<1x1xf32>, tensor<3xf32>) -> tensor<1x3xf32>
  %d = tenon.state.read @d : tensor<1x3xf32>
  tenon.state.update @d at #tenon.shape<0>, %y : tensor<1x3xf32>
  return %y : tensor<1x3xf32>
}

// -----

// Without a batch of 1, or with results of different sizes, there is no such program.
tenon.state @past : tensor<16x4xf32> live "n"
// expected-error@+1 {{no program for several sequences: input 'x', 2x4, has no first dimension of 1, the batch; --shape sets it where it is free}}
func.func @main(%x: tensor<2x4xf32> {tenon.name = "x"}) {
  tenon.state.update @past at #tenon.shape<n> extends, %x : tensor<2x4xf32>
  return
}

// -----

tenon.state @past : tensor<16x4xf32> live "n"
// expected-error@+1 {{no program for several sequences: output 'y', 4, has no first dimension of 1, the batch}}
func.func @main(%x: tensor<1x4xf32> {tenon.name = "x"}) -> (tensor<4xf32> {tenon.name = "y"}) {
  tenon.state.update @past at #tenon.shape<n> extends, %x : tensor<1x4xf32>
  %y = tenon.reshape %x : (tensor<1x4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

tenon.state @past : tensor<16x4xf32> live "n"
// expected-error@+1 {{no program for several sequences: output 'y', 1x(n + 1)x4, has another size in each of them}}
func.func @main(%x: tensor<1x4xf32> {tenon.name = "x"})
    -> (tensor<1x?x4xf32, #tenon.shape<1, n + 1, 4>> {tenon.name = "y"}) {
  tenon.state.update @past at #tenon.shape<n> extends, %x : tensor<1x4xf32>
  %all = tenon.state.read @past : tensor<?x4xf32, #tenon.shape<n + 1, 4>>
  %y = tenon.reshape %all : (tensor<?x4xf32, #tenon.shape<n + 1, 4>>) -> tensor<1x?x4xf32, #tenon.shape<1, n + 1, 4>>
  return %y : tensor<1x?x4xf32, #tenon.shape<1, n + 1, 4>>
}

// -----

// expected-error@+1 {{no program for several sequences: the model has no states}}
func.func @main(%x: tensor<1x4xf32>) -> tensor<1x4xf32> {
  return %x : tensor<1x4xf32>
}
