// RUN: tenon-opt %s -split-input-file -tenon-to-plan | FileCheck %s

// A size that data decides is a symbol of the program, after those of the inputs. What is known is set.
// CHECK-LABEL: plan.program @sizes_are_bound symbols ["N", "k", "c"]
// CHECK: ^bb0(%[[N:.*]]: index, %[[K:.*]]: index, %{{.*}}: index)
// CHECK: %[[BYTES:.*]] = arith.muli %[[K]], %c4
// CHECK: plan.output 0 size %[[BYTES]]
// CHECK: %[[COUNT:.*]] = plan.alloc %c8
// CHECK: plan.launch @count
// CHECK: plan.bind 1 = %[[COUNT]][0] min 0
// CHECK: plan.check %{{.*}} "too many"
// CHECK: plan.set 2 = %c7
// CHECK: plan.launch @fill
#n = #tenon.shape<N>
#k = #tenon.shape<k>
func.func @sizes_are_bound(%x: tensor<?xf32, #n> {tenon.name = "x"}) -> (tensor<?xf32, #k> {tenon.name = "y"}) {
  %0 = tenon.launch @count(%x) {sizes = #n} : (tensor<?xf32, #n>) -> tensor<1xi64>
  tenon.bind %0 ["k"] {min = 0 : i64} : tensor<1xi64>
  tenon.require #tenon.shape<N + k * -1> "too many"
  %1 = tenon.weight dense<7> : tensor<1xi64>
  tenon.bind %1 ["c"] {min = 0 : i64} : tensor<1xi64>
  %2 = tenon.launch @fill() {sizes = #k} : () -> tensor<?xf32, #k>
  return %2 : tensor<?xf32, #k>
}
func.func private @count(tensor<?xf32>, tensor<1xi64>, index, index, index) -> tensor<1xi64>
    attributes {tenon.kernel, tenon.symbols = ["s0"], tenon.tiles = #tenon.shape<1>}
func.func private @fill(tensor<?xf32>, index, index, index) -> tensor<?xf32>
    attributes {tenon.kernel, tenon.symbols = ["s0"], tenon.tiles = #tenon.shape<s0>}

// -----

// Each branch copies what it yields, then says how large that is.
// CHECK-LABEL: plan.program @branches symbols ["r"]
// CHECK: %[[C:.*]] = plan.input 0
// CHECK: %[[R:.*]] = plan.alloc
// CHECK: plan.if %[[C]] {
// CHECK: plan.reserve %[[R]] size %c12
// CHECK: %[[A:.*]] = plan.alias %[[R]][%c0] size %c12
// CHECK: plan.copy %{{.*}} to %[[A]] size %c12
// CHECK: plan.set 0 = %c3
// CHECK: } else {
// CHECK: plan.set 0 = %c5
// CHECK: plan.copy %[[R]] to
#r = #tenon.shape<r>
func.func @branches(%c: tensor<i1> {tenon.name = "c"}, %x: tensor<3xf32> {tenon.name = "x"},
                    %y: tensor<5xf32> {tenon.name = "y"}) -> (tensor<?xf32, #r> {tenon.name = "z"}) {
  %0 = tenon.if %c : tensor<i1> -> tensor<?xf32, #r> {
    tenon.yield %x : tensor<3xf32>
  } else {
    tenon.yield %y : tensor<5xf32>
  } {symbols = ["r"]}
  return %0 : tensor<?xf32, #r>
}

// -----

// What changes places goes aside first, and symbols change after the copies, all at once.
// CHECK-LABEL: plan.program @loops symbols ["N", "M", "a", "b", "saved.4", "saved.5"]
// CHECK: plan.set 2 = %[[N:.*]]
// CHECK: plan.set 3 = %[[M:.*]]
// CHECK: %[[GO:.*]] = plan.alloc %c1
// CHECK: %[[A:.*]] = plan.alloc
// CHECK: %[[B:.*]] = plan.alloc
// CHECK: plan.loop %[[GO]] {
// CHECK: %[[ASIDE:.*]] = plan.alloc
// CHECK: plan.copy %[[B]] to %[[ASIDE]]
// CHECK: %[[OTHER:.*]] = plan.alloc
// CHECK: plan.copy %[[A]] to %[[OTHER]]
// CHECK: plan.copy %[[ASIDE]] to
// CHECK: plan.copy %[[OTHER]] to
// CHECK: plan.set 4 = %[[OLDB:.*]] {
// CHECK: plan.set 5 = %[[OLDA:.*]] {
// CHECK: plan.set 2 =
// CHECK: plan.set 3 =
#sa = #tenon.shape<a>
#sb = #tenon.shape<b>
func.func @loops(%c: tensor<i1> {tenon.name = "c"}, %x: tensor<?xf32, #tenon.shape<N>> {tenon.name = "x"},
                 %y: tensor<?xf32, #tenon.shape<M>> {tenon.name = "y"}) -> (tensor<?xf32, #sa> {tenon.name = "z"}) {
  %0:2 = tenon.loop %c(%x, %y) : tensor<i1>, (tensor<?xf32, #tenon.shape<N>>, tensor<?xf32, #tenon.shape<M>>)
      -> (tensor<?xf32, #sa>, tensor<?xf32, #sb>) {
  ^bb0(%u: tensor<?xf32, #sa>, %v: tensor<?xf32, #sb>):
    %go = tenon.weight dense<false> : tensor<i1>
    tenon.yield %go, %v, %u : tensor<i1>, tensor<?xf32, #sb>, tensor<?xf32, #sa>
  } {symbols = ["a", "b"]}
  return %0#0 : tensor<?xf32, #sa>
}

// -----

// A list grows where it is.
// CHECK-LABEL: plan.program @lists
// CHECK: plan.alloc %c1
// CHECK: %[[LIST:.*]] = plan.alloc
// CHECK: plan.loop
// CHECK: plan.reserve %[[LIST]] size %{{.*}} {keep = true
// CHECK: %[[END:.*]] = plan.alias %[[LIST]]
// CHECK: plan.copy %{{.*}} to %[[END]] size %c16
// CHECK-NOT: plan.copy %{{.*}} to %[[LIST]]
// CHECK: plan.set
#l = #tenon.shape<n, 4>
func.func @lists(%c: tensor<i1> {tenon.name = "c"}, %row: tensor<4xf32> {tenon.name = "row"})
    -> (tensor<?x4xf32, #l> {tenon.name = "z"}) {
  %none = tenon.weight dense<> : tensor<0x4xf32>
  %0 = tenon.loop %c(%none) : tensor<i1>, (tensor<0x4xf32>) -> tensor<?x4xf32, #l> {
  ^bb0(%list: tensor<?x4xf32, #l>):
    %more = tenon.append %list, %row : (tensor<?x4xf32, #l>, tensor<4xf32>) -> tensor<?x4xf32, #tenon.shape<n + 1, 4>>
    tenon.yield %c, %more : tensor<i1>, tensor<?x4xf32, #tenon.shape<n + 1, 4>>
  } {symbols = ["n"]}
  return %0 : tensor<?x4xf32, #l>
}

// -----

// What a launch computes for the next time is written there at once, where nothing reads what is there any more.
// CHECK-LABEL: plan.program @next
// CHECK: %[[GO:.*]] = plan.alloc %c1
// CHECK: %[[U:.*]] = plan.alloc
// CHECK: %[[V:.*]] = plan.alloc
// CHECK: plan.loop %[[GO]] {
// CHECK: plan.launch @turn(%[[U]]) -> (%[[TURNED:[0-9]+]])
// %u has been read for the last time.
// CHECK: plan.launch @turn(%[[TURNED]]) -> (%[[U]])
// This one is read by the launch itself.
// CHECK: plan.launch @turn(%[[V]]) -> (%[[LATER:[0-9]+]])
// CHECK: plan.launch @test(%[[U]]) -> (%[[GO]])
// CHECK-NOT: plan.copy
// CHECK: plan.copy %[[LATER]] to %{{.*}}
// CHECK-NOT: plan.copy
// CHECK: }
func.func @next(%c: tensor<i1> {tenon.name = "c"}, %x: tensor<4x4xf32> {tenon.name = "x"}) -> (tensor<4x4xf32> {tenon.name = "y"}) {
  %0:2 = tenon.loop %c(%x, %x) : tensor<i1>, (tensor<4x4xf32>, tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  ^bb0(%u: tensor<4x4xf32>, %v: tensor<4x4xf32>):
    %a = tenon.launch @turn(%u) {sizes = #tenon.shape<>} : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %b = tenon.launch @turn(%a) {sizes = #tenon.shape<>} : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %d = tenon.launch @turn(%v) {sizes = #tenon.shape<>} : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %go = tenon.launch @test(%b) {sizes = #tenon.shape<>} : (tensor<4x4xf32>) -> tensor<i1>
    tenon.yield %go, %b, %d : tensor<i1>, tensor<4x4xf32>, tensor<4x4xf32>
  } {symbols = []}
  return %0#0 : tensor<4x4xf32>
}
func.func private @turn(%arg0: tensor<4x4xf32>) -> tensor<4x4xf32> attributes {tenon.kernel, tenon.symbols = [], tenon.tiles = #tenon.shape<1>}
func.func private @test(%arg0: tensor<4x4xf32>) -> tensor<i1> attributes {tenon.kernel, tenon.symbols = [], tenon.tiles = #tenon.shape<1>}

// -----

// What is wanted in two places, and what is read once more at the end of the time, have memory of their own.
// CHECK-LABEL: plan.program @not_at_once
// CHECK: plan.alloc %c1
// CHECK: %[[U:.*]] = plan.alloc
// CHECK: %[[V:.*]] = plan.alloc
// CHECK: %[[W:.*]] = plan.alloc
// CHECK: plan.loop
// CHECK: plan.launch @turn(%[[U]]) -> (%[[TWICE:[0-9]+]])
// CHECK: plan.launch @turn(%[[TWICE]]) -> (%[[LAST:[0-9]+]])
// CHECK-DAG: plan.copy %[[TWICE]] to
// CHECK-DAG: plan.copy %[[LAST]] to
// CHECK: }
func.func @not_at_once(%c: tensor<i1> {tenon.name = "c"}, %x: tensor<4x4xf32> {tenon.name = "x"}) -> (tensor<4x4xf32> {tenon.name = "y"}) {
  %0:4 = tenon.loop %c(%x, %x, %x, %x) : tensor<i1>, (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>)
      -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) {
  ^bb0(%u: tensor<4x4xf32>, %v: tensor<4x4xf32>, %w: tensor<4x4xf32>, %p: tensor<4x4xf32>):
    %a = tenon.launch @turn(%u) {sizes = #tenon.shape<>} : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %b = tenon.launch @turn(%a) {sizes = #tenon.shape<>} : (tensor<4x4xf32>) -> tensor<4x4xf32>
    tenon.yield %c, %a, %a, %b, %w : tensor<i1>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>
  } {symbols = []}
  return %0#0 : tensor<4x4xf32>
}
func.func private @turn(%arg0: tensor<4x4xf32>) -> tensor<4x4xf32> attributes {tenon.kernel, tenon.symbols = [], tenon.tiles = #tenon.shape<1>}

// -----

// An open size that no time of the loop changes is as good as a known one; one that may change is not.
// CHECK-LABEL: plan.program @open_next
// CHECK: plan.alloc %c1
// CHECK: %[[U:.*]] = plan.alloc
// CHECK: %[[V:.*]] = plan.alloc
// CHECK: plan.loop
// CHECK: plan.launch @turn(%[[U]]) -> (%[[TURNED:[0-9]+]])
// CHECK: plan.launch @turn(%[[TURNED]]) -> (%[[U]])
// CHECK: plan.launch @turn(%[[V]]) -> (%[[ONCE:[0-9]+]])
// CHECK: plan.launch @turn(%[[ONCE]]) -> (%[[LATER:[0-9]+]])
// The condition is copied, too.
// CHECK: plan.copy %{{.*}} size %c1
// CHECK-NOT: plan.copy
// CHECK: plan.copy %[[LATER]] to %{{.*}}
// CHECK-NOT: plan.copy
// CHECK: }
#n = #tenon.shape<N>
#m = #tenon.shape<M>
func.func @open_next(%c: tensor<i1> {tenon.name = "c"}, %x: tensor<?xf32, #n> {tenon.name = "x"}) -> (tensor<?xf32, #n> {tenon.name = "y"}) {
  %0:2 = tenon.loop %c(%x, %x) : tensor<i1>, (tensor<?xf32, #n>, tensor<?xf32, #n>) -> (tensor<?xf32, #n>, tensor<?xf32, #m>) {
  ^bb0(%u: tensor<?xf32, #n>, %v: tensor<?xf32, #m>):
    %a = tenon.launch @turn(%u) {sizes = #n} : (tensor<?xf32, #n>) -> tensor<?xf32, #n>
    %b = tenon.launch @turn(%a) {sizes = #n} : (tensor<?xf32, #n>) -> tensor<?xf32, #n>
    %d = tenon.launch @turn(%v) {sizes = #m} : (tensor<?xf32, #m>) -> tensor<?xf32, #m>
    %e = tenon.launch @turn(%d) {sizes = #m} : (tensor<?xf32, #m>) -> tensor<?xf32, #m>
    tenon.yield %c, %b, %e : tensor<i1>, tensor<?xf32, #n>, tensor<?xf32, #m>
  } {symbols = ["M"]}
  return %0#0 : tensor<?xf32, #n>
}
func.func private @turn(%arg0: tensor<?xf32, #n>) -> tensor<?xf32, #n> attributes {tenon.kernel, tenon.symbols = ["N"], tenon.tiles = #tenon.shape<1>}
