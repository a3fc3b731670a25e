// RUN: tenon-opt %s -tenon-form-contractions -tenon-vectorize-contractions="vector-bytes=32 registers=16" -canonicalize -cse | FileCheck %s

#panels = affine_map<(d0, d1, d2, d3, d4, d5) -> (d5 floordiv 16, d2, d3, d4, d5 mod 16)>
#sums = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d5)>

// An image of f16, channels first, of which tiles of 2 x 6 pixels of a 3 x 3 window with steps of 2 see 13 pixels of 5 lines: whole vectors,
// of which the last one ends with the line. Tiles that see the same lines share the copy, also when the call before made it.
// CHECK-DAG: #[[LAST:.*]] = affine_map<()[s0] -> (5, s0)>
// CHECK-LABEL: @lines_of_halves
// CHECK-SAME: %[[X:[a-z0-9]+]]: memref<3x41x15xf16>
// CHECK: %[[IMAGE:.*]] = memref.subview %[[X]]
// CHECK: %[[COPY:.*]] = kernel.scratch 0 : memref<3x5x13xf32>
// CHECK: kernel.last_end
// CHECK: scf.if
// CHECK: scf.for %[[CHANNEL:.*]] = %c0 to %c3
// CHECK: scf.for %[[LINE:.*]] = %c0 to %c5
// CHECK: scf.for %[[PLACE:.*]] = %c0 to %c13 step %c8
// CHECK: %[[AT:.*]] = affine.min #[[LAST]]()[%[[PLACE]]]
// CHECK: %[[HALVES:.*]] = vector.load %[[IMAGE]][%[[CHANNEL]], %[[LINE]], %[[AT]]] : {{.*}}, vector<8xf16>
// CHECK: %[[WIDE:.*]] = arith.extf %[[HALVES]] : vector<8xf16> to vector<8xf32>
// CHECK: vector.store %[[WIDE]], %[[COPY]][%[[CHANNEL]], %[[LINE]], %[[AT]]]
// CHECK-NOT: arith.extf
// CHECK: memref.load %[[COPY]]
// CHECK-NOT: %[[IMAGE]][
// CHECK: return
func.func private @lines_of_halves(%x: memref<3x41x15xf16>, %w: memref<1x3x3x3x16xf32>, %out: memref<20x6x16xf32>, %begin: index,
                                   %end: index) attributes {tenon.kernel} {
  %zero = arith.constant 0.0 : f32
  %c1 = arith.constant 1 : index
  scf.for %t = %begin to %end step %c1 {
    %line = affine.apply affine_map<(d0) -> (d0 * 2)>(%t)
    %first = affine.apply affine_map<(d0) -> (d0 * 4)>(%t)
    %a = memref.subview %x[0, %first, 0] [3, 5, 15] [1, 1, 1]
      : memref<3x41x15xf16> to memref<3x5x15xf16, strided<[615, 15, 1], offset: ?>>
    %c = memref.subview %out[%line, 0, 0] [2, 6, 16] [1, 1, 1]
      : memref<20x6x16xf32> to memref<2x6x16xf32, strided<[96, 16, 1], offset: ?>>
    linalg.fill ins(%zero : f32) outs(%c : memref<2x6x16xf32, strided<[96, 16, 1], offset: ?>>)
    linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4, d5) -> (d4, d0 * 2 + d2, d1 * 2 + d3)>, #panels, #sums],
                    iterator_types = ["parallel", "parallel", "reduction", "reduction", "reduction", "parallel"],
                    kernel.schedule = #kernel.schedule<tile = [2, 6, 3, 3, 3, 16], packing = tile>}
        ins(%a, %w : memref<3x5x15xf16, strided<[615, 15, 1], offset: ?>>, memref<1x3x3x3x16xf32>)
        outs(%c : memref<2x6x16xf32, strided<[96, 16, 1], offset: ?>>) {
    ^bb0(%p: f16, %q: f32, %s: f32):
      %0 = arith.extf %p : f16 to f32
      %1 = arith.mulf %0, %q : f32
      %2 = arith.addf %s, %1 : f32
      linalg.yield %2 : f32
    }
  }
  return
}

