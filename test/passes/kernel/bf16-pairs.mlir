// RUN: tenon-opt %s --tenon-form-contractions | FileCheck %s --check-prefix=FORMED
// RUN: tenon-opt %s --tenon-form-contractions '--tenon-vectorize-contractions=vector-bytes=64 registers=32 bf16-pairs' \
// RUN:   | FileCheck %s --check-prefixes=LOOPS,PAIRS
// RUN: tenon-opt %s --tenon-form-contractions '--tenon-vectorize-contractions=vector-bytes=64 registers=32' \
// RUN:   | FileCheck %s --check-prefixes=LOOPS,WIDENED
// RUN: tenon-opt %s --tenon-form-contractions '--tenon-vectorize-contractions=vector-bytes=32 registers=16 bf16-pairs' \
// RUN:   | FileCheck %s --check-prefixes=LOOPS,WIDENED

// Elements are pairs of bf16, whose products are added: one instruction for 16 of them, where the target has it; elsewhere two multiply-adds
// of what is widened.
// FORMED-LABEL: @pairs
// FORMED: kernel.contract <kind = bf16_pairs, row = 0> ins(%arg0, %arg1 : memref<6x5xi32>, memref<5x64xi32>)
// FORMED: kernel.sum %{{.*}} : f32 lhs(%{{.*}} : i32) rhs(%{{.*}} : i32)
// LOOPS-LABEL: @pairs
// LOOPS-NOT: kernel.contract
// LOOPS: scf.for
// PAIRS: memref.load %arg0{{.*}} : memref<6x5xi32>
// PAIRS: vector.broadcast %{{.*}} : i32 to vector<16xi32>
// PAIRS: llvm.call_intrinsic "llvm.x86.avx512bf16.dpbf16ps.512"({{.*}}) : (vector<16xf32>, vector<32xbf16>, vector<32xbf16>) -> vector<16xf32>
// WIDENED-NOT: dpbf16ps
// WIDENED: vector.broadcast %{{.*}} : i32 to vector
// WIDENED: arith.shli
// WIDENED: arith.andi
// WIDENED: vector.fma
// WIDENED: vector.fma
func.func @pairs(%x: memref<6x5xi32>, %y: memref<5x64xi32>, %out: memref<6x64xf32>) {
  linalg.generic {indexing_maps = [affine_map<(m, k, n) -> (m, k)>, affine_map<(m, k, n) -> (k, n)>, affine_map<(m, k, n) -> (m, n)>],
                  iterator_types = ["parallel", "reduction", "parallel"]}
    ins(%x, %y : memref<6x5xi32>, memref<5x64xi32>) outs(%out : memref<6x64xf32>) {
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

// The numbers of two pairs are crossed, which no instruction does.
// FORMED-LABEL: @crossed
// FORMED-NOT: kernel.contract
// FORMED: return
// LOOPS-LABEL: @crossed
// LOOPS-NOT: dpbf16ps
// LOOPS: linalg.generic
func.func @crossed(%x: memref<6x5xi32>, %y: memref<5x64xi32>, %out: memref<6x64xf32>) {
  linalg.generic {indexing_maps = [affine_map<(m, k, n) -> (m, k)>, affine_map<(m, k, n) -> (k, n)>, affine_map<(m, k, n) -> (m, n)>],
                  iterator_types = ["parallel", "reduction", "parallel"]}
    ins(%x, %y : memref<6x5xi32>, memref<5x64xi32>) outs(%out : memref<6x64xf32>) {
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
    %8 = arith.mulf %1, %7 : f32
    %9 = arith.mulf %3, %5 : f32
    %10 = arith.addf %8, %9 : f32
    %11 = arith.addf %sum, %10 : f32
    linalg.yield %11 : f32
  }
  return
}
