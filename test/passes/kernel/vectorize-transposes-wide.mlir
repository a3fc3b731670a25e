// RUN: tenon-opt %s -pass-pipeline='builtin.module(tenon-vectorize-transposes{vector-bytes=32},canonicalize,cse)' | FileCheck %s

#map = affine_map<(d0, d1) -> (d0, d1)>
#flip = affine_map<(d0, d1) -> (d1, d0)>

// Bytes are transposed within 128 bits: a vector has 16 columns of a row and of the one 16 rows below, so that 32 rows are written at a time.
// CHECK-LABEL: @parts_of_vectors
// CHECK: scf.for %{{.*}} to %c64{{.*}} step %c32
// CHECK: scf.for %{{.*}} to %c48{{.*}} step %c16
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
