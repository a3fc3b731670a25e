// RUN: tenon-opt %s --split-input-file --tenon-apply-facts | FileCheck %s

// Two inputs whose symbols have to be equal share one: binding it compares them.
// CHECK-LABEL: func.func @equal_symbols_are_one
// CHECK-SAME: %{{.*}}: tensor<?xf32, #tenon.shape<N>>, %{{.*}}: tensor<?xf32, #tenon.shape<N>>
// CHECK-NOT: tenon.requires
func.func @equal_symbols_are_one(%a: tensor<?xf32, #tenon.shape<N>>, %b: tensor<?xf32, #tenon.shape<M>>)
    -> tensor<?xf32, #tenon.shape<M>> attributes {tenon.requires = #tenon.shape<N + M * -1, M + N * -1>} {
  // CHECK: tenon.exp {{.*}} -> tensor<?xf32, #tenon.shape<N>>
  %0 = tenon.exp %b : (tensor<?xf32, #tenon.shape<M>>) -> tensor<?xf32, #tenon.shape<M>>
  return %0 : tensor<?xf32, #tenon.shape<M>>
}

// -----

// A bound in one direction alone makes nothing equal.
// CHECK-LABEL: func.func @one_inequality_is_kept
// CHECK-SAME: #tenon.shape<N>>, %{{.*}}: tensor<?xf32, #tenon.shape<M>>
// CHECK-SAME: tenon.requires = #tenon.shape<{{.*}}>
func.func @one_inequality_is_kept(%a: tensor<?xf32, #tenon.shape<N>>, %b: tensor<?xf32, #tenon.shape<M>>)
    attributes {tenon.requires = #tenon.shape<N + M * -1>} {
  return
}

// -----

// The ranges of both count; where none would be left, the check says it best.
// CHECK-LABEL: func.func @ranges_are_joined
// CHECK-SAME: tenon.ranges = {N = array<i64: 4, 9>}
func.func @ranges_are_joined(%a: tensor<?xf32, #tenon.shape<N>>, %b: tensor<?xf32, #tenon.shape<M>>)
    attributes {tenon.ranges = {N = array<i64: 1, 9>, M = array<i64: 4, 20>},
                tenon.requires = #tenon.shape<N + M * -1, M + N * -1>} {
  return
}

// -----

// CHECK-LABEL: func.func @ranges_that_exclude_each_other
// CHECK-SAME: tenon.requires
func.func @ranges_that_exclude_each_other(%a: tensor<?xf32, #tenon.shape<N>>, %b: tensor<?xf32, #tenon.shape<M>>)
    attributes {tenon.ranges = {N = array<i64: 1, 3>, M = array<i64: 4, 20>},
                tenon.requires = #tenon.shape<N + M * -1, M + N * -1>} {
  return
}

// -----

// A symbol of one value is a constant, and so is what it made equal.
// CHECK-LABEL: func.func @one_value
// CHECK-SAME: tensor<8xf32>, %{{.*}}: tensor<8xf32>, %{{.*}}: tensor<4xf32>
// CHECK-NOT: tenon.ranges
func.func @one_value(%a: tensor<?xf32, #tenon.shape<N>>, %b: tensor<?xf32, #tenon.shape<M>>,
                     %c: tensor<?xf32, #tenon.shape<N floordiv 2>>)
    attributes {tenon.ranges = {N = array<i64: 8, 8>}, tenon.requires = #tenon.shape<N + M * -1, M + N * -1>} {
  return
}

// -----

// An element count that needs N to be a multiple of 4 is checked once, and then the division is none.
// CHECK-LABEL: func.func @multiples
// CHECK-SAME: tenon.requires = #tenon.shape<{{[^,]*}}>
func.func @multiples(%a: tensor<?xf32, #tenon.shape<N>>) -> tensor<?xf32, #tenon.shape<(N floordiv 4) * 4>>
    attributes {tenon.requires = #tenon.shape<N + (N floordiv 4) * -4, (N floordiv 4) * 4 + N * -1>} {
  // CHECK: tenon.reshape {{.*}} -> tensor<?x4xf32, #tenon.shape<N floordiv 4, 4>>
  %0 = tenon.reshape %a : (tensor<?xf32, #tenon.shape<N>>) -> tensor<?x4xf32, #tenon.shape<N floordiv 4, 4>>
  // CHECK: tenon.reshape {{.*}} -> tensor<?xf32, #tenon.shape<N>>
  %1 = tenon.reshape %0 : (tensor<?x4xf32, #tenon.shape<N floordiv 4, 4>>) -> tensor<?xf32, #tenon.shape<(N floordiv 4) * 4>>
  return %1 : tensor<?xf32, #tenon.shape<(N floordiv 4) * 4>>
}

// -----

// Without the requirement, the rest may be lost.
// CHECK-LABEL: func.func @no_multiples
// CHECK: tenon.slice {{.*}} -> tensor<?xf32, #tenon.shape<(N floordiv 4) * 4>>
func.func @no_multiples(%a: tensor<?xf32, #tenon.shape<N>>) -> tensor<?xf32, #tenon.shape<(N floordiv 4) * 4>> {
  %0 = tenon.slice %a {starts = #tenon.shape<0>, steps = array<i64: 1>} : (tensor<?xf32, #tenon.shape<N>>) -> tensor<?xf32, #tenon.shape<(N floordiv 4) * 4>>
  return %0 : tensor<?xf32, #tenon.shape<(N floordiv 4) * 4>>
}

// -----

// What ranges prove needs no check; what they do not is kept.
// CHECK-LABEL: func.func @proven_requirements
// CHECK-SAME: tenon.requires = #tenon.shape<N + -8>
func.func @proven_requirements(%a: tensor<?x?xf32, #tenon.shape<N, M>>)
    attributes {tenon.ranges = {N = array<i64: 4, 64>, M = array<i64: 1, 64>},
                tenon.requires = #tenon.shape<N + -4, N * M + N * -1, N + -8, N + (N floordiv 2) * -2, N + -7>} {
  return
}

// -----

// A symbol that is bound to what is known stands for it.
// CHECK-LABEL: func.func @bound_constants
// CHECK-NOT: tenon.bind
// CHECK: tenon.iota {{.*}} -> tensor<6xf32>
// CHECK: tenon.iota {{.*}} -> tensor<?xf32, #tenon.shape<N * 2>>
func.func @bound_constants(%a: tensor<?xf32, #tenon.shape<N>>) {
  %0 = tenon.weight dense<[6]> : tensor<1xi64>
  tenon.bind %0 ["k"] {min = 0 : i64} : tensor<1xi64>
  %1 = tenon.iota {axis = 0 : i64} : () -> tensor<?xf32, #tenon.shape<k>>
  %2 = tenon.sizes #tenon.shape<N * 2> -> tensor<1xi64>
  tenon.bind %2 ["l"] {min = 0 : i64} : tensor<1xi64>
  %3 = tenon.iota {axis = 0 : i64} : () -> tensor<?xf32, #tenon.shape<l>>
  return
}

// -----

// One that is bound twice has no one value.
// CHECK-LABEL: func.func @bound_twice
// CHECK-COUNT-2: tenon.bind
func.func @bound_twice() {
  %0 = tenon.weight dense<[6]> : tensor<1xi64>
  tenon.bind %0 ["k"] {min = 0 : i64} : tensor<1xi64>
  %1 = tenon.weight dense<[7]> : tensor<1xi64>
  tenon.bind %1 ["k"] {min = 0 : i64} : tensor<1xi64>
  return
}

// -----

// What data decides is held by its bound, which is checked where it is bound.
// CHECK-LABEL: func.func @bounds_of_data
// CHECK: tenon.require #tenon.shape<{{.*}}> "kept"
// CHECK-NOT: tenon.require
func.func @bounds_of_data(%n: tensor<1xi64>, %a: tensor<?xf32, #tenon.shape<N>>) {
  tenon.bind %n ["k"] {min = 0 : i64, bounds = #tenon.shape<5>} : tensor<1xi64>
  tenon.require #tenon.shape<k * -1 + 5> "proven"
  tenon.require #tenon.shape<k * -1 + 4> "kept"
  return
}
