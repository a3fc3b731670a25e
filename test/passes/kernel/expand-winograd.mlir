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
// A product for each point and as many filters as there is room for products of, which asks for the weights of the next point.
// CHECK: scf.for
// CHECK: kernel.contract <kind = product, row = 0, panel = 32>
// CHECK-SAME: #kernel.schedule<prefetch = 20>
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

// Tiles that follow each other with the same part of the input, here of all 3 panels of filters, share it, transformed, also where
// the thread computed the one before in another call. Whole tiles have products of a known number of rows.
// CHECK-LABEL: @tiles
// CHECK-SAME: %[[BEGIN:[a-z0-9]+]]: index, %[[END:[a-z0-9]+]]: index)
// CHECK: scf.for %[[TILE:.*]] = %[[BEGIN]] to %[[END]]
// CHECK: %[[LAST:.*]] = kernel.last_end
// CHECK: %[[FROM:.*]] = arith.select %{{.*}}, %[[LAST]], %[[TILE]]
// CHECK: %[[NONE:.*]] = arith.cmpi slt, %[[FROM]]
// CHECK: %[[BEFORE:.*]] = arith.subi %[[FROM]]
// CHECK: arith.remui %[[BEFORE]]
// CHECK: arith.cmpi ne
// CHECK: %[[NEW:.*]] = arith.ori
// CHECK: scf.if %[[NEW]] {
// CHECK: vector.load %arg0
// CHECK: kernel.contract {{.*}} ins(%{{.*}}, %{{.*}} : memref<8x20xf32
// CHECK: } else {
// CHECK: kernel.contract {{.*}} ins(%{{.*}}, %{{.*}} : memref<?x20xf32
func.func private @tiles(%x: memref<1x7x7x20xf32>, %w: memref<3x16x20x32xf32>, %out: memref<1x7x7x96xf32>, %begin: index,
                         %end: index) attributes {tenon.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  scf.for %t = %begin to %end step %c1 {
    %row = arith.remui %t, %c2 : index
    %panel = arith.divui %t, %c2 : index
    %y = affine.apply affine_map<(d0) -> (d0 * 4)>(%row)
    %f = affine.apply affine_map<(d0) -> (d0 * 32)>(%panel)
    %rows = affine.min affine_map<(d0) -> (-d0 + 7, 4)>(%y)
    %part = memref.subview %out[0, %y, 0, %f] [1, %rows, 7, 32] [1, 1, 1, 1]
      : memref<1x7x7x96xf32> to memref<1x?x7x32xf32, strided<[4704, 672, 96, 1], offset: ?>>
    kernel.winograd ins(%x, %w : memref<1x7x7x20xf32>, memref<3x16x20x32xf32>)
      init(%part : memref<1x?x7x32xf32, strided<[4704, 672, 96, 1], offset: ?>>)
      at [%c0, %y, %c0, %f] {low = array<i64: 1, 1>, outputs = 2 : i64, tile = array<i64: 4, 8, 32>, window = 3 : i64}
  }
  return
}

// Factors that are rounded to i16: the largest of all channels of a point of a square gives its scale, and the numbers take the place of
// the floats. Results are of the sums in i32, converted and scaled.
// CHECK-LABEL: @scaled
// CHECK: vector.store {{.*}} : memref<16x4x48xf32
// CHECK: %[[LARGEST:.*]] = scf.for
// CHECK: arith.maxui {{.*}} : vector<16xi32>
// CHECK: %[[MOST:.*]] = vector.reduction <maxui>, %[[LARGEST]]
// CHECK: memref.store %{{.*}}, %[[SCALES:.*]][%{{.*}}, %{{.*}}] : memref<16x4xf32
// CHECK: vector.fma
// CHECK: arith.trunci {{.*}} to vector<16xi16>
// CHECK: kernel.contract <kind = i16_pairs, row = 0, panel = 32>
// CHECK: %[[SUMS:.*]] = vector.load {{.*}} vector<16xi32>
// CHECK: memref.load %[[SCALES]]
// CHECK: arith.sitofp %[[SUMS]] : vector<16xi32> to vector<16xf32>
func.func private @scaled(%x: memref<1x4x4x40xf32>, %w: memref<1x16x20x32xi32>, %out: memref<1x4x4x32xf32>) attributes {tenon.kernel} {
  %c0 = arith.constant 0 : index
  kernel.winograd ins(%x, %w : memref<1x4x4x40xf32>, memref<1x16x20x32xi32>) init(%out : memref<1x4x4x32xf32>)
    at [%c0, %c0, %c0, %c0] {low = array<i64: 1, 1>, outputs = 2 : i64, tile = array<i64: 4, 4, 32>, window = 3 : i64}
  return
}

