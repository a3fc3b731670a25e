// RUN: tenon-opt %s --tenon-to-linalg | FileCheck %s
// RUN: tenon-opt %s --tenon-to-linalg --tenon-form-contractions --tenon-tile-kernels --canonicalize | FileCheck %s --check-prefix=TILED

// The best element of a column first, then the least index of one that equals it. NaN counts as best.
// CHECK-LABEL: @first_of_the_largest
// CHECK: %[[BEST:.*]] = linalg.generic
// CHECK: arith.maximumf
// CHECK: linalg.generic {{.*}}ins({{.*}}%[[BEST]]
// CHECK: arith.cmpf oeq
// CHECK: arith.cmpf uno
// CHECK: arith.minsi
// Columns are open, so the best elements of a tile are those of one column: memory of one size.
// TILED-LABEL: @first_of_the_largest
// TILED-SAME: tenon.tiles = #tenon.shape<s0>
// TILED: tensor.empty() : tensor<1xf32>
func.func private @first_of_the_largest(%x: tensor<3x?xf32, #tenon.shape<3, s0>>) -> tensor<?xi64, #tenon.shape<s0>>
    attributes {tenon.kernel, tenon.symbols = ["s0"]} {
  %0 = tenon.arg_reduce max, %x {axis = 0 : i64} : (tensor<3x?xf32, #tenon.shape<3, s0>>) -> tensor<?xi64, #tenon.shape<s0>>
  return %0 : tensor<?xi64, #tenon.shape<s0>>
}

// CHECK-LABEL: @last_of_the_smallest
// CHECK: arith.minui
// CHECK: arith.cmpi eq
// CHECK: arith.maxsi
func.func private @last_of_the_smallest(%x: tensor<3x4xui8>) -> tensor<4xi64> attributes {tenon.kernel} {
  %0 = tenon.arg_reduce min, %x {axis = 0 : i64, last = true} : (tensor<3x4xui8>) -> tensor<4xi64>
  return %0 : tensor<4xi64>
}

// Where the elements of a line are neighbours, the lowest rank of each block first, and then the element that has it.
// CHECK-LABEL: @along_lines
// CHECK: arith.bitcast {{.*}} : f32 to i32
// CHECK: arith.minui
// CHECK: } {tenon.tiles = #tenon.shape<s0>}
func.func private @along_lines(%x: tensor<?x300xf32, #tenon.shape<s0, 300>>) -> tensor<?xi64, #tenon.shape<s0>>
    attributes {tenon.kernel, tenon.symbols = ["s0"]} {
  %0 = tenon.arg_reduce max, %x {axis = 1 : i64} : (tensor<?x300xf32, #tenon.shape<s0, 300>>) -> tensor<?xi64, #tenon.shape<s0>>
  return %0 : tensor<?xi64, #tenon.shape<s0>>
}
