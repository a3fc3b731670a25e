// RUN: tenon-opt %s --tenon-apply-facts --canonicalize | FileCheck %s
// Selections by comparisons of positions whose outcome all sizes share.

// The query behind `past` keys sees each of past + 1 keys.
// CHECK-LABEL: @causal_mask_of_one_query
// CHECK-SAME: %[[S:[a-z0-9]+]]:
// CHECK-NEXT: return %[[S]]
func.func @causal_mask_of_one_query(%s: tensor<1x?xf32, #tenon.shape<1, P + 1>>, %x: tensor<?xf32, #tenon.shape<P>>)
    -> tensor<1x?xf32, #tenon.shape<1, P + 1>> {
  %low = tenon.weight dense<-1.0e+09> : tensor<f32>
  %key = tenon.iota {axis = 1 : i64} : () -> tensor<1x?xi64, #tenon.shape<1, P + 1>>
  %query = tenon.iota {axis = 0 : i64} : () -> tensor<1x1xi64>
  %past = tenon.sizes #tenon.shape<P> -> tensor<1xi64>
  %place = tenon.add %query, %past : (tensor<1x1xi64>, tensor<1xi64>) -> tensor<1x1xi64>
  %seen = tenon.compare le, %key, %place : (tensor<1x?xi64, #tenon.shape<1, P + 1>>, tensor<1x1xi64>) -> tensor<1x?xi1, #tenon.shape<1, P + 1>>
  %0 = tenon.select %seen, %s, %low : (tensor<1x?xi1, #tenon.shape<1, P + 1>>, tensor<1x?xf32, #tenon.shape<1, P + 1>>, tensor<f32>) -> tensor<1x?xf32, #tenon.shape<1, P + 1>>
  return %0 : tensor<1x?xf32, #tenon.shape<1, P + 1>>
}

// Two queries do not see the same keys.
// CHECK-LABEL: @causal_mask_of_two_queries
// CHECK: tenon.select
func.func @causal_mask_of_two_queries(%s: tensor<2x?xf32, #tenon.shape<2, P + 2>>, %x: tensor<?xf32, #tenon.shape<P>>)
    -> tensor<2x?xf32, #tenon.shape<2, P + 2>> {
  %low = tenon.weight dense<-1.0e+09> : tensor<f32>
  %key = tenon.iota {axis = 1 : i64} : () -> tensor<2x?xi64, #tenon.shape<2, P + 2>>
  %query = tenon.iota {axis = 0 : i64} : () -> tensor<2x1xi64>
  %past = tenon.sizes #tenon.shape<P> -> tensor<1xi64>
  %place = tenon.add %query, %past : (tensor<2x1xi64>, tensor<1xi64>) -> tensor<2x1xi64>
  %seen = tenon.compare le, %key, %place : (tensor<2x?xi64, #tenon.shape<2, P + 2>>, tensor<2x1xi64>) -> tensor<2x?xi1, #tenon.shape<2, P + 2>>
  %0 = tenon.select %seen, %s, %low : (tensor<2x?xi1, #tenon.shape<2, P + 2>>, tensor<2x?xf32, #tenon.shape<2, P + 2>>, tensor<f32>) -> tensor<2x?xf32, #tenon.shape<2, P + 2>>
  return %0 : tensor<2x?xf32, #tenon.shape<2, P + 2>>
}

// Of a logical and the operand that decides stays; no key is behind the last one, and what is taken is stretched.
// CHECK-LABEL: @window_and_causal
// CHECK: %[[NEAR:.*]] = tenon.compare gt
// CHECK-NOT: tenon.and
// CHECK: tenon.select %[[NEAR]]
// CHECK: %[[Y:.*]] = tenon.broadcast %arg1 : (tensor<1xf32>) -> tensor<?xf32
// CHECK: return %{{.*}}, %[[Y]]
func.func @window_and_causal(%s: tensor<?xf32, #tenon.shape<N>>, %y: tensor<1xf32>)
    -> (tensor<?xf32, #tenon.shape<N>>, tensor<?xf32, #tenon.shape<N>>) {
  %low = tenon.weight dense<-1.0e+09> : tensor<f32>
  %three = tenon.weight dense<3> : tensor<1xi64>
  %key = tenon.iota {axis = 0 : i64} : () -> tensor<?xi64, #tenon.shape<N>>
  %end = tenon.sizes #tenon.shape<N> -> tensor<1xi64>
  %near = tenon.compare gt, %key, %three : (tensor<?xi64, #tenon.shape<N>>, tensor<1xi64>) -> tensor<?xi1, #tenon.shape<N>>
  %before = tenon.compare lt, %key, %end : (tensor<?xi64, #tenon.shape<N>>, tensor<1xi64>) -> tensor<?xi1, #tenon.shape<N>>
  %both = tenon.and %near, %before : (tensor<?xi1, #tenon.shape<N>>, tensor<?xi1, #tenon.shape<N>>) -> tensor<?xi1, #tenon.shape<N>>
  %0 = tenon.select %both, %s, %low : (tensor<?xi1, #tenon.shape<N>>, tensor<?xf32, #tenon.shape<N>>, tensor<f32>) -> tensor<?xf32, #tenon.shape<N>>
  %behind = tenon.not %before : (tensor<?xi1, #tenon.shape<N>>) -> tensor<?xi1, #tenon.shape<N>>
  %1 = tenon.select %behind, %s, %y : (tensor<?xi1, #tenon.shape<N>>, tensor<?xf32, #tenon.shape<N>>, tensor<1xf32>) -> tensor<?xf32, #tenon.shape<N>>
  return %0, %1 : tensor<?xf32, #tenon.shape<N>>, tensor<?xf32, #tenon.shape<N>>
}

// Positions of 32 bits may not reach the size.
// CHECK-LABEL: @narrow_positions
// CHECK: tenon.select
func.func @narrow_positions(%s: tensor<?xf32, #tenon.shape<N>>) -> tensor<?xf32, #tenon.shape<N>> {
  %low = tenon.weight dense<-1.0e+09> : tensor<f32>
  %key = tenon.iota {axis = 0 : i64} : () -> tensor<?xi32, #tenon.shape<N>>
  %zero = tenon.weight dense<0> : tensor<1xi32>
  %counts = tenon.compare ge, %key, %zero : (tensor<?xi32, #tenon.shape<N>>, tensor<1xi32>) -> tensor<?xi1, #tenon.shape<N>>
  %0 = tenon.select %counts, %s, %low : (tensor<?xi1, #tenon.shape<N>>, tensor<?xf32, #tenon.shape<N>>, tensor<f32>) -> tensor<?xf32, #tenon.shape<N>>
  return %0 : tensor<?xf32, #tenon.shape<N>>
}
