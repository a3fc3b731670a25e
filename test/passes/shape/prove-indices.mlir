// RUN: tenon-opt %s --tenon-prove-indices | FileCheck %s

// CHECK-LABEL: func.func @constants
// CHECK: tenon.gather {{.*}} {axis = 0 : i64, in_range}
// CHECK: tenon.gather {{.*}} {axis = 0 : i64} :
func.func @constants(%x: tensor<5xf32>) -> (tensor<3xf32>, tensor<3xf32>) {
  %good = tenon.weight dense<[0, -5, 4]> : tensor<3xi64>
  %bad = tenon.weight dense<[0, -5, 5]> : tensor<3xi64>
  %0 = tenon.gather %x, %good {axis = 0 : i64} : (tensor<5xf32>, tensor<3xi64>) -> tensor<3xf32>
  %1 = tenon.gather %x, %bad {axis = 0 : i64} : (tensor<5xf32>, tensor<3xi64>) -> tensor<3xf32>
  return %0, %1 : tensor<3xf32>, tensor<3xf32>
}

// Positions along the dimension, and along a longer one.
// CHECK-LABEL: func.func @positions
// CHECK: tenon.gather {{.*}} {axis = 0 : i64, in_range}
// CHECK: tenon.gather {{.*}} {axis = 0 : i64} :
func.func @positions(%x: tensor<?xf32, #tenon.shape<N>>) -> (tensor<?xf32, #tenon.shape<N>>, tensor<?xf32, #tenon.shape<N + 1>>) {
  %i = tenon.iota {axis = 0 : i64} : () -> tensor<?xi64, #tenon.shape<N>>
  %0 = tenon.gather %x, %i {axis = 0 : i64} : (tensor<?xf32, #tenon.shape<N>>, tensor<?xi64, #tenon.shape<N>>) -> tensor<?xf32, #tenon.shape<N>>
  %j = tenon.iota {axis = 0 : i64} : () -> tensor<?xi64, #tenon.shape<N + 1>>
  %1 = tenon.gather %x, %j {axis = 0 : i64} : (tensor<?xf32, #tenon.shape<N>>, tensor<?xi64, #tenon.shape<N + 1>>) -> tensor<?xf32, #tenon.shape<N + 1>>
  return %0, %1 : tensor<?xf32, #tenon.shape<N>>, tensor<?xf32, #tenon.shape<N + 1>>
}

// A minimum with the last position proves the upper limit, a maximum with 0 the lower one; a sum proves neither.
// CHECK-LABEL: func.func @clamped
// CHECK: tenon.gather {{.*}} {axis = 0 : i64, in_range}
// CHECK: tenon.gather {{.*}} {axis = 0 : i64} :
// CHECK: tenon.gather {{.*}} {axis = 0 : i64} :
func.func @clamped(%x: tensor<?xf32, #tenon.shape<N>>, %i: tensor<4xi64>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %zero = tenon.weight dense<0> : tensor<i64>
  %last = tenon.sizes #tenon.shape<N + -1> -> tensor<1xi64>
  %low = tenon.min %i, %last : (tensor<4xi64>, tensor<1xi64>) -> tensor<4xi64>
  %both = tenon.max %low, %zero : (tensor<4xi64>, tensor<i64>) -> tensor<4xi64>
  %sum = tenon.add %both, %zero : (tensor<4xi64>, tensor<i64>) -> tensor<4xi64>
  %0 = tenon.gather %x, %both {axis = 0 : i64} : (tensor<?xf32, #tenon.shape<N>>, tensor<4xi64>) -> tensor<4xf32>
  %1 = tenon.gather %x, %low {axis = 0 : i64} : (tensor<?xf32, #tenon.shape<N>>, tensor<4xi64>) -> tensor<4xf32>
  %2 = tenon.gather %x, %sum {axis = 0 : i64} : (tensor<?xf32, #tenon.shape<N>>, tensor<4xi64>) -> tensor<4xf32>
  return %0, %1, %2 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// A check that always holds disappears.
// CHECK-LABEL: func.func @checks
// CHECK-SAME: %[[X:.*]]: tensor<4x8xf32>, %[[I:.*]]: tensor<4xi64>
// CHECK: %[[BEST:.*]] = tenon.arg_reduce
// CHECK: %[[CHECKED:.*]] = tenon.check_range %[[I]]
// CHECK: return %[[BEST]], %[[CHECKED]]
func.func @checks(%x: tensor<4x8xf32>, %i: tensor<4xi64>) -> (tensor<4xi64>, tensor<4xi64>) {
  %0 = tenon.arg_reduce max, %x {axis = 1 : i64} : (tensor<4x8xf32>) -> tensor<4xi64>
  %1 = tenon.check_range %0 {limits = #tenon.shape<0, 7>} : (tensor<4xi64>) -> tensor<4xi64>
  %2 = tenon.check_range %i {limits = #tenon.shape<0, 7>} : (tensor<4xi64>) -> tensor<4xi64>
  return %1, %2 : tensor<4xi64>, tensor<4xi64>
}

// Indices that come from outside may be anything, and the one after the last is out of range.
// CHECK-LABEL: func.func @unproven
// CHECK-NOT: in_range
// CHECK: tenon.check_range
// CHECK-NOT: in_range
// CHECK: return
func.func @unproven(%x: tensor<5xf32>, %i: tensor<3xi64>, %y: tensor<3x5xf32>) -> (tensor<3xf32>, tensor<3xf32>, tensor<3xi64>) {
  %one = tenon.weight dense<1> : tensor<i64>
  %best = tenon.arg_reduce max, %y {axis = 1 : i64} : (tensor<3x5xf32>) -> tensor<3xi64>
  %next = tenon.add %best, %one : (tensor<3xi64>, tensor<i64>) -> tensor<3xi64>
  %0 = tenon.gather %x, %i {axis = 0 : i64} : (tensor<5xf32>, tensor<3xi64>) -> tensor<3xf32>
  %1 = tenon.gather %x, %next {axis = 0 : i64} : (tensor<5xf32>, tensor<3xi64>) -> tensor<3xf32>
  %2 = tenon.check_range %next {limits = #tenon.shape<0, 4>} : (tensor<3xi64>) -> tensor<3xi64>
  return %0, %1, %2 : tensor<3xf32>, tensor<3xf32>, tensor<3xi64>
}
