// RUN: tenon-opt %s -pass-pipeline='builtin.module(func.func(tenon-split-large-weights{max-bytes=64}))' | FileCheck %s
// RUN: tenon-opt %s -pass-pipeline='builtin.module(func.func(tenon-split-large-weights))' | FileCheck %s --check-prefix=SMALL

// Four rows of two f64 fit: five are cut after the fourth. What is not summed along them is joined.
// CHECK-LABEL: func.func @joined
// CHECK: %[[A:.*]] = tenon.weight dense_resource<{{part.*}}> : tensor<4x2xf32> {name = "w (part)"}
// CHECK-NEXT: %[[WA:.*]] = tenon.cast %[[A]] : (tensor<4x2xf32>) -> tensor<4x2xf64>
// CHECK-NEXT: %[[YA:.*]] = tenon.contract %arg0, %[[WA]] {{.*}} -> tensor<3x4xf64>
// CHECK-NEXT: %[[B:.*]] = tenon.weight dense_resource<{{part.*}}> : tensor<1x2xf32> {name = "w (part)"}
// CHECK-NEXT: %[[WB:.*]] = tenon.cast %[[B]]
// CHECK-NEXT: %[[YB:.*]] = tenon.contract %arg0, %[[WB]] {{.*}} -> tensor<3x1xf64>
// CHECK-NEXT: tenon.concat %[[YA]], %[[YB]] {axis = 1 : i64}
// SMALL-LABEL: func.func @joined
// SMALL-NOT: concat
// SMALL: return
func.func @joined(%x: tensor<3x2xf64>) -> tensor<3x5xf64> {
  %w = tenon.weight dense_resource<w> : tensor<5x2xf32> {name = "w"}
  %0 = tenon.cast %w : (tensor<5x2xf32>) -> tensor<5x2xf64>
  %1 = tenon.contract %x, %0 {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 1, 2>, result_dims = array<i64: 0, 1>}
    : (tensor<3x2xf64>, tensor<5x2xf64>) -> tensor<3x5xf64>
  return %1 : tensor<3x5xf64>
}

// What is summed along them is added, of parts of the other factor, on whichever side that stands. A lookup keeps the whole.
// CHECK-LABEL: func.func @summed
// CHECK: %[[ALL:.*]] = tenon.cast
// CHECK: tenon.gather %[[ALL]]
// CHECK: %[[A:.*]] = tenon.cast {{.*}} -> tensor<4x2xf64>
// CHECK-NEXT: %[[XA:.*]] = tenon.slice %arg0 {starts = #tenon.shape<0, 0>, steps = array<i64: 1, 1>} : {{.*}} -> tensor<?x4xf64, #tenon.shape<N, 4>>
// CHECK-NEXT: %[[YA:.*]] = tenon.contract %[[A]], %[[XA]]
// CHECK: %[[B:.*]] = tenon.cast {{.*}} -> tensor<1x2xf64>
// CHECK-NEXT: %[[XB:.*]] = tenon.slice %arg0 {starts = #tenon.shape<0, 4>,
// CHECK-NEXT: %[[YB:.*]] = tenon.contract %[[B]], %[[XB]]
// CHECK-NEXT: tenon.add %[[YA]], %[[YB]]
func.func @summed(%x: tensor<?x5xf64, #tenon.shape<N, 5>>, %i: tensor<2xi64>) -> (tensor<?x2xf64, #tenon.shape<N, 2>>, tensor<2x2xf64>) {
  %w = tenon.weight dense_resource<w> : tensor<5x2xf32> {name = "w"}
  %0 = tenon.cast %w : (tensor<5x2xf32>) -> tensor<5x2xf64>
  %2 = tenon.gather %0, %i {axis = 0 : i64, batch_dims = 0 : i64} : (tensor<5x2xf64>, tensor<2xi64>) -> tensor<2x2xf64>
  %1 = tenon.contract %0, %x {lhs_dims = array<i64: 2, 1>, rhs_dims = array<i64: 0, 2>, result_dims = array<i64: 0, 1>}
    : (tensor<5x2xf64>, tensor<?x5xf64, #tenon.shape<N, 5>>) -> tensor<?x2xf64, #tenon.shape<N, 2>>
  return %1, %2 : tensor<?x2xf64, #tenon.shape<N, 2>>, tensor<2x2xf64>
}

// One matrix for each step of a batch: both factors are cut, and results joined.
// CHECK-LABEL: func.func @batch
// CHECK: tenon.slice %arg0 {{.*}} -> tensor<4x3x1xf64>
// CHECK: tenon.slice %arg0 {{.*}} -> tensor<1x3x1xf64>
// CHECK: tenon.concat {{.*}} {axis = 0 : i64} : {{.*}} -> tensor<5x3x2xf64>
func.func @batch(%x: tensor<5x3x1xf64>) -> tensor<5x3x2xf64> {
  %w = tenon.weight dense_resource<w> : tensor<5x1x2xf32>
  %0 = tenon.cast %w : (tensor<5x1x2xf32>) -> tensor<5x1x2xf64>
  %1 = tenon.contract %x, %0 {lhs_dims = array<i64: 0, 1, 3>, rhs_dims = array<i64: 0, 3, 2>, result_dims = array<i64: 0, 1, 2>}
    : (tensor<5x3x1xf64>, tensor<5x1x2xf64>) -> tensor<5x3x2xf64>
  return %1 : tensor<5x3x2xf64>
}

// A factor that stretches along what would be cut stays whole, and so does one that is no weight.
// CHECK-LABEL: func.func @whole
// CHECK-NOT: tenon.slice
// CHECK-NOT: tenon.concat
// CHECK: return
func.func @whole(%x: tensor<1x3x1xf64>, %y: tensor<5x2xf32>, %z: tensor<3x2xf64>) -> (tensor<5x3x2xf64>, tensor<3x5xf64>) {
  %w = tenon.weight dense_resource<w> : tensor<5x1x2xf32>
  %0 = tenon.cast %w : (tensor<5x1x2xf32>) -> tensor<5x1x2xf64>
  %1 = tenon.contract %x, %0 {lhs_dims = array<i64: 0, 1, 3>, rhs_dims = array<i64: 0, 3, 2>, result_dims = array<i64: 0, 1, 2>}
    : (tensor<1x3x1xf64>, tensor<5x1x2xf64>) -> tensor<5x3x2xf64>
  %2 = tenon.cast %y : (tensor<5x2xf32>) -> tensor<5x2xf64>
  %3 = tenon.contract %z, %2 {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 1, 2>, result_dims = array<i64: 0, 1>}
    : (tensor<3x2xf64>, tensor<5x2xf64>) -> tensor<3x5xf64>
  return %1, %3 : tensor<5x3x2xf64>, tensor<3x5xf64>
}

{-#
  dialect_resources: {
    builtin: {
      w: "0x040000000000803F0000004000004040000080400000A0400000C0400000E040000000410000104100002041"
    }
  }
#-}
