// RUN: tenon-opt %s --tenon-form-contractions --tenon-vectorize-contractions=int8-dot=vnni | FileCheck %s --check-prefixes=CHECK,QUADS
// RUN: tenon-opt %s --tenon-form-contractions --tenon-vectorize-contractions='vector-bytes=32 registers=16 int8-dot=pmaddwd' | FileCheck %s --check-prefixes=CHECK,PAIRS
// RUN: tenon-opt %s --tenon-form-contractions --tenon-vectorize-contractions='vector-bytes=16 registers=32' | FileCheck %s --check-prefixes=CHECK,PLAIN
// Products of unsigned with signed bytes, of which four neighbours lie together in the packed operand.

#lhs = affine_map<(m, k, n) -> (m, k)>
#panels = affine_map<(m, k, n) -> (n floordiv 32, k floordiv 4, (n mod 32) * 4 + k mod 4)>
#out = affine_map<(m, k, n) -> (m, n)>

// 10 summed elements are two groups of four, and one of two i8 with zeros.
// CHECK-LABEL: @groups_and_a_rest
// CHECK: scf.for
// QUADS: vector.load {{.*}} memref<1x3x128xi8>, vector<64xi8>
// QUADS: vector.load {{.*}} memref<2x10xi8>, vector<4xi8>
// QUADS: vector.broadcast %{{.*}} : i32 to vector<16xi32>
// QUADS: llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.512"
// PAIRS: vector.bitcast %{{.*}} : vector<32xi8> to vector<16xi16>
// PAIRS: arith.shli
// PAIRS: arith.shrsi
// PAIRS: arith.shrui
// PAIRS: llvm.call_intrinsic "llvm.x86.avx2.pmadd.wd"
// PAIRS: arith.addi
// PLAIN: vector.bitcast %{{.*}} : vector<16xi8> to vector<4xi32>
// PLAIN: arith.muli %{{.*}} : vector<4xi32>
// CHECK: scf.yield
// CHECK: vector.load {{.*}} memref<2x10xi8>, vector<2xi8>
// CHECK: vector.insert_strided_slice {{.*}} vector<2xi8> into vector<4xi8>
// CHECK-NOT: {{linalg.generic|kernel.contract}}
func.func @groups_and_a_rest(%a: memref<2x10xi8>, %b: memref<1x3x128xi8>, %c: memref<2x32xi32>) {
  linalg.generic {indexing_maps = [#lhs, #panels, #out], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%a, %b : memref<2x10xi8>, memref<1x3x128xi8>) outs(%c : memref<2x32xi32>) {
  ^bb0(%x: i8, %y: i8, %z: i32):
    %0 = arith.extui %x : i8 to i32
    %1 = arith.extsi %y : i8 to i32
    %2 = arith.muli %0, %1 : i32
    %3 = arith.addi %z, %2 : i32
    linalg.yield %3 : i32
  }
  return
}

// The packed bytes have to be the signed ones.
// CHECK-LABEL: @signs_the_other_way
// CHECK: linalg.generic
func.func @signs_the_other_way(%a: memref<2x10xi8>, %b: memref<1x3x128xi8>, %c: memref<2x32xi32>) {
  linalg.generic {indexing_maps = [#lhs, #panels, #out], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%a, %b : memref<2x10xi8>, memref<1x3x128xi8>) outs(%c : memref<2x32xi32>) {
  ^bb0(%x: i8, %y: i8, %z: i32):
    %0 = arith.extsi %x : i8 to i32
    %1 = arith.extui %y : i8 to i32
    %2 = arith.muli %0, %1 : i32
    %3 = arith.addi %z, %2 : i32
    linalg.yield %3 : i32
  }
  return
}

// Where a tile says what it reads, and pairs of words are what is multiplied, both operands become words first: the rows once for tiles
// that have the same ones, then each block of columns, behind them in the scratch. A step of the sum is two of pairs.
// CHECK-LABEL: @words
// QUADS-NOT: kernel.scratch
// PAIRS: kernel.scratch 0 : memref<6x8xi16>
// PAIRS: vector.load %{{.*}} vector<16xi8>
// PAIRS: arith.extui %{{.*}} : vector<4xi32> to vector<4xi64>
// PAIRS: vector.store {{.*}} memref<48xi16>, vector<16xi16>
// PAIRS: %[[PANEL:.*]] = kernel.scratch 128 : memref<2x2x32xi32>
// PAIRS: scf.for
// PAIRS: vector.store %{{.*}}, %[[PANEL]]
// PAIRS: scf.for
// PAIRS-NOT: vector<4xi8>
// PAIRS: llvm.fence
// PAIRS: vector.load %[[PANEL]]
// PAIRS: vector.load %{{.*}} : memref<6x8xi16>, vector<2xi16>
// PAIRS: llvm.call_intrinsic "llvm.x86.avx2.pmadd.wd"
// CHECK: return
func.func @words(%a: memref<6x8xi8>, %b: memref<1x2x128xi8>, %c: memref<6x32xi32>) {
  linalg.generic {indexing_maps = [#lhs, #panels, #out], iterator_types = ["parallel", "reduction", "parallel"],
                  kernel.schedule = #kernel.schedule<tile = [6, 8, 32], packing = tile>}
      ins(%a, %b : memref<6x8xi8>, memref<1x2x128xi8>) outs(%c : memref<6x32xi32>) {
  ^bb0(%x: i8, %y: i8, %z: i32):
    %0 = arith.extui %x : i8 to i32
    %1 = arith.extsi %y : i8 to i32
    %2 = arith.muli %0, %1 : i32
    %3 = arith.addi %z, %2 : i32
    linalg.yield %3 : i32
  }
  return
}

// A pixel of three channels is a quad with a zero.
// CHECK-LABEL: @pixels_in_words
// PAIRS: kernel.scratch 0 : memref<9x9x4xi16>
// PAIRS: %[[PIXEL:.*]] = vector.load %{{.*}} vector<3xi8>
// PAIRS: vector.insert_strided_slice %[[PIXEL]], %{{.*}} : vector<3xi8> into vector<4xi8>
// PAIRS: vector.store {{.*}} : memref<9x9x4xi16>, vector<4xi16>
// PAIRS: kernel.scratch 704 : memref<4x2x32xi32>
// CHECK: return
func.func @pixels_in_words(%a: memref<9x9x3xi8>, %b: memref<1x2x2x1x128xi8>, %c: memref<8x8x32xi32>) {
  linalg.generic {indexing_maps = [affine_map<(y, x, i, j, k, n) -> (y + i, x + j, k)>,
                                   affine_map<(y, x, i, j, k, n) -> (n floordiv 32, i, j, k floordiv 4, (n mod 32) * 4 + k mod 4)>,
                                   affine_map<(y, x, i, j, k, n) -> (y, x, n)>],
                  iterator_types = ["parallel", "parallel", "reduction", "reduction", "reduction", "parallel"],
                  kernel.schedule = #kernel.schedule<tile = [8, 8, 2, 2, 3, 32], packing = tile>}
      ins(%a, %b : memref<9x9x3xi8>, memref<1x2x2x1x128xi8>) outs(%c : memref<8x8x32xi32>) {
  ^bb0(%x: i8, %y: i8, %z: i32):
    %0 = arith.extui %x : i8 to i32
    %1 = arith.extsi %y : i8 to i32
    %2 = arith.muli %0, %1 : i32
    %3 = arith.addi %z, %2 : i32
    linalg.yield %3 : i32
  }
  return
}

// Columns that are summed by themselves: in f32, which is exact for so few.
// CHECK-LABEL: @columns
// QUADS: arith.sitofp %{{.*}} : vector<16xi8> to vector<16xf32>
// QUADS: arith.uitofp %{{.*}} : vector<16xi8> to vector<16xf32>
// QUADS: vector.fma
// CHECK: arith.fptosi
// CHECK-NOT: {{linalg.generic|kernel.contract}}
func.func @columns(%a: memref<9x32xi8>, %b: memref<3x32xi8>, %c: memref<7x32xi32>) {
  %zero = arith.constant 0 : i32
  linalg.fill ins(%zero : i32) outs(%c : memref<7x32xi32>)
  linalg.generic {indexing_maps = [affine_map<(m, t, n) -> (m + t, n)>, affine_map<(m, t, n) -> (t, n)>, affine_map<(m, t, n) -> (m, n)>],
                  iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%a, %b : memref<9x32xi8>, memref<3x32xi8>) outs(%c : memref<7x32xi32>) {
  ^bb0(%x: i8, %y: i8, %z: i32):
    %0 = arith.extui %x : i8 to i32
    %1 = arith.extsi %y : i8 to i32
    %2 = arith.muli %0, %1 : i32
    %3 = arith.addi %z, %2 : i32
    linalg.yield %3 : i32
  }
  return
}

// Where the path says that pairs of products fit 16 bits, bytes are multiplied as they are.
// CHECK-LABEL: @saturating
// PAIRS-NOT: kernel.scratch
// PAIRS: %[[TWO:.*]] = llvm.call_intrinsic "llvm.x86.avx2.pmadd.ub.sw"({{.*}}) : (vector<32xi8>, vector<32xi8>) -> vector<16xi16>
// PAIRS: %[[FOUR:.*]] = llvm.call_intrinsic "llvm.x86.avx2.pmadd.wd"(%[[TWO]], %{{.*}}) : (vector<16xi16>, vector<16xi16>) -> vector<8xi32>
// PAIRS: arith.addi %{{.*}}, %[[FOUR]]
// CHECK: return
func.func @saturating(%a: memref<6x8xi8>, %b: memref<1x2x128xi8>, %c: memref<6x32xi32>) {
  linalg.generic {indexing_maps = [#lhs, #panels, #out], iterator_types = ["parallel", "reduction", "parallel"],
                  kernel.schedule = #kernel.schedule<micro_kernel = pmaddubsw>}
      ins(%a, %b : memref<6x8xi8>, memref<1x2x128xi8>) outs(%c : memref<6x32xi32>) {
  ^bb0(%x: i8, %y: i8, %z: i32):
    %0 = arith.extui %x : i8 to i32
    %1 = arith.extsi %y : i8 to i32
    %2 = arith.muli %0, %1 : i32
    %3 = arith.addi %z, %2 : i32
    linalg.yield %3 : i32
  }
  return
}

// Two channels in words are a quad, and so is what stands for a pixel beyond an open border.
// CHECK-LABEL: @open_pixels_in_words
// PAIRS: %[[ZEROS:.*]] = memref.alloc() : memref<4xi16>
// PAIRS: linalg.fill {{.*}} outs(%[[ZEROS]]
// PAIRS: arith.select {{.*}} : memref<4xi16
func.func @open_pixels_in_words(%a: memref<?x2xi8>, %b: memref<1x3x1x128xi8>, %c: memref<?x32xi32>, %size: index) {
  %zero = arith.constant 0 : i32
  %none = arith.constant 0 : i8
  %c1 = arith.constant 1 : index
  %channels = memref.alloc() : memref<2xi8>
  linalg.fill ins(%zero : i32) outs(%c : memref<?x32xi32>)
  linalg.generic {indexing_maps = [affine_map<(x, i, k, n) -> (n floordiv 32, i, k floordiv 4, (n mod 32) * 4 + k mod 4)>,
                                   affine_map<(x, i, k, n) -> (k)>, affine_map<(x, i, k, n) -> (x, n)>],
                  iterator_types = ["parallel", "reduction", "reduction", "parallel"],
                  kernel.schedule = #kernel.schedule<tile = [16, 3, 2, 32], packing = tile>}
      ins(%b, %channels : memref<1x3x1x128xi8>, memref<2xi8>) outs(%c : memref<?x32xi32>) {
  ^bb0(%y: i8, %any: i8, %z: i32):
    %column = linalg.index 0 : index
    %tap = linalg.index 1 : index
    %k = linalg.index 2 : index
    %right = arith.addi %column, %tap : index
    %place = arith.subi %right, %c1 : index
    %inside = arith.cmpi ult, %place, %size : index
    %x = scf.if %inside -> (i8) {
      %element = memref.load %a[%place, %k] : memref<?x2xi8>
      scf.yield %element : i8
    } else {
      scf.yield %none : i8
    }
    %0 = arith.extui %x : i8 to i32
    %1 = arith.extsi %y : i8 to i32
    %2 = arith.muli %0, %1 : i32
    %3 = arith.addi %z, %2 : i32
    linalg.yield %3 : i32
  }
  return
}

// Elements are pairs of words, of which products and their sum are one instruction, where there is one. Those wait for their sums in
// registers of which there are few.
// CHECK-LABEL: @pairs_of_words
// QUADS: %{{.*}}:26 = scf.for
// QUADS: vector.bitcast %{{.*}} : vector<16xi32> to vector<32xi16>
// QUADS: llvm.call_intrinsic "llvm.x86.avx512.pmaddw.d.512"
// PAIRS: %{{.*}}:10 = scf.for
// PAIRS: vector.bitcast %{{.*}} : vector<8xi32> to vector<16xi16>
// PAIRS: llvm.call_intrinsic "llvm.x86.avx2.pmadd.wd"
// PLAIN-NOT: call_intrinsic
// PLAIN: arith.shrsi
// PLAIN: arith.muli {{.*}} : vector<4xi32>
// CHECK: return
#pairs = affine_map<(m, k, n) -> (n floordiv 32, k, n mod 32)>
func.func @pairs_of_words(%a: memref<140x65xi32>, %b: memref<2x65x32xi32>, %c: memref<140x64xi32>) {
  %zero = arith.constant 0 : i32
  linalg.fill ins(%zero : i32) outs(%c : memref<140x64xi32>)
  linalg.generic {indexing_maps = [#lhs, #pairs, #out], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%a, %b : memref<140x65xi32>, memref<2x65x32xi32>) outs(%c : memref<140x64xi32>) {
  ^bb0(%x: i32, %y: i32, %z: i32):
    %c16 = arith.constant 16 : i32
    %0 = arith.shli %x, %c16 : i32
    %1 = arith.shrsi %0, %c16 : i32
    %2 = arith.shli %y, %c16 : i32
    %3 = arith.shrsi %2, %c16 : i32
    %4 = arith.muli %1, %3 : i32
    %5 = arith.shrsi %x, %c16 : i32
    %6 = arith.shrsi %y, %c16 : i32
    %7 = arith.muli %5, %6 : i32
    %8 = arith.addi %4, %7 : i32
    %9 = arith.addi %z, %8 : i32
    linalg.yield %9 : i32
  }
  return
}