// Squares become f16 as they are stored: no memory holds the sums.
// CHECK-LABEL: @narrowed
// CHECK-SAME: %[[OUT:[a-z0-9]+]]: memref<1x8x8x32xf16>
// CHECK: arith.truncf {{.*}} to vector<{{.*}}xf16>
// CHECK-NEXT: vector.store {{.*}}, %[[OUT]]
// CHECK: vector.maskedstore %[[OUT]]
func.func private @narrowed(%x: memref<1x8x8x8xf32>, %w: memref<1x16x8x32xf32>, %out: memref<1x8x8x32xf16>) attributes {tenon.kernel} {
  %c0 = arith.constant 0 : index
  %sums = memref.alloc() : memref<1x8x8x32xf32>
  kernel.winograd ins(%x, %w : memref<1x8x8x8xf32>, memref<1x16x8x32xf32>) init(%sums : memref<1x8x8x32xf32>)
    at [%c0, %c0, %c0, %c0] {low = array<i64: 1, 1>, outputs = 2 : i64, tile = array<i64: 8, 8, 32>, window = 3 : i64}
  linalg.generic {indexing_maps = [affine_map<(a, b, c, d) -> (a, b, c, d)>, affine_map<(a, b, c, d) -> (a, b, c, d)>],
                  iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%sums : memref<1x8x8x32xf32>) outs(%out : memref<1x8x8x32xf16>) {
  ^bb0(%s: f32, %o: f16):
    %0 = arith.truncf %s : f32 to f16
    linalg.yield %0 : f16
  }
  return
}

// Bytes are words when they are transformed, 32 channels at a time, of which products take pairs; the sums are divided by 576.
// CHECK-LABEL: @words
// CHECK-DAG: %[[INVERSE:.*]] = arith.constant dense<954437177> : vector<16xi32>
// CHECK-DAG: %[[SHIFT:.*]] = arith.constant dense<6> : vector<16xi32>
// CHECK-DAG: kernel.scratch 0 : memref<2688xi16>
// CHECK-DAG: kernel.scratch 5376 : memref<4576xi16>
// CHECK-DAG: kernel.scratch 5376 : memref<2288xi32>
// CHECK: %[[BYTES:.*]] = vector.maskedload %arg0{{.*}} memref<1x9x11x21xi8>, vector<32xi1>, vector<32xi8>
// CHECK: arith.extui %[[BYTES]] : vector<32xi8> to vector<32xi16>
// CHECK: arith.subi {{.*}} : vector<32xi16>
// CHECK: kernel.contract <kind = i16_pairs, row = 0, panel = 32>
// CHECK: arith.shli
// CHECK: arith.shrsi
// CHECK: arith.muli {{.*}} : i32
// CHECK: %[[SUM:.*]] = arith.muli %{{.*}}, %[[INVERSE]] :
// CHECK: arith.shrsi %[[SUM]], %[[SHIFT]] :
func.func private @words(%x: memref<1x9x11x21xi8>, %w: memref<2x36x11x32xi32>, %out: memref<1x?x11x40xi32>, %n: index,
                         %y: index, %c0: index) attributes {tenon.kernel} {
  kernel.winograd ins(%x, %w : memref<1x9x11x21xi8>, memref<2x36x11x32xi32>) init(%out : memref<1x?x11x40xi32>)
    at [%n, %y, %c0, %c0] {low = array<i64: 1, 1>, outputs = 4 : i64, tile = array<i64: 4, 12, 64>, window = 3 : i64}
  return
}

// A transformed input is rounded to bf16 as it is stored, 32 channels of a pixel at a time, for products of pairs. 80 channels have three
// steps of 28 in the filter; scratch has zeros where there is no channel.
// CHECK-LABEL: @pairs
// CHECK-SAME: %[[W:[a-z0-9]+]]: memref<2x16x42x64xbf16>
// CHECK-DAG: kernel.scratch 0 : memref<2688xf32>
// CHECK-DAG: kernel.scratch 10752 : memref<{{[0-9]+}}xbf16>
// CHECK: memref.expand_shape %[[W]] {{.*}} : memref<2x16x42x64xbf16> into memref<2x16x3x1x14x64xbf16>
// CHECK: vector.load %arg0{{.*}} memref<1x9x11x80xf32>, vector<16xf32>
// CHECK: arith.subf {{.*}} : vector<16xf32>
// CHECK: %[[ROUNDED:.*]] = arith.truncf %{{.*}} : vector<16xf32> to vector<16xbf16>
// CHECK: vector.store %[[ROUNDED]], {{.*}}, vector<16xbf16>
// CHECK: vector.store %cst{{.*}}, vector<16xbf16>
// CHECK: kernel.contract <kind = bf16_terms, row = 0, panel = 32, inner = 1, step = 28>
// CHECK-SAME: memref<12x3x1x28xbf16, {{.*}}>, memref<?x3x1x14x64xbf16, {{.*}}>, memref<84xi8>)
// CHECK-SAME: #kernel.schedule<micro_kernel = bf16_dot>
// CHECK: vector.store {{.*}} : memref<1x4x11x40xf32
func.func private @pairs(%x: memref<1x9x11x80xf32>, %w: memref<2x16x42x64xbf16>, %out: memref<1x4x11x40xf32>, %n: index,
                         %y: index, %c0: index) attributes {tenon.kernel} {
  kernel.winograd ins(%x, %w : memref<1x9x11x80xf32>, memref<2x16x42x64xbf16>) init(%out : memref<1x4x11x40xf32>)
    at [%n, %y, %c0, %c0] {low = array<i64: 1, 1>, outputs = 2 : i64, tile = array<i64: 4, 12, 64>, window = 3 : i64}
  return
}

