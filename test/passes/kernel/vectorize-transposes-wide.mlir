// RUN: tenon-opt %s -pass-pipeline='builtin.module(tenon-vectorize-transposes{vector-bytes=32},canonicalize,cse)' | FileCheck %s

#map = affine_map<(d0, d1) -> (d0, d1)>
#flip = affine_map<(d0, d1) -> (d1, d0)>

// Bytes are transposed within 128 bits: a vector has 16 columns of a row and of the one 16 rows below, so that 32 rows are written at a time.
// CHECK-LABEL: @parts_of_vectors
// CHECK: scf.for %{{.*}} to %c48{{.*}} step %c16
// CHECK: scf.for %{{.*}} to %c64{{.*}} step %c32
// CHECK-COUNT-32: vector.load {{.*}} vector<16xi8>
// CHECK: vector.insert_strided_slice {{.*}} {offsets = [16], strides = [1]} : vector<16xi8> into vector<32xi8>
// CHECK: vector.shuffle {{.*}} [0, 32, 1, 33, 2, 34, 3, 35, 4, 36, 5, 37, 6, 38, 7, 39, 16, 48, 17, 49,
// CHECK-COUNT-16: vector.store {{.*}} vector<32xi8>
// CHECK-NOT: vector.store
func.func @parts_of_vectors(%in: memref<64x48xi8>, %out: memref<48x64xi8>) {
  linalg.generic {indexing_maps = [#flip, #map], iterator_types = ["parallel", "parallel"]} ins(%in : memref<64x48xi8>) outs(%out : memref<48x64xi8>) {
  ^bb0(%x: i8, %old: i8):
    linalg.yield %x : i8
  }
  return
}

// Where rows are too few for two parts, there is one.
// CHECK-LABEL: @one_part
// CHECK-NOT: vector.insert_strided_slice
// CHECK-COUNT-16: vector.store {{.*}} vector<16xi8>
func.func @one_part(%in: memref<16x48xi8>, %out: memref<48x16xi8>) {
  linalg.generic {indexing_maps = [#flip, #map], iterator_types = ["parallel", "parallel"]} ins(%in : memref<16x48xi8>) outs(%out : memref<48x16xi8>) {
  ^bb0(%x: i8, %old: i8):
    linalg.yield %x : i8
  }
  return
}

// CHECK-LABEL: @no_blocks_of_three_rows
// CHECK: linalg.generic
func.func @no_blocks_of_three_rows(%in: memref<3x48xi8>, %out: memref<48x3xi8>) {
  linalg.generic {indexing_maps = [#flip, #map], iterator_types = ["parallel", "parallel"]} ins(%in : memref<3x48xi8>) outs(%out : memref<48x3xi8>) {
  ^bb0(%x: i8, %old: i8):
    linalg.yield %x : i8
  }
  return
}

// Blocks of 8 words are transposed in lanes first, by shuffles that cross none, and lanes are exchanged at last.
// CHECK-LABEL: @lanes_last
// CHECK-COUNT-8: vector.load {{.*}} vector<4xf32>
// CHECK: vector.shuffle %{{.*}}, %{{.*}} [0, 8, 1, 9, 4, 12, 5, 13]
// CHECK-NOT: vector.load
// CHECK-COUNT-4: vector.store {{.*}} vector<8xf32>
func.func @lanes_last(%in: memref<64x48xf32>, %out: memref<48x64xf32>) {
  linalg.generic {indexing_maps = [#flip, #map], iterator_types = ["parallel", "parallel"]} ins(%in : memref<64x48xf32>) outs(%out : memref<48x64xf32>) {
  ^bb0(%x: f32, %old: f32):
    linalg.yield %x : f32
  }
  return
}

// Rows that are 4096 bytes apart are copied to scratch before, where they are 320 bytes apart: 64 words, and 16 to pad.
// CHECK-LABEL: @rows_that_conflict
// CHECK: %[[SCRATCH:.*]] = memref.alloca() {alignment = 64 : i64, tenon.transpose_scratch} : memref<40960xi8>
// CHECK: %[[VIEW:.*]] = memref.view %[[SCRATCH]]{{.*}} : memref<40960xi8> to memref<10240xf32>
// CHECK: scf.for
// CHECK: %[[LINE:.*]] = vector.load {{.*}} vector<8xf32>
// CHECK: vector.store %[[LINE]], %[[VIEW]]
// CHECK-COUNT-8: vector.load %[[VIEW]]{{.*}} vector<4xf32>
// CHECK-NOT: memref.alloca
func.func @rows_that_conflict(%in: memref<64x64xf32, strided<[1024, 1]>>, %out: memref<64x80xf32>) {
  %part = memref.subview %out[0, 0] [64, 64] [1, 1] : memref<64x80xf32> to memref<64x64xf32, strided<[80, 1]>>
  linalg.generic {indexing_maps = [#flip, #map], iterator_types = ["parallel", "parallel"]}
      ins(%in : memref<64x64xf32, strided<[1024, 1]>>) outs(%part : memref<64x64xf32, strided<[80, 1]>>) {
  ^bb0(%x: f32, %old: f32):
    linalg.yield %x : f32
  }
  return
}
