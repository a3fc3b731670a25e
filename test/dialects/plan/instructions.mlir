// RUN: tenon-opt %s | tenon-opt | FileCheck %s

// CHECK-LABEL: plan.program @main symbols ["N"]
// CHECK-SAME: inputs [{dims = #tenon.shape<N, 4>, name = "x", type = f32}] outputs [{dims = #tenon.shape<4>, name = "y0", type = f32}]
plan.program @main symbols ["N"]
    inputs [{name = "x", type = f32, dims = #tenon.shape<N, 4>}]
    outputs [{name = "y0", type = f32, dims = #tenon.shape<4>}] {
^bb0(%n: index):
  // CHECK: %[[X:.*]] = plan.input 0 size %[[N:.*]]
  %x = plan.input 0 size %n
  // CHECK: %[[Y:.*]] = plan.output 0 size %[[N]]
  %y = plan.output 0 size %n
  // CHECK: %[[W:.*]] = plan.weight dense<1.000000e+00> : tensor<4xf32> {name = "w"}
  %w = plan.weight dense<1.0> : tensor<4xf32> {name = "w"}
  // CHECK: plan.alloc %[[N]] {name = "a"}
  %a = plan.alloc %n {name = "a"}
  // CHECK: %[[ARENA:.*]] = plan.arena %[[N]]
  %arena = plan.arena %n
  // CHECK: %[[V:.*]] = plan.view %[[ARENA]][%[[N]]] size %[[N]] {name = "v"}
  %v = plan.view %arena[%n] size %n {name = "v"}
  // CHECK: plan.launch @k(%[[X]], %[[W]]) -> (%[[V]]) sizes(%[[N]]) tiles %[[N]] {name = "relu1"}
  plan.launch @k(%x, %w) -> (%v) sizes(%n) tiles %n {name = "relu1"}
  // CHECK: plan.copy %[[V]] to %[[Y]] size %[[N]] {name = "copy"}
  plan.copy %v to %y size %n {name = "copy"}
}
