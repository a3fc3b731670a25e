// RUN: tenon-opt %s -tenon-to-linalg | FileCheck %s

// Six lines of eight elements; a heap of three items stands in the line of the result. An item is a rank and an index.
// CHECK-LABEL: func.func private @top_k
// CHECK-SAME: %[[X:[a-z0-9]*]]: tensor<2x3x8xf32>
// CHECK: scf.for {{.*}} iter_args(%[[V:.*]] = %{{.*}}, %[[I:.*]] = %{{.*}}) -> (tensor<2x3x3xf32>, tensor<2x3x3xi64>)
// CHECK: arith.extui {{.*}} : i32 to i64
// CHECK: scf.while
// CHECK: scf.condition
// CHECK: tensor.insert
// CHECK: } {tenon.tiles = #tenon.shape<6>}
func.func private @top_k(%x: tensor<2x3x8xf32>) -> (tensor<2x3x3xf32>, tensor<2x3x3xi64>) attributes {tenon.kernel} {
  %v, %i = tenon.top_k %x {axis = 2 : i64} : (tensor<2x3x8xf32>) -> (tensor<2x3x3xf32>, tensor<2x3x3xi64>)
  return %v, %i : tensor<2x3x3xf32>, tensor<2x3x3xi64>
}

// Many elements are sorted by their ranks' digits, of which four are counted.
// CHECK-LABEL: func.func private @sort
// CHECK: bufferization.alloc_tensor() : tensor<1024xi64>
// CHECK: } {tenon.tiles = #tenon.shape<2>}
func.func private @sort(%x: tensor<2x500xf32>) -> (tensor<2x500xf32>, tensor<2x500xi64>) attributes {tenon.kernel} {
  %v, %i = tenon.top_k %x {axis = 1 : i64} : (tensor<2x500xf32>) -> (tensor<2x500xf32>, tensor<2x500xi64>)
  return %v, %i : tensor<2x500xf32>, tensor<2x500xi64>
}

// The least element that a filter leaves is found by bisection of its bits. Sums are of any order, counts of whole lines.
// CHECK-LABEL: func.func private @sample
// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}) -> (tensor<2xi64>)
// CHECK: arith.maxui
// CHECK: scf.if {{.*}} -> (i32)
// CHECK: scf.while
// CHECK: arith.cmpi uge
// CHECK: scf.if {{.*}} -> (i32)
// CHECK: arith.addf {{.*}} fastmath<reassoc>
// CHECK: } {tenon.tiles = #tenon.shape<2>}
func.func private @sample(%w: tensor<2x5000xf32>, %f: tensor<2x3xf32>, %u: tensor<2xf32>) -> tensor<2xi64> attributes {tenon.kernel} {
  %0 = tenon.sample %w, %f, %u : (tensor<2x5000xf32>, tensor<2x3xf32>, tensor<2xf32>) -> tensor<2xi64>
  return %0 : tensor<2xi64>
}

// Scores above the threshold are a heap, and boxes are taken from its top.
// CHECK-LABEL: func.func private @nms
// CHECK: arith.cmpf ogt
// CHECK: scf.while
// CHECK: } {tenon.tiles = #tenon.shape<2>}
func.func private @nms(%b: tensor<1x6x4xf32>, %s: tensor<1x2x6xf32>, %n: tensor<i64>, %t: tensor<f32>)
    -> (tensor<1x2x6xi64>, tensor<1x2xi64>) attributes {tenon.kernel} {
  %i, %k = tenon.nms %b, %s, %n, %t, %t
    : (tensor<1x6x4xf32>, tensor<1x2x6xf32>, tensor<i64>, tensor<f32>, tensor<f32>) -> (tensor<1x2x6xi64>, tensor<1x2xi64>)
  return %i, %k : tensor<1x2x6xi64>, tensor<1x2xi64>
}

// CHECK-LABEL: func.func private @lu
// CHECK: math.absf
// CHECK: } {tenon.tiles = #tenon.shape<s0>}
func.func private @lu(%x: tensor<?x3x3xf32, #tenon.shape<s0, 3, 3>>)
    -> (tensor<?x3x3xf32, #tenon.shape<s0, 3, 3>>, tensor<?xf32, #tenon.shape<s0>>) attributes {tenon.kernel, tenon.symbols = ["s0"]} {
  %f, %s = tenon.lu %x : (tensor<?x3x3xf32, #tenon.shape<s0, 3, 3>>)
    -> (tensor<?x3x3xf32, #tenon.shape<s0, 3, 3>>, tensor<?xf32, #tenon.shape<s0>>)
  return %f, %s : tensor<?x3x3xf32, #tenon.shape<s0, 3, 3>>, tensor<?xf32, #tenon.shape<s0>>
}
