// RUN: tenon-opt %s --tenon-form-contractions --tenon-vectorize-contractions | FileCheck %s
// Products with weights of few bits, which become factors where they are read.

#x = affine_map<(m, k, n) -> (m, k)>
#words = affine_map<(m, k, n) -> (n floordiv 32, k floordiv 8, n mod 32)>
#scales = affine_map<(m, k, n) -> (n floordiv 32, k floordiv 16, n mod 32)>
#bytes = affine_map<(m, k, n) -> (n floordiv 32, k, n mod 32)>
#scale = affine_map<(m, k, n) -> (n floordiv 32, 0, n mod 32)>
#out = affine_map<(m, k, n) -> (m, n)>
// One row: a word for each column, the eight numbers of which are multiplied one after the other, for two sums in turns; what 16 steps
// give is scaled. Words that come later are asked for.
// CHECK-LABEL: @words_for_one_row
// CHECK-NOT: kernel.scratch
// CHECK: scf.for {{.*}} -> (vector<16xf32>, vector<16xf32>)
// CHECK: scf.for {{.*}} -> (vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>)
// CHECK-COUNT-2: memref.prefetch {{.*}} memref<1x5x32xi32>
// CHECK-NOT: memref.prefetch
// Fences keep the code generator from gathering prefetches of all steps in one place.
// CHECK: llvm.fence syncscope("singlethread") seq_cst
// CHECK: vector.load {{.*}} memref<1x5x32xi32>, vector<16xi32>
// A number less 8 is one of sixteen in a register.
// CHECK: %[[SHIFTED:.*]] = arith.shrui {{.*}} vector<16xi32>
// CHECK: %[[TABLE:.*]] = arith.constant dense<[-8.000000e+00, -7.000000e+00, {{.*}}, 7.000000e+00]> : vector<16xf32>
// CHECK: %[[FACTOR:.*]] = llvm.call_intrinsic "llvm.x86.avx512.permvar.sf.512"(%[[TABLE]], %[[SHIFTED]])
// CHECK: vector.fma {{.*}}, %[[FACTOR]]
// CHECK: scf.yield
// CHECK: arith.addf {{.*}} vector<16xf32>
// CHECK: vector.load {{.*}} memref<1x3x32xf32>, vector<16xf32>
// CHECK: vector.fma
// What is left of the 40 steps is a block of 8.
// CHECK: scf.yield
// CHECK: vector.load {{.*}} memref<1x5x32xi32>
// CHECK-NOT: {{linalg.generic|kernel.contract}}
func.func @words_for_one_row(%x: memref<1x40xf32>, %w: memref<1x5x32xi32>, %s: memref<1x3x32xf32>, %c: memref<1x32xf32>) {
  linalg.generic {indexing_maps = [#x, #words, #scales, #out], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%x, %w, %s : memref<1x40xf32>, memref<1x5x32xi32>, memref<1x3x32xf32>) outs(%c : memref<1x32xf32>) {
  ^bb0(%a: f32, %word: i32, %scale: f32, %sum: f32):
    %eight = arith.constant 8 : index
    %four = arith.constant 4 : index
    %mask = arith.constant 15 : i32
    %zero = arith.constant 8.0 : f32
    %k = linalg.index 1 : index
    %place = arith.remui %k, %eight : index
    %bits = arith.muli %place, %four : index
    %shift = arith.index_cast %bits : index to i32
    %0 = arith.shrui %word, %shift : i32
    %1 = arith.andi %0, %mask : i32
    %2 = arith.sitofp %1 : i32 to f32
    %3 = arith.subf %2, %zero : f32
    %4 = arith.mulf %3, %scale : f32
    %5 = arith.mulf %a, %4 : f32
    %6 = arith.addf %sum, %5 : f32
    linalg.yield %6 : f32
  }
  return
}

// Eight rows: a number is scaled where it is read, so that all registers are for the sums of whole columns.
// CHECK-LABEL: @words_for_eight_rows
// CHECK-NOT: kernel.scratch
// CHECK: %[[SCALE:.*]] = vector.load {{.*}} memref<1x3x32xf32>, vector<16xf32>
// CHECK: scf.for
// CHECK: %[[NUMBER:.*]] = llvm.call_intrinsic "llvm.x86.avx512.permvar.sf.512"
// CHECK: %[[FACTOR:.*]] = arith.mulf %[[NUMBER]], %[[SCALE]] : vector<16xf32>
// CHECK-COUNT-8: vector.fma {{.*}}, %[[FACTOR]]
func.func @words_for_eight_rows(%x: memref<8x40xf32>, %w: memref<1x5x32xi32>, %s: memref<1x3x32xf32>, %c: memref<8x32xf32>) {
  linalg.generic {indexing_maps = [#x, #words, #scales, #out], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%x, %w, %s : memref<8x40xf32>, memref<1x5x32xi32>, memref<1x3x32xf32>) outs(%c : memref<8x32xf32>) {
  ^bb0(%a: f32, %word: i32, %scale: f32, %sum: f32):
    %eight = arith.constant 8 : index
    %four = arith.constant 4 : index
    %mask = arith.constant 15 : i32
    %zero = arith.constant 8.0 : f32
    %k = linalg.index 1 : index
    %place = arith.remui %k, %eight : index
    %bits = arith.muli %place, %four : index
    %shift = arith.index_cast %bits : index to i32
    %0 = arith.shrui %word, %shift : i32
    %1 = arith.andi %0, %mask : i32
    %2 = arith.sitofp %1 : i32 to f32
    %3 = arith.subf %2, %zero : f32
    %4 = arith.mulf %3, %scale : f32
    %5 = arith.mulf %a, %4 : f32
    %6 = arith.addf %sum, %5 : f32
    linalg.yield %6 : f32
  }
  return
}

// Where groups have zero points of their own, no register has all factors.
// CHECK-LABEL: @words_with_zeros
// CHECK-NOT: llvm.call_intrinsic
// CHECK: arith.shrui {{.*}} vector<16xi32>
// CHECK: arith.andi {{.*}} vector<16xi32>
// CHECK: arith.sitofp {{.*}} vector<16xi32> to vector<16xf32>
// CHECK: arith.subf {{.*}} vector<16xf32>
// CHECK: vector.fma
// CHECK-NOT: llvm.call_intrinsic
func.func @words_with_zeros(%x: memref<1x40xf32>, %w: memref<1x5x32xi32>, %s: memref<1x3x32xf32>, %z: memref<1x3x32xf32>, %c: memref<1x32xf32>) {
  linalg.generic {indexing_maps = [#x, #words, #scales, #scales, #out], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%x, %w, %s, %z : memref<1x40xf32>, memref<1x5x32xi32>, memref<1x3x32xf32>, memref<1x3x32xf32>) outs(%c : memref<1x32xf32>) {
  ^bb0(%a: f32, %word: i32, %scale: f32, %zero: f32, %sum: f32):
    %eight = arith.constant 8 : index
    %four = arith.constant 4 : index
    %mask = arith.constant 15 : i32
    %k = linalg.index 1 : index
    %place = arith.remui %k, %eight : index
    %bits = arith.muli %place, %four : index
    %shift = arith.index_cast %bits : index to i32
    %0 = arith.shrui %word, %shift : i32
    %1 = arith.andi %0, %mask : i32
    %2 = arith.sitofp %1 : i32 to f32
    %3 = arith.subf %2, %zero : f32
    %4 = arith.mulf %3, %scale : f32
    %5 = arith.mulf %a, %4 : f32
    %6 = arith.addf %sum, %5 : f32
    linalg.yield %6 : f32
  }
  return
}

// Each step asks for a line of its own, of the 64 bytes that a step has.
// CHECK-LABEL: @halves_for_one_row
// CHECK: memref.prefetch
// CHECK-NOT: memref.prefetch
// CHECK: vector.load {{.*}} memref<1x40x32xf16>, vector<16xf16>
// CHECK: vector.fma
// CHECK: memref.prefetch
// CHECK-NOT: memref.prefetch
// CHECK: vector.load {{.*}} memref<1x40x32xf16>, vector<16xf16>
// CHECK: vector.fma
// CHECK-COUNT-6: memref.prefetch
// CHECK-NOT: memref.prefetch
func.func @halves_for_one_row(%x: memref<1x40xf32>, %w: memref<1x40x32xf16>, %c: memref<1x32xf32>) {
  linalg.generic {indexing_maps = [#x, #bytes, #out], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%x, %w : memref<1x40xf32>, memref<1x40x32xf16>) outs(%c : memref<1x32xf32>) {
  ^bb0(%a: f32, %half: f16, %sum: f32):
    %0 = arith.extf %half : f16 to f32
    %1 = arith.mulf %a, %0 : f32
    %2 = arith.addf %sum, %1 : f32
    linalg.yield %2 : f32
  }
  return
}

// A truth takes a byte in memory: of 32 at a step each first one of 64 bytes is asked for.
// CHECK-LABEL: @truths_for_one_row
// CHECK: memref.prefetch {{.*}} memref<1x40x32xi1>
// CHECK: vector.fma
func.func @truths_for_one_row(%x: memref<1x40xf32>, %w: memref<1x40x32xi1>, %c: memref<1x32xf32>) {
  linalg.generic {indexing_maps = [#x, #bytes, #out], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%x, %w : memref<1x40xf32>, memref<1x40x32xi1>) outs(%c : memref<1x32xf32>) {
  ^bb0(%a: f32, %truth: i1, %sum: f32):
    %0 = arith.uitofp %truth : i1 to f32
    %1 = arith.mulf %a, %0 : f32
    %2 = arith.addf %sum, %1 : f32
    linalg.yield %2 : f32
  }
  return
}

// Weights that are only widened stay in registers for some tens of rows: each block of rows widens them again.
// CHECK-LABEL: @halves_for_twenty_rows
// CHECK-NOT: kernel.scratch
// CHECK: vector.load {{.*}} memref<1x40x32xf16>, vector<16xf16>
// CHECK: arith.extf {{.*}} vector<16xf16> to vector<16xf32>
// CHECK: vector.fma
// CHECK-NOT: kernel.scratch
func.func @halves_for_twenty_rows(%x: memref<20x40xf32>, %w: memref<1x40x32xf16>, %c: memref<20x32xf32>) {
  linalg.generic {indexing_maps = [#x, #bytes, #out], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%x, %w : memref<20x40xf32>, memref<1x40x32xf16>) outs(%c : memref<20x32xf32>) {
  ^bb0(%a: f32, %half: f16, %sum: f32):
    %0 = arith.extf %half : f16 to f32
    %1 = arith.mulf %a, %0 : f32
    %2 = arith.addf %sum, %1 : f32
    linalg.yield %2 : f32
  }
  return
}

// Many rows: a panel is widened once, to scratch, and read as one of floats.
// CHECK-LABEL: @halves_for_many_rows
// CHECK: %[[PANEL:.*]] = kernel.scratch 0 : memref<40x32xf32>
// CHECK: vector.load {{.*}} memref<1x40x32xf16>, vector<16xf16>
// CHECK: arith.extf {{.*}} vector<16xf16> to vector<16xf32>
// CHECK: vector.store {{.*}}, %[[PANEL]]
// CHECK: scf.for
// CHECK: vector.load %[[PANEL]]
// CHECK: vector.fma
func.func @halves_for_many_rows(%x: memref<40x40xf32>, %w: memref<1x40x32xf16>, %c: memref<40x32xf32>) {
  linalg.generic {indexing_maps = [#x, #bytes, #out], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%x, %w : memref<40x40xf32>, memref<1x40x32xf16>) outs(%c : memref<40x32xf32>) {
  ^bb0(%a: f32, %half: f16, %sum: f32):
    %0 = arith.extf %half : f16 to f32
    %1 = arith.mulf %a, %0 : f32
    %2 = arith.addf %sum, %1 : f32
    linalg.yield %2 : f32
  }
  return
}

// Open rows: both, and the run says which.
// CHECK-LABEL: @open_rows
// CHECK: %[[FEW:.*]] = arith.cmpi ule, %{{.*}}, %{{.*}} : index
// CHECK: scf.if %[[FEW]] {
// CHECK-NOT: kernel.scratch
// CHECK: } else {
// CHECK: kernel.scratch 0 : memref<40x32xf32>
// CHECK: arith.mulf {{.*}} vector<16xf32>
// CHECK: vector.store
func.func @open_rows(%x: memref<?x40xf32>, %w: memref<1x40x32xi8>, %s: memref<1x1x32xf32>, %c: memref<?x32xf32>) {
  linalg.generic {indexing_maps = [#x, #bytes, #scale, #out], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%x, %w, %s : memref<?x40xf32>, memref<1x40x32xi8>, memref<1x1x32xf32>) outs(%c : memref<?x32xf32>) {
  ^bb0(%a: f32, %byte: i8, %scale: f32, %sum: f32):
    %0 = arith.sitofp %byte : i8 to f32
    %1 = arith.mulf %0, %scale : f32
    %2 = arith.mulf %a, %1 : f32
    %3 = arith.addf %sum, %2 : f32
    linalg.yield %3 : f32
  }
  return
}

// Tiles that do not divide the columns have dynamic panels: static extents tell the weights from the zero points.
// CHECK-LABEL: @dynamic_panels
// CHECK-NOT: {{linalg.generic|kernel.contract}}
// CHECK: vector.fma
#zeros = affine_map<(m, k, n) -> (k, 0)>
func.func @dynamic_panels(%x: memref<?x31xf32>, %w: memref<?x31x?xi8, strided<[992, 32, 1], offset: ?>>, %z: memref<31x1xi8>,
                          %s: memref<31x1xf32>, %c: memref<?x?xf32, strided<[33, 1], offset: ?>>) {
  linalg.generic {indexing_maps = [#x, #bytes, #zeros, #zeros, #out], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%x, %w, %z, %s : memref<?x31xf32>, memref<?x31x?xi8, strided<[992, 32, 1], offset: ?>>, memref<31x1xi8>, memref<31x1xf32>)
      outs(%c : memref<?x?xf32, strided<[33, 1], offset: ?>>) {
  ^bb0(%a: f32, %byte: i8, %zero: i8, %scale: f32, %sum: f32):
    %0 = arith.uitofp %byte : i8 to f32
    %1 = arith.uitofp %zero : i8 to f32
    %2 = arith.subf %0, %1 : f32
    %3 = arith.mulf %2, %scale : f32
    %4 = arith.mulf %a, %3 : f32
    %5 = arith.addf %sum, %4 : f32
    linalg.yield %5 : f32
  }
  return
}
