// RUN: tenon-opt %s -split-input-file -pass-pipeline='builtin.module(plan.program(plan-assign-offsets))' | FileCheck %s

// What data decides the size of lies in a block, which the next one uses again; all else in the arena.
// CHECK-LABEL: plan.program @blocks
// CHECK: plan.arena %{{.*}}
// CHECK: %[[A:.*]] = plan.heap 0[%{{.*}}] size %arg1
// CHECK-NEXT: plan.reserve %[[A]] size %arg1
// CHECK: %[[B:.*]] = plan.heap 1[%{{.*}}] size %arg1
// CHECK: %[[C:.*]] = plan.heap 0[%{{.*}}] size %arg1
plan.program @blocks symbols ["N", "k"] inputs [{name = "x0", type = f32, dims = #tenon.shape<4>}] outputs [] {
^bb0(%N: index, %k: index):
  %c8 = arith.constant 8 : index
  %x = plan.input 0 size %N
  %count = plan.alloc %c8
  plan.copy %x to %count size %c8 {name = ""}
  plan.bind 1 = %count[0] min 0 {name = ""}
  %a = plan.alloc %k
  plan.copy %x to %a size %k {name = ""}
  %b = plan.alloc %k
  plan.copy %a to %b size %k {name = ""}
  %c = plan.alloc %k
  plan.copy %b to %c size %k {name = ""}
}

// -----

// What is used in a loop and around it stays for all of the loop; what is used inside alone shares a place.
// CHECK-LABEL: plan.program @loops
// CHECK: plan.arena %c192
// CHECK: plan.loop
plan.program @loops symbols []
    inputs [{name = "x0", type = f32, dims = #tenon.shape<4>}]
    outputs [{name = "y0", type = f32, dims = #tenon.shape<4>}] {
  %c64 = arith.constant 64 : index
  %x = plan.input 0 size %c64
  %y = plan.output 0 size %c64
  %go = plan.alloc %c64
  %carried = plan.alloc %c64
  plan.copy %x to %go size %c64 {name = ""}
  plan.copy %x to %carried size %c64 {name = ""}
  plan.loop %go {
    %t = plan.alloc %c64
    plan.copy %carried to %t size %c64 {name = ""}
    plan.copy %t to %carried size %c64 {name = ""}
    %u = plan.alloc %c64
    plan.copy %carried to %u size %c64 {name = ""}
    plan.copy %u to %carried size %c64 {name = ""}
  } {name = ""}
  plan.copy %carried to %y size %c64 {name = ""}
}

// -----

// Where the size has a bound, the arena has room for that, above what is in use at the same time.
// CHECK-LABEL: plan.program @bounded
// CHECK-NOT: plan.heap
// CHECK: %[[A:.*]] = plan.view %{{.*}}[%[[START:.*]]] size %arg1 in %[[START]] room %arg0
// CHECK-NOT: plan.reserve
// CHECK: plan.copy %{{.*}} to %[[A]]
// CHECK: %[[OFFSET:.*]] = arith.addi %[[START]], %arg1
// CHECK: plan.view %{{.*}}[%[[OFFSET]]] size %c8{{.*}} in %[[START]] room %arg0
plan.program @bounded symbols ["N", "k"]
    inputs [{name = "x0", type = f32, dims = #tenon.shape<4>}]
    outputs [{name = "y0", type = f32, dims = #tenon.shape<4>}] {
^bb0(%N: index, %k: index):
  %c8 = arith.constant 8 : index
  %x = plan.input 0 size %N
  %y = plan.output 0 size %N
  %count = plan.alloc %c8
  plan.copy %x to %count size %c8 {name = ""}
  plan.bind 1 = %count[0] min 0 {name = ""}
  %a = plan.alloc %k at_most %N
  plan.reserve %a size %k {keep = false, name = ""}
  plan.copy %x to %a size %k {name = ""}
  %end = plan.alias %a[%k] size %c8
  plan.copy %x to %end size %c8 {name = ""}
  plan.copy %a to %y size %k {name = ""}
}

// -----

// Not where the bound would make the arena much larger than what all else needs.
// CHECK-LABEL: plan.program @bounded_by_far_too_much
// CHECK: plan.arena %c2000000
// CHECK: plan.heap 0[%{{.*}}] size %arg0
// CHECK: plan.view %{{.*}}[%[[START:.*]]] size %arg0 in %[[START]] room %c400000
plan.program @bounded_by_far_too_much symbols ["k"]
    inputs [{name = "x0", type = f32, dims = #tenon.shape<4>}]
    outputs [{name = "y0", type = f32, dims = #tenon.shape<4>}] {
^bb0(%k: index):
  %c1600000 = arith.constant 1600000 : index
  %c400000 = arith.constant 400000 : index
  %c500000 = arith.constant 500000 : index
  %x = plan.input 0 size %c1600000
  %y = plan.output 0 size %c1600000
  %a = plan.alloc %c1600000
  plan.copy %x to %a size %c1600000 {name = ""}
  plan.bind 0 = %a[0] min 0 {name = ""}
  %many = plan.alloc %k at_most %c500000
  plan.copy %a to %many size %k {name = ""}
  %few = plan.alloc %k at_most %c400000
  plan.copy %a to %few size %k {name = ""}
  plan.copy %few to %y size %k {name = ""}
  plan.copy %many to %y size %k {name = ""}
}

// -----

// What no data decides, but how often a loop runs, gets all of its room.
// CHECK-LABEL: plan.program @decided_by_loops
// CHECK-NOT: plan.heap
// CHECK: plan.view %{{.*}}[%[[START:.*]]] size %arg0 in %[[START]] room %c5000000
plan.program @decided_by_loops symbols ["k"]
    inputs [{name = "x0", type = f32, dims = #tenon.shape<4>}]
    outputs [{name = "y0", type = f32, dims = #tenon.shape<4>}] {
^bb0(%k: index):
  %c1 = arith.constant 1 : index
  %c5000000 = arith.constant 5000000 : index
  %x = plan.input 0 size %c5000000
  %y = plan.output 0 size %c5000000
  plan.set 0 = %c1 {name = ""}
  %list = plan.alloc %k at_most %c5000000
  plan.copy %x to %list size %k {name = ""}
  plan.loop %x {
    %next = arith.addi %k, %c1 : index
    plan.set 0 = %next {name = ""}
  } {name = ""}
  plan.copy %list to %y size %k {name = ""}
}
