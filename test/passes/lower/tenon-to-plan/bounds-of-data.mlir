// RUN: tenon-opt %s --tenon-to-plan | FileCheck %s

// A size that data decides is compared with its bound where it is read; one without a bound is not.
// CHECK: ^bb0(%[[N:.*]]: index, %[[K:.*]]: index, %[[L:.*]]: index)
// CHECK: %[[LESS:.*]] = arith.muli %[[K]], %{{.*}} : index
// CHECK: %[[ROOM:.*]] = arith.addi
// CHECK: plan.bind 1 =
// CHECK-NEXT: plan.check %[[ROOM]] "data asks for a size above N, the most that there can be"
// CHECK-NEXT: plan.bind 2 =
// CHECK-NOT: plan.check
func.func @main(%n: tensor<2xi64>, %a: tensor<?xf32, #tenon.shape<N>>) {
  tenon.bind %n ["k", "l"] {min = 0 : i64, bounds = #tenon.shape<N, ?>} : tensor<2xi64>
  return
}
