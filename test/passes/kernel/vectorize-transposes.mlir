// RUN: tenon-opt %s -pass-pipeline='builtin.module(tenon-vectorize-transposes{vector-bytes=16})' | FileCheck %s

#map = affine_map<(d0, d1) -> (d0, d1)>
#flip = affine_map<(d0, d1) -> (d1, d0)>

// Four vectors are read, and after two rounds of shuffles four are written.
// CHECK-LABEL: @whole_blocks
// CHECK: scf.for %[[I:.*]] = %c0{{.*}} to %c8{{.*}} step %c4
// CHECK: scf.for %[[J:.*]] = %c0{{.*}} to %c12{{.*}} step %c4
// CHECK-COUNT-4: vector.load
// CHECK: vector.shuffle %{{.*}}, %{{.*}} [0, 4, 1, 5]
// CHECK: vector.shuffle %{{.*}}, %{{.*}} [2, 6, 3, 7]
// CHECK-COUNT-6: vector.shuffle
// CHECK-COUNT-4: vector.store
// CHECK-NOT: vector.{{[ls]}}
func.func @whole_blocks(%in: memref<12x8xf32>, %out: memref<8x12xf32>) {
  linalg.generic {indexing_maps = [#flip, #map], iterator_types = ["parallel", "parallel"]} ins(%in : memref<12x8xf32>) outs(%out : memref<8x12xf32>) {
  ^bb0(%x: f32, %old: f32):
    linalg.yield %x : f32
  }
  return
}

// Rows that are not there are read from the last one, and not written.
// CHECK-LABEL: @border
// CHECK: vector.maskedload
// CHECK: %[[LAST:.*]] = arith.subi
// CHECK: arith.minsi %{{.*}}, %[[LAST]]
// CHECK: vector.maskedstore
func.func @border(%in: memref<?x?xi8>, %out: memref<?x?xi8>) {
  linalg.generic {indexing_maps = [#flip, #map], iterator_types = ["parallel", "parallel"]} ins(%in : memref<?x?xi8>) outs(%out : memref<?x?xi8>) {
  ^bb0(%x: i8, %old: i8):
    linalg.yield %x : i8
  }
  return
}

// CHECK-LABEL: @no_copy_along_one_dimension
// CHECK: linalg.generic
func.func @no_copy_along_one_dimension(%in: memref<12x8xf32, strided<[16, 1]>>, %out: memref<12x8xf32>) {
  linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%in : memref<12x8xf32, strided<[16, 1]>>) outs(%out : memref<12x8xf32>) {
  ^bb0(%x: f32, %old: f32):
    linalg.yield %x : f32
  }
  return
}

// CHECK-LABEL: @no_blocks_that_are_empty_for_the_most_part
// CHECK: linalg.generic
func.func @no_blocks_that_are_empty_for_the_most_part(%in: memref<12x1xf32>, %out: memref<1x12xf32>) {
  linalg.generic {indexing_maps = [#flip, #map], iterator_types = ["parallel", "parallel"]} ins(%in : memref<12x1xf32>) outs(%out : memref<1x12xf32>) {
  ^bb0(%x: f32, %old: f32):
    linalg.yield %x : f32
  }
  return
}
