// RUN: tenon-opt %s -pass-pipeline='builtin.module(plan.program(plan-assign-offsets,canonicalize))' | FileCheck %s

// Each activation carries the instructions that use it. a [0, 1] and c [2, 3] share the first 1024 bytes, since one
// ends before the other begins; b [1, 2] lies behind them: 2048 bytes for three activations.
// CHECK-LABEL: @a_chain_shares_memory
// CHECK: %[[ARENA:.*]] = plan.arena %c2048
// CHECK: plan.view %[[ARENA]][%[[A:.*]]] size %c1024 {name = "a"}
// CHECK: plan.view %[[ARENA]][%[[B:.*]]] size %c1024 {name = "b"}
// CHECK: plan.view %[[ARENA]][%[[A]]] size %c1024 {name = "c"}
// CHECK-NOT: plan.alloc
plan.program @a_chain_shares_memory symbols []
    inputs [{name = "x0", type = f32, dims = #tenon.shape<4>}]
    outputs [{name = "y0", type = f32, dims = #tenon.shape<4>}] {
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

// Large activations have whole blocks of 64 bytes: 5000 take 5056.
// CHECK-LABEL: @whole_blocks
// CHECK: plan.arena %c10112
plan.program @whole_blocks symbols [] inputs [{name = "x0", type = f32, dims = #tenon.shape<4>}] outputs [] {
  %one = arith.constant 1 : index
  %size = arith.constant 5000 : index
  %in = plan.input 0 size %size
  %a = plan.alloc %size {name = "a"}
  plan.launch @k(%in) -> (%a) sizes() tiles %one {name = "0"}
  %b = plan.alloc %size {name = "b"}
  plan.launch @k(%a) -> (%b) sizes() tiles %one {name = "1"}
}

// Both are in use at instruction 1. Small ones lie as close as their elements may.
// CHECK-LABEL: @no_sharing_at_one_time
// CHECK: plan.arena %c200
// CHECK-DAG: plan.view %{{.*}}[%[[A:.*]]] size %c100 {name = "a"}
// CHECK-DAG: plan.view %{{.*}}[%[[B:.*]]] size %c100 {name = "b"}
plan.program @no_sharing_at_one_time symbols [] inputs [{name = "x0", type = f32, dims = #tenon.shape<4>}] outputs [] {
  %one = arith.constant 1 : index
  %size = arith.constant 100 : index
  %in = plan.input 0 size %size
  %a = plan.alloc %size {name = "a"}
  plan.launch @k(%in) -> (%a) sizes() tiles %one {name = "0"}
  %b = plan.alloc %size {name = "b"}
  plan.launch @k(%a) -> (%b) sizes() tiles %one {name = "1"}
}

// Where sizes depend on symbols, offsets are ends of those below: a and c share a place, and b lies upon them, whatever N is. Sizes
// are rounded up to whole blocks of 64 bytes where they are large, from 4096 bytes on.
// CHECK-LABEL: @symbols
// CHECK: ^bb0(%[[N:.*]]: index)
// CHECK: %[[BLOCKS:.*]] = arith.ceildivsi %[[N]], %c64
// CHECK: %[[LARGE:.*]] = arith.muli %[[BLOCKS]], %c64
// CHECK: %[[NUMBER:.*]] = arith.floordivsi %[[N]], %c4096
// CHECK: %[[ADDED:.*]] = arith.muli %[[NUMBER]], %c64
// CHECK: %[[SMALL:.*]] = arith.addi %[[N]], %[[ADDED]]
// CHECK: %[[SIZE:.*]] = arith.minsi %[[LARGE]], %[[SMALL]]
// CHECK: %[[END:.*]] = arith.addi %[[SIZE]], %[[SIZE]]
// CHECK: plan.arena %[[END]]
// CHECK: plan.view %{{.*}}[%c0] size %[[N]] {name = "a"}
// CHECK: plan.view %{{.*}}[%[[SIZE]]] size %[[N]] {name = "b"}
// CHECK: plan.view %{{.*}}[%c0] size %[[N]] {name = "c"}
plan.program @symbols symbols ["N"]
    inputs [{name = "x0", type = f32, dims = #tenon.shape<4>}]
    outputs [{name = "y0", type = f32, dims = #tenon.shape<4>}] {
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

// Two kinds of sizes in one arena: d, of N bytes, lies where a was, and b upon the larger of the two, at a multiple of 64.
// CHECK-LABEL: @kinds_of_sizes_share
// CHECK: %[[LOWER:.*]] = arith.maxsi %{{.*}}, %c1024
// CHECK: %[[COUNT:.*]] = arith.ceildivsi %[[LOWER]], %c64
// CHECK: %[[PLACE:.*]] = arith.muli %[[COUNT]], %c64
// CHECK: %[[END:.*]] = arith.addi %[[PLACE]], %c1024
// CHECK: plan.arena %[[END]]
// CHECK: plan.view %{{.*}}[%c0] size %c1024 {name = "a"}
// CHECK: plan.view %{{.*}}[%[[PLACE]]] size %c1024 {name = "b"}
// CHECK: plan.view %{{.*}}[%c0] size %{{.*}} {name = "d"}
plan.program @kinds_of_sizes_share symbols ["N"]
    inputs [{name = "x0", type = f32, dims = #tenon.shape<4>}]
    outputs [{name = "y0", type = f32, dims = #tenon.shape<4>}] {
^bb0(%n: index):
  %one = arith.constant 1 : index
  %size = arith.constant 1024 : index
  %in = plan.input 0 size %n
  %out = plan.output 0 size %n
  %a = plan.alloc %size {name = "a"}
  plan.launch @k(%in) -> (%a) sizes(%n) tiles %one {name = "0"}
  %b = plan.alloc %size {name = "b"}
  plan.launch @k(%a) -> (%b) sizes(%n) tiles %one {name = "1"}
  %d = plan.alloc %n {name = "d"}
  plan.launch @k(%b) -> (%d) sizes(%n) tiles %one {name = "2"}
  plan.launch @k(%d) -> (%out) sizes(%n) tiles %one {name = "3"}
}

// What is known to divide a size is not rounded: neither rows of 64 bytes, nor what lies upon them.
// CHECK-LABEL: @whole_rows
// CHECK-NOT: arith.ceildivsi
// CHECK: %[[SIZE:.*]] = arith.muli %{{.*}}, %c192
// CHECK: %[[HALF:.*]] = arith.muli %{{.*}}, %c64
// CHECK-NOT: arith.ceildivsi
// CHECK: %[[END:.*]] = arith.addi %[[SIZE]], %[[HALF]]
// CHECK: plan.arena %[[END]]
plan.program @whole_rows symbols ["N"]
    inputs [{name = "x0", type = f32, dims = #tenon.shape<4>}]
    outputs [{name = "y0", type = f32, dims = #tenon.shape<4>}] {
^bb0(%n: index):
  %one = arith.constant 1 : index
  %row = arith.constant 192 : index
  %other = arith.constant 64 : index
  %large = arith.muli %n, %row : index
  %small = arith.muli %n, %other : index
  %in = plan.input 0 size %n
  %a = plan.alloc %large {name = "a"}
  plan.launch @k(%in) -> (%a) sizes(%n) tiles %one {name = "0"}
  %b = plan.alloc %small {name = "b"}
  plan.launch @k(%a) -> (%b) sizes(%n) tiles %one {name = "1"}
  %out = plan.output 0 size %n
  plan.launch @k(%b) -> (%out) sizes(%n) tiles %one {name = "2"}
}

// CHECK-LABEL: @no_arena_for_nothing
// CHECK-NOT: plan.arena
plan.program @no_arena_for_nothing symbols [] inputs [] outputs [] {
}

// The second half of the joined result holds nothing until the last launch but one, so b [1, 2] lies there. What reads
// c [1, 4] comes after that half is written, so c lies apart: joined, c and d take 2560 bytes, b beside them would take more.
// CHECK-LABEL: @idle_part_is_lent
// CHECK: %[[ARENA:.*]] = plan.arena %c2560
// CHECK-DAG: plan.view %[[ARENA]][%[[HALF:.*]]] size %c512 {name = "b"}
// CHECK-DAG: plan.view %[[ARENA]][%[[HALF]]] size %c512 {name = "joined"}
// CHECK-DAG: plan.view %[[ARENA]][%{{.*}}] size %c512 {name = "c"}
plan.program @idle_part_is_lent symbols []
    inputs [{name = "x0", type = f32, dims = #tenon.shape<4>}]
    outputs [{name = "y0", type = f32, dims = #tenon.shape<4>}] {
  %one = arith.constant 1 : index
  %zero = arith.constant 0 : index
  %half = arith.constant 512 : index
  %size = arith.constant 1024 : index
  %in = plan.input 0 size %size
  %out = plan.output 0 size %size
  %joined = plan.alloc %size {name = "joined"}
  %left = plan.alias %joined[%zero] size %half
  %right = plan.alias %joined[%half] size %half
  plan.launch @k(%in) -> (%left) sizes() tiles %one {name = "0"}
  %b = plan.alloc %half {name = "b"}
  %c = plan.alloc %half {name = "c"}
  plan.launch @k(%in) -> (%b, %c) sizes() tiles %one {name = "1"}
  %d = plan.alloc %size {name = "d"}
  plan.launch @k(%b) -> (%d) sizes() tiles %one {name = "2"}
  plan.launch @k(%d) -> (%right) sizes() tiles %one {name = "3"}
  plan.launch @k(%joined, %c) -> (%out) sizes() tiles %one {name = "4"}
}

// An activation without a name is lent the same bytes: none of its views has a name.
// CHECK-LABEL: @idle_part_is_lent_without_names
// CHECK: plan.arena %c2560
// CHECK-NOT: plan.view {{.*}}name
// CHECK-NOT: plan.alias
plan.program @idle_part_is_lent_without_names symbols []
    inputs [{name = "x0", type = f32, dims = #tenon.shape<4>}]
    outputs [{name = "y0", type = f32, dims = #tenon.shape<4>}] {
  %one = arith.constant 1 : index
  %zero = arith.constant 0 : index
  %half = arith.constant 512 : index
  %size = arith.constant 1024 : index
  %in = plan.input 0 size %size
  %out = plan.output 0 size %size
  %joined = plan.alloc %size
  %left = plan.alias %joined[%zero] size %half
  %right = plan.alias %joined[%half] size %half
  plan.launch @k(%in) -> (%left) sizes() tiles %one {name = "0"}
  %b = plan.alloc %half
  %c = plan.alloc %half
  plan.launch @k(%in) -> (%b, %c) sizes() tiles %one {name = "1"}
  %d = plan.alloc %size
  plan.launch @k(%b) -> (%d) sizes() tiles %one {name = "2"}
  plan.launch @k(%d) -> (%right) sizes() tiles %one {name = "3"}
  plan.launch @k(%joined, %c) -> (%out) sizes() tiles %one {name = "4"}
}

// Half of the joined result holds nothing while what is twice as large is in use beside the other half: c lies in it, and beyond.
// CHECK-LABEL: @idle_part_makes_room
// CHECK: %[[ARENA:.*]] = plan.arena %c1536
// CHECK-DAG: plan.view %[[ARENA]][%c0{{.*}}] size %c512 {name = "joined"}
// CHECK-DAG: plan.view %[[ARENA]][%c512{{.*}}] size %c1024 {name = "c"}
// CHECK-DAG: plan.view %[[ARENA]][%c512{{.*}}] size %c512 {name = "joined"}
plan.program @idle_part_makes_room symbols []
    inputs [{name = "x0", type = f32, dims = #tenon.shape<4>}]
    outputs [{name = "y0", type = f32, dims = #tenon.shape<4>}] {
  %one = arith.constant 1 : index
  %zero = arith.constant 0 : index
  %half = arith.constant 512 : index
  %size = arith.constant 1024 : index
  %in = plan.input 0 size %size
  %out = plan.output 0 size %size
  %joined = plan.alloc %size {name = "joined"}
  %left = plan.alias %joined[%zero] size %half
  %right = plan.alias %joined[%half] size %half
  plan.launch @k(%in) -> (%left) sizes() tiles %one {name = "0"}
  %c = plan.alloc %size {name = "c"}
  plan.launch @k(%left) -> (%c) sizes() tiles %one {name = "1"}
  plan.launch @k(%c) -> (%out) sizes() tiles %one {name = "2"}
  plan.launch @k(%out) -> (%right) sizes() tiles %one {name = "3"}
  plan.launch @k(%joined) -> (%out) sizes() tiles %one {name = "4"}
}

// What both branches make is not there while the second one has yet to make it: b lies there.
// CHECK-LABEL: @branches
// CHECK: ^bb0(%[[N:.*]]: index)
// CHECK: %[[BYTES:.*]] = arith.muli %[[N]], %c64
// CHECK: plan.arena %[[BYTES]]
plan.program @branches symbols ["N"]
    inputs [{name = "x0", type = f32, dims = #tenon.shape<4>}, {name = "x1", type = f32, dims = #tenon.shape<4>}]
    outputs [{name = "y0", type = f32, dims = #tenon.shape<4>}] {
^bb0(%n: index):
  %one = arith.constant 1 : index
  %row = arith.constant 64 : index
  %size = arith.muli %n, %row : index
  %in = plan.input 0 size %size
  %out = plan.output 0 size %size
  %condition = plan.input 1 size %one
  %result = plan.alloc %size {name = "result"}
  plan.if %condition {
    plan.launch @k(%in) -> (%result) sizes() tiles %one {name = "0"}
  } else {
    %b = plan.alloc %size {name = "b"}
    plan.launch @k(%in) -> (%b) sizes() tiles %one {name = "1"}
    plan.launch @k(%b) -> (%out) sizes() tiles %one {name = "2"}
    plan.launch @k(%out) -> (%result) sizes() tiles %one {name = "3"}
  } {name = "if"}
  plan.launch @k(%result) -> (%out) sizes() tiles %one {name = "4"}
}

// In a loop it may be there from the time before, which the second branch reads.
// CHECK-LABEL: @branches_in_a_loop
// CHECK: ^bb0(%[[N:.*]]: index)
// CHECK: %[[BYTES:.*]] = arith.muli %[[N]], %c64
// CHECK: %[[BOTH:.*]] = arith.addi %[[BYTES]], %[[BYTES]]
// CHECK: plan.arena %[[BOTH]]
plan.program @branches_in_a_loop symbols ["N"]
    inputs [{name = "x0", type = f32, dims = #tenon.shape<4>}, {name = "x1", type = f32, dims = #tenon.shape<4>}]
    outputs [{name = "y0", type = f32, dims = #tenon.shape<4>}] {
^bb0(%n: index):
  %one = arith.constant 1 : index
  %row = arith.constant 64 : index
  %size = arith.muli %n, %row : index
  %in = plan.input 0 size %size
  %out = plan.output 0 size %size
  %condition = plan.input 1 size %one
  %result = plan.alloc %size {name = "result"}
  plan.loop %condition {
    plan.if %condition {
      plan.launch @k(%in) -> (%result) sizes() tiles %one {name = "0"}
    } else {
      %b = plan.alloc %size {name = "b"}
      plan.launch @k(%in) -> (%b) sizes() tiles %one {name = "1"}
      plan.launch @k(%b) -> (%out) sizes() tiles %one {name = "2"}
      plan.launch @k(%out, %result) -> (%result) sizes() tiles %one {name = "3"}
    } {name = "if"}
    plan.launch @k(%result) -> (%out) sizes() tiles %one {name = "4"}
  } {name = "loop"}
}

// Where the second branch writes over it, that does not matter.
// CHECK-LABEL: @branches_of_each_time
// CHECK: ^bb0(%[[N:.*]]: index)
// CHECK: %[[BYTES:.*]] = arith.muli %[[N]], %c64
// CHECK: plan.arena %[[BYTES]]
plan.program @branches_of_each_time symbols ["N"]
    inputs [{name = "x0", type = f32, dims = #tenon.shape<4>}, {name = "x1", type = f32, dims = #tenon.shape<4>}]
    outputs [{name = "y0", type = f32, dims = #tenon.shape<4>}] {
^bb0(%n: index):
  %one = arith.constant 1 : index
  %row = arith.constant 64 : index
  %size = arith.muli %n, %row : index
  %in = plan.input 0 size %size
  %out = plan.output 0 size %size
  %condition = plan.input 1 size %one
  %result = plan.alloc %size {name = "result"}
  plan.loop %condition {
    plan.if %condition {
      plan.launch @k(%in) -> (%result) sizes() tiles %one {name = "0"}
    } else {
      %b = plan.alloc %size {name = "b"}
      plan.launch @k(%in) -> (%b) sizes() tiles %one {name = "1"}
      plan.launch @k(%b) -> (%out) sizes() tiles %one {name = "2"}
      plan.launch @k(%out) -> (%result) sizes() tiles %one {name = "3"}
    } {name = "if"}
    plan.launch @k(%result) -> (%out) sizes() tiles %one {name = "4"}
  } {name = "loop"}
}

// What a loop passes on holds nothing from where a time has read it to where it is written for the next one: %b lies there.
// CHECK-LABEL: @next_of_a_loop
// CHECK: plan.arena %c192
plan.program @next_of_a_loop symbols []
    inputs [{name = "x0", type = f32, dims = #tenon.shape<4>}, {name = "x1", type = f32, dims = #tenon.shape<4>}]
    outputs [{name = "y0", type = f32, dims = #tenon.shape<4>}] {
  %one = arith.constant 1 : index
  %row = arith.constant 64 : index
  %rows = arith.constant 128 : index
  %in = plan.input 0 size %row
  %out = plan.output 0 size %row
  %condition = plan.input 1 size %one
  %h = plan.alloc %row {name = "h"}
  plan.copy %in to %h size %row {name = "0"}
  plan.loop %condition {
    %a = plan.alloc %rows {name = "a"}
    %b = plan.alloc %row {name = "b"}
    %c = plan.alloc %row {name = "c"}
    plan.launch @k(%h) -> (%a) sizes() tiles %one {name = "1"}
    plan.launch @k(%a) -> (%b) sizes() tiles %one {name = "2"}
    plan.launch @k(%b) -> (%c) sizes() tiles %one {name = "3"}
    plan.launch @k(%c) -> (%h) sizes() tiles %one {name = "4"}
  } {name = "loop"}
  plan.copy %h to %out size %row {name = "5"}
}

// Where a branch decides whether it is written, the time before that may still count; so it does where a part is written.
// CHECK-LABEL: @next_of_some_times
// CHECK: plan.arena %c256
plan.program @next_of_some_times symbols []
    inputs [{name = "x0", type = f32, dims = #tenon.shape<4>}, {name = "x1", type = f32, dims = #tenon.shape<4>}]
    outputs [{name = "y0", type = f32, dims = #tenon.shape<4>}] {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %row = arith.constant 64 : index
  %rows = arith.constant 128 : index
  %in = plan.input 0 size %row
  %out = plan.output 0 size %row
  %condition = plan.input 1 size %one
  %h = plan.alloc %row {name = "h"}
  %part = plan.alias %h[%zero] size %one
  plan.copy %in to %h size %row {name = "0"}
  plan.loop %condition {
    %a = plan.alloc %rows {name = "a"}
    %b = plan.alloc %row {name = "b"}
    %c = plan.alloc %row {name = "c"}
    plan.launch @k(%h) -> (%a) sizes() tiles %one {name = "1"}
    plan.launch @k(%a) -> (%b) sizes() tiles %one {name = "2"}
    plan.launch @k(%b) -> (%c) sizes() tiles %one {name = "3"}
    plan.launch @k(%c) -> (%part) sizes() tiles %one {name = "4"}
    plan.if %condition {
      plan.launch @k(%c) -> (%h) sizes() tiles %one {name = "5"}
    } else {
    } {name = "if"}
  } {name = "loop"}
  plan.copy %h to %out size %row {name = "6"}
}

// A program whose activations have their places is left alone: IR of an earlier compilation is compiled on.
// CHECK-LABEL: @placed
// CHECK: %[[ARENA:.*]] = plan.arena %c4096
// CHECK-NEXT: %[[A:.*]] = plan.view %[[ARENA]][%c1024] size %c64
// CHECK-NOT: plan.arena
plan.program @placed symbols [] inputs [{name = "x", type = f32, dims = #tenon.shape<16>}]
    outputs [{name = "y", type = f32, dims = #tenon.shape<16>}] {
  %one = arith.constant 1 : index
  %row = arith.constant 64 : index
  %offset = arith.constant 1024 : index
  %all = arith.constant 4096 : index
  %in = plan.input 0 size %row
  %out = plan.output 0 size %row
  %arena = plan.arena %all
  %a = plan.view %arena[%offset] size %row {name = "a"}
  plan.launch @k(%in) -> (%a) sizes() tiles %one {name = "1"}
  plan.launch @k(%a) -> (%out) sizes() tiles %one {name = "2"}
}
