// RUN: tenon-opt %s --tenon-form-contractions --tenon-vectorize-contractions=int8-dot=vnni --canonicalize --cse | FileCheck %s
// Products of unsigned with signed bytes in tile registers: sums in 0 to 3, rows in 4 and 5, columns in 6 and 7.

#lhs = affine_map<(m, k, n) -> (m, k)>
#panels = affine_map<(m, k, n) -> (n floordiv 32, k floordiv 4, (n mod 32) * 4 + k mod 4)>
#out = affine_map<(m, k, n) -> (m, n)>

// 32 rows are two registers, 5 more end a third one, which has 11 of them once more. 100 bytes are two steps of 48, and
// a quad for the vectors. 40 columns are a panel, and one vector.
// CHECK-LABEL: @rows_once_more
// CHECK-DAG: memref.alloc() : memref<64xi8>
// CHECK-DAG: memref.alloc() : memref<32x32xi32>
// CHECK: llvm.call_intrinsic "llvm.x86.ldtilecfg"
// CHECK-COUNT-4: llvm.call_intrinsic "llvm.x86.tilezero"
// CHECK: scf.for %{{.*}} = %c0{{.*}} to %c24{{.*}} step %c12
// CHECK: llvm.call_intrinsic "llvm.x86.tileloadd64"(%c4_i8
// CHECK: llvm.call_intrinsic "llvm.x86.tileloadd64"(%c6_i8
// CHECK: llvm.call_intrinsic "llvm.x86.tdpbusd"(%c0_i8, %c4_i8, %c6_i8)
// CHECK: llvm.call_intrinsic "llvm.x86.tileloadd64"(%c7_i8
// CHECK: llvm.call_intrinsic "llvm.x86.tdpbusd"(%c1_i8, %c4_i8, %c7_i8)
// CHECK: llvm.call_intrinsic "llvm.x86.tileloadd64"(%c5_i8
// CHECK: llvm.call_intrinsic "llvm.x86.tdpbusd"(%c2_i8, %c5_i8, %c6_i8)
// CHECK: llvm.call_intrinsic "llvm.x86.tdpbusd"(%c3_i8, %c5_i8, %c7_i8)
// CHECK-COUNT-4: llvm.call_intrinsic "llvm.x86.tilestored64"
// Two rows of sums at a time.
// CHECK: scf.for %{{.*}} = %c0{{.*}} to %c16{{.*}} step %c2
// CHECK-COUNT-4: vector.load {{.*}} memref<32x32xi32>
// CHECK-COUNT-4: llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.512"
// CHECK: scf.for %{{.*}} = %c11{{.*}} to %c15{{.*}} step %c2
// CHECK: llvm.call_intrinsic "llvm.x86.tilerelease"
// CHECK-NOT: {{linalg.generic|kernel.contract}}
func.func @rows_once_more(%a: memref<37x100xi8>, %b: memref<2x25x128xi8>, %c: memref<37x40xi32>) {
  %zero = arith.constant 0 : i32
  linalg.fill ins(%zero : i32) outs(%c : memref<37x40xi32>)
  linalg.generic {indexing_maps = [#lhs, #panels, #out], iterator_types = ["parallel", "reduction", "parallel"],
                  kernel.schedule = #kernel.schedule<micro_kernel = amx_i8>}
      ins(%a, %b : memref<37x100xi8>, memref<2x25x128xi8>) outs(%c : memref<37x40xi32>) {
  ^bb0(%x: i8, %y: i8, %z: i32):
    %0 = arith.extui %x : i8 to i32
    %1 = arith.extsi %y : i8 to i32
    %2 = arith.muli %0, %1 : i32
    %3 = arith.addi %z, %2 : i32
    linalg.yield %3 : i32
  }
  return
}

// How many rows the registers have is known when the kernel runs.
// CHECK-LABEL: @open_rows
// CHECK: %[[ROWS:.*]] = affine.min
// CHECK: %[[BYTE:.*]] = arith.index_cast %[[ROWS]] : index to i8
// CHECK-COUNT-6: memref.store %[[BYTE]], %{{.*}} : memref<64xi8>
// CHECK: llvm.call_intrinsic "llvm.x86.ldtilecfg"
func.func @open_rows(%a: memref<?x64xi8>, %b: memref<1x16x128xi8>, %c: memref<?x32xi32>) {
  %zero = arith.constant 0 : i32
  linalg.fill ins(%zero : i32) outs(%c : memref<?x32xi32>)
  linalg.generic {indexing_maps = [#lhs, #panels, #out], iterator_types = ["parallel", "reduction", "parallel"],
                  kernel.schedule = #kernel.schedule<micro_kernel = amx_i8>}
      ins(%a, %b : memref<?x64xi8>, memref<1x16x128xi8>) outs(%c : memref<?x32xi32>) {
  ^bb0(%x: i8, %y: i8, %z: i32):
    %0 = arith.extui %x : i8 to i32
    %1 = arith.extsi %y : i8 to i32
    %2 = arith.muli %0, %1 : i32
    %3 = arith.addi %z, %2 : i32
    linalg.yield %3 : i32
  }
  return
}
