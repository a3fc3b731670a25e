// RUN: tenon-opt %s -pass-pipeline='builtin.module(tenon-vectorize-transposes{vector-bytes=16},canonicalize,cse)' | FileCheck %s

#map = affine_map<(d0, d1) -> (d0, d1)>
#flip = affine_map<(d0, d1) -> (d1, d0)>
#map3 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#swap3 = affine_map<(d0, d1, d2) -> (d1, d0, d2)>
#swapinner3 = affine_map<(d0, d1, d2) -> (d0, d2, d1)>
#reverse3 = affine_map<(d0, d1, d2) -> (d2, d1, d0)>

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

// The last block of 9 columns overlaps the one before it: it begins at 5.
// CHECK-LABEL: @last_block_overlaps
// CHECK: scf.for %[[I:.*]] = %c0{{.*}} to %c9{{.*}} step %c4
// CHECK: arith.minsi %[[I]], %c5
// CHECK: scf.for
// CHECK-NOT: arith.minsi
// CHECK-COUNT-4: vector.store
func.func @last_block_overlaps(%in: memref<8x9xf32>, %out: memref<9x8xf32>) {
  linalg.generic {indexing_maps = [#flip, #map], iterator_types = ["parallel", "parallel"]} ins(%in : memref<8x9xf32>) outs(%out : memref<9x8xf32>) {
  ^bb0(%x: f32, %old: f32):
    linalg.yield %x : f32
  }
  return
}

// Of open extents, the largest block that fits is chosen at run time; bytes have blocks of 16, 8 and 4 rows, and are moved one by one at last.
// CHECK-LABEL: @open_extents
// CHECK: arith.cmpi sge, %{{.*}}, %c16
// CHECK: scf.if
// CHECK-COUNT-16: vector.store {{.*}} vector<16xi8>
// CHECK: } else {
// CHECK: scf.if
// CHECK-COUNT-8: vector.store {{.*}} vector<8xi8>
// CHECK: } else {
// CHECK: scf.if
// CHECK-COUNT-4: vector.store {{.*}} vector<4xi8>
// CHECK: } else {
// CHECK: memref.store {{.*}} : memref<?xi8>
func.func @open_extents(%in: memref<?x?xi8>, %out: memref<?x?xi8>) {
  linalg.generic {indexing_maps = [#flip, #map], iterator_types = ["parallel", "parallel"]} ins(%in : memref<?x?xi8>) outs(%out : memref<?x?xi8>) {
  ^bb0(%x: i8, %old: i8):
    linalg.yield %x : i8
  }
  return
}

// The input lies along (d1, d0): 5 * 3 columns, whose places in the output are computed outside of the loop over rows.
// CHECK-LABEL: @joined_columns
// CHECK: scf.for %[[C:.*]] = %c0{{.*}} to %c15
// CHECK: arith.remui %{{.*}}, %c3
// CHECK: arith.divui %{{.*}}, %c3
// CHECK: arith.select
// CHECK: scf.for %{{.*}} = %c0{{.*}} to %c8{{.*}} step %c4
// CHECK-NOT: arith.select
// CHECK-COUNT-4: vector.store
func.func @joined_columns(%in: memref<8x5x3xf32>, %out: memref<3x5x8xf32>) {
  linalg.generic {indexing_maps = [#reverse3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%in : memref<8x5x3xf32>) outs(%out : memref<3x5x8xf32>) {
  ^bb0(%x: f32, %old: f32):
    linalg.yield %x : f32
  }
  return
}

// Joined rows are walked outside.
// CHECK-LABEL: @joined_rows
// CHECK: scf.for %{{.*}} = %c0{{.*}} to %c15
// CHECK: arith.remui %{{.*}}, %c3
// CHECK: scf.for %{{.*}} = %c0{{.*}} to %c8{{.*}} step %c4
// CHECK-COUNT-4: vector.store
func.func @joined_rows(%in: memref<3x5x8xf32>, %out: memref<8x5x3xf32>) {
  linalg.generic {indexing_maps = [#reverse3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%in : memref<3x5x8xf32>) outs(%out : memref<8x5x3xf32>) {
  ^bb0(%x: f32, %old: f32):
    linalg.yield %x : f32
  }
  return
}

// Whether the next dimension continues an open one is known at run time: where it does not, it is a loop around the blocks.
// CHECK-LABEL: @joined_where_memory_allows
// CHECK: %[[N:.*]] = memref.dim
// CHECK: %[[JOINS:.*]] = arith.cmpi eq, %{{.*}}, %[[N]]
// CHECK: arith.select %[[JOINS]], %c1, %c64
// CHECK: arith.select %[[JOINS]], %c64, %c1
func.func @joined_where_memory_allows(%in: memref<8x64x?xf32, strided<[?, ?, 1], offset: ?>>, %out: memref<?x64x8xf32>) {
  linalg.generic {indexing_maps = [#reverse3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%in : memref<8x64x?xf32, strided<[?, ?, 1], offset: ?>>) outs(%out : memref<?x64x8xf32>) {
  ^bb0(%x: f32, %old: f32):
    linalg.yield %x : f32
  }
  return
}

// A dimension of 1 is no loop, and what it separates is contiguous.
// CHECK-LABEL: @unit_dimension
// CHECK: scf.for %{{.*}} to %c8{{.*}} step %c4
// CHECK: scf.for %{{.*}} to %c12{{.*}} step %c4
// CHECK-COUNT-4: vector.store
func.func @unit_dimension(%in: memref<12x8x1xf32>, %out: memref<1x8x12xf32>) {
  linalg.generic {indexing_maps = [#reverse3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%in : memref<12x8x1xf32>) outs(%out : memref<1x8x12xf32>) {
  ^bb0(%x: f32, %old: f32):
    linalg.yield %x : f32
  }
  return
}

// Few elements that both sides have one behind another are moved in vectors, of which the last overlaps the one before.
// CHECK-LABEL: @runs
// CHECK: scf.for %{{.*}} to %c5
// CHECK: scf.for %{{.*}} to %c6
// CHECK: vector.load {{.*}} vector<4xf32>
// CHECK: arith.addi %{{.*}}, %c3
// CHECK: vector.load {{.*}} vector<4xf32>
// CHECK-NOT: vector.load
func.func @runs(%in: memref<6x5x7xf32>, %out: memref<5x6x7xf32>) {
  linalg.generic {indexing_maps = [#swap3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%in : memref<6x5x7xf32>) outs(%out : memref<5x6x7xf32>) {
  ^bb0(%x: f32, %old: f32):
    linalg.yield %x : f32
  }
  return
}

// Two halves that both sides have one behind another are moved as one word of 32 bits.
// CHECK-LABEL: @units
// CHECK: scf.for %{{.*}} to %c8{{.*}} step %c4
// CHECK: scf.for %{{.*}} to %c12{{.*}} step %c4
// CHECK-COUNT-4: vector.bitcast %{{.*}} : vector<8xf16> to vector<4xi32>
// CHECK-COUNT-8: vector.shuffle {{.*}} : vector<4xi32>, vector<4xi32>
// CHECK-COUNT-4: vector.store {{.*}} vector<8xf16>
// CHECK-NOT: vector.store
func.func @units(%in: memref<12x8x2xf16>, %out: memref<8x12x2xf16>) {
  linalg.generic {indexing_maps = [#swap3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%in : memref<12x8x2xf16>) outs(%out : memref<8x12x2xf16>) {
  ^bb0(%x: f16, %old: f16):
    linalg.yield %x : f16
  }
  return
}

// CHECK-LABEL: @no_long_runs
// CHECK: linalg.generic
func.func @no_long_runs(%in: memref<6x5x127xf32>, %out: memref<5x6x127xf32>) {
  linalg.generic {indexing_maps = [#swap3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%in : memref<6x5x127xf32>) outs(%out : memref<5x6x127xf32>) {
  ^bb0(%x: f32, %old: f32):
    linalg.yield %x : f32
  }
  return
}

// Three vectors of the input have four columns of three rows each: each vector of the output takes two shuffles of them.
// CHECK-LABEL: @three_columns
// CHECK: scf.for %{{.*}} to %c12{{.*}} step %c4
// CHECK-COUNT-3: vector.load
// CHECK: vector.shuffle %{{.*}}, %{{.*}} [0, 3, 6, -1]
// CHECK: vector.shuffle %{{.*}}, %{{.*}} [0, 1, 2, 5]
// CHECK-COUNT-3: vector.store
// CHECK-NOT: vector.store
func.func @three_columns(%in: memref<12x3xf32>, %out: memref<3x12xf32>) {
  linalg.generic {indexing_maps = [#flip, #map], iterator_types = ["parallel", "parallel"]} ins(%in : memref<12x3xf32>) outs(%out : memref<3x12xf32>) {
  ^bb0(%x: f32, %old: f32):
    linalg.yield %x : f32
  }
  return
}

// Boxes of 2 x 4 elements are contiguous on both sides: two vectors are permuted for each, whatever is around them.
// CHECK-LABEL: @dense_boxes
// CHECK: scf.for %{{.*}} to %c5{{.*}} step %c1
// CHECK-COUNT-2: vector.load {{.*}} vector<4xf32>
// CHECK: vector.shuffle %{{.*}}, %{{.*}} [0, 4, 1, 5]
// CHECK: vector.shuffle %{{.*}}, %{{.*}} [2, 6, 3, 7]
// CHECK-NOT: memref.load
func.func @dense_boxes(%in: memref<5x2x4xf32>, %out: memref<5x4x2xf32>) {
  linalg.generic {indexing_maps = [#swapinner3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%in : memref<5x2x4xf32>) outs(%out : memref<5x4x2xf32>) {
  ^bb0(%x: f32, %old: f32):
    linalg.yield %x : f32
  }
  return
}

// A run of three elements is moved as four, of which the next run overwrites the last; the last run of a row is moved exactly.
// CHECK-LABEL: @runs_of_three
// CHECK: scf.for %{{.*}} to %c5
// CHECK: scf.for %{{.*}} to %c63
// CHECK: vector.load {{.*}} vector<4xf32>
// CHECK: vector.store {{.*}} vector<4xf32>
// CHECK-COUNT-2: vector.store {{.*}} vector<2xf32>
// CHECK-NOT: vector.store
func.func @runs_of_three(%in: memref<64x5x3xf32>, %out: memref<5x64x3xf32>) {
  linalg.generic {indexing_maps = [#swap3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%in : memref<64x5x3xf32>) outs(%out : memref<5x64x3xf32>) {
  ^bb0(%x: f32, %old: f32):
    linalg.yield %x : f32
  }
  return
}

// Three rows whose number is dynamic have blocks of four: a column that is written has a unit of the next one, which the next store overwrites.
// Where the extent is none or rows do not continue, units are moved one by one.
// CHECK-LABEL: @padded_rows
// CHECK: arith.divui %c3
// CHECK: scf.if
// CHECK-COUNT-4: vector.load {{.*}} vector<4xf32>
// CHECK-COUNT-4: vector.store {{.*}} vector<4xf32>
// CHECK: memref.store
func.func @padded_rows(%in: memref<?x64xf32>, %out: memref<64x?xf32>) {
  linalg.generic {indexing_maps = [#flip, #map], iterator_types = ["parallel", "parallel"]} ins(%in : memref<?x64xf32>) outs(%out : memref<64x?xf32>) {
  ^bb0(%x: f32, %old: f32):
    linalg.yield %x : f32
  }
  return
}

// CHECK-LABEL: @no_elements_that_lie_apart
// CHECK: linalg.generic
func.func @no_elements_that_lie_apart(%in: memref<12x8xf32, strided<[16, 2]>>, %out: memref<8x12xf32>) {
  linalg.generic {indexing_maps = [#flip, #map], iterator_types = ["parallel", "parallel"]} ins(%in : memref<12x8xf32, strided<[16, 2]>>) outs(%out : memref<8x12xf32>) {
  ^bb0(%x: f32, %old: f32):
    linalg.yield %x : f32
  }
  return
}

// CHECK-LABEL: @no_copies_that_compute
// CHECK: linalg.generic
func.func @no_copies_that_compute(%in: memref<12x8xf32>, %out: memref<8x12xf32>) {
  linalg.generic {indexing_maps = [#flip, #map], iterator_types = ["parallel", "parallel"]} ins(%in : memref<12x8xf32>) outs(%out : memref<8x12xf32>) {
  ^bb0(%x: f32, %old: f32):
    %0 = arith.negf %x : f32
    linalg.yield %0 : f32
  }
  return
}
