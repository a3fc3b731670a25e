// RUN: tenon-opt %s --tenon-to-linalg | FileCheck %s
// RUN: tenon-opt %s --tenon-to-linalg --tenon-tile-kernels --canonicalize | FileCheck %s --check-prefix=TILED

// The best element of a row first, then the least index of one that equals it. NaN counts as best.
// CHECK-LABEL: @first_of_the_largest
// CHECK: %[[BEST:.*]] = linalg.generic
// CHECK: arith.maximumf
// CHECK: linalg.generic {{.*}}ins({{.*}}%[[BEST]]
// CHECK: arith.cmpf oeq
// CHECK: arith.cmpf uno
// CHECK: arith.minsi
// Rows are open, so the best elements of a tile are those of one row: memory of one size.
// TILED-LABEL: @first_of_the_largest
// TILED-SAME: tenon.tiles = #tenon.shape<s0>
// TILED: tensor.empty() : tensor<1xf32>
func.func private @first_of_the_largest(%x: tensor<?x3xf32, #tenon.shape<s0, 3>>) -> tensor<?xi64, #tenon.shape<s0>>
    attributes {tenon.kernel, tenon.symbols = ["s0"]} {
  %0 = tenon.arg_reduce max, %x {axis = 1 : i64} : (tensor<?x3xf32, #tenon.shape<s0, 3>>) -> tensor<?xi64, #tenon.shape<s0>>
  return %0 : tensor<?xi64, #tenon.shape<s0>>
}

// CHECK-LABEL: @last_of_the_smallest
// CHECK: arith.minui
// CHECK: arith.cmpi eq
// CHECK: arith.maxsi
func.func private @last_of_the_smallest(%x: tensor<4x3xui8>) -> tensor<4xi64> attributes {tenon.kernel} {
  %0 = tenon.arg_reduce min, %x {axis = 1 : i64, last = true} : (tensor<4x3xui8>) -> tensor<4xi64>
  return %0 : tensor<4xi64>
}