// Windows of single pixels with steps of 2: others are not copied. Of the channels, which are last, all are one run with the pixels where these
// are neighbours, as below.
// CHECK-LABEL: @single_pixels
// CHECK: %[[COPY:.*]] = kernel.scratch 0 : memref<2x3x8xf32>
// CHECK: vector.load %{{.*}} : memref<3x5x8xf16>, vector<8xf16>
// CHECK: memref.load %[[COPY]]
func.func private @single_pixels(%x: memref<3x5x8xf16>, %w: memref<1x1x1x8x16xf32>, %out: memref<2x3x16xf32>) attributes {tenon.kernel} {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%out : memref<2x3x16xf32>)
  linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4, d5) -> (d0 * 2 + d2, d1 * 2 + d3, d4)>, #panels, #sums],
                  iterator_types = ["parallel", "parallel", "reduction", "reduction", "reduction", "parallel"],
                  kernel.schedule = #kernel.schedule<tile = [2, 3, 1, 1, 8, 16], packing = tile>}
      ins(%x, %w : memref<3x5x8xf16>, memref<1x1x1x8x16xf32>) outs(%out : memref<2x3x16xf32>) {
  ^bb0(%p: f16, %q: f32, %s: f32):
    %0 = arith.extf %p : f16 to f32
    %1 = arith.mulf %0, %q : f32
    %2 = arith.addf %s, %1 : f32
    linalg.yield %2 : f32
  }
  return
}

// CHECK-LABEL: @runs_of_pixels
// CHECK: %[[COPY:.*]] = kernel.scratch 0 : memref<3x6x3xf32>
// CHECK: %[[FLAT:.*]] = memref.collapse_shape %{{.*}} : memref<3x6x3xf16> into memref<54xf16>
// CHECK: %[[WHOLE:.*]] = kernel.scratch 0 : memref<54xf32>
// CHECK: vector.load %[[FLAT]]
// CHECK: vector.store %{{.*}}, %[[WHOLE]]
// CHECK: memref.load %[[COPY]]
func.func private @runs_of_pixels(%x: memref<3x6x3xf16>, %w: memref<1x2x2x3x16xf32>, %out: memref<2x5x16xf32>) attributes {tenon.kernel} {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%out : memref<2x5x16xf32>)
  linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4, d5) -> (d0 + d2, d1 + d3, d4)>, #panels, #sums],
                  iterator_types = ["parallel", "parallel", "reduction", "reduction", "reduction", "parallel"],
                  kernel.schedule = #kernel.schedule<tile = [2, 5, 2, 2, 3, 16], packing = tile>}
      ins(%x, %w : memref<3x6x3xf16>, memref<1x2x2x3x16xf32>) outs(%out : memref<2x5x16xf32>) {
  ^bb0(%p: f16, %q: f32, %s: f32):
    %0 = arith.extf %p : f16 to f32
    %1 = arith.mulf %0, %q : f32
    %2 = arith.addf %s, %1 : f32
    linalg.yield %2 : f32
  }
  return
}

// The border is where the image ends: a line of it lies beyond the first pixels, which is neither read nor copied.
// CHECK-LABEL: @border
// CHECK-SAME: %[[X:[a-z0-9]+]]: memref<9x8xf16>
// CHECK: %[[COPY:.*]] = kernel.scratch 0 : memref<9x8xf32>
// CHECK: arith.extf {{.*}} vector<8xf16> to vector<8xf32>
// CHECK-NOT: arith.extf
// CHECK-NOT: memref.load %[[X]]
// CHECK: memref.load %[[COPY]]
func.func private @border(%x: memref<9x8xf16>, %w: memref<3x8x16xf32>, %out: memref<9x16xf32>) attributes {tenon.kernel} {
  %zero = arith.constant 0.0 : f32
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  linalg.fill ins(%zero : f32) outs(%out : memref<9x16xf32>)
  linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d3)>],
                  iterator_types = ["parallel", "reduction", "reduction", "parallel"],
                  kernel.schedule = #kernel.schedule<tile = [9, 3, 8, 16], packing = tile>}
      ins(%w : memref<3x8x16xf32>) outs(%out : memref<9x16xf32>) {
  ^bb0(%q: f32, %s: f32):
    %row = linalg.index 0 : index
    %tap = linalg.index 1 : index
    %channel = linalg.index 2 : index
    %sum = arith.addi %row, %tap : index
    %place = arith.subi %sum, %c1 : index
    %inside = arith.cmpi ult, %place, %c9 : index
    %p = scf.if %inside -> (f32) {
      %half = memref.load %x[%place, %channel] : memref<9x8xf16>
      %wide = arith.extf %half : f16 to f32
      scf.yield %wide : f32
    } else {
      scf.yield %zero : f32
    }
    %1 = arith.mulf %p, %q : f32
    %2 = arith.addf %s, %1 : f32
    linalg.yield %2 : f32
  }
  return
}
