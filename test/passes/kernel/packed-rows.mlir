// RUN: tenon-opt %s -tenon-form-contractions -tenon-vectorize-contractions="vector-bytes=32 registers=16" -canonicalize -cse | FileCheck %s

#rows = affine_map<(d0, d1, d2) -> (d0, d1)>
#panels = affine_map<(d0, d1, d2) -> (d2 floordiv 16, d1, d2 mod 16)>
#sums = affine_map<(d0, d1, d2) -> (d0, d2)>

// Tiles of 12 rows and a last one of 5, which have code of their own; each of 32 of 64 columns. The rows are copied where the tile before, in
// this call or in the one before, had other ones: blocks of 6 rows, 16 steps of each.
// CHECK-DAG: #[[FIRST:.*]] = affine_map<(d0, d1) -> (d0 * 1024 + d1 * 6)>
// CHECK-DAG: #[[PLACE:.*]] = affine_map<(d0, d1) -> (d0 * 1024 + d1 + (d1 floordiv 16) * 80)>
// CHECK-DAG: #[[NEXT_ROW:.*]] = affine_map<(d0, d1) -> (d0 * 1024 + d1 + (d1 floordiv 16) * 80 + 16)>
// CHECK-LABEL: @copied
// CHECK-SAME: %[[X:[a-z0-9]+]]: memref<17x1024xf32>
// CHECK: scf.for %[[TILE:.*]] = %{{.*}} to
// CHECK: %[[ROWS:.*]] = memref.subview %[[X]]
// CHECK: %[[IS_WHOLE:.*]] = arith.cmpi eq, %{{.*}}, %c12
// CHECK: scf.if %[[IS_WHOLE]] {
// CHECK: %[[MEMORY:.*]] = kernel.scratch 0 : memref<28672xf32>
// CHECK: %[[LAST:.*]] = kernel.last_end
// CHECK: arith.select %{{.*}}, %[[LAST]], %[[TILE]]
// CHECK: %[[IS_NEW:.*]] = arith.ori
// CHECK: scf.if %[[IS_NEW]] {
// CHECK: scf.for %[[ROW:.*]] = %c0 to %c12 step %c6
// CHECK: scf.for %[[STEP:.*]] = %c0 to %c1024 step %c16
// CHECK: %[[PART:.*]] = vector.load %[[ROWS]][%[[ROW]], %[[STEP]]]
// CHECK: %[[AT:.*]] = affine.apply #[[FIRST]](%[[ROW]], %[[STEP]])
// CHECK: vector.store %[[PART]], %[[MEMORY]][%[[AT]]]
// CHECK-COUNT-11: vector.store %{{.*}}, %[[MEMORY]][
// CHECK-NOT: vector.store
// What is multiplied is read there, and nothing of the rows themselves.
// CHECK: scf.for %[[ROW:.*]] = %c0 to %c12 step %c6
// CHECK-NOT: %[[ROWS]][
// CHECK: %[[AT:.*]] = affine.apply #[[PLACE]](%[[ROW]], %[[STEP:.*]])
// CHECK: memref.load %[[MEMORY]][%[[AT]]]
// CHECK: %[[AT:.*]] = affine.apply #[[NEXT_ROW]](%[[ROW]], %[[STEP]])
// CHECK: memref.load %[[MEMORY]][%[[AT]]]
// CHECK-NOT: %[[ROWS]][
// CHECK: } else {
// CHECK: kernel.scratch 0
func.func private @copied(%x: memref<17x1024xf32>, %w: memref<4x1024x16xf32>, %out: memref<17x64xf32>, %begin: index, %end: index)
    attributes {tenon.kernel} {
  %zero = arith.constant 0.0 : f32
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  scf.for %t = %begin to %end step %c1 {
    %tile_row = arith.divui %t, %c2 : index
    %tile_column = arith.remui %t, %c2 : index
    %row = affine.apply affine_map<(d0) -> (d0 * 12)>(%tile_row)
    %rows = affine.min affine_map<(d0) -> (12, 17 - d0)>(%row)
    %panel = affine.apply affine_map<(d0) -> (d0 * 2)>(%tile_column)
    %column = affine.apply affine_map<(d0) -> (d0 * 32)>(%tile_column)
    %a = memref.subview %x[%row, 0] [%rows, 1024] [1, 1] : memref<17x1024xf32> to memref<?x1024xf32, strided<[1024, 1], offset: ?>>
    %b = memref.subview %w[%panel, 0, 0] [2, 1024, 16] [1, 1, 1]
      : memref<4x1024x16xf32> to memref<2x1024x16xf32, strided<[16384, 16, 1], offset: ?>>
    %c = memref.subview %out[%row, %column] [%rows, 32] [1, 1] : memref<17x64xf32> to memref<?x32xf32, strided<[64, 1], offset: ?>>
    linalg.fill ins(%zero : f32) outs(%c : memref<?x32xf32, strided<[64, 1], offset: ?>>)
    linalg.generic {indexing_maps = [#rows, #panels, #sums], iterator_types = ["parallel", "reduction", "parallel"],
                    kernel.schedule = #kernel.schedule<tile = [12, 1024, 32], packing = rows, last_rows = 5>}
        ins(%a, %b : memref<?x1024xf32, strided<[1024, 1], offset: ?>>, memref<2x1024x16xf32, strided<[16384, 16, 1], offset: ?>>)
        outs(%c : memref<?x32xf32, strided<[64, 1], offset: ?>>) {
    ^bb0(%p: f32, %q: f32, %s: f32):
      %1 = arith.mulf %p, %q : f32
      %2 = arith.addf %s, %1 : f32
      linalg.yield %2 : f32
    }
  }
  return
}

// Sums that wait until their last part is done: whole tiles and the last one share their memory.
// CHECK-LABEL: @waiting_sums
// CHECK: memref.alloc() : memref<12x32xf32>
// CHECK-NOT: memref.alloc
// CHECK: scf.if
// CHECK: } else {
// CHECK-NOT: memref.alloc
// CHECK: return
func.func private @waiting_sums(%x: memref<17x3088xf32>, %w: memref<2x3088x16xf32>, %out: memref<17x32xf32>, %begin: index,
                                %end: index) attributes {tenon.kernel} {
  %zero = arith.constant 0.0 : f32
  %c1 = arith.constant 1 : index
  scf.for %t = %begin to %end step %c1 {
    %row = affine.apply affine_map<(d0) -> (d0 * 12)>(%t)
    %rows = affine.min affine_map<(d0) -> (12, 17 - d0)>(%row)
    %a = memref.subview %x[%row, 0] [%rows, 3088] [1, 1] : memref<17x3088xf32> to memref<?x3088xf32, strided<[3088, 1], offset: ?>>
    %c = memref.subview %out[%row, 0] [%rows, 32] [1, 1] : memref<17x32xf32> to memref<?x32xf32, strided<[32, 1], offset: ?>>
    linalg.fill ins(%zero : f32) outs(%c : memref<?x32xf32, strided<[32, 1], offset: ?>>)
    linalg.generic {indexing_maps = [#rows, #panels, #sums], iterator_types = ["parallel", "reduction", "parallel"],
                    kernel.schedule = #kernel.schedule<tile = [12, 3088, 32], last_rows = 5>}
        ins(%a, %w : memref<?x3088xf32, strided<[3088, 1], offset: ?>>, memref<2x3088x16xf32>)
        outs(%c : memref<?x32xf32, strided<[32, 1], offset: ?>>) {
    ^bb0(%p: f32, %q: f32, %s: f32):
      %1 = arith.mulf %p, %q : f32
      %2 = arith.addf %s, %1 : f32
      linalg.yield %2 : f32
    }
  }
  return
}

// Rows of f16 are widened as they are copied, wherever they lie, here for columns that are in no panels: 7 rows of 48 steps.
// CHECK-LABEL: @halves
// CHECK-SAME: %[[X:[a-z0-9]+]]: memref<7x48xf16>
// CHECK: %[[MEMORY:.*]] = kernel.scratch 0 : memref<1104xf32>
// CHECK: %[[PART:.*]] = vector.load %[[X]]{{.*}} : memref<7x48xf16>, vector<8xf16>
// CHECK: %[[WIDE:.*]] = arith.extf %[[PART]] : vector<8xf16> to vector<8xf32>
// CHECK: vector.store %[[WIDE]], %[[MEMORY]]
// CHECK: memref.load %[[MEMORY]]
// CHECK-NOT: %[[X]][
// CHECK: return
func.func private @halves(%x: memref<7x48xf16>, %w: memref<48x16xf32>, %out: memref<7x16xf32>) attributes {tenon.kernel} {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%out : memref<7x16xf32>)
  linalg.generic {indexing_maps = [#rows, affine_map<(d0, d1, d2) -> (d1, d2)>, #sums],
                  iterator_types = ["parallel", "reduction", "parallel"],
                  kernel.schedule = #kernel.schedule<tile = [7, 48, 16], packing = rows>}
      ins(%x, %w : memref<7x48xf16>, memref<48x16xf32>) outs(%out : memref<7x16xf32>) {
  ^bb0(%p: f16, %q: f32, %s: f32):
    %0 = arith.extf %p : f16 to f32
    %1 = arith.mulf %0, %q : f32
    %2 = arith.addf %s, %1 : f32
    linalg.yield %2 : f32
  }
  return
}

// The panel that weights of f16 are widened to lies behind the rows: 23 x 48 elements, in whole blocks of 64 bytes.
// CHECK-LABEL: @halves_of_both
// CHECK: kernel.scratch 0 : memref<1104xf32>
// CHECK: kernel.scratch 4416 : memref<48x16xf32>
func.func private @halves_of_both(%x: memref<7x48xf16>, %w: memref<2x48x16xf16>, %out: memref<7x32xf32>) attributes {tenon.kernel} {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%out : memref<7x32xf32>)
  linalg.generic {indexing_maps = [#rows, #panels, #sums], iterator_types = ["parallel", "reduction", "parallel"],
                  kernel.schedule = #kernel.schedule<tile = [7, 48, 32], packing = rows>}
      ins(%x, %w : memref<7x48xf16>, memref<2x48x16xf16>) outs(%out : memref<7x32xf32>) {
  ^bb0(%p: f16, %q: f16, %s: f32):
    %0 = arith.extf %p : f16 to f32
    %1 = arith.extf %q : f16 to f32
    %2 = arith.mulf %0, %1 : f32
    %3 = arith.addf %s, %2 : f32
    linalg.yield %3 : f32
  }
  return
}

// Few rows are widened one element at a time.
// CHECK-LABEL: @few_halves
// CHECK-NOT: kernel.scratch
// CHECK: %[[ELEMENT:.*]] = memref.load %{{.*}} : memref<2x48xf16>
// CHECK: arith.extf %[[ELEMENT]] : f16 to f32
func.func private @few_halves(%x: memref<2x48xf16>, %w: memref<2x48x16xf16>, %out: memref<2x32xf32>) attributes {tenon.kernel} {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%out : memref<2x32xf32>)
  linalg.generic {indexing_maps = [#rows, #panels, #sums], iterator_types = ["parallel", "reduction", "parallel"],
                  kernel.schedule = #kernel.schedule<tile = [2, 48, 32], packing = rows>}
      ins(%x, %w : memref<2x48xf16>, memref<2x48x16xf16>) outs(%out : memref<2x32xf32>) {
  ^bb0(%p: f16, %q: f16, %s: f32):
    %0 = arith.extf %p : f16 to f32
    %1 = arith.extf %q : f16 to f32
    %2 = arith.mulf %0, %1 : f32
    %3 = arith.addf %s, %2 : f32
    linalg.yield %3 : f32
  }
  return
}
