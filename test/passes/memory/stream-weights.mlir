// RUN: tenon-opt %s -pass-pipeline='builtin.module(plan.program(plan-stream-weights{budget=450000}))' | FileCheck %s
// RUN: tenon-opt %s -pass-pipeline='builtin.module(plan.program(plan-stream-weights{budget=700000}))' | FileCheck %s --check-prefix=MORE
// RUN: tenon-opt %s -pass-pipeline='builtin.module(plan.program(plan-stream-weights{budget=1000400}))' | FileCheck %s --check-prefix=ALL

// With room for all nothing goes; else the largest ones go, as many as have to. A small one stays, and what a loop
// uses goes after the loop.
// ALL-NOT: plan.release

// MORE: plan.copy %[[A:.*]] to
// MORE-NEXT: plan.release %[[A]] {name = "a"}
// MORE: plan.copy %[[B:.*]] to
// MORE-NEXT: plan.release %[[B]] {name = "b"}
// MORE-NOT: plan.release

// CHECK: plan.release %{{.*}} {name = "a"}
// CHECK: plan.release %{{.*}} {name = "b"}
// CHECK-NEXT: plan.loop
// CHECK: } {name = ""}
// CHECK-NEXT: plan.release %{{.*}} {name = "looped"}
// CHECK-NOT: plan.release
plan.program @weights symbols []
    inputs [{name = "x0", type = f32, dims = #tenon.shape<4>}]
    outputs [{name = "y0", type = f32, dims = #tenon.shape<4>}] {
  %c4 = arith.constant 4 : index
  %x = plan.input 0 size %c4
  %y = plan.output 0 size %c4
  %a = plan.weight dense<0.0> : tensor<100000xf32> {name = "a"}
  %b = plan.weight dense<1.0> : tensor<100000xf32> {name = "b"}
  %looped = plan.weight dense<2.0> : tensor<50000xf32> {name = "looped"}
  %small = plan.weight dense<3.0> : tensor<100xf32> {name = "small"}
  plan.copy %a to %y size %c4 {name = ""}
  plan.copy %b to %y size %c4 {name = ""}
  plan.loop %x {
    plan.copy %looped to %y size %c4 {name = ""}
    plan.copy %small to %y size %c4 {name = ""}
  } {name = ""}
}
