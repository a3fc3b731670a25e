// RUN: tenon-opt %s --tenon-order-launches | FileCheck %s
// Launches move where fewer bytes are live then, together with the views that they read.

// As given, both wide results are live at once: 2 * 4000 bytes and more. One after the other each shrinks first.
// CHECK-LABEL: func.func @wide_then_narrow
// CHECK: tenon.launch @widen(
// CHECK-NEXT: tenon.reshape
// CHECK-NEXT: tenon.launch @narrow(
// CHECK-NEXT: tenon.launch @widen(
// CHECK-NEXT: tenon.reshape
// CHECK-NEXT: tenon.launch @narrow(
// CHECK-NEXT: tenon.launch @join(
func.func @wide_then_narrow(%x: tensor<10xf32>) -> tensor<10xf32> {
  %a = tenon.launch @widen(%x) {sizes = #tenon.shape<>} : (tensor<10xf32>) -> tensor<1000xf32>
  %b = tenon.launch @widen(%x) {sizes = #tenon.shape<>} : (tensor<10xf32>) -> tensor<1000xf32>
  %va = tenon.reshape %a : (tensor<1000xf32>) -> tensor<10x100xf32>
  %vb = tenon.reshape %b : (tensor<1000xf32>) -> tensor<10x100xf32>
  %c = tenon.launch @narrow(%va) {sizes = #tenon.shape<>} : (tensor<10x100xf32>) -> tensor<10xf32>
  %d = tenon.launch @narrow(%vb) {sizes = #tenon.shape<>} : (tensor<10x100xf32>) -> tensor<10xf32>
  %e = tenon.launch @join(%c, %d) {sizes = #tenon.shape<>} : (tensor<10xf32>, tensor<10xf32>) -> tensor<10xf32>
  return %e : tensor<10xf32>
}

// An order that is as good as any stays.
// CHECK-LABEL: func.func @a_chain
// CHECK: %[[A:.*]] = tenon.launch @join(%arg0, %arg0)
// CHECK-NEXT: %[[B:.*]] = tenon.launch @join(%arg0, %[[A]])
// CHECK-NEXT: tenon.launch @join(%[[A]], %[[B]])
func.func @a_chain(%x: tensor<10xf32>) -> tensor<10xf32> {
  %a = tenon.launch @join(%x, %x) {sizes = #tenon.shape<>} : (tensor<10xf32>, tensor<10xf32>) -> tensor<10xf32>
  %b = tenon.launch @join(%x, %a) {sizes = #tenon.shape<>} : (tensor<10xf32>, tensor<10xf32>) -> tensor<10xf32>
  %c = tenon.launch @join(%a, %b) {sizes = #tenon.shape<>} : (tensor<10xf32>, tensor<10xf32>) -> tensor<10xf32>
  return %c : tensor<10xf32>
}

func.func private @widen(%x: tensor<10xf32>) -> tensor<1000xf32> attributes {tenon.kernel} {
  %0 = tenon.reshape %x : (tensor<10xf32>) -> tensor<10x1xf32>
  %1 = tenon.broadcast %0 : (tensor<10x1xf32>) -> tensor<10x100xf32>
  %2 = tenon.reshape %1 : (tensor<10x100xf32>) -> tensor<1000xf32>
  return %2 : tensor<1000xf32>
}
func.func private @narrow(%x: tensor<10x100xf32>) -> tensor<10xf32> attributes {tenon.kernel} {
  %0 = tenon.reduce sum, %x {axes = array<i64: 1>} : (tensor<10x100xf32>) -> tensor<10xf32>
  return %0 : tensor<10xf32>
}
func.func private @join(%x: tensor<10xf32>, %y: tensor<10xf32>) -> tensor<10xf32> attributes {tenon.kernel} {
  %0 = tenon.add %x, %y : (tensor<10xf32>, tensor<10xf32>) -> tensor<10xf32>
  return %0 : tensor<10xf32>
}

// What needs a symbol stays behind the bind that gives it its value, and all stays behind a check; the rest moves past both.
// CHECK-LABEL: func.func @around_a_bind
// CHECK: tenon.bind
// CHECK-NEXT: tenon.require
// CHECK-NEXT: tenon.launch @fill(
// CHECK-NEXT: tenon.launch @widen(
// CHECK-NEXT: tenon.reshape
// CHECK-NEXT: tenon.launch @narrow(
// CHECK-NEXT: tenon.launch @widen(
// CHECK-NEXT: tenon.reshape
// CHECK-NEXT: tenon.launch @narrow(
func.func @around_a_bind(%x: tensor<10xf32>, %n: tensor<1xi64>) -> (tensor<10xf32>, tensor<?xf32, #tenon.shape<n>>) {
  %a = tenon.launch @widen(%x) {sizes = #tenon.shape<>} : (tensor<10xf32>) -> tensor<1000xf32>
  %b = tenon.launch @widen(%x) {sizes = #tenon.shape<>} : (tensor<10xf32>) -> tensor<1000xf32>
  tenon.bind %n ["n"] {min = 0 : i64} : tensor<1xi64>
  %va = tenon.reshape %a : (tensor<1000xf32>) -> tensor<10x100xf32>
  %vb = tenon.reshape %b : (tensor<1000xf32>) -> tensor<10x100xf32>
  %c = tenon.launch @narrow(%va) {sizes = #tenon.shape<>} : (tensor<10x100xf32>) -> tensor<10xf32>
  %d = tenon.launch @narrow(%vb) {sizes = #tenon.shape<>} : (tensor<10x100xf32>) -> tensor<10xf32>
  %e = tenon.launch @join(%c, %d) {sizes = #tenon.shape<>} : (tensor<10xf32>, tensor<10xf32>) -> tensor<10xf32>
  tenon.require #tenon.shape<n + -1> "there is nothing"
  %f = tenon.launch @fill(%x) {sizes = #tenon.shape<n>} : (tensor<10xf32>) -> tensor<?xf32, #tenon.shape<n>>
  return %e, %f : tensor<10xf32>, tensor<?xf32, #tenon.shape<n>>
}

// What a branch reads is there before it, and no more.
// CHECK-LABEL: func.func @around_a_branch
// CHECK: tenon.launch @widen(
// CHECK-NEXT: tenon.reshape
// CHECK-NEXT: tenon.if
// CHECK: tenon.launch @widen(
// CHECK-NEXT: tenon.reshape
// CHECK-NEXT: tenon.launch @narrow(
// CHECK-NEXT: tenon.launch @join(
func.func @around_a_branch(%x: tensor<10xf32>, %p: tensor<i1>) -> tensor<10xf32> {
  %a = tenon.launch @widen(%x) {sizes = #tenon.shape<>} : (tensor<10xf32>) -> tensor<1000xf32>
  %b = tenon.launch @widen(%x) {sizes = #tenon.shape<>} : (tensor<10xf32>) -> tensor<1000xf32>
  %va = tenon.reshape %a : (tensor<1000xf32>) -> tensor<10x100xf32>
  %vb = tenon.reshape %b : (tensor<1000xf32>) -> tensor<10x100xf32>
  %c = tenon.if %p : tensor<i1> -> tensor<10xf32> {
    %0 = tenon.launch @narrow(%va) {sizes = #tenon.shape<>} : (tensor<10x100xf32>) -> tensor<10xf32>
    tenon.yield %0 : tensor<10xf32>
  } else {
    tenon.yield %x : tensor<10xf32>
  }
  %d = tenon.launch @narrow(%vb) {sizes = #tenon.shape<>} : (tensor<10x100xf32>) -> tensor<10xf32>
  %e = tenon.launch @join(%c, %d) {sizes = #tenon.shape<>} : (tensor<10xf32>, tensor<10xf32>) -> tensor<10xf32>
  return %e : tensor<10xf32>
}
func.func private @fill(%x: tensor<10xf32>) -> tensor<?xf32, #tenon.shape<n>> attributes {tenon.kernel} {
  %0 = tenon.reduce sum, %x {axes = array<i64: 0>} : (tensor<10xf32>) -> tensor<f32>
  %1 = tenon.broadcast %0 : (tensor<f32>) -> tensor<?xf32, #tenon.shape<n>>
  return %1 : tensor<?xf32, #tenon.shape<n>>
}

// Sizes that a check refuses must not reach a launch behind it, however many bytes it would free.
// CHECK-LABEL: func.func @behind_a_check
// CHECK-NOT: tenon.launch @narrow
// CHECK: tenon.require
// CHECK: tenon.launch @narrow
func.func @behind_a_check(%x: tensor<10xf32>, %n: tensor<1xi64>) -> tensor<10xf32> {
  tenon.bind %n ["n"] {min = 0 : i64} : tensor<1xi64>
  %a = tenon.launch @widen(%x) {sizes = #tenon.shape<>} : (tensor<10xf32>) -> tensor<1000xf32>
  %b = tenon.launch @widen(%x) {sizes = #tenon.shape<>} : (tensor<10xf32>) -> tensor<1000xf32>
  tenon.require #tenon.shape<n + -1> "there is nothing"
  %va = tenon.reshape %a : (tensor<1000xf32>) -> tensor<10x100xf32>
  %vb = tenon.reshape %b : (tensor<1000xf32>) -> tensor<10x100xf32>
  %c = tenon.launch @narrow(%va) {sizes = #tenon.shape<>} : (tensor<10x100xf32>) -> tensor<10xf32>
  %d = tenon.launch @narrow(%vb) {sizes = #tenon.shape<>} : (tensor<10x100xf32>) -> tensor<10xf32>
  %e = tenon.launch @join(%c, %d) {sizes = #tenon.shape<>} : (tensor<10xf32>, tensor<10xf32>) -> tensor<10xf32>
  return %e : tensor<10xf32>
}
