// RUN: tenon-opt %s --tenon-form-contractions '--tenon-vectorize-contractions=vector-bytes=64 registers=32 bf16-pairs' --canonicalize --cse | FileCheck %s
// Pairs of bf16 that a kernel has rounded, in AMX tiles, if the schedule asks for them: sums in 0 to 3, rows in 4 and 5, columns in 6 and 7.

#lhs = affine_map<(m, k, n) -> (m, k)>
#transposed = affine_map<(m, k, n) -> (k, m)>
#rhs = affine_map<(m, k, n) -> (k, n)>
#out = affine_map<(m, k, n) -> (m, n)>

// 36 pairs are three steps of 12. Rows of the RHS are 256 bytes apart. Sums begin with zero.
// CHECK-LABEL: @from_zero
// CHECK-SAME: %[[X:[a-z0-9]+]]: memref<32x36xi32>, %[[Y:[a-z0-9]+]]: memref<36x64xi32>, %[[OUT:[a-z0-9]+]]: memref<32x64xf32>
// CHECK-NOT: linalg.fill
// CHECK: llvm.call_intrinsic "llvm.x86.ldtilecfg"
// CHECK: scf.for %{{.*}} = %c0{{.*}} to %c64{{.*}} step %c32
// CHECK-COUNT-4: llvm.call_intrinsic "llvm.x86.tilezero"
// CHECK: scf.for %{{.*}} = %c0{{.*}} to %c36{{.*}} step %c12
// CHECK: memref.extract_aligned_pointer_as_index %[[X]]
// CHECK: llvm.call_intrinsic "llvm.x86.tileloadd64"(%c4_i8, %{{.*}}, %c144_i64)
// CHECK: memref.extract_aligned_pointer_as_index %[[Y]]
// CHECK: llvm.call_intrinsic "llvm.x86.tileloadd64"(%c6_i8, %{{.*}}, %c256_i64)
// CHECK: llvm.call_intrinsic "llvm.x86.tdpbf16ps"(%c0_i8, %c4_i8, %c6_i8)
// CHECK: llvm.call_intrinsic "llvm.x86.tileloadd64"(%c7_i8, %{{.*}}, %c256_i64)
// CHECK: llvm.call_intrinsic "llvm.x86.tdpbf16ps"(%c1_i8, %c4_i8, %c7_i8)
// CHECK: llvm.call_intrinsic "llvm.x86.tileloadd64"(%c5_i8, %{{.*}}, %c144_i64)
// CHECK: llvm.call_intrinsic "llvm.x86.tdpbf16ps"(%c2_i8, %c5_i8, %c6_i8)
// CHECK: llvm.call_intrinsic "llvm.x86.tdpbf16ps"(%c3_i8, %c5_i8, %c7_i8)
// CHECK: memref.extract_aligned_pointer_as_index %[[OUT]]
// CHECK-COUNT-4: llvm.call_intrinsic "llvm.x86.tilestored64"
// CHECK: llvm.call_intrinsic "llvm.x86.tilerelease"
// CHECK-NOT: kernel.contract
func.func @from_zero(%x: memref<32x36xi32>, %y: memref<36x64xi32>, %out: memref<32x64xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%out : memref<32x64xf32>)
  linalg.generic {indexing_maps = [#lhs, #rhs, #out], iterator_types = ["parallel", "reduction", "parallel"],
                  kernel.schedule = #kernel.schedule<micro_kernel = amx_bf16_pairs>}
    ins(%x, %y : memref<32x36xi32>, memref<36x64xi32>) outs(%out : memref<32x64xf32>) {
  ^bb0(%a: i32, %b: i32, %sum: f32):
    %bits = arith.constant 16 : i32
    %upper = arith.constant -65536 : i32
    %0 = arith.shli %a, %bits : i32
    %1 = arith.bitcast %0 : i32 to f32
    %2 = arith.andi %a, %upper : i32
    %3 = arith.bitcast %2 : i32 to f32
    %4 = arith.shli %b, %bits : i32
    %5 = arith.bitcast %4 : i32 to f32
    %6 = arith.andi %b, %upper : i32
    %7 = arith.bitcast %6 : i32 to f32
    %8 = arith.mulf %1, %5 : f32
    %9 = arith.mulf %3, %7 : f32
    %10 = arith.addf %8, %9 : f32
    %11 = arith.addf %sum, %10 : f32
    linalg.yield %11 : f32
  }
  return
}

// Sums that begin with what is stored are loaded and stored where they belong.
// CHECK-LABEL: @added
// CHECK-SAME: %[[OUT:[a-z0-9]+]]: memref<48x32xf32>
// CHECK-NOT: tilezero
// CHECK: memref.extract_aligned_pointer_as_index %[[OUT]]
// CHECK-COUNT-4: llvm.call_intrinsic "llvm.x86.tileloadd64"(%c{{[0-3]}}_i8
// CHECK: llvm.call_intrinsic "llvm.x86.tdpbf16ps"
// CHECK-NOT: vector.store
// CHECK-NOT: kernel.contract
func.func @added(%x: memref<48x16xi32>, %y: memref<16x32xi32>, %out: memref<48x32xf32>) {
  linalg.generic {indexing_maps = [#lhs, #rhs, #out], iterator_types = ["parallel", "reduction", "parallel"],
                  kernel.schedule = #kernel.schedule<micro_kernel = amx_bf16_pairs>}
    ins(%x, %y : memref<48x16xi32>, memref<16x32xi32>) outs(%out : memref<48x32xf32>) {
  ^bb0(%a: i32, %b: i32, %sum: f32):
    %bits = arith.constant 16 : i32
    %upper = arith.constant -65536 : i32
    %0 = arith.shli %a, %bits : i32
    %1 = arith.bitcast %0 : i32 to f32
    %2 = arith.andi %a, %upper : i32
    %3 = arith.bitcast %2 : i32 to f32
    %4 = arith.shli %b, %bits : i32
    %5 = arith.bitcast %4 : i32 to f32
    %6 = arith.andi %b, %upper : i32
    %7 = arith.bitcast %6 : i32 to f32
    %8 = arith.mulf %1, %5 : f32
    %9 = arith.mulf %3, %7 : f32
    %10 = arith.addf %8, %9 : f32
    %11 = arith.addf %sum, %10 : f32
    linalg.yield %11 : f32
  }
  return
}

// The last tile of 40 rows has eight that were added before: the others are added in vectors.
// CHECK-LABEL: @rows_in_two_tiles
// CHECK-SAME: %[[OUT:[a-z0-9]+]]: memref<40x16xf32>
// CHECK: llvm.call_intrinsic "llvm.x86.tilezero"
// CHECK: llvm.call_intrinsic "llvm.x86.tdpbf16ps"
// CHECK: llvm.call_intrinsic "llvm.x86.tilestored64"
// CHECK: vector.load %[[OUT]]
// CHECK: arith.addf
// CHECK: vector.store {{.*}}, %[[OUT]]
// CHECK-NOT: kernel.contract
func.func @rows_in_two_tiles(%x: memref<40x16xi32>, %y: memref<16x16xi32>, %out: memref<40x16xf32>) {
  linalg.generic {indexing_maps = [#lhs, #rhs, #out], iterator_types = ["parallel", "reduction", "parallel"],
                  kernel.schedule = #kernel.schedule<micro_kernel = amx_bf16_pairs>}
    ins(%x, %y : memref<40x16xi32>, memref<16x16xi32>) outs(%out : memref<40x16xf32>) {
  ^bb0(%a: i32, %b: i32, %sum: f32):
    %bits = arith.constant 16 : i32
    %upper = arith.constant -65536 : i32
    %0 = arith.shli %a, %bits : i32
    %1 = arith.bitcast %0 : i32 to f32
    %2 = arith.andi %a, %upper : i32
    %3 = arith.bitcast %2 : i32 to f32
    %4 = arith.shli %b, %bits : i32
    %5 = arith.bitcast %4 : i32 to f32
    %6 = arith.andi %b, %upper : i32
    %7 = arith.bitcast %6 : i32 to f32
    %8 = arith.mulf %1, %5 : f32
    %9 = arith.mulf %3, %7 : f32
    %10 = arith.addf %8, %9 : f32
    %11 = arith.addf %sum, %10 : f32
    linalg.yield %11 : f32
  }
  return
}

// Any number of rows, also fewer than a tile has.
// CHECK-LABEL: @any_rows
// CHECK: memref.store %{{.*}}, %{{.*}} : memref<64xi8>
// CHECK: llvm.call_intrinsic "llvm.x86.ldtilecfg"
// CHECK: llvm.call_intrinsic "llvm.x86.tdpbf16ps"
// CHECK-NOT: kernel.contract
func.func @any_rows(%x: memref<?x5xi32>, %y: memref<5x16xi32>, %out: memref<?x16xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%out : memref<?x16xf32>)
  linalg.generic {indexing_maps = [#lhs, #rhs, #out], iterator_types = ["parallel", "reduction", "parallel"],
                  kernel.schedule = #kernel.schedule<micro_kernel = amx_bf16_pairs>}
    ins(%x, %y : memref<?x5xi32>, memref<5x16xi32>) outs(%out : memref<?x16xf32>) {
  ^bb0(%a: i32, %b: i32, %sum: f32):
    %bits = arith.constant 16 : i32
    %upper = arith.constant -65536 : i32
    %0 = arith.shli %a, %bits : i32
    %1 = arith.bitcast %0 : i32 to f32
    %2 = arith.andi %a, %upper : i32
    %3 = arith.bitcast %2 : i32 to f32
    %4 = arith.shli %b, %bits : i32
    %5 = arith.bitcast %4 : i32 to f32
    %6 = arith.andi %b, %upper : i32
    %7 = arith.bitcast %6 : i32 to f32
    %8 = arith.mulf %1, %5 : f32
    %9 = arith.mulf %3, %7 : f32
    %10 = arith.addf %8, %9 : f32
    %11 = arith.addf %sum, %10 : f32
    linalg.yield %11 : f32
  }
  return
}

// Vectors multiply pairs whose rows are not contiguous, 17 of which are no steps of equal length, columns that fill no tile, and sums of any length.
// CHECK-LABEL: @transposed
// CHECK-NOT: tdpbf16ps
// CHECK: dpbf16ps.512
func.func @transposed(%x: memref<16x32xi32>, %y: memref<16x64xi32>, %out: memref<32x64xf32>) {
  linalg.generic {indexing_maps = [#transposed, #rhs, #out], iterator_types = ["parallel", "reduction", "parallel"],
                  kernel.schedule = #kernel.schedule<micro_kernel = amx_bf16_pairs>}
    ins(%x, %y : memref<16x32xi32>, memref<16x64xi32>) outs(%out : memref<32x64xf32>) {
  ^bb0(%a: i32, %b: i32, %sum: f32):
    %bits = arith.constant 16 : i32
    %upper = arith.constant -65536 : i32
    %0 = arith.shli %a, %bits : i32
    %1 = arith.bitcast %0 : i32 to f32
    %2 = arith.andi %a, %upper : i32
    %3 = arith.bitcast %2 : i32 to f32
    %4 = arith.shli %b, %bits : i32
    %5 = arith.bitcast %4 : i32 to f32
    %6 = arith.andi %b, %upper : i32
    %7 = arith.bitcast %6 : i32 to f32
    %8 = arith.mulf %1, %5 : f32
    %9 = arith.mulf %3, %7 : f32
    %10 = arith.addf %8, %9 : f32
    %11 = arith.addf %sum, %10 : f32
    linalg.yield %11 : f32
  }
  return
}

// CHECK-LABEL: @unequal_steps
// CHECK-NOT: tdpbf16ps
// CHECK: dpbf16ps.512
func.func @unequal_steps(%x: memref<32x17xi32>, %y: memref<17x64xi32>, %out: memref<32x64xf32>) {
  linalg.generic {indexing_maps = [#lhs, #rhs, #out], iterator_types = ["parallel", "reduction", "parallel"],
                  kernel.schedule = #kernel.schedule<micro_kernel = amx_bf16_pairs>}
    ins(%x, %y : memref<32x17xi32>, memref<17x64xi32>) outs(%out : memref<32x64xf32>) {
  ^bb0(%a: i32, %b: i32, %sum: f32):
    %bits = arith.constant 16 : i32
    %upper = arith.constant -65536 : i32
    %0 = arith.shli %a, %bits : i32
    %1 = arith.bitcast %0 : i32 to f32
    %2 = arith.andi %a, %upper : i32
    %3 = arith.bitcast %2 : i32 to f32
    %4 = arith.shli %b, %bits : i32
    %5 = arith.bitcast %4 : i32 to f32
    %6 = arith.andi %b, %upper : i32
    %7 = arith.bitcast %6 : i32 to f32
    %8 = arith.mulf %1, %5 : f32
    %9 = arith.mulf %3, %7 : f32
    %10 = arith.addf %8, %9 : f32
    %11 = arith.addf %sum, %10 : f32
    linalg.yield %11 : f32
  }
  return
}

// CHECK-LABEL: @narrow
// CHECK-NOT: tdpbf16ps
// CHECK: dpbf16ps.512
func.func @narrow(%x: memref<32x16xi32>, %y: memref<16x24xi32>, %out: memref<32x24xf32>) {
  linalg.generic {indexing_maps = [#lhs, #rhs, #out], iterator_types = ["parallel", "reduction", "parallel"],
                  kernel.schedule = #kernel.schedule<micro_kernel = amx_bf16_pairs>}
    ins(%x, %y : memref<32x16xi32>, memref<16x24xi32>) outs(%out : memref<32x24xf32>) {
  ^bb0(%a: i32, %b: i32, %sum: f32):
    %bits = arith.constant 16 : i32
    %upper = arith.constant -65536 : i32
    %0 = arith.shli %a, %bits : i32
    %1 = arith.bitcast %0 : i32 to f32
    %2 = arith.andi %a, %upper : i32
    %3 = arith.bitcast %2 : i32 to f32
    %4 = arith.shli %b, %bits : i32
    %5 = arith.bitcast %4 : i32 to f32
    %6 = arith.andi %b, %upper : i32
    %7 = arith.bitcast %6 : i32 to f32
    %8 = arith.mulf %1, %5 : f32
    %9 = arith.mulf %3, %7 : f32
    %10 = arith.addf %8, %9 : f32
    %11 = arith.addf %sum, %10 : f32
    linalg.yield %11 : f32
  }
  return
}

// CHECK-LABEL: @any_length
// CHECK-NOT: tdpbf16ps
// CHECK: dpbf16ps.512
func.func @any_length(%x: memref<32x?xi32>, %y: memref<?x64xi32>, %out: memref<32x64xf32>) {
  linalg.generic {indexing_maps = [#lhs, #rhs, #out], iterator_types = ["parallel", "reduction", "parallel"],
                  kernel.schedule = #kernel.schedule<micro_kernel = amx_bf16_pairs>}
    ins(%x, %y : memref<32x?xi32>, memref<?x64xi32>) outs(%out : memref<32x64xf32>) {
  ^bb0(%a: i32, %b: i32, %sum: f32):
    %bits = arith.constant 16 : i32
    %upper = arith.constant -65536 : i32
    %0 = arith.shli %a, %bits : i32
    %1 = arith.bitcast %0 : i32 to f32
    %2 = arith.andi %a, %upper : i32
    %3 = arith.bitcast %2 : i32 to f32
    %4 = arith.shli %b, %bits : i32
    %5 = arith.bitcast %4 : i32 to f32
    %6 = arith.andi %b, %upper : i32
    %7 = arith.bitcast %6 : i32 to f32
    %8 = arith.mulf %1, %5 : f32
    %9 = arith.mulf %3, %7 : f32
    %10 = arith.addf %8, %9 : f32
    %11 = arith.addf %sum, %10 : f32
    linalg.yield %11 : f32
  }
  return
}

// Without the schedule pairs are multiplied in vectors, too.
// CHECK-LABEL: @unscheduled
// CHECK-NOT: tdpbf16ps
// CHECK: dpbf16ps.512
func.func @unscheduled(%x: memref<32x16xi32>, %y: memref<16x64xi32>, %out: memref<32x64xf32>) {
  linalg.generic {indexing_maps = [#lhs, #rhs, #out], iterator_types = ["parallel", "reduction", "parallel"]}
    ins(%x, %y : memref<32x16xi32>, memref<16x64xi32>) outs(%out : memref<32x64xf32>) {
  ^bb0(%a: i32, %b: i32, %sum: f32):
    %bits = arith.constant 16 : i32
    %upper = arith.constant -65536 : i32
    %0 = arith.shli %a, %bits : i32
    %1 = arith.bitcast %0 : i32 to f32
    %2 = arith.andi %a, %upper : i32
    %3 = arith.bitcast %2 : i32 to f32
    %4 = arith.shli %b, %bits : i32
    %5 = arith.bitcast %4 : i32 to f32
    %6 = arith.andi %b, %upper : i32
    %7 = arith.bitcast %6 : i32 to f32
    %8 = arith.mulf %1, %5 : f32
    %9 = arith.mulf %3, %7 : f32
    %10 = arith.addf %8, %9 : f32
    %11 = arith.addf %sum, %10 : f32
    linalg.yield %11 : f32
  }
  return
}
