// RUN: tenon-opt %s -pass-pipeline='builtin.module(plan.program(plan-assign-offsets,canonicalize))' | FileCheck %s

// Each activation carries the instructions that use it. a [0, 1] and c [2, 3] share the first 1024 bytes, since one
// ends before the other begins; b [1, 2] lies behind them: 2048 bytes for three activations.
// CHECK-LABEL: @a_chain_shares_memory
// CHECK: %[[ARENA:.*]] = plan.arena %c2048
// CHECK: plan.view %[[ARENA]][%[[A:.*]]] size %c1024 {name = "a"}
// CHECK: plan.view %[[ARENA]][%[[B:.*]]] size %c1024 {name = "b"}
// CHECK: plan.view %[[ARENA]][%[[A]]] size %c1024 {name = "c"}
// CHECK-NOT: plan.alloc
plan.program @a_chain_shares_memory symbols [] inputs [] outputs [] {
  %one = arith.constant 1 : index
  %size = arith.constant 1024 : index
  %in = plan.input 0 size %size
  %out = plan.output 0 size %size
  %a = plan.alloc %size {name = "a"}
  plan.launch @k(%in) -> (%a) sizes() tiles %one {name = "0"}
  %b = plan.alloc %size {name = "b"}
  plan.launch @k(%a) -> (%b) sizes() tiles %one {name = "1"}
  %c = plan.alloc %size {name = "c"}
  plan.launch @k(%b) -> (%c) sizes() tiles %one {name = "2"}
  plan.launch @k(%c) -> (%out) sizes() tiles %one {name = "3"}
}

// Both are in use at instruction 1. 100 bytes take 128, since places are multiples of 64.
// CHECK-LABEL: @no_sharing_at_one_time
// CHECK: plan.arena %c256
// CHECK-DAG: plan.view %{{.*}}[%[[A:.*]]] size %c100 {name = "a"}
// CHECK-DAG: plan.view %{{.*}}[%[[B:.*]]] size %c100 {name = "b"}
plan.program @no_sharing_at_one_time symbols [] inputs [] outputs [] {
  %one = arith.constant 1 : index
  %size = arith.constant 100 : index
  %in = plan.input 0 size %size
  %a = plan.alloc %size {name = "a"}
  plan.launch @k(%in) -> (%a) sizes() tiles %one {name = "0"}
  %b = plan.alloc %size {name = "b"}
  plan.launch @k(%a) -> (%b) sizes() tiles %one {name = "1"}
}

// Sizes that depend on symbols follow the constant part, in slots of whole blocks of 64 bytes: a and c share one.
// CHECK-LABEL: @symbols_get_slots
// CHECK: ^bb0(%[[N:.*]]: index)
// CHECK: %[[BLOCKS:.*]] = arith.ceildivsi %[[N]], %c64
// CHECK: %[[SLOT:.*]] = arith.muli %[[BLOCKS]], %c64
// CHECK: plan.arena
// CHECK: plan.view %{{.*}}[%[[A:.*]]] size %[[N]] {name = "a"}
// CHECK: plan.view %{{.*}}[%[[B:.*]]] size %[[N]] {name = "b"}
// CHECK: plan.view %{{.*}}[%[[A]]] size %[[N]] {name = "c"}
plan.program @symbols_get_slots symbols ["N"] inputs [] outputs [] {
^bb0(%n: index):
  %one = arith.constant 1 : index
  %in = plan.input 0 size %n
  %out = plan.output 0 size %n
  %a = plan.alloc %n {name = "a"}
  plan.launch @k(%in) -> (%a) sizes(%n) tiles %one {name = "0"}
  %b = plan.alloc %n {name = "b"}
  plan.launch @k(%a) -> (%b) sizes(%n) tiles %one {name = "1"}
  %c = plan.alloc %n {name = "c"}
  plan.launch @k(%b) -> (%c) sizes(%n) tiles %one {name = "2"}
  plan.launch @k(%c) -> (%out) sizes(%n) tiles %one {name = "3"}
}

// CHECK-LABEL: @no_arena_for_nothing
// CHECK-NOT: plan.arena
plan.program @no_arena_for_nothing symbols [] inputs [] outputs [] {
}
