// RUN: tenon-opt %s --tenon-form-contractions --tenon-vectorize-contractions=int8-dot=vnni | FileCheck %s --check-prefixes=CHECK,VNNI
// RUN: tenon-opt %s --tenon-form-contractions --tenon-vectorize-contractions=int8-dot=pmaddwd | FileCheck %s --check-prefixes=CHECK,PAIRS
// RUN: tenon-opt %s --tenon-form-contractions --tenon-vectorize-contractions=int8-dot=scalar | FileCheck %s --check-prefixes=CHECK,SCALAR

// A schedule names a micro-kernel. One that the operands or the target do not fit is replaced by the first one that fits.

#lhs = affine_map<(m, k, n) -> (m, k)>
#panels = affine_map<(m, k, n) -> (n floordiv 32, k floordiv 4, (n mod 32) * 4 + k mod 4)>
#out = affine_map<(m, k, n) -> (m, n)>

// CHECK-LABEL: @automatic
// VNNI: "llvm.x86.avx512.vpdpbusd.512"
// PAIRS: "llvm.x86.avx512.pmaddw.d.512"
// SCALAR: arith.muli {{.*}} : vector<16xi32>
// CHECK-NOT: {{linalg.generic|kernel.contract}}
// CHECK: return
func.func @automatic(%a: memref<8x64xi8>, %b: memref<1x16x128xi8>, %c: memref<8x32xi32>) {
  linalg.generic {indexing_maps = [#lhs, #panels, #out], iterator_types = ["parallel", "reduction", "parallel"],
                  kernel.schedule = #kernel.schedule<micro_kernel = automatic>}
      ins(%a, %b : memref<8x64xi8>, memref<1x16x128xi8>) outs(%c : memref<8x32xi32>) {
  ^bb0(%x: i8, %y: i8, %z: i32):
    %0 = arith.extui %x : i8 to i32
    %1 = arith.extsi %y : i8 to i32
    %2 = arith.muli %0, %1 : i32
    %3 = arith.addi %z, %2 : i32
    linalg.yield %3 : i32
  }
  return
}

// CHECK-LABEL: @fewer_products
// VNNI-NOT: vpdpbusd
// VNNI: "llvm.x86.avx512.pmaddw.d.512"
// PAIRS: "llvm.x86.avx512.pmaddw.d.512"
// SCALAR-NOT: pmaddw
// SCALAR: arith.muli {{.*}} : vector<16xi32>
// CHECK-NOT: {{linalg.generic|kernel.contract}}
// CHECK: return
func.func @fewer_products(%a: memref<8x64xi8>, %b: memref<1x16x128xi8>, %c: memref<8x32xi32>) {
  linalg.generic {indexing_maps = [#lhs, #panels, #out], iterator_types = ["parallel", "reduction", "parallel"],
                  kernel.schedule = #kernel.schedule<micro_kernel = pmaddwd>}
      ins(%a, %b : memref<8x64xi8>, memref<1x16x128xi8>) outs(%c : memref<8x32xi32>) {
  ^bb0(%x: i8, %y: i8, %z: i32):
    %0 = arith.extui %x : i8 to i32
    %1 = arith.extsi %y : i8 to i32
    %2 = arith.muli %0, %1 : i32
    %3 = arith.addi %z, %2 : i32
    linalg.yield %3 : i32
  }
  return
}

// CHECK-LABEL: @multiplications
// CHECK-NOT: call_intrinsic
// CHECK: arith.muli {{.*}} : vector<16xi32>
// CHECK-NOT: {{linalg.generic|kernel.contract}}
// CHECK: return
func.func @multiplications(%a: memref<8x64xi8>, %b: memref<1x16x128xi8>, %c: memref<8x32xi32>) {
  linalg.generic {indexing_maps = [#lhs, #panels, #out], iterator_types = ["parallel", "reduction", "parallel"],
                  kernel.schedule = #kernel.schedule<micro_kernel = i8_mul>}
      ins(%a, %b : memref<8x64xi8>, memref<1x16x128xi8>) outs(%c : memref<8x32xi32>) {
  ^bb0(%x: i8, %y: i8, %z: i32):
    %0 = arith.extui %x : i8 to i32
    %1 = arith.extsi %y : i8 to i32
    %2 = arith.muli %0, %1 : i32
    %3 = arith.addi %z, %2 : i32
    linalg.yield %3 : i32
  }
  return
}

// CHECK-LABEL: @saturating
// CHECK: "llvm.x86.avx512.pmaddubs.w.512"
// CHECK-NOT: {{linalg.generic|kernel.contract}}
// CHECK: return
func.func @saturating(%a: memref<8x64xi8>, %b: memref<1x16x128xi8>, %c: memref<8x32xi32>) {
  linalg.generic {indexing_maps = [#lhs, #panels, #out], iterator_types = ["parallel", "reduction", "parallel"],
                  kernel.schedule = #kernel.schedule<micro_kernel = pmaddubsw>}
      ins(%a, %b : memref<8x64xi8>, memref<1x16x128xi8>) outs(%c : memref<8x32xi32>) {
  ^bb0(%x: i8, %y: i8, %z: i32):
    %0 = arith.extui %x : i8 to i32
    %1 = arith.extsi %y : i8 to i32
    %2 = arith.muli %0, %1 : i32
    %3 = arith.addi %z, %2 : i32
    linalg.yield %3 : i32
  }
  return
}

// Operands are int8, not bf16 terms or floating-point numbers; the target may have no VNNI; no scratch is reserved for a panel.

// CHECK-LABEL: @no_terms
// CHECK-NOT: dpbf16ps
// VNNI: "llvm.x86.avx512.vpdpbusd.512"
// PAIRS: "llvm.x86.avx512.pmaddw.d.512"
// SCALAR: arith.muli {{.*}} : vector<16xi32>
// CHECK-NOT: {{linalg.generic|kernel.contract}}
// CHECK: return
func.func @no_terms(%a: memref<8x64xi8>, %b: memref<1x16x128xi8>, %c: memref<8x32xi32>) {
  linalg.generic {indexing_maps = [#lhs, #panels, #out], iterator_types = ["parallel", "reduction", "parallel"],
                  kernel.schedule = #kernel.schedule<micro_kernel = bf16_dot>}
      ins(%a, %b : memref<8x64xi8>, memref<1x16x128xi8>) outs(%c : memref<8x32xi32>) {
  ^bb0(%x: i8, %y: i8, %z: i32):
    %0 = arith.extui %x : i8 to i32
    %1 = arith.extsi %y : i8 to i32
    %2 = arith.muli %0, %1 : i32
    %3 = arith.addi %z, %2 : i32
    linalg.yield %3 : i32
  }
  return
}

// CHECK-LABEL: @no_floats
// CHECK-NOT: vector.fma
// VNNI: "llvm.x86.avx512.vpdpbusd.512"
// PAIRS: "llvm.x86.avx512.pmaddw.d.512"
// SCALAR: arith.muli {{.*}} : vector<16xi32>
// CHECK-NOT: {{linalg.generic|kernel.contract}}
// CHECK: return
func.func @no_floats(%a: memref<8x64xi8>, %b: memref<1x16x128xi8>, %c: memref<8x32xi32>) {
  linalg.generic {indexing_maps = [#lhs, #panels, #out], iterator_types = ["parallel", "reduction", "parallel"],
                  kernel.schedule = #kernel.schedule<micro_kernel = fma>}
      ins(%a, %b : memref<8x64xi8>, memref<1x16x128xi8>) outs(%c : memref<8x32xi32>) {
  ^bb0(%x: i8, %y: i8, %z: i32):
    %0 = arith.extui %x : i8 to i32
    %1 = arith.extsi %y : i8 to i32
    %2 = arith.muli %0, %1 : i32
    %3 = arith.addi %z, %2 : i32
    linalg.yield %3 : i32
  }
  return
}

// CHECK-LABEL: @perhaps_no_vnni
// VNNI: "llvm.x86.avx512.vpdpbusd.512"
// PAIRS: "llvm.x86.avx512.pmaddw.d.512"
// SCALAR: arith.muli {{.*}} : vector<16xi32>
// CHECK-NOT: {{linalg.generic|kernel.contract}}
// CHECK: return
func.func @perhaps_no_vnni(%a: memref<8x64xi8>, %b: memref<1x16x128xi8>, %c: memref<8x32xi32>) {
  linalg.generic {indexing_maps = [#lhs, #panels, #out], iterator_types = ["parallel", "reduction", "parallel"],
                  kernel.schedule = #kernel.schedule<micro_kernel = vnni>}
      ins(%a, %b : memref<8x64xi8>, memref<1x16x128xi8>) outs(%c : memref<8x32xi32>) {
  ^bb0(%x: i8, %y: i8, %z: i32):
    %0 = arith.extui %x : i8 to i32
    %1 = arith.extsi %y : i8 to i32
    %2 = arith.muli %0, %1 : i32
    %3 = arith.addi %z, %2 : i32
    linalg.yield %3 : i32
  }
  return
}

// CHECK-LABEL: @no_scratch
// CHECK-NOT: kernel.scratch
// VNNI: "llvm.x86.avx512.vpdpbusd.512"
// PAIRS: "llvm.x86.avx512.pmaddw.d.512"
// SCALAR: arith.muli {{.*}} : vector<16xi32>
// CHECK-NOT: {{linalg.generic|kernel.contract}}
// CHECK: return
func.func @no_scratch(%a: memref<8x64xi8>, %b: memref<1x16x128xi8>, %c: memref<8x32xi32>) {
  linalg.generic {indexing_maps = [#lhs, #panels, #out], iterator_types = ["parallel", "reduction", "parallel"],
                  kernel.schedule = #kernel.schedule<micro_kernel = pmaddwd_panel>}
      ins(%a, %b : memref<8x64xi8>, memref<1x16x128xi8>) outs(%c : memref<8x32xi32>) {
  ^bb0(%x: i8, %y: i8, %z: i32):
    %0 = arith.extui %x : i8 to i32
    %1 = arith.extsi %y : i8 to i32
    %2 = arith.muli %0, %1 : i32
    %3 = arith.addi %z, %2 : i32
    linalg.yield %3 : i32
  }
  return
}
