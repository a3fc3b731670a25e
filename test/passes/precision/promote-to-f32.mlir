// RUN: tenon-opt %s -pass-pipeline='builtin.module(func.func(tenon-promote-to-f32))' | FileCheck %s

// Arguments and results keep their types; f32 and integers are left alone.
// CHECK-LABEL: func.func @arithmetic
// CHECK-SAME: (%[[X:.*]]: tensor<?x4xf16, #tenon.shape<N, 4>>, %[[Y:.*]]: tensor<4xbf16>, %[[Z:.*]]: tensor<4xf32>)
// CHECK-SAME: -> (tensor<?x4xf16, #tenon.shape<N, 4>>, tensor<4xf32>)
// CHECK-DAG: %[[WX:.*]] = tenon.cast %[[X]] : {{.*}} -> tensor<?x4xf32, #tenon.shape<N, 4>>
// CHECK-DAG: %[[WY:.*]] = tenon.cast %[[Y]] : (tensor<4xbf16>) -> tensor<4xf32>
// CHECK: %[[E:.*]] = tenon.exp %[[WX]] : {{.*}} -> tensor<?x4xf32, #tenon.shape<N, 4>>
// CHECK-NEXT: %[[S:.*]] = tenon.sub %[[E]], %[[WY]]
// CHECK-NEXT: %[[A:.*]] = tenon.add %[[WY]], %[[Z]]
// CHECK-NEXT: %[[R:.*]] = tenon.cast %[[S]] : {{.*}} -> tensor<?x4xf16, #tenon.shape<N, 4>>
// CHECK-NEXT: return %[[R]], %[[A]]
func.func @arithmetic(%x: tensor<?x4xf16, #tenon.shape<N, 4>>, %y: tensor<4xbf16>, %z: tensor<4xf32>)
    -> (tensor<?x4xf16, #tenon.shape<N, 4>>, tensor<4xf32>) {
  %0 = tenon.exp %x : (tensor<?x4xf16, #tenon.shape<N, 4>>) -> tensor<?x4xf16, #tenon.shape<N, 4>>
  %1 = tenon.cast %y : (tensor<4xbf16>) -> tensor<4xf16>
  %2 = tenon.sub %0, %1 : (tensor<?x4xf16, #tenon.shape<N, 4>>, tensor<4xf16>) -> tensor<?x4xf16, #tenon.shape<N, 4>>
  %3 = tenon.cast %y : (tensor<4xbf16>) -> tensor<4xf32>
  %4 = tenon.add %3, %z : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %2, %4 : tensor<?x4xf16, #tenon.shape<N, 4>>, tensor<4xf32>
}

// A cache that comes and goes as halves is joined and read as such.
// CHECK-LABEL: func.func @cache
// CHECK-DAG: %[[Q:.*]] = tenon.cast %arg1 : (tensor<1x4xf16>) -> tensor<1x4xf32>
// CHECK: %[[E:.*]] = tenon.exp %[[Q]] : (tensor<1x4xf32>) -> tensor<1x4xf32>
// CHECK: %[[N:.*]] = tenon.cast %[[E]] : (tensor<1x4xf32>) -> tensor<1x4xf16>
// CHECK: %[[C:.*]] = tenon.concat %arg0, %[[N]] {axis = 0 : i64} : (tensor<3x4xf16>, tensor<1x4xf16>) -> tensor<4x4xf16>
// CHECK: %[[W:.*]] = tenon.cast %[[C]] : (tensor<4x4xf16>) -> tensor<4x4xf32>
// CHECK: tenon.mul %[[W]], %[[Q]]
// CHECK: %[[T:.*]] = tenon.transpose %[[C]] {{.*}} -> tensor<4x4xf16>
// CHECK: return %{{.*}}, %[[T]]
func.func @cache(%past: tensor<3x4xf16>, %x: tensor<1x4xf16>) -> (tensor<4x4xf16>, tensor<4x4xf16>) {
  %0 = tenon.exp %x : (tensor<1x4xf16>) -> tensor<1x4xf16>
  %1 = tenon.concat %past, %0 {axis = 0 : i64} : (tensor<3x4xf16>, tensor<1x4xf16>) -> tensor<4x4xf16>
  %2 = tenon.mul %1, %x : (tensor<4x4xf16>, tensor<1x4xf16>) -> tensor<4x4xf16>
  %3 = tenon.transpose %1 {permutation = array<i64: 1, 0>} : (tensor<4x4xf16>) -> tensor<4x4xf16>
  return %2, %3 : tensor<4x4xf16>, tensor<4x4xf16>
}

// What is taken of a weight or an argument is taken of halves.
// CHECK-LABEL: func.func @lookup
// CHECK: %[[W:.*]] = tenon.weight dense_resource<table> : tensor<2x1xf16>
// CHECK: %[[G:.*]] = tenon.gather %[[W]], %arg0 {{.*}} -> tensor<3x1xf16>
// CHECK: %[[F:.*]] = tenon.cast %[[G]] : (tensor<3x1xf16>) -> tensor<3x1xf32>
// CHECK: tenon.exp %[[F]]
func.func @lookup(%i: tensor<3xi64>) -> tensor<3x1xf16> {
  %0 = tenon.weight dense_resource<table> : tensor<2x1xf16>
  %1 = tenon.gather %0, %i {axis = 0 : i64} : (tensor<2x1xf16>, tensor<3xi64>) -> tensor<3x1xf16>
  %2 = tenon.exp %1 : (tensor<3x1xf16>) -> tensor<3x1xf16>
  return %2 : tensor<3x1xf16>
}

// What looks at bits sees those of the model, and roundings to eight bits stay.
// CHECK-LABEL: func.func @bits
// CHECK: %[[S:.*]] = tenon.sqrt {{.*}} -> tensor<4xf32>
// CHECK: %[[N:.*]] = tenon.cast %[[S]] : (tensor<4xf32>) -> tensor<4xf16>
// CHECK: tenon.bitcast %[[N]] : (tensor<4xf16>) -> tensor<4xi16>
// CHECK: tenon.cast %[[S]] : (tensor<4xf32>) -> tensor<4xf8E4M3FN>
func.func @bits(%x: tensor<4xf16>) -> (tensor<4xi16>, tensor<4xf8E4M3FN>) {
  %0 = tenon.sqrt %x : (tensor<4xf16>) -> tensor<4xf16>
  %1 = tenon.bitcast %0 : (tensor<4xf16>) -> tensor<4xi16>
  %2 = tenon.cast %0 : (tensor<4xf16>) -> tensor<4xf8E4M3FN>
  return %1, %2 : tensor<4xi16>, tensor<4xf8E4M3FN>
}

// CHECK-LABEL: func.func @loops
// CHECK: tenon.loop {{.*}} -> tensor<4xf32>
// CHECK-NEXT: ^bb0(%[[V:.*]]: tensor<4xf32>):
// CHECK: tenon.yield {{.*}} : tensor<i1>, tensor<4xf32>
func.func @loops(%go: tensor<i1>, %x: tensor<4xbf16>) -> tensor<4xbf16> {
  %0 = tenon.loop %go (%x) : tensor<i1>, (tensor<4xbf16>) -> tensor<4xbf16> {
  ^bb0(%v: tensor<4xbf16>):
    %1 = tenon.exp %v : (tensor<4xbf16>) -> tensor<4xbf16>
    tenon.yield %go, %1 : tensor<i1>, tensor<4xbf16>
  }
  return %0 : tensor<4xbf16>
}

// A model without f16 and bf16 stays as it is.
// CHECK-LABEL: func.func @nothing_to_promote
// CHECK-NOT: tenon.cast
// CHECK: return {{.*}} : tensor<4xf32>, tensor<4xi32>
func.func @nothing_to_promote(%x: tensor<4xf32>, %i: tensor<4xi32>) -> (tensor<4xf32>, tensor<4xi32>) {
  %0 = tenon.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = tenon.neg %i : (tensor<4xi32>) -> tensor<4xi32>
  return %0, %1 : tensor<4xf32>, tensor<4xi32>
}

{-#
  dialect_resources: { builtin: { table: "0x02000000003C0040" } }
#-}
