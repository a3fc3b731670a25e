// RUN: tenon-opt %s --tenon-in-place-operands --split-input-file | FileCheck %s
// A launch that is the last to use an activation may write over it where it reads each element in place.

// CHECK-LABEL: func.func @main
// CHECK: %[[A:.*]] = tenon.launch @exp(%arg0)
// CHECK: %[[B:.*]] = tenon.launch @exp_in_place0(%[[A]])
// CHECK: %[[V:.*]] = tenon.reshape %[[B]]
// CHECK: %[[C:.*]] = tenon.launch @softmax_in_place0(%[[V]])
// CHECK: %[[D:.*]] = tenon.launch @softmax(%[[C]])
// CHECK: %[[E:.*]] = tenon.launch @residual(%[[C]])
// CHECK: %[[F:.*]] = tenon.launch @turn(%[[E]])
// CHECK: %[[G:.*]] = tenon.launch @add(%[[F]], %[[F]])
// CHECK: %[[H:.*]] = tenon.launch @add_in_place1(%[[D]], %[[G]])
// The result is an output, which has its own memory.
// CHECK: tenon.launch @add(%[[H]], %[[D]])
func.func @main(%x: tensor<16xf32>) -> tensor<4x4xf32> {
  %a = tenon.launch @exp(%x) {sizes = #tenon.shape<>} : (tensor<16xf32>) -> tensor<16xf32>
  %b = tenon.launch @exp(%a) {sizes = #tenon.shape<>} : (tensor<16xf32>) -> tensor<16xf32>
  %v = tenon.reshape %b : (tensor<16xf32>) -> tensor<4x4xf32>
  %c = tenon.launch @softmax(%v) {sizes = #tenon.shape<>} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %d = tenon.launch @softmax(%c) {sizes = #tenon.shape<>} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %e = tenon.launch @residual(%c) {sizes = #tenon.shape<>} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %f = tenon.launch @turn(%e) {sizes = #tenon.shape<>} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %g = tenon.launch @add(%f, %f) {sizes = #tenon.shape<>} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %h = tenon.launch @add(%d, %g) {sizes = #tenon.shape<>} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %i = tenon.launch @add(%h, %d) {sizes = #tenon.shape<>} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %i : tensor<4x4xf32>
}
// CHECK: func.func private @softmax(
func.func private @exp(%x: tensor<16xf32>) -> tensor<16xf32> attributes {tenon.kernel} {
  %0 = tenon.exp %x : (tensor<16xf32>) -> tensor<16xf32>
  return %0 : tensor<16xf32>
}
func.func private @softmax(%x: tensor<4x4xf32>) -> tensor<4x4xf32> attributes {tenon.kernel} {
  %0 = tenon.neg %x : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = tenon.softmax %0 {axis = 1 : i64} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = tenon.neg %1 : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return %2 : tensor<4x4xf32>
}
// What follows the softmax reads its input again.
func.func private @residual(%x: tensor<4x4xf32>) -> tensor<4x4xf32> attributes {tenon.kernel} {
  %0 = tenon.softmax %x {axis = 1 : i64} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = tenon.add %0, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %1 : tensor<4x4xf32>
}
func.func private @turn(%x: tensor<4x4xf32>) -> tensor<4x4xf32> attributes {tenon.kernel} {
  %0 = tenon.transpose %x {permutation = array<i64: 1, 0>} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}
func.func private @add(%x: tensor<4x4xf32>, %y: tensor<4x4xf32>) -> tensor<4x4xf32> attributes {tenon.kernel} {
  %0 = tenon.add %x, %y : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}
// CHECK: func.func private @exp_in_place0(%{{.*}}: tensor<16xf32> {tenon.reused = 0 : i64})

// -----

// What a loop passes on is written over by what takes its place the next time, and by nothing else.
// CHECK-LABEL: func.func @loop
// CHECK: tenon.loop
// CHECK: ^bb0(%[[U:.*]]: tensor<16xf32>, %[[V:.*]]: tensor<16xf32>, %[[W:.*]]: tensor<16xf32>):
// CHECK: %[[A:.*]] = tenon.launch @exp_in_place0(%[[U]])
// %v is read again.
// CHECK: %[[B:.*]] = tenon.launch @exp(%[[V]])
// CHECK: tenon.launch @add_in_place1(%[[V]], %[[B]])
// This one takes another's place.
// CHECK: tenon.launch @exp(%[[W]])
func.func @loop(%c: tensor<i1>, %x: tensor<16xf32>) -> tensor<16xf32> {
  %0:3 = tenon.loop %c(%x, %x, %x) : tensor<i1>, (tensor<16xf32>, tensor<16xf32>, tensor<16xf32>)
      -> (tensor<16xf32>, tensor<16xf32>, tensor<16xf32>) {
  ^bb0(%u: tensor<16xf32>, %v: tensor<16xf32>, %w: tensor<16xf32>):
    %a = tenon.launch @exp(%u) {sizes = #tenon.shape<>} : (tensor<16xf32>) -> tensor<16xf32>
    %b = tenon.launch @exp(%v) {sizes = #tenon.shape<>} : (tensor<16xf32>) -> tensor<16xf32>
    %s = tenon.launch @add(%v, %b) {sizes = #tenon.shape<>} : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
    %d = tenon.launch @exp(%w) {sizes = #tenon.shape<>} : (tensor<16xf32>) -> tensor<16xf32>
    tenon.yield %c, %a, %d, %s : tensor<i1>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>
  } {symbols = []}
  return %0#0 : tensor<16xf32>
}
func.func private @exp(%x: tensor<16xf32>) -> tensor<16xf32> attributes {tenon.kernel} {
  %0 = tenon.exp %x : (tensor<16xf32>) -> tensor<16xf32>
  return %0 : tensor<16xf32>
}
func.func private @add(%x: tensor<16xf32>, %y: tensor<16xf32>) -> tensor<16xf32> attributes {tenon.kernel} {
  %0 = tenon.add %x, %y : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
  return %0 : tensor<16xf32>
}

// -----

// So is what has an open size, which no time of the loop changes; and what each time may make larger is not.
// CHECK-LABEL: func.func @open_loop
// CHECK: ^bb0(%[[U:.*]]: tensor<?xf32, #tenon.shape<N>>, %[[V:.*]]: tensor<?xf32, #tenon.shape<M>>):
// CHECK: tenon.launch @exp_in_place0(%[[U]])
// CHECK: tenon.launch @exp(%[[V]])
#n = #tenon.shape<N>
#m = #tenon.shape<M>
func.func @open_loop(%c: tensor<i1>, %x: tensor<?xf32, #n>) -> tensor<?xf32, #n> {
  %0:2 = tenon.loop %c(%x, %x) : tensor<i1>, (tensor<?xf32, #n>, tensor<?xf32, #n>) -> (tensor<?xf32, #n>, tensor<?xf32, #m>) {
  ^bb0(%u: tensor<?xf32, #n>, %v: tensor<?xf32, #m>):
    %a = tenon.launch @exp(%u) {sizes = #n} : (tensor<?xf32, #n>) -> tensor<?xf32, #n>
    %b = tenon.launch @exp(%v) {sizes = #m} : (tensor<?xf32, #m>) -> tensor<?xf32, #m>
    tenon.yield %c, %a, %b : tensor<i1>, tensor<?xf32, #n>, tensor<?xf32, #m>
  } {symbols = ["M"]}
  return %0#0 : tensor<?xf32, #n>
}
func.func private @exp(%x: tensor<?xf32, #n>) -> tensor<?xf32, #n> attributes {tenon.kernel} {
  %0 = tenon.exp %x : (tensor<?xf32, #n>) -> tensor<?xf32, #n>
  return %0 : tensor<?xf32, #n>
}

// -----

// A kernel that reads other elements than the one it writes, an activation that is read again, an argument of main and one of
// another size keep their memory.
// CHECK-LABEL: func.func @elsewhere
// CHECK-NOT: _in_place
func.func @elsewhere(%x: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4xf32>) {
  %a = tenon.launch @turn(%x) {sizes = #tenon.shape<>} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %b = tenon.launch @turn(%a) {sizes = #tenon.shape<>} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %c = tenon.launch @exp(%b) {sizes = #tenon.shape<>} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %d = tenon.launch @turn(%b) {sizes = #tenon.shape<>} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %e = tenon.launch @rows(%c) {sizes = #tenon.shape<>} : (tensor<4x4xf32>) -> tensor<4xf32>
  return %d, %e : tensor<4x4xf32>, tensor<4xf32>
}
func.func private @turn(%x: tensor<4x4xf32>) -> tensor<4x4xf32> attributes {tenon.kernel} {
  %0 = tenon.transpose %x {permutation = array<i64: 1, 0>} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}
func.func private @exp(%x: tensor<4x4xf32>) -> tensor<4x4xf32> attributes {tenon.kernel} {
  %0 = tenon.exp %x : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}
func.func private @rows(%x: tensor<4x4xf32>) -> tensor<4xf32> attributes {tenon.kernel} {
  %0 = tenon.reduce sum, %x {axes = array<i64: 1>} : (tensor<4x4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
