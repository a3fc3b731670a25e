// RUN: tenon-opt %s --tenon-rematerialize=limit=1 | FileCheck %s
// RUN: tenon-opt %s --tenon-rematerialize=limit=2 | FileCheck %s --check-prefix=TWO
// What lies unused while most bytes are live is computed again where it is read.

// Between the two wide ones the result of @widen is idle.
// CHECK-LABEL: func.func @idle
// CHECK: %[[A:.*]] = tenon.launch @widen(%arg0)
// CHECK: %[[B:.*]] = tenon.launch @join(%[[A]])
// CHECK: %[[C:.*]] = tenon.launch @join(%[[B]])
// CHECK: %[[D:.*]] = tenon.launch @narrow(%[[C]])
// CHECK: %[[AGAIN:.*]] = tenon.launch @widen(%arg0)
// CHECK: %[[VIEW:.*]] = tenon.reshape %[[AGAIN]]
// CHECK: tenon.launch @last(%[[D]], %[[VIEW]])
func.func @idle(%x: tensor<10xf32>) -> tensor<10xf32> {
  %a = tenon.launch @widen(%x) {sizes = #tenon.shape<>} : (tensor<10xf32>) -> tensor<1000xf32>
  %va = tenon.reshape %a : (tensor<1000xf32>) -> tensor<10x100xf32>
  %b = tenon.launch @join(%a) {sizes = #tenon.shape<>} : (tensor<1000xf32>) -> tensor<1000xf32>
  %c = tenon.launch @join(%b) {sizes = #tenon.shape<>} : (tensor<1000xf32>) -> tensor<1000xf32>
  %d = tenon.launch @narrow(%c) {sizes = #tenon.shape<>} : (tensor<1000xf32>) -> tensor<10xf32>
  %e = tenon.launch @last(%d, %va) {sizes = #tenon.shape<>} : (tensor<10xf32>, tensor<10x100xf32>) -> tensor<10xf32>
  return %e : tensor<10xf32>
}

// What it is computed from is computed again as well, if that is not there any more; the cheaper one of two goes first.
// TWO-LABEL: func.func @chain
// TWO: tenon.launch @narrow
// TWO: %[[A:.*]] = tenon.launch @widen(%arg0)
// TWO: %[[B:.*]] = tenon.launch @twice(%[[A]])
// TWO: tenon.launch @last(%{{.*}}, %{{.*}})
func.func @chain(%x: tensor<10xf32>) -> tensor<10xf32> {
  %a = tenon.launch @widen(%x) {sizes = #tenon.shape<>} : (tensor<10xf32>) -> tensor<1000xf32>
  %t = tenon.launch @twice(%a) {sizes = #tenon.shape<>} : (tensor<1000xf32>) -> tensor<1000xf32>
  %vt = tenon.reshape %t : (tensor<1000xf32>) -> tensor<10x100xf32>
  %b = tenon.launch @join(%t) {sizes = #tenon.shape<>} : (tensor<1000xf32>) -> tensor<1000xf32>
  %c = tenon.launch @join(%b) {sizes = #tenon.shape<>} : (tensor<1000xf32>) -> tensor<1000xf32>
  %d = tenon.launch @narrow(%c) {sizes = #tenon.shape<>} : (tensor<1000xf32>) -> tensor<10xf32>
  %e = tenon.launch @last(%d, %vt) {sizes = #tenon.shape<>} : (tensor<10xf32>, tensor<10x100xf32>) -> tensor<10xf32>
  return %e : tensor<10xf32>
}

// A kernel with a loop nest costs more than that.
// CHECK-LABEL: func.func @costly
// CHECK-COUNT-3: tenon.launch @join
// CHECK-NOT: tenon.launch @join
// CHECK: return
func.func @costly(%x: tensor<1000xf32>) -> tensor<10xf32> {
  %a = tenon.launch @join(%x) {sizes = #tenon.shape<>} : (tensor<1000xf32>) -> tensor<1000xf32>
  %va = tenon.reshape %a : (tensor<1000xf32>) -> tensor<10x100xf32>
  %b = tenon.launch @join(%a) {sizes = #tenon.shape<>} : (tensor<1000xf32>) -> tensor<1000xf32>
  %c = tenon.launch @join(%b) {sizes = #tenon.shape<>} : (tensor<1000xf32>) -> tensor<1000xf32>
  %d = tenon.launch @narrow(%c) {sizes = #tenon.shape<>} : (tensor<1000xf32>) -> tensor<10xf32>
  %e = tenon.launch @last(%d, %va) {sizes = #tenon.shape<>} : (tensor<10xf32>, tensor<10x100xf32>) -> tensor<10xf32>
  return %e : tensor<10xf32>
}

func.func private @widen(%x: tensor<10xf32>) -> tensor<1000xf32> attributes {tenon.kernel} {
  %0 = tenon.reshape %x : (tensor<10xf32>) -> tensor<10x1xf32>
  %1 = tenon.broadcast %0 : (tensor<10x1xf32>) -> tensor<10x100xf32>
  %2 = tenon.reshape %1 : (tensor<10x100xf32>) -> tensor<1000xf32>
  return %2 : tensor<1000xf32>
}
func.func private @twice(%x: tensor<1000xf32>) -> tensor<1000xf32> attributes {tenon.kernel} {
  %0 = tenon.add %x, %x : (tensor<1000xf32>, tensor<1000xf32>) -> tensor<1000xf32>
  return %0 : tensor<1000xf32>
}
func.func private @join(%x: tensor<1000xf32>) -> tensor<1000xf32> attributes {tenon.kernel} {
  %0 = tenon.softmax %x {axis = 0 : i64} : (tensor<1000xf32>) -> tensor<1000xf32>
  return %0 : tensor<1000xf32>
}
func.func private @narrow(%x: tensor<1000xf32>) -> tensor<10xf32> attributes {tenon.kernel} {
  %0 = tenon.reshape %x : (tensor<1000xf32>) -> tensor<10x100xf32>
  %1 = tenon.reduce sum, %0 {axes = array<i64: 1>} : (tensor<10x100xf32>) -> tensor<10xf32>
  return %1 : tensor<10xf32>
}
func.func private @last(%x: tensor<10xf32>, %y: tensor<10x100xf32>) -> tensor<10xf32> attributes {tenon.kernel} {
  %0 = tenon.reduce sum, %y {axes = array<i64: 1>} : (tensor<10x100xf32>) -> tensor<10xf32>
  %1 = tenon.add %x, %0 : (tensor<10xf32>, tensor<10xf32>) -> tensor<10xf32>
  return %1 : tensor<10xf32>
}
