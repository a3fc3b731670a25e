// RUN: tenon-opt %s -split-input-file -pass-pipeline='builtin.module(plan.program(plan-assign-offsets))' | FileCheck %s

// What data decides the size of lies in a block, which the next one uses again; all else in the arena.
// CHECK-LABEL: plan.program @blocks
// CHECK: plan.arena %{{.*}}
// CHECK: %[[A:.*]] = plan.heap 0[%{{.*}}] size %arg1
// CHECK-NEXT: plan.reserve %[[A]] size %arg1
// CHECK: %[[B:.*]] = plan.heap 1[%{{.*}}] size %arg1
// CHECK: %[[C:.*]] = plan.heap 0[%{{.*}}] size %arg1
plan.program @blocks symbols ["N", "k"] inputs [] outputs [] {
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
plan.program @loops symbols [] inputs [] outputs [] {
  %c64 = arith.constant 64 : index
  %x = plan.input 0 size %c64
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
  plan.copy %carried to %x size %c64 {name = ""}
}
