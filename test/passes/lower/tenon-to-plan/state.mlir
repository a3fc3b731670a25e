// RUN: tenon-opt %s -split-input-file --tenon-fuse --tenon-outline --tenon-in-place-operands --tenon-to-linalg --tenon-form-contractions --tenon-tile-kernels --tenon-to-plan --cse | FileCheck %s
// What shares memory with a state, and what is copied because an update comes before its last use.

// A launch writes new rows where they belong, 16 bytes each; what is read is the memory of the state.
// CHECK: plan.program @append symbols ["m", "past"]
// CHECK-SAME: ranges = {past = array<i64: 0, 16>}
// CHECK-DAG: %[[BYTES:.*]] = arith.muli %arg0, %c16
// CHECK-DAG: %[[ROWS:.*]] = arith.addi %arg0, %arg1
// CHECK-DAG: %[[OFFSET:.*]] = arith.muli %arg1, %c16
// CHECK: %[[STATE:.*]] = plan.state "keys" : tensor<16x4xf32> live 1 next %[[ROWS]]
// CHECK: %[[PART:.*]] = plan.alias %[[STATE]][%[[OFFSET]]] size %[[BYTES]]
// CHECK: plan.launch @k0_relu(%{{.*}}) -> (%[[PART]])
// CHECK: %[[ALL:.*]] = plan.alias %[[STATE]][%c0]
// CHECK: plan.launch @k1_reduce(%[[ALL]])
// CHECK-NOT: plan.copy
tenon.state @keys : tensor<16x4xf32> live "past"
func.func @append(%new: tensor<?x4xf32, #tenon.shape<m, 4>>) -> tensor<4xf32> {
  %k = tenon.relu %new : (tensor<?x4xf32, #tenon.shape<m, 4>>) -> tensor<?x4xf32, #tenon.shape<m, 4>>
  tenon.state.update @keys at #tenon.shape<past> extends, %k : tensor<?x4xf32, #tenon.shape<m, 4>>
  %all = tenon.state.read @keys : tensor<?x4xf32, #tenon.shape<past + m, 4>>
  %sum = tenon.reduce sum, %all {axes = array<i64: 0>} : (tensor<?x4xf32, #tenon.shape<past + m, 4>>) -> tensor<4xf32>
  return %sum : tensor<4xf32>
}

// -----

// The past alone does not overlap what is appended: it is read in place, also after the update. What the caller gives is
// copied to its place.
// CHECK: plan.program @past_stays
// CHECK: %[[STATE:.*]] = plan.state "keys"
// CHECK: %[[PAST:.*]] = plan.alias %[[STATE]][%c0]
// CHECK: %[[PART:.*]] = plan.alias %[[STATE]][%{{.*}}] size %c16
// CHECK: plan.copy %{{.*}} to %[[PART]] size %c16
// CHECK-NOT: plan.copy
// CHECK: plan.launch @k0_reduce(%[[PAST]])
tenon.state @keys : tensor<16x4xf32> live "past"
func.func @past_stays(%new: tensor<1x4xf32>) -> tensor<4xf32> {
  %past = tenon.state.read @keys : tensor<?x4xf32, #tenon.shape<past, 4>>
  tenon.state.update @keys at #tenon.shape<past> extends, %new : tensor<1x4xf32>
  %sum = tenon.reduce sum, %past {axes = array<i64: 0>} : (tensor<?x4xf32, #tenon.shape<past, 4>>) -> tensor<4xf32>
  return %sum : tensor<4xf32>
}

// -----

// What was read before an update of the same rows, and is used after it, is a copy.
// CHECK: plan.program @old_value
// CHECK: %[[STATE:.*]] = plan.state "hidden"
// CHECK: %[[WHOLE:.*]] = plan.alias %[[STATE]][%c0] size %c16
// CHECK: %[[OLD:.*]] = plan.alloc %c16
// CHECK: plan.copy %[[WHOLE]] to %[[OLD]] size %c16
// CHECK: plan.copy %{{.*}} to %[[WHOLE]] size %c16
// CHECK: plan.launch @k0_relu(%[[OLD]])
tenon.state @hidden : tensor<1x4xf32>
func.func @old_value(%x: tensor<1x4xf32>) -> tensor<1x4xf32> {
  %old = tenon.state.read @hidden : tensor<1x4xf32>
  tenon.state.update @hidden at #tenon.shape<0>, %x : tensor<1x4xf32>
  %y = tenon.relu %old : (tensor<1x4xf32>) -> tensor<1x4xf32>
  return %y : tensor<1x4xf32>
}

// -----

// Outputs are written at the end: one that is what was read before the update is a copy, too.
// CHECK: plan.program @old_output
// CHECK: %[[STATE:.*]] = plan.state "hidden"
// CHECK: %[[OUT:.*]] = plan.output 0
// CHECK: %[[WHOLE:.*]] = plan.alias %[[STATE]][%c0] size %c16
// CHECK: %[[OLD:.*]] = plan.alloc %c16
// CHECK: plan.copy %[[WHOLE]] to %[[OLD]]
// CHECK: plan.copy %{{.*}} to %[[WHOLE]]
// CHECK: plan.copy %[[OLD]] to %[[OUT]]
tenon.state @hidden : tensor<1x4xf32>
func.func @old_output(%x: tensor<1x4xf32>) -> tensor<4xf32> {
  %old = tenon.state.read @hidden : tensor<1x4xf32>
  tenon.state.update @hidden at #tenon.shape<0>, %x : tensor<1x4xf32>
  %y = tenon.reshape %old : (tensor<1x4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// The launch that computes the new value reads the old one: it does not write where that lies.
// CHECK: plan.program @next_of_old
// CHECK: %[[STATE:.*]] = plan.state "hidden"
// CHECK: %[[NEXT:.*]] = plan.alloc %c16
// CHECK: plan.launch @k0_add(%{{.*}}, %{{.*}}) -> (%[[NEXT]])
// CHECK: plan.copy %[[NEXT]] to
tenon.state @hidden : tensor<1x4xf32>
func.func @next_of_old(%x: tensor<1x4xf32>) -> tensor<4xf32> {
  %old = tenon.state.read @hidden : tensor<1x4xf32>
  %next = tenon.add %old, %x : (tensor<1x4xf32>, tensor<1x4xf32>) -> tensor<1x4xf32>
  tenon.state.update @hidden at #tenon.shape<0>, %next : tensor<1x4xf32>
  %sum = tenon.reduce sum, %next {axes = array<i64: 0>} : (tensor<1x4xf32>) -> tensor<4xf32>
  return %sum : tensor<4xf32>
}

// -----

// A read between the launch and the update wants the old rows.
// CHECK: plan.program @read_between
// CHECK: %[[NEXT:.*]] = plan.alloc
// CHECK: plan.launch @k0_exp(%{{.*}}) -> (%[[NEXT]])
// CHECK: plan.launch @k2_relu
// CHECK: plan.copy %[[NEXT]] to
tenon.state @hidden : tensor<1x4xf32>
func.func @read_between(%x: tensor<1x4xf32>) -> (tensor<1x4xf32>, tensor<4xf32>) {
  %next = tenon.exp %x : (tensor<1x4xf32>) -> tensor<1x4xf32>
  %sum = tenon.reduce sum, %next {axes = array<i64: 0>} : (tensor<1x4xf32>) -> tensor<4xf32>
  %old = tenon.state.read @hidden : tensor<1x4xf32>
  %y = tenon.relu %old : (tensor<1x4xf32>) -> tensor<1x4xf32>
  tenon.state.update @hidden at #tenon.shape<0>, %next : tensor<1x4xf32>
  return %y, %sum : tensor<1x4xf32>, tensor<4xf32>
}

// -----

// Two updates of rows that may overlap happen in their order; rows that are known to be apart are written in place.
// CHECK: plan.program @two_updates
// CHECK: %[[STATE:.*]] = plan.state "rows"
// CHECK: %[[LAST:.*]] = plan.alias %[[STATE]][%c48] size %c16
// CHECK: %[[A:.*]] = plan.alloc %c16
// CHECK: plan.launch @k0_exp(%{{.*}}) -> (%[[A]])
// CHECK: plan.copy %[[A]] to
// CHECK: plan.launch @k1_relu(%{{.*}}) -> (%[[LAST]])
tenon.state @rows : tensor<4x4xf32>
func.func @two_updates(%x: tensor<1x4xf32>, %y: tensor<2x4xf32>) {
  %a = tenon.exp %x : (tensor<1x4xf32>) -> tensor<1x4xf32>
  tenon.state.update @rows at #tenon.shape<1>, %a : tensor<1x4xf32>
  tenon.state.update @rows at #tenon.shape<1>, %y : tensor<2x4xf32>
  %b = tenon.relu %x : (tensor<1x4xf32>) -> tensor<1x4xf32>
  tenon.state.update @rows at #tenon.shape<3>, %b : tensor<1x4xf32>
  return
}

// -----

// A ring is written at its row, and has as many rows afterwards as outlive the run and two more.
// CHECK: plan.program @ring symbols ["kept", "slot"]
// CHECK: %[[STATE:.*]] = plan.state "window" : tensor<8x4xf32> live 0 ring 1 next %c2
tenon.state @window : tensor<8x4xf32> live "kept" ring "slot"
func.func @ring(%x: tensor<2x4xf32>) -> tensor<4xf32> {
  tenon.state.update @window at #tenon.shape<slot> extends, %x : tensor<2x4xf32>
  %all = tenon.state.read @window : tensor<?x4xf32, #tenon.shape<kept + 2, 4>>
  %sum = tenon.reduce sum, %all {axes = array<i64: 0>} : (tensor<?x4xf32, #tenon.shape<kept + 2, 4>>) -> tensor<4xf32>
  return %sum : tensor<4xf32>
}
