// RUN: tenon-opt %s -pass-pipeline='builtin.module(tenon-widen-floats)' | FileCheck %s
// RUN: tenon-opt %s -pass-pipeline='builtin.module(tenon-widen-floats{round-reduced-precision=true})' | FileCheck %s --check-prefix=ROUND

// Inputs keep their types, results do not.
// CHECK-LABEL: func.func @arithmetic
// CHECK-SAME: (%[[X:.*]]: tensor<?x4xf32, #tenon.shape<N, 4>>, %[[Y:.*]]: tensor<4xf16>) -> tensor<?x4xf64, #tenon.shape<N, 4>>
// CHECK-DAG: %[[WX:.*]] = tenon.cast %[[X]] : {{.*}} -> tensor<?x4xf64, #tenon.shape<N, 4>>
// CHECK-DAG: %[[WY:.*]] = tenon.cast %[[Y]] : (tensor<4xf16>) -> tensor<4xf64>
// CHECK: %[[E:.*]] = tenon.exp %[[WX]]
// CHECK-NEXT: %[[A:.*]] = tenon.add %[[E]], %[[WY]] : {{.*}} -> tensor<?x4xf64, #tenon.shape<N, 4>>
// CHECK-NEXT: return %[[A]]
func.func @arithmetic(%x: tensor<?x4xf32, #tenon.shape<N, 4>>, %y: tensor<4xf16>) -> tensor<?x4xf32, #tenon.shape<N, 4>> {
  %0 = tenon.exp %x : (tensor<?x4xf32, #tenon.shape<N, 4>>) -> tensor<?x4xf32, #tenon.shape<N, 4>>
  %1 = tenon.cast %y : (tensor<4xf16>) -> tensor<4xf32>
  %2 = tenon.add %0, %1 : (tensor<?x4xf32, #tenon.shape<N, 4>>, tensor<4xf32>) -> tensor<?x4xf32, #tenon.shape<N, 4>>
  return %2 : tensor<?x4xf32, #tenon.shape<N, 4>>
}

// The f32 nearest to 0.1 is no other number in f64. What lies in the file stays there.
// CHECK-LABEL: func.func @weights
// CHECK: tenon.weight dense<[0.10000000149011612, 2.000000e+00]> : tensor<2xf64> {name = "few"}
// CHECK: tenon.weight dense<-1.500000e+00> : tensor<5000xf64>
// CHECK: %[[W:.*]] = tenon.weight dense_resource<many> : tensor<1xf32>
// CHECK-NEXT: tenon.cast %[[W]] : (tensor<1xf32>) -> tensor<1xf64>
func.func @weights() -> (tensor<2xf32>, tensor<5000xbf16>, tensor<1xf32>) {
  %0 = tenon.weight dense<[0.1, 2.0]> : tensor<2xf32> {name = "few"}
  %1 = tenon.weight dense<-1.5> : tensor<5000xbf16>
  %2 = tenon.weight dense_resource<many> : tensor<1xf32>
  return %0, %1, %2 : tensor<2xf32>, tensor<5000xbf16>, tensor<1xf32>
}

// What looks at bits sees those of the model. Integers, and roundings to eight bits, stay.
// CHECK-LABEL: func.func @bits
// CHECK: %[[X:.*]] = tenon.cast %arg0
// CHECK: %[[S:.*]] = tenon.sqrt %[[X]] : (tensor<4xf64>) -> tensor<4xf64>
// CHECK: %[[N:.*]] = tenon.cast %[[S]] : (tensor<4xf64>) -> tensor<4xf32>
// CHECK: tenon.bitcast %[[N]] : (tensor<4xf32>) -> tensor<4xi32>
// CHECK: %[[F8:.*]] = tenon.cast %[[S]] : (tensor<4xf64>) -> tensor<4xf8E4M3FN>
// CHECK: tenon.cast %[[F8]] : (tensor<4xf8E4M3FN>) -> tensor<4xf64>
func.func @bits(%x: tensor<4xf32>) -> (tensor<4xi32>, tensor<4xf32>) {
  %0 = tenon.sqrt %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = tenon.bitcast %0 : (tensor<4xf32>) -> tensor<4xi32>
  %2 = tenon.cast %0 : (tensor<4xf32>) -> tensor<4xf8E4M3FN>
  %3 = tenon.cast %2 : (tensor<4xf8E4M3FN>) -> tensor<4xf32>
  return %1, %3 : tensor<4xi32>, tensor<4xf32>
}

// CHECK-LABEL: func.func @loops
// CHECK: tenon.loop {{.*}} -> tensor<4xf64>
// CHECK-NEXT: ^bb0(%[[V:.*]]: tensor<4xf64>):
// CHECK: tenon.yield {{.*}} : tensor<i1>, tensor<4xf64>
func.func @loops(%go: tensor<i1>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = tenon.loop %go (%x) : tensor<i1>, (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%v: tensor<4xf32>):
    %1 = tenon.exp %v : (tensor<4xf32>) -> tensor<4xf32>
    tenon.yield %go, %1 : tensor<i1>, tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

// Integers and booleans are exact already, and so is what is f64.
// CHECK-LABEL: func.func @exact
// CHECK-NOT: tenon.cast
// CHECK: return {{.*}} : tensor<4xi32>, tensor<4xi1>, tensor<4xf64>
func.func @exact(%i: tensor<4xi32>, %x: tensor<4xf64>) -> (tensor<4xi32>, tensor<4xi1>, tensor<4xf64>) {
  %0 = tenon.add %i, %i : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  %1 = tenon.compare lt, %0, %i : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
  %2 = tenon.exp %x : (tensor<4xf64>) -> tensor<4xf64>
  return %0, %1, %2 : tensor<4xi32>, tensor<4xi1>, tensor<4xf64>
}

{-#
  dialect_resources: { builtin: { many: "0x0400000000000000" } }
#-}

// With the model's own rounding, what computes f16 or bf16 is rounded to it, casts to it as well; f32, what comes in and
// what moves are not.
// CHECK-LABEL: func.func @halves
// CHECK-NOT: tensor<4xbf16>) -> tensor<4xf64>
// ROUND-LABEL: func.func @halves
// ROUND: %[[X:.*]] = tenon.cast %arg0 : (tensor<4xf16>) -> tensor<4xf64>
// ROUND-NEXT: %[[E:.*]] = tenon.exp %[[X]]
// ROUND-NEXT: %[[N:.*]] = tenon.cast %[[E]] : (tensor<4xf64>) -> tensor<4xf16>
// ROUND-NEXT: %[[W:.*]] = tenon.cast %[[N]] : (tensor<4xf16>) -> tensor<4xf64>
// ROUND-NEXT: %[[R:.*]] = tenon.slice %[[W]]
// ROUND-NEXT: %[[S:.*]] = tenon.sin %[[R]]
// ROUND-NEXT: tenon.cast %[[S]] : (tensor<4xf64>) -> tensor<4xf16>
// ROUND-NEXT: %[[H:.*]] = tenon.cast
// ROUND-NEXT: %[[L:.*]] = tenon.log %[[H]]
// ROUND-NEXT: %[[B:.*]] = tenon.cast %[[L]] : (tensor<4xf64>) -> tensor<4xbf16>
// ROUND-NEXT: %[[Y:.*]] = tenon.cast %[[B]] : (tensor<4xbf16>) -> tensor<4xf64>
// ROUND-NEXT: return %[[Y]]
func.func @halves(%x: tensor<4xf16>) -> tensor<4xbf16> {
  %0 = tenon.exp %x : (tensor<4xf16>) -> tensor<4xf16>
  %1 = tenon.slice %0 {starts = #tenon.shape<0>, steps = array<i64: 1>} : (tensor<4xf16>) -> tensor<4xf16>
  %2 = tenon.sin %1 : (tensor<4xf16>) -> tensor<4xf16>
  %3 = tenon.cast %2 : (tensor<4xf16>) -> tensor<4xf32>
  %4 = tenon.log %3 : (tensor<4xf32>) -> tensor<4xf32>
  %5 = tenon.cast %4 : (tensor<4xf32>) -> tensor<4xbf16>
  return %5 : tensor<4xbf16>
}

// What a state rounds to is the model's own error, too. Those of f32 stay.
// CHECK: tenon.state @half : tensor<8x4xf32> live "past"
// CHECK: tenon.state @whole : tensor<2x4xf32>
tenon.state @half : tensor<8x4xf16> live "past"
tenon.state @whole : tensor<2x4xf32>
// CHECK-LABEL: func.func @states
// CHECK: %[[NEW:.*]] = tenon.cast %{{.*}} : (tensor<1x4xf64>) -> tensor<1x4xf32>
// CHECK: tenon.state.update @half at #tenon.shape<past> extends, %[[NEW]] : tensor<1x4xf32>
// CHECK: %[[ALL:.*]] = tenon.state.read @half : tensor<?x4xf32, #tenon.shape<past + 1, 4>>
// CHECK: tenon.cast %[[ALL]] : {{.*}} -> tensor<?x4xf64, #tenon.shape<past + 1, 4>>
// CHECK: tenon.state.read @whole : tensor<2x4xf32>
// ROUND-LABEL: func.func @states
// ROUND: tenon.cast %{{.*}} -> tensor<1x4xf16>
// ROUND: tenon.state.update @half at #tenon.shape<past> extends, %{{.*}} : tensor<1x4xf32>
func.func @states(%x: tensor<1x4xf32>) -> (tensor<?x4xf16, #tenon.shape<past + 1, 4>>, tensor<2x4xf32>) {
  %0 = tenon.exp %x : (tensor<1x4xf32>) -> tensor<1x4xf32>
  %1 = tenon.cast %0 : (tensor<1x4xf32>) -> tensor<1x4xf16>
  tenon.state.update @half at #tenon.shape<past> extends, %1 : tensor<1x4xf16>
  %2 = tenon.state.read @half : tensor<?x4xf16, #tenon.shape<past + 1, 4>>
  %3 = tenon.state.read @whole : tensor<2x4xf32>
  return %2, %3 : tensor<?x4xf16, #tenon.shape<past + 1, 4>>, tensor<2x4xf32>
}
