// RUN: tenon-opt %s -tenon-to-linalg | FileCheck %s
// What casts compute is tested by running them (test/e2e/families/cast.py); this is about where they round.

// A byte in memory and in between, and moved as it is.
// CHECK-LABEL: @moved
// CHECK-SAME: %{{.*}}: tensor<2x3xi8> {{{.*}}}, %{{.*}}: tensor<3x2xi8> {{{.*}}tenon.output})
// CHECK: ^bb0(%[[X:.*]]: i8, %{{.*}}: i8):
// CHECK-NEXT: linalg.yield %[[X]] : i8
func.func private @moved(%x: tensor<2x3xf8E4M3FN>) -> tensor<3x2xf8E4M3FN> attributes {tenon.kernel} {
  %0 = tenon.transpose %x {permutation = array<i64: 1, 0>} : (tensor<2x3xf8E4M3FN>) -> tensor<3x2xf8E4M3FN>
  return %0 : tensor<3x2xf8E4M3FN>
}

// A weight of equal elements is a number in the code: 1.5 is 0x3e.
// CHECK-LABEL: @splat
// CHECK: arith.constant 62 : i8
func.func private @splat(%c: tensor<4xi1>, %x: tensor<4xf8E5M2>) -> tensor<4xf8E5M2> attributes {tenon.kernel} {
  %w = tenon.weight dense<1.5> : tensor<f8E5M2>
  %0 = tenon.select %c, %x, %w : (tensor<4xi1>, tensor<4xf8E5M2>, tensor<f8E5M2>) -> tensor<4xf8E5M2>
  return %0 : tensor<4xf8E5M2>
}

// The sign of a small integer is put above its bits where it is read; what is written has zeros there.
// CHECK-LABEL: @small_integers
// CHECK: ^bb0(%[[X:.*]]: i8, %{{.*}}: i8):
// CHECK: %[[UP:.*]] = arith.shli %[[X]], %{{.*}} : i8
// CHECK: %[[SIGNED:.*]] = arith.shrsi %[[UP]]
// CHECK: %[[LOW:.*]] = arith.andi %[[SIGNED]]
// CHECK: linalg.yield %[[LOW]]
func.func private @small_integers(%x: tensor<4xi4>) -> tensor<4xui2> attributes {tenon.kernel} {
  %0 = tenon.cast %x : (tensor<4xi4>) -> tensor<4xui2>
  return %0 : tensor<4xui2>
}

// An f64 is rounded once: what the f32 in between loses shows in its last bit.
// CHECK-LABEL: @from_f64
// CHECK: %[[NEAREST:.*]] = arith.truncf
// CHECK: %[[BACK:.*]] = arith.extf %[[NEAREST]]
// CHECK: arith.cmpf one, %[[BACK]]
func.func private @from_f64(%x: tensor<4xf64>) -> tensor<4xf8E4M3FN> attributes {tenon.kernel} {
  %0 = tenon.cast %x : (tensor<4xf64>) -> tensor<4xf8E4M3FN>
  return %0 : tensor<4xf8E4M3FN>
}

// Halves are f32 exactly.
// CHECK-LABEL: @from_f16
// CHECK: arith.extf
// CHECK-NOT: arith.truncf
// CHECK: linalg.yield
func.func private @from_f16(%x: tensor<4xf16>) -> tensor<4xf8E4M3FN> attributes {tenon.kernel} {
  %0 = tenon.cast %x : (tensor<4xf16>) -> tensor<4xf8E4M3FN>
  return %0 : tensor<4xf8E4M3FN>
}

// Booleans are bytes in memory, and their bits are those.
// CHECK-LABEL: @bits
// CHECK: %[[BYTE:.*]] = arith.cmpi ne
// CHECK: arith.extui %[[BYTE]] : i1 to i8
func.func private @bits(%x: tensor<4xi1>) -> tensor<4xf8E5M2> attributes {tenon.kernel} {
  %0 = tenon.bitcast %x : (tensor<4xi1>) -> tensor<4xf8E5M2>
  return %0 : tensor<4xf8E5M2>
}
