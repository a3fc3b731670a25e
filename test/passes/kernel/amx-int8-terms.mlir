// RUN: tenon-opt %s --tenon-form-contractions --tenon-vectorize-contractions --canonicalize --cse | FileCheck %s
// Products of f32 as terms of int8 in AMX tiles: sums in 0 to 3, rows in 4 and 5, columns in 6 and 7.

#rows0 = affine_map<(m, k, n) -> (m, k floordiv 32, 0, k mod 32)>
#rows1 = affine_map<(m, k, n) -> (m, k floordiv 32, 1, k mod 32)>
#columns0 = affine_map<(m, k, n) -> (n floordiv 16, k floordiv 32, 0, (k mod 32) floordiv 4, (n mod 16) * 4 + k mod 4)>
#columns1 = affine_map<(m, k, n) -> (n floordiv 16, k floordiv 32, 1, (k mod 32) floordiv 4, (n mod 16) * 4 + k mod 4)>
#extents = affine_map<(m, k, n) -> (k)>
#out = affine_map<(m, k, n) -> (m, n)>

// Two terms: the product of the first ones, which is stored, then those of a first and a second one, whose sum counts 1/256 of it. Both meet as f32.
// CHECK-LABEL: @two_terms
// CHECK-SAME: %[[OUT:[a-z0-9]+]]: memref<32x32xf32>
// CHECK-DAG: %[[SUMS:.*]] = memref.alloc() : memref<64x32xi32>
// CHECK-DAG: %[[UNIT:.*]] = arith.constant dense<3.906250e-03> : vector<16xf32>
// CHECK: llvm.call_intrinsic "llvm.x86.ldtilecfg"
// CHECK-COUNT-4: llvm.call_intrinsic "llvm.x86.tilezero"
// CHECK: scf.for %{{.*}} = %c0{{.*}} to %c3{{.*}} step %c1
// CHECK: llvm.call_intrinsic "llvm.x86.tileloadd64"(%c4_i8
// CHECK: llvm.call_intrinsic "llvm.x86.tileloadd64"(%c6_i8
// CHECK: llvm.call_intrinsic "llvm.x86.tdpbssd"(%c0_i8, %c4_i8, %c6_i8)
// CHECK: llvm.call_intrinsic "llvm.x86.tileloadd64"(%c7_i8
// CHECK: llvm.call_intrinsic "llvm.x86.tdpbssd"(%c1_i8, %c4_i8, %c7_i8)
// CHECK: llvm.call_intrinsic "llvm.x86.tileloadd64"(%c5_i8
// CHECK: llvm.call_intrinsic "llvm.x86.tdpbssd"(%c2_i8, %c5_i8, %c6_i8)
// CHECK: llvm.call_intrinsic "llvm.x86.tdpbssd"(%c3_i8, %c5_i8, %c7_i8)
// CHECK-NOT: llvm.x86.tdpbssd
// CHECK: memref.extract_aligned_pointer_as_index %[[SUMS]]
// CHECK-COUNT-4: llvm.call_intrinsic "llvm.x86.tilestored64"
// CHECK-COUNT-4: llvm.call_intrinsic "llvm.x86.tilezero"
// CHECK: scf.for %{{.*}} = %c0{{.*}} to %c3{{.*}} step %c1
// CHECK: memref.prefetch
// CHECK-COUNT-8: llvm.call_intrinsic "llvm.x86.tdpbssd"
// CHECK-NOT: llvm.x86.tdpbssd
// CHECK-COUNT-4: llvm.call_intrinsic "llvm.x86.tilestored64"
// CHECK: %[[SECOND:.*]] = vector.load %[[SUMS]]
// CHECK: %[[LAST:.*]] = arith.sitofp %[[SECOND]] : vector<16xi32> to vector<16xf32>
// CHECK: %[[SCALED:.*]] = arith.mulf %[[LAST]], %[[UNIT]]
// CHECK: %[[FIRST:.*]] = vector.load %[[SUMS]]
// CHECK: %[[LARGEST:.*]] = arith.sitofp %[[FIRST]] : vector<16xi32> to vector<16xf32>
// CHECK: arith.addf %[[LARGEST]], %[[SCALED]]
// CHECK: vector.store {{.*}}, %[[OUT]]
// CHECK: llvm.call_intrinsic "llvm.x86.tilerelease"
// CHECK-NOT: {{linalg.generic|kernel.contract}}
func.func @two_terms(%a: memref<32x3x2x32xi8>, %b: memref<2x3x2x8x64xi8>, %c: memref<32x32xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%c : memref<32x32xf32>)
  %k = memref.alloc() : memref<96xi8>
  linalg.generic {indexing_maps = [#rows1, #rows0, #columns1, #columns0, #extents, #out], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%a, %a, %b, %b, %k : memref<32x3x2x32xi8>, memref<32x3x2x32xi8>, memref<2x3x2x8x64xi8>, memref<2x3x2x8x64xi8>, memref<96xi8>)
      outs(%c : memref<32x32xf32>) {
  ^bb0(%x1: i8, %x0: i8, %y1: i8, %y0: i8, %i: i8, %z: f32):
    %unit = arith.constant 0.00390625 : f32
    %0 = arith.sitofp %x1 : i8 to f32
    %1 = arith.mulf %0, %unit : f32
    %2 = arith.sitofp %x0 : i8 to f32
    %3 = arith.addf %1, %2 : f32
    %4 = arith.sitofp %y1 : i8 to f32
    %5 = arith.mulf %4, %unit : f32
    %6 = arith.sitofp %y0 : i8 to f32
    %7 = arith.addf %5, %6 : f32
    %8 = arith.mulf %3, %7 : f32
    %9 = arith.addf %z, %8 : f32
    linalg.yield %9 : f32
  }
  return
}

// A term that counts another power than its place says makes no such sum.
// CHECK-LABEL: @other_unit
// CHECK-NOT: llvm.x86.tdpbssd
// CHECK: return
func.func @other_unit(%a: memref<32x3x2x32xi8>, %b: memref<2x3x2x8x64xi8>, %c: memref<32x32xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%c : memref<32x32xf32>)
  %k = memref.alloc() : memref<96xi8>
  linalg.generic {indexing_maps = [#rows1, #rows0, #columns1, #columns0, #extents, #out], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%a, %a, %b, %b, %k : memref<32x3x2x32xi8>, memref<32x3x2x32xi8>, memref<2x3x2x8x64xi8>, memref<2x3x2x8x64xi8>, memref<96xi8>)
      outs(%c : memref<32x32xf32>) {
  ^bb0(%x1: i8, %x0: i8, %y1: i8, %y0: i8, %i: i8, %z: f32):
    %unit = arith.constant 0.0078125 : f32
    %0 = arith.sitofp %x1 : i8 to f32
    %1 = arith.mulf %0, %unit : f32
    %2 = arith.sitofp %x0 : i8 to f32
    %3 = arith.addf %1, %2 : f32
    %4 = arith.sitofp %y1 : i8 to f32
    %5 = arith.mulf %4, %unit : f32
    %6 = arith.sitofp %y0 : i8 to f32
    %7 = arith.addf %5, %6 : f32
    %8 = arith.mulf %3, %7 : f32
    %9 = arith.addf %z, %8 : f32
    linalg.yield %9 : f32
  }
  return
}

#long_rows0 = affine_map<(m, k, n) -> (m, k floordiv 64, 0, k mod 64)>
#long_rows1 = affine_map<(m, k, n) -> (m, k floordiv 64, 1, k mod 64)>
#long_columns0 = affine_map<(m, k, n) -> (n floordiv 16, k floordiv 64, 0, (k mod 64) floordiv 4, (n mod 16) * 4 + k mod 4)>
#long_columns1 = affine_map<(m, k, n) -> (n floordiv 16, k floordiv 64, 1, (k mod 64) floordiv 4, (n mod 16) * 4 + k mod 4)>

// Sums of 65,536 products of two pairs may exceed i32.
// CHECK-LABEL: @long_sum
// CHECK-NOT: llvm.x86.tdpbssd
// CHECK: return
func.func @long_sum(%a: memref<32x1024x2x64xi8>, %b: memref<2x1024x2x16x64xi8>, %c: memref<32x32xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%c : memref<32x32xf32>)
  %k = memref.alloc() : memref<65536xi8>
  linalg.generic {indexing_maps = [#long_rows1, #long_rows0, #long_columns1, #long_columns0, #extents, #out], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%a, %a, %b, %b, %k : memref<32x1024x2x64xi8>, memref<32x1024x2x64xi8>, memref<2x1024x2x16x64xi8>, memref<2x1024x2x16x64xi8>, memref<65536xi8>)
      outs(%c : memref<32x32xf32>) {
  ^bb0(%x1: i8, %x0: i8, %y1: i8, %y0: i8, %i: i8, %z: f32):
    %unit = arith.constant 0.00390625 : f32
    %0 = arith.sitofp %x1 : i8 to f32
    %1 = arith.mulf %0, %unit : f32
    %2 = arith.sitofp %x0 : i8 to f32
    %3 = arith.addf %1, %2 : f32
    %4 = arith.sitofp %y1 : i8 to f32
    %5 = arith.mulf %4, %unit : f32
    %6 = arith.sitofp %y0 : i8 to f32
    %7 = arith.addf %5, %6 : f32
    %8 = arith.mulf %3, %7 : f32
    %9 = arith.addf %z, %8 : f32
    linalg.yield %9 : f32
  }
  return
}
