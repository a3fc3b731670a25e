// RUN: tenon-opt %s --tenon-form-contractions --tenon-vectorize-contractions --canonicalize --cse | FileCheck %s
// Products of f32 in parts in tile registers: sums in 0 to 3, rows in 4 and 5, columns in 6 and 7.

#rows0 = affine_map<(m, k, n) -> (m, k floordiv 20, 0, k mod 20)>
#rows1 = affine_map<(m, k, n) -> (m, k floordiv 20, 1, k mod 20)>
#columns0 = affine_map<(m, k, n) -> (n floordiv 16, k floordiv 20, 0, (k mod 20) floordiv 2, (n mod 16) * 2 + k mod 2)>
#columns1 = affine_map<(m, k, n) -> (n floordiv 16, k floordiv 20, 1, (k mod 20) floordiv 2, (n mod 16) * 2 + k mod 2)>
#extents = affine_map<(m, k, n) -> (k)>
#out = affine_map<(m, k, n) -> (m, n)>

// Two parts of each factor: three products, each AMX tile loaded before its first one. The next panels are asked for meanwhile. The memory that says how long the sum is may
// come after the zeros that it begins with. Sums that nothing follows are stored where they belong.
// CHECK-LABEL: @two_parts
// CHECK-SAME: %[[OUT:[a-z0-9]+]]: memref<32x32xf32>
// CHECK: llvm.call_intrinsic "llvm.x86.ldtilecfg"
// CHECK-COUNT-4: llvm.call_intrinsic "llvm.x86.tilezero"
// CHECK: scf.for %{{.*}} = %c0{{.*}} to %c3{{.*}} step %c1
// CHECK: memref.prefetch
// CHECK: llvm.call_intrinsic "llvm.x86.tileloadd64"(%c4_i8
// CHECK: llvm.call_intrinsic "llvm.x86.tileloadd64"(%c6_i8
// CHECK: llvm.call_intrinsic "llvm.x86.tdpbf16ps"(%c0_i8, %c4_i8, %c6_i8)
// CHECK: llvm.call_intrinsic "llvm.x86.tileloadd64"(%c7_i8
// CHECK: llvm.call_intrinsic "llvm.x86.tdpbf16ps"(%c1_i8, %c4_i8, %c7_i8)
// CHECK: llvm.call_intrinsic "llvm.x86.tileloadd64"(%c5_i8
// CHECK-COUNT-2: llvm.call_intrinsic "llvm.x86.tdpbf16ps"
// CHECK: llvm.call_intrinsic "llvm.x86.tileloadd64"(%c4_i8
// CHECK-COUNT-2: llvm.call_intrinsic "llvm.x86.tdpbf16ps"
// CHECK: llvm.call_intrinsic "llvm.x86.tileloadd64"(%c5_i8
// CHECK-COUNT-2: llvm.call_intrinsic "llvm.x86.tdpbf16ps"
// CHECK: llvm.call_intrinsic "llvm.x86.tileloadd64"(%c6_i8
// CHECK: llvm.call_intrinsic "llvm.x86.tdpbf16ps"(%c0_i8
// CHECK: llvm.call_intrinsic "llvm.x86.tileloadd64"(%c7_i8
// CHECK-COUNT-3: llvm.call_intrinsic "llvm.x86.tdpbf16ps"
// CHECK-NOT: llvm.x86.tdpbf16ps
// CHECK: memref.extract_aligned_pointer_as_index %[[OUT]]
// CHECK: llvm.call_intrinsic "llvm.x86.tilestored64"
// CHECK-NOT: vector.store
// CHECK: llvm.call_intrinsic "llvm.x86.tilerelease"
// CHECK-NOT: {{linalg.generic|kernel.contract}}
func.func @two_parts(%a: memref<32x3x2x20xbf16>, %b: memref<2x3x2x10x32xbf16>, %c: memref<32x32xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%c : memref<32x32xf32>)
  %k = memref.alloc() : memref<60xi8>
  linalg.generic {indexing_maps = [#rows1, #rows0, #columns1, #columns0, #extents, #out], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%a, %a, %b, %b, %k : memref<32x3x2x20xbf16>, memref<32x3x2x20xbf16>, memref<2x3x2x10x32xbf16>, memref<2x3x2x10x32xbf16>, memref<60xi8>)
      outs(%c : memref<32x32xf32>) {
  ^bb0(%x1: bf16, %x0: bf16, %y1: bf16, %y0: bf16, %i: i8, %z: f32):
    %0 = arith.extf %x1 : bf16 to f32
    %1 = arith.extf %x0 : bf16 to f32
    %2 = arith.addf %0, %1 : f32
    %3 = arith.extf %y1 : bf16 to f32
    %4 = arith.extf %y0 : bf16 to f32
    %5 = arith.addf %3, %4 : f32
    %6 = arith.mulf %2, %5 : f32
    %7 = arith.addf %z, %6 : f32
    linalg.yield %7 : f32
  }
  return
}

#one = affine_map<(m, n) -> (m, n)>

// What follows works on vectors of sums, which are stored elsewhere before.
// CHECK-LABEL: @epilogue
// CHECK-SAME: %[[OUT:[a-z0-9]+]]: memref<32x32xf32>
// CHECK: %[[SUMS:.*]] = memref.alloc() : memref<32x32xf32>
// CHECK: memref.extract_aligned_pointer_as_index %[[SUMS]]
// CHECK: llvm.call_intrinsic "llvm.x86.tilestored64"
// CHECK: vector.load %[[SUMS]]
// CHECK: arith.maximumf
// CHECK: vector.store {{.*}}, %[[OUT]]
func.func @epilogue(%a: memref<32x3x1x20xbf16>, %b: memref<2x3x1x10x32xbf16>, %c: memref<32x32xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%c : memref<32x32xf32>)
  %k = memref.alloc() : memref<60xi8>
  linalg.generic {indexing_maps = [#rows0, #columns0, #extents, #out], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%a, %b, %k : memref<32x3x1x20xbf16>, memref<2x3x1x10x32xbf16>, memref<60xi8>) outs(%c : memref<32x32xf32>) {
  ^bb0(%x: bf16, %y: bf16, %i: i8, %z: f32):
    %0 = arith.extf %x : bf16 to f32
    %1 = arith.extf %y : bf16 to f32
    %2 = arith.mulf %0, %1 : f32
    %3 = arith.addf %z, %2 : f32
    linalg.yield %3 : f32
  }
  linalg.generic {indexing_maps = [#one], iterator_types = ["parallel", "parallel"]} outs(%c : memref<32x32xf32>) {
  ^bb0(%x: f32):
    %0 = arith.maximumf %x, %zero : f32
    linalg.yield %0 : f32
  }
  return
}

// A batch of products, each with a matrix of its own, as those of the points of a Winograd convolution.
#batchRows = affine_map<(p, m, k, n) -> (p, m, k floordiv 20, 0, k mod 20)>
#batchColumns = affine_map<(p, m, k, n) -> (n floordiv 16, p, k floordiv 20, 0, (k mod 20) floordiv 2, (n mod 16) * 2 + k mod 2)>
#batchExtents = affine_map<(p, m, k, n) -> (k)>
#batchOut = affine_map<(p, m, k, n) -> (p, m, n)>

// CHECK-LABEL: @batch
// CHECK: llvm.call_intrinsic "llvm.x86.ldtilecfg"
// CHECK: scf.for %{{.*}} = %c0{{.*}} to %c9{{.*}} step %c1
// CHECK: scf.for %{{.*}} = %c0{{.*}} to %c3{{.*}} step %c1
// CHECK: llvm.call_intrinsic "llvm.x86.tdpbf16ps"
// CHECK: llvm.call_intrinsic "llvm.x86.tilestored64"
// CHECK-NOT: llvm.x86.ldtilecfg
// CHECK: return
func.func @batch(%a: memref<9x32x3x1x20xbf16>, %b: memref<2x9x3x1x10x32xbf16>, %c: memref<9x32x32xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%c : memref<9x32x32xf32>)
  %k = memref.alloc() : memref<60xi8>
  linalg.generic {indexing_maps = [#batchRows, #batchColumns, #batchExtents, #batchOut],
                  iterator_types = ["parallel", "parallel", "reduction", "parallel"]}
      ins(%a, %b, %k : memref<9x32x3x1x20xbf16>, memref<2x9x3x1x10x32xbf16>, memref<60xi8>) outs(%c : memref<9x32x32xf32>) {
  ^bb0(%x: bf16, %y: bf16, %i: i8, %z: f32):
    %0 = arith.extf %x : bf16 to f32
    %1 = arith.extf %y : bf16 to f32
    %2 = arith.mulf %0, %1 : f32
    %3 = arith.addf %z, %2 : f32
    linalg.yield %3 : f32
  }
  return
}

// What is not summed from zero is left to scalar loops, which give the same.
// CHECK-LABEL: @not_from_zero
// CHECK-NOT: tdpbf16ps
// CHECK: kernel.contract
func.func @not_from_zero(%a: memref<32x3x2x20xbf16>, %b: memref<2x3x2x10x32xbf16>, %k: memref<60xi8>, %c: memref<32x32xf32>) {
  linalg.generic {indexing_maps = [#rows1, #rows0, #columns1, #columns0, #extents, #out], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%a, %a, %b, %b, %k : memref<32x3x2x20xbf16>, memref<32x3x2x20xbf16>, memref<2x3x2x10x32xbf16>, memref<2x3x2x10x32xbf16>, memref<60xi8>)
      outs(%c : memref<32x32xf32>) {
  ^bb0(%x1: bf16, %x0: bf16, %y1: bf16, %y0: bf16, %i: i8, %z: f32):
    %0 = arith.extf %x1 : bf16 to f32
    %1 = arith.extf %x0 : bf16 to f32
    %2 = arith.addf %0, %1 : f32
    %3 = arith.extf %y1 : bf16 to f32
    %4 = arith.extf %y0 : bf16 to f32
    %5 = arith.addf %3, %4 : f32
    %6 = arith.mulf %2, %5 : f32
    %7 = arith.addf %z, %6 : f32
    linalg.yield %7 : f32
  }
  return
}

// Sums of a part of their length wait while all columns have that part.
#wide0 = affine_map<(m, k, n) -> (m, k floordiv 32, 0, k mod 32)>
#wide1 = affine_map<(m, k, n) -> (m, k floordiv 32, 1, k mod 32)>
#panels0 = affine_map<(m, k, n) -> (n floordiv 16, k floordiv 32, 0, (k mod 32) floordiv 2, (n mod 16) * 2 + k mod 2)>
#panels1 = affine_map<(m, k, n) -> (n floordiv 16, k floordiv 32, 1, (k mod 32) floordiv 2, (n mod 16) * 2 + k mod 2)>
// CHECK-LABEL: @long_sums
// CHECK: %[[SUMS:.*]] = kernel.scratch 0 : memref<128x64xf32>
// CHECK: linalg.fill {{.*}} outs(%[[SUMS]]
// CHECK: scf.for %{{.*}} = %c0{{.*}} to %c64{{.*}} step %c32
// CHECK: scf.for
// CHECK-NOT: tilezero
// CHECK: llvm.call_intrinsic "llvm.x86.tdpbf16ps"
func.func @long_sums(%a: memref<128x80x2x32xbf16>, %b: memref<4x80x2x16x32xbf16>, %k: memref<2560xi8>, %c: memref<128x64xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%c : memref<128x64xf32>)
  linalg.generic {indexing_maps = [#wide1, #wide0, #panels1, #panels0, #extents, #out], iterator_types = ["parallel", "reduction", "parallel"],
                  kernel.schedule = #kernel.schedule<tile = [128, 2560, 64], k_block = 1536>}
      ins(%a, %a, %b, %b, %k : memref<128x80x2x32xbf16>, memref<128x80x2x32xbf16>, memref<4x80x2x16x32xbf16>, memref<4x80x2x16x32xbf16>, memref<2560xi8>)
      outs(%c : memref<128x64xf32>) {
  ^bb0(%x1: bf16, %x0: bf16, %y1: bf16, %y0: bf16, %i: i8, %z: f32):
    %0 = arith.extf %x1 : bf16 to f32
    %1 = arith.extf %x0 : bf16 to f32
    %2 = arith.addf %0, %1 : f32
    %3 = arith.extf %y1 : bf16 to f32
    %4 = arith.extf %y0 : bf16 to f32
    %5 = arith.addf %3, %4 : f32
    %6 = arith.mulf %2, %5 : f32
    %7 = arith.addf %z, %6 : f32
    linalg.yield %7 : f32
  }
  return
}

// Columns of f32 are cut: those of the first pair of panels before anything is multiplied, of the next one meanwhile, and where
// there is none, what the next tile begins with is asked for. A panel has 30 pairs of rows, a block of rows does all at once.
#three0 = affine_map<(m, k, n) -> (m, k floordiv 20, 0, k mod 20)>
#three1 = affine_map<(m, k, n) -> (m, k floordiv 20, 1, k mod 20)>
#three2 = affine_map<(m, k, n) -> (m, k floordiv 20, 2, k mod 20)>
// CHECK-LABEL: @cut_columns
// CHECK-SAME: %{{.*}}: memref<32x3x3x20xbf16>, %[[B:.*]]: memref<4x3x1x10x32xf32>
// CHECK-DAG: %[[UPPER:.*]] = arith.constant dense<-65536> : vector<32xi32>
// CHECK-DAG: %[[PARTS:.*]] = kernel.scratch 0 : memref<2x2x3x3x10x32xbf16>
// CHECK: %[[ROWS:.*]] = memref.reinterpret_cast {{.*}} sizes: [4, 30, 32], strides: [960, 32, 1]
// CHECK: scf.for %{{.*}} = %c0{{.*}} to %c30{{.*}} step %c1
// CHECK:   %[[X:.*]] = vector.load %[[ROWS]]
// CHECK:   %[[HALVES:.*]] = vector.bitcast %[[X]] : vector<32xf32> to vector<64xi16>
// CHECK:   %[[ODD:.*]] = vector.shuffle %[[HALVES]], %[[HALVES]] [1, 3, 5,
// CHECK:   %[[PART:.*]] = vector.bitcast %[[ODD]] : vector<32xi16> to vector<32xbf16>
// CHECK:   vector.store %[[PART]], %[[PARTS]]
// CHECK:   arith.andi %{{.*}}, %[[UPPER]]
// CHECK:   arith.subf
// CHECK-COUNT-2: vector.store %{{.*}}, %[[PARTS]]
// CHECK: scf.for %{{.*}} = %c0{{.*}} to %c64{{.*}} step %c32
// CHECK: scf.if
// CHECK:   vector.load %[[ROWS]]
// CHECK: else
// CHECK:   memref.prefetch %[[ROWS]]
// CHECK-COUNT-24: llvm.call_intrinsic "llvm.x86.tdpbf16ps"
// CHECK-NOT: llvm.x86.tdpbf16ps
// CHECK-NOT: {{linalg.generic|kernel.contract}}
func.func @cut_columns(%a: memref<32x3x3x20xbf16>, %b: memref<4x3x1x10x32xf32>, %c: memref<32x64xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%c : memref<32x64xf32>)
  %k = memref.alloc() : memref<60xi8>
  linalg.generic {indexing_maps = [#three2, #three1, #three0, #columns0, #extents, #out], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%a, %a, %a, %b, %k : memref<32x3x3x20xbf16>, memref<32x3x3x20xbf16>, memref<32x3x3x20xbf16>, memref<4x3x1x10x32xf32>, memref<60xi8>)
      outs(%c : memref<32x64xf32>) {
  ^bb0(%x2: bf16, %x1: bf16, %x0: bf16, %y: f32, %i: i8, %z: f32):
    %0 = arith.extf %x2 : bf16 to f32
    %1 = arith.extf %x1 : bf16 to f32
    %2 = arith.addf %0, %1 : f32
    %3 = arith.extf %x0 : bf16 to f32
    %4 = arith.addf %2, %3 : f32
    %5 = arith.mulf %4, %y : f32
    %6 = arith.addf %z, %5 : f32
    linalg.yield %6 : f32
  }
  return
}

// Rows of f32 are cut, too, for all of a tile: they are parts in scratch then, beside those of columns.
#whole = affine_map<(m, k, n) -> (m, k floordiv 32, 0, k mod 32)>
// CHECK-LABEL: @cut_rows
// CHECK-SAME: %[[A:[a-z0-9]*]]: memref<24x2x1x32xf32>
// CHECK: %[[ROWS:.*]] = kernel.scratch 24576 : memref<48x2x3x32xbf16>
// CHECK: scf.for %[[ROW:.*]] = %c0{{.*}} to %c24{{.*}} step %c1
// CHECK:   scf.for
// CHECK:     vector.load %[[A]][%[[ROW]], %{{.*}}] : memref<24x2x1x32xf32>, vector<32xf32>
// CHECK-COUNT-3: vector.store %{{.*}}, %[[ROWS]][%[[ROW]]
// CHECK-COUNT-24: llvm.call_intrinsic "llvm.x86.tdpbf16ps"
// CHECK-NOT: {{linalg.generic|kernel.contract}}
func.func @cut_rows(%a: memref<24x2x1x32xf32>, %b: memref<4x2x1x16x32xf32>, %c: memref<24x64xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%c : memref<24x64xf32>)
  %k = memref.alloc() : memref<64xi8>
  linalg.generic {indexing_maps = [#whole, #panels0, #extents, #out], iterator_types = ["parallel", "reduction", "parallel"],
                  kernel.schedule = #kernel.schedule<tile = [48, 64, 64], packing = split>}
      ins(%a, %b, %k : memref<24x2x1x32xf32>, memref<4x2x1x16x32xf32>, memref<64xi8>)
      outs(%c : memref<24x64xf32>) {
  ^bb0(%x: f32, %y: f32, %i: i8, %z: f32):
    %0 = arith.mulf %x, %y : f32
    %1 = arith.addf %z, %0 : f32
    linalg.yield %1 : f32
  }
  return
}

// Of long sums, rows are cut for the part that is done next.
// CHECK-LABEL: @cut_rows_of_long_sums
// CHECK-SAME: %[[A:[a-z0-9]*]]: memref<24x80x1x32xf32>
// CHECK: %[[ROWS:.*]] = kernel.scratch {{[0-9]+}} : memref<24x48x3x32xbf16>
// CHECK: scf.for %[[ROW:.*]] = %c0{{.*}} to %c24{{.*}} step %c1
// CHECK:   scf.for %{{.*}} = %c0{{.*}} to %c1536{{.*}} step %c32
// CHECK:     vector.load %[[A]][%[[ROW]], %{{.*}}] : memref<24x80x1x32xf32>, vector<32xf32>
// CHECK-COUNT-3: vector.store %{{.*}}, %[[ROWS]][%[[ROW]]
// CHECK-COUNT-24: llvm.call_intrinsic "llvm.x86.tdpbf16ps"
// CHECK: scf.for %[[ROW:.*]] = %c0{{.*}} to %c24{{.*}} step %c1
// CHECK:   scf.for %{{.*}} = %c0{{.*}} to %c1024{{.*}} step %c32
// CHECK-COUNT-3: vector.store %{{.*}}, %[[ROWS]][%[[ROW]]
func.func @cut_rows_of_long_sums(%a: memref<24x80x1x32xf32>, %b: memref<4x80x1x16x32xf32>, %c: memref<24x64xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%c : memref<24x64xf32>)
  %k = memref.alloc() : memref<2560xi8>
  linalg.generic {indexing_maps = [#whole, #panels0, #extents, #out], iterator_types = ["parallel", "reduction", "parallel"],
                  kernel.schedule = #kernel.schedule<tile = [24, 2560, 64], packing = split, k_block = 1536>}
      ins(%a, %b, %k : memref<24x80x1x32xf32>, memref<4x80x1x16x32xf32>, memref<2560xi8>)
      outs(%c : memref<24x64xf32>) {
  ^bb0(%x: f32, %y: f32, %i: i8, %z: f32):
    %0 = arith.mulf %x, %y : f32
    %1 = arith.addf %z, %0 : f32
    linalg.yield %1 : f32
  }
  return
}

// Tiles of the same rows find them in scratch; the panels that a tile begins with are others.
// CHECK-LABEL: @rows_of_several_tiles
// CHECK: scf.for %[[TILE:.*]] = %{{.*}} to %{{.*}}
// CHECK:   kernel.last_end
// CHECK:   %[[ISNEW:.*]] = arith.ori
// CHECK:   scf.if %[[ISNEW]]
// CHECK-COUNT-3: vector.store {{.*}}, vector<32xbf16>
// CHECK: llvm.call_intrinsic "llvm.x86.tdpbf16ps"
func.func @rows_of_several_tiles(%begin: index, %end: index, %a: memref<128x2x1x32xf32>, %b: memref<4x2x1x16x32xf32>, %c: memref<128x64xf32>) {
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  %zero = arith.constant 0.0 : f32
  %k = memref.alloc() : memref<64xi8>
  scf.for %tile = %begin to %end step %one {
    %m = arith.divui %tile, %two : index
    %n = arith.remui %tile, %two : index
    %row = affine.apply affine_map<(d0) -> (d0 * 64)>(%m)
    %column = affine.apply affine_map<(d0) -> (d0 * 32)>(%n)
    %panel = affine.apply affine_map<(d0) -> (d0 * 2)>(%n)
    %x = memref.subview %a[%row, 0, 0, 0] [64, 2, 1, 32] [1, 1, 1, 1] : memref<128x2x1x32xf32> to memref<64x2x1x32xf32, strided<[64, 32, 32, 1], offset: ?>>
    %y = memref.subview %b[%panel, 0, 0, 0, 0] [2, 2, 1, 16, 32] [1, 1, 1, 1, 1] : memref<4x2x1x16x32xf32> to memref<2x2x1x16x32xf32, strided<[1024, 512, 512, 32, 1], offset: ?>>
    %z = memref.subview %c[%row, %column] [64, 32] [1, 1] : memref<128x64xf32> to memref<64x32xf32, strided<[64, 1], offset: ?>>
    linalg.fill ins(%zero : f32) outs(%z : memref<64x32xf32, strided<[64, 1], offset: ?>>)
    linalg.generic {indexing_maps = [#whole, #panels0, #extents, #out], iterator_types = ["parallel", "reduction", "parallel"],
                    kernel.schedule = #kernel.schedule<tile = [64, 64, 32], packing = split>}
        ins(%x, %y, %k : memref<64x2x1x32xf32, strided<[64, 32, 32, 1], offset: ?>>, memref<2x2x1x16x32xf32, strided<[1024, 512, 512, 32, 1], offset: ?>>, memref<64xi8>)
        outs(%z : memref<64x32xf32, strided<[64, 1], offset: ?>>) {
    ^bb0(%x0: f32, %y0: f32, %i: i8, %sum: f32):
      %0 = arith.mulf %x0, %y0 : f32
      %1 = arith.addf %sum, %0 : f32
      linalg.yield %1 : f32
    }
  }
  return
}