// AMX tiles multiply squares of all points with panels of 16 filters, two at a time, in one contraction: it has a loop over points.
// CHECK-LABEL: @amx_tiles
// CHECK: kernel.contract <kind = bf16_terms, row = 1, panel = 16, inner = 2, step = 28>
// CHECK-SAME: memref<16x12x3x1x28xbf16, {{.*}}>, memref<?x16x3x1x14x32xbf16, {{.*}}>, memref<84xi8>)
// CHECK-SAME: #kernel.schedule<micro_kernel = amx_bf16>
// CHECK: vector.store {{.*}} : memref<1x4x11x40xf32
func.func private @amx_tiles(%x: memref<1x9x11x80xf32>, %w: memref<3x16x42x32xbf16>, %out: memref<1x4x11x40xf32>, %n: index,
                             %y: index, %c0: index) attributes {tenon.kernel} {
  kernel.winograd ins(%x, %w : memref<1x9x11x80xf32>, memref<3x16x42x32xbf16>) init(%out : memref<1x4x11x40xf32>)
    at [%n, %y, %c0, %c0] {kernel.schedule = #kernel.schedule<micro_kernel = amx_bf16>, low = array<i64: 1, 1>, outputs = 2 : i64,
                           tile = array<i64: 4, 12, 48>, window = 3 : i64}
  return
}

// Panels of 16 filters alone do not choose them.
// CHECK-LABEL: @narrow_panels
// CHECK: scf.for
// CHECK: kernel.contract <kind = bf16_terms, row = 0, panel = 16, inner = 1, step = 28>
// CHECK-SAME: #kernel.schedule<micro_kernel = bf16_dot>
func.func private @narrow_panels(%x: memref<1x9x11x80xf32>, %w: memref<3x16x42x32xbf16>, %out: memref<1x4x11x40xf32>, %n: index,
                                 %y: index, %c0: index) attributes {tenon.kernel} {
  kernel.winograd ins(%x, %w : memref<1x9x11x80xf32>, memref<3x16x42x32xbf16>) init(%out : memref<1x4x11x40xf32>)
    at [%n, %y, %c0, %c0] {low = array<i64: 1, 1>, outputs = 2 : i64, tile = array<i64: 4, 12, 48>, window = 3 : i64}
  return
}

// Whole steps need no zeros.
// CHECK-LABEL: @whole_steps
// CHECK-NOT: vector.store %cst{{.*}}, vector<16xbf16>
// CHECK: kernel.contract <kind = bf16_terms, row = 0, panel = 32, inner = 1, step = 20>
func.func private @whole_steps(%x: memref<1x9x11x20xf32>, %w: memref<2x16x10x64xbf16>, %out: memref<1x4x11x40xf32>, %n: index,
                               %y: index, %c0: index) attributes {tenon.kernel} {
  kernel.winograd ins(%x, %w : memref<1x9x11x20xf32>, memref<2x16x10x64xbf16>) init(%out : memref<1x4x11x40xf32>)
    at [%n, %y, %c0, %c0] {low = array<i64: 1, 1>, outputs = 2 : i64, tile = array<i64: 4, 12, 64>, window = 3 : i64}
  return
}

// Other products of a kernel are left to the passes that come next.
// CHECK-LABEL: @no_winograd
// CHECK-NOT: kernel.scratch
// CHECK-NOT: vector.
// CHECK: linalg.matmul
// CHECK-NOT: vector.
// CHECK: return
func.func private @no_winograd(%x: memref<4x20xf32>, %w: memref<20x32xf32>, %out: memref<4x32xf32>) attributes {tenon.kernel} {
  linalg.matmul ins(%x, %w : memref<4x20xf32>, memref<20x32xf32>) outs(%out : memref<4x32xf32>)
  return
}
