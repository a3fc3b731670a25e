// RUN: tenon-opt %s -tenon-expand-winograd -canonicalize -cse | FileCheck %s
// RUN: tenon-opt %s -tenon-expand-winograd=vector-bytes=32 -canonicalize | FileCheck %s --check-prefix=SHORT

// 20 channels are a vector and a part of one; 40 filters two panels.
// CHECK-LABEL: @tile
// SHORT-LABEL: @tile
// The input that a tile reads, with zeros around it: rows of 4 squares and what they share with their neighbours.
// CHECK-DAG: kernel.scratch 0 : memref<1344xf32>
// CHECK-DAG: kernel.scratch 5376 : memref
// CHECK: vector.load %arg0[{{.*}}] : memref<1x9x11x20xf32>, vector<16xf32>
// SHORT: vector.load %arg0[{{.*}}] : memref<1x9x11x20xf32>, vector<8xf32>
// One square of 4 x 4 elements, transformed.
// CHECK: arith.subf
// CHECK: vector.store
// CHECK: vector.maskedload %arg0
// A product for each point and panel of filters, which asks for the weights of the next point.
// CHECK: scf.for
// CHECK: linalg.generic
// CHECK-SAME: tenon.prefetch = 20
// Squares that lie in the tile are stored as they are, others element by element.
// CHECK: scf.if
// CHECK: vector.store {{.*}} : memref<1x?x11x40xf32
// CHECK: vector.maskedstore
func.func private @tile(%x: memref<1x9x11x20xf32>, %w: memref<2x16x20x32xf32>, %out: memref<1x?x11x40xf32>, %n: index,
                        %y: index, %c0: index) attributes {tenon.kernel} {
  kernel.winograd ins(%x, %w : memref<1x9x11x20xf32>, memref<2x16x20x32xf32>) init(%out : memref<1x?x11x40xf32>)
    at [%n, %y, %c0, %c0] {low = array<i64: 1, 1>, outputs = 2 : i64, tile = array<i64: 4, 12, 64>, window = 3 : i64}
  return
}
