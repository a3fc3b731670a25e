// RUN: tenon-opt %s -tenon-to-linalg | FileCheck %s

// Four numbers of 24 bits in three words. The first three are the words, and the fourth is made of what is below them.
// CHECK-DAG: #[[FIRST:.*]] = affine_map<(d0, d1) -> (d1 floordiv 32, (d0 floordiv 4) * 3, d1 mod 32)>
// CHECK-DAG: #[[SECOND:.*]] = affine_map<(d0, d1) -> (d1 floordiv 32, (d0 floordiv 4) * 3 + 1, d1 mod 32)>
// CHECK-DAG: #[[THIRD:.*]] = affine_map<(d0, d1) -> (d1 floordiv 32, (d0 floordiv 4) * 3 + 2, d1 mod 32)>
// CHECK-LABEL: @shared_words
// CHECK: linalg.generic {indexing_maps = [#[[FIRST]], #[[SECOND]], #[[THIRD]], #{{.*}}]
// CHECK: ^bb0(%[[W0:.*]]: i32, %[[W1:.*]]: i32, %[[W2:.*]]: i32, %{{.*}}: f32):
// CHECK: %[[STEP:.*]] = linalg.index 0
// CHECK: %[[PLACE:.*]] = arith.remui %[[STEP]], %c4
// CHECK: %[[AT:.*]] = arith.index_cast %[[PLACE]] : index to i32
// CHECK: %[[IS1:.*]] = arith.cmpi eq, %[[AT]], %c1_i32
// CHECK: %[[N1:.*]] = arith.select %[[IS1]], %[[W1]], %[[W0]]
// CHECK: %[[IS2:.*]] = arith.cmpi eq, %[[AT]], %c2_i32
// CHECK: %[[N2:.*]] = arith.select %[[IS2]], %[[W2]], %[[N1]]
// CHECK: %[[UPPER:.*]] = arith.shli %[[W0]], %c24_i32
// CHECK: %[[SHIFTED:.*]] = arith.shli %[[W1]], %c16_i32
// CHECK: %[[MIDDLE:.*]] = arith.andi %[[SHIFTED]], %c16711680_i32
// CHECK: %[[BOTH:.*]] = arith.ori %[[UPPER]], %[[MIDDLE]]
// CHECK: %[[LOW:.*]] = arith.shli %[[W2]], %c8_i32
// CHECK: %[[LOWER:.*]] = arith.andi %[[LOW]], %c65280_i32
// CHECK: %[[ALL:.*]] = arith.ori %[[BOTH]], %[[LOWER]]
// CHECK: %[[IS3:.*]] = arith.cmpi eq, %[[AT]], %c3_i32
// CHECK: %[[N3:.*]] = arith.select %[[IS3]], %[[ALL]], %[[N2]]
// CHECK: arith.sitofp %[[N3]] : i32 to f32
func.func private @shared_words(%w: tensor<2x6x32xi32>) -> tensor<8x40xf32> attributes {tenon.kernel} {
  %0 = tenon.unpack %w {axis = 1 : i64, packed_i32_axis = 0 : i64, bits = 24 : i64} : (tensor<2x6x32xi32>) -> tensor<8x40xi32>
  %1 = tenon.cast %0 : (tensor<8x40xi32>) -> tensor<8x40xf32>
  return %1 : tensor<8x40xf32>
}
