// RUN: tenon-opt %s -split-input-file --tenon-to-plan | FileCheck %s

// A size that data decides is compared with its bound where it is read; one without a bound is not.
// CHECK-LABEL: plan.program @binding
// CHECK: ^bb0(%[[N:.*]]: index, %[[K:.*]]: index, %[[L:.*]]: index)
// CHECK: %[[LESS:.*]] = arith.muli %[[K]], %{{.*}} : index
// CHECK: %[[ROOM:.*]] = arith.addi
// CHECK: plan.bind 1 =
// CHECK-NEXT: plan.check %[[ROOM]] "data asks for a size above N, the most that there can be"
// CHECK-NEXT: plan.bind 2 =
// CHECK-NOT: plan.check
func.func @binding(%n: tensor<2xi64>, %a: tensor<?xf32, #tenon.shape<N>>) {
  tenon.bind %n ["k", "l"] {min = 0 : i64, bounds = #tenon.shape<N, ?>} : tensor<2xi64>
  return
}

// -----

// Memory for what data decides the size of has a bound where sizes of inputs give one.
// CHECK-LABEL: plan.program @memory
// CHECK: ^bb0(%[[N:.*]]: index, %{{.*}}: index, %{{.*}}: index)
// CHECK: %[[MOST:.*]] = arith.muli %[[N]], %c4
// CHECK: plan.alloc %{{.*}} at_most %[[MOST]]
// CHECK: plan.launch @make
// CHECK: plan.alloc %{{[^ ]*}}{{$}}
// CHECK: plan.launch @make
#k = #tenon.shape<k>
#l = #tenon.shape<l>
func.func @memory(%n: tensor<2xi64>, %a: tensor<?xf32, #tenon.shape<N>>) -> (tensor<1xf32>, tensor<1xf32>) {
  tenon.bind %n ["k", "l"] {min = 0 : i64, bounds = #tenon.shape<N, ?>} : tensor<2xi64>
  %0 = tenon.launch @make() {sizes = #k} : () -> tensor<?xf32, #k>
  %1 = tenon.launch @take(%0) {sizes = #k} : (tensor<?xf32, #k>) -> tensor<1xf32>
  %2 = tenon.launch @make() {sizes = #l} : () -> tensor<?xf32, #l>
  %3 = tenon.launch @take(%2) {sizes = #l} : (tensor<?xf32, #l>) -> tensor<1xf32>
  return %1, %3 : tensor<1xf32>, tensor<1xf32>
}
func.func private @make(tensor<?xf32>, index, index, index) -> tensor<?xf32>
    attributes {tenon.kernel, tenon.symbols = ["s0"], tenon.tiles = #tenon.shape<s0>}
func.func private @take(tensor<?xf32>, tensor<1xf32>, index, index, index) -> tensor<1xf32>
    attributes {tenon.kernel, tenon.symbols = ["s0"], tenon.tiles = #tenon.shape<1>}

// -----

// Of two branches the larger one bounds the result; a list that grows by one each time has as many as there are times.
// CHECK-LABEL: plan.program @branches_and_loops
// CHECK: ^bb0(%[[N:.*]]: index, %[[R:.*]]: index, %[[C:.*]]: index)
// CHECK: %[[BRANCH:.*]] = arith.addi %{{.*}}, %c8
// CHECK: %[[LOOP:.*]] = arith.muli %[[N]], %c16
// CHECK: plan.alloc %{{.*}} at_most %[[BRANCH]]
// CHECK: plan.alloc %{{.*}} at_most %[[LOOP]]
#r = #tenon.shape<r>
#c = #tenon.shape<c, 4>
func.func @branches_and_loops(%go: tensor<i1>, %x: tensor<?xf32, #tenon.shape<N>>,
                              %y: tensor<?xf32, #tenon.shape<N + 2>>, %row: tensor<4xf32>)
    -> (tensor<?xf32, #r>, tensor<?x4xf32, #c>) {
  %0 = tenon.if %go : tensor<i1> -> tensor<?xf32, #r> {
    tenon.yield %x : tensor<?xf32, #tenon.shape<N>>
  } else {
    tenon.yield %y : tensor<?xf32, #tenon.shape<N + 2>>
  } {symbols = ["r"]}
  %none = tenon.weight dense<> : tensor<0x4xf32>
  %1 = tenon.loop %go(%none) : tensor<i1>, (tensor<0x4xf32>) -> tensor<?x4xf32, #c> {
  ^bb0(%list: tensor<?x4xf32, #c>):
    %more = tenon.append %list, %row : (tensor<?x4xf32, #c>, tensor<4xf32>) -> tensor<?x4xf32, #tenon.shape<c + 1, 4>>
    tenon.yield %go, %more : tensor<i1>, tensor<?x4xf32, #tenon.shape<c + 1, 4>>
  } {symbols = ["c"], trips = #tenon.shape<N>}
  return %0, %1 : tensor<?xf32, #r>, tensor<?x4xf32, #c>
}
