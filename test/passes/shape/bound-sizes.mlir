// RUN: tenon-opt %s --split-input-file --tenon-apply-facts | FileCheck %s

// The smaller one of two; where sizes decide which one that is, the constant.
// CHECK-LABEL: func.func @smaller_one
// CHECK: tenon.bind {{.*}} ["a"] {bounds = #tenon.shape<100>
// CHECK: tenon.bind {{.*}} ["b"] {bounds = #tenon.shape<N>
// CHECK: tenon.bind {{.*}} ["c"] {bounds = #tenon.shape<100>
func.func @smaller_one(%x: tensor<?xf32, #tenon.shape<N>>, %n: tensor<1xi64>) {
  %100 = tenon.weight dense<100> : tensor<1xi64>
  %size = tenon.sizes #tenon.shape<N> -> tensor<1xi64>
  %a = tenon.min %n, %100 : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
  tenon.bind %a ["a"] {min = 0 : i64} : tensor<1xi64>
  %b = tenon.min %n, %size : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
  tenon.bind %b ["b"] {min = 0 : i64} : tensor<1xi64>
  %c = tenon.min %b, %100 : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
  tenon.bind %c ["c"] {min = 0 : i64} : tensor<1xi64>
  return
}

// -----

// Each element of a vector has its own bound.
// CHECK-LABEL: func.func @elements
// CHECK: tenon.bind {{.*}} ["a", "b", "c"] {bounds = #tenon.shape<N, 6, ?>
func.func @elements(%x: tensor<?xf32, #tenon.shape<N>>, %n: tensor<1xi64>) {
  %size = tenon.sizes #tenon.shape<N> -> tensor<1xi64>
  %7 = tenon.weight dense<7> : tensor<1xi64>
  %small = tenon.min %n, %size : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
  %rest = tenon.mod %n, %7 : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
  %all = tenon.concat %small, %rest, %n {axis = 0 : i64} : (tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<3xi64>
  tenon.bind %all ["a", "b", "c"] {min = 0 : i64} : tensor<3xi64>
  return
}

// -----

// As exporters write the number of steps of a range: from 2 to at most 50, by 3.
// CHECK-LABEL: func.func @steps
// CHECK: tenon.bind {{.*}} {bounds = #tenon.shape<16>
func.func @steps(%n: tensor<i64>) {
  %0 = tenon.weight dense<0> : tensor<i64>
  %2 = tenon.weight dense<2> : tensor<i64>
  %3 = tenon.weight dense<3> : tensor<i64>
  %50 = tenon.weight dense<50> : tensor<i64>
  %low = tenon.max %n, %2 : (tensor<i64>, tensor<i64>) -> tensor<i64>
  %limit = tenon.min %low, %50 : (tensor<i64>, tensor<i64>) -> tensor<i64>
  %distance = tenon.sub %limit, %2 : (tensor<i64>, tensor<i64>) -> tensor<i64>
  %up = tenon.add %distance, %2 : (tensor<i64>, tensor<i64>) -> tensor<i64>
  %steps = tenon.div %up, %3 : (tensor<i64>, tensor<i64>) -> tensor<i64>
  %count = tenon.max %steps, %0 : (tensor<i64>, tensor<i64>) -> tensor<i64>
  tenon.bind %count ["steps"] {min = 0 : i64} : tensor<i64>
  return
}

// -----

// Durations of at most 20 frames for each of N letters, and how many letters are long.
// CHECK-LABEL: func.func @sums
// CHECK: tenon.bind {{.*}} ["frames"] {bounds = #tenon.shape<N * 20>
// CHECK: tenon.bind {{.*}} ["long"] {bounds = #tenon.shape<N>
func.func @sums(%x: tensor<?xf32, #tenon.shape<N>>) {
  %1 = tenon.weight dense<1.0> : tensor<f32>
  %20 = tenon.weight dense<2.0e+01> : tensor<f32>
  %rounded = tenon.round %x : (tensor<?xf32, #tenon.shape<N>>) -> tensor<?xf32, #tenon.shape<N>>
  %low = tenon.max %rounded, %1 : (tensor<?xf32, #tenon.shape<N>>, tensor<f32>) -> tensor<?xf32, #tenon.shape<N>>
  %clipped = tenon.min %low, %20 : (tensor<?xf32, #tenon.shape<N>>, tensor<f32>) -> tensor<?xf32, #tenon.shape<N>>
  %frames = tenon.cast %clipped : (tensor<?xf32, #tenon.shape<N>>) -> tensor<?xi64, #tenon.shape<N>>
  %sum = tenon.reduce sum, %frames {axes = array<i64: 0>} : (tensor<?xi64, #tenon.shape<N>>) -> tensor<i64>
  tenon.bind %sum ["frames"] {min = 0 : i64} : tensor<i64>
  %isLong = tenon.compare gt, %clipped, %1 : (tensor<?xf32, #tenon.shape<N>>, tensor<f32>) -> tensor<?xi1, #tenon.shape<N>>
  %ones = tenon.cast %isLong : (tensor<?xi1, #tenon.shape<N>>) -> tensor<?xi64, #tenon.shape<N>>
  %count = tenon.reduce sum, %ones {axes = array<i64: 0>} : (tensor<?xi64, #tenon.shape<N>>) -> tensor<i64>
  tenon.bind %count ["long"] {min = 0 : i64} : tensor<i64>
  return
}

// -----

// What may be negative can be anything when it is multiplied, or divided; what a bound was found for bounds others.
// CHECK-LABEL: func.func @unknown_signs
// CHECK: tenon.bind {{.*}} ["a"] {min = 0 : i64}
// CHECK: tenon.bind {{.*}} ["b"] {min = 0 : i64}
// CHECK: tenon.bind {{.*}} ["c"] {bounds = #tenon.shape<9>
// CHECK: tenon.bind {{.*}} ["d"] {bounds = #tenon.shape<18>
func.func @unknown_signs(%n: tensor<i64>) {
  %9 = tenon.weight dense<9> : tensor<i64>
  %2 = tenon.weight dense<2> : tensor<i64>
  %small = tenon.min %n, %9 : (tensor<i64>, tensor<i64>) -> tensor<i64>
  %a = tenon.mul %small, %small : (tensor<i64>, tensor<i64>) -> tensor<i64>
  tenon.bind %a ["a"] {min = 0 : i64} : tensor<i64>
  %b = tenon.div %small, %2 : (tensor<i64>, tensor<i64>) -> tensor<i64>
  tenon.bind %b ["b"] {min = 0 : i64} : tensor<i64>
  tenon.bind %small ["c"] {min = 0 : i64} : tensor<i64>
  %doubled = tenon.sizes #tenon.shape<c * 2> -> tensor<i64>
  %d = tenon.add %doubled, %2 : (tensor<i64>, tensor<i64>) -> tensor<i64>
  %e = tenon.sub %d, %2 : (tensor<i64>, tensor<i64>) -> tensor<i64>
  tenon.bind %e ["d"] {min = 0 : i64} : tensor<i64>
  return
}
