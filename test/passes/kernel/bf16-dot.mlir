// RUN: tenon-opt %s --tenon-form-contractions --tenon-vectorize-contractions --canonicalize --cse | FileCheck %s
// Products of bf16 by pairs: a row's pair is the same for all columns, which lie in pairs, too.

#rows = affine_map<(m, k, n) -> (m, k floordiv 20, 0, k mod 20)>
#columns = affine_map<(m, k, n) -> (n floordiv 16, k floordiv 20, 0, (k mod 20) floordiv 2, (n mod 16) * 2 + k mod 2)>
#extents = affine_map<(m, k, n) -> (k)>
#out = affine_map<(m, k, n) -> (m, n)>

// CHECK-LABEL: @pairs
// CHECK-SAME: %[[A:[a-z0-9]*]]: memref<5x3x1x20xbf16>, %[[B:[a-z0-9]*]]: memref<2x3x1x10x32xbf16>
// CHECK: scf.for %[[STEP:.*]] = %c0 to %c3 step %c1 {{.*}} -> ({{(vector<16xf32>, )*}}vector<16xf32>)
// CHECK:   scf.for %[[PAIR:.*]] = %c0 to %c10 step %c2
// CHECK:     %[[COLUMNS:.*]] = vector.load %[[B]][%{{.*}}, %[[STEP]], %c0, %[[PAIR]], %{{.*}}] : memref<2x3x1x10x32xbf16>, vector<32xbf16>
// CHECK:     %[[BOTH:.*]] = vector.load %[[A]][%{{.*}}, %[[STEP]], %c0, %{{.*}}] : memref<5x3x1x20xbf16>, vector<2xbf16>
// CHECK:     %[[WORD:.*]] = vector.bitcast %[[BOTH]] : vector<2xbf16> to vector<1xf32>
// CHECK:     vector.broadcast %{{.*}} : f32 to vector<16xf32>
// CHECK:     llvm.call_intrinsic "llvm.x86.avx512bf16.dpbf16ps.512"(%{{.*}}, %{{.*}}, %[[COLUMNS]])
// CHECK-NOT: {{linalg.generic|kernel.contract}}
func.func @pairs(%a: memref<5x3x1x20xbf16>, %b: memref<2x3x1x10x32xbf16>, %c: memref<5x32xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%c : memref<5x32xf32>)
  %k = memref.alloc() : memref<60xi8>
  linalg.generic {indexing_maps = [#rows, #columns, #extents, #out], iterator_types = ["parallel", "reduction", "parallel"],
                  kernel.schedule = #kernel.schedule<micro_kernel = bf16_dot>}
      ins(%a, %b, %k : memref<5x3x1x20xbf16>, memref<2x3x1x10x32xbf16>, memref<60xi8>)
      outs(%c : memref<5x32xf32>) {
  ^bb0(%x: bf16, %y: bf16, %i: i8, %z: f32):
    %0 = arith.extf %x : bf16 to f32
    %1 = arith.extf %y : bf16 to f32
    %2 = arith.mulf %0, %1 : f32
    %3 = arith.addf %z, %2 : f32
    linalg.yield %3 : f32
  }
  return
}

// A convolution sums windows around the steps of channels.
#pixels = affine_map<(y, x, h, w, k, n) -> (y + h, x + w, k floordiv 32, 0, k mod 32)>
#filters = affine_map<(y, x, h, w, k, n) -> (n floordiv 16, h, w, k floordiv 32, 0, (k mod 32) floordiv 2, (n mod 16) * 2 + k mod 2)>
#window = affine_map<(y, x, h, w, k, n) -> (h, w, k)>
#result = affine_map<(y, x, h, w, k, n) -> (y, x, n)>

// CHECK-LABEL: @windows
// CHECK-SAME: %[[A:[a-z0-9]*]]: memref<9x9x2x1x32xbf16>, %[[B:[a-z0-9]*]]: memref<2x3x3x2x1x16x32xbf16>
// CHECK: scf.for %[[H:.*]] = %c0 to %c3 step %c1 {{.*}} -> ({{(vector<16xf32>, )*}}vector<16xf32>)
// CHECK:   scf.for %[[W:.*]] = %c0 to %c3 step %c1
// CHECK:     scf.for %[[STEP:.*]] = %c0 to %c2 step %c1
// CHECK:       scf.for %[[PAIR:.*]] = %c0 to %c16 step %c2
// CHECK:         %[[COLUMNS:.*]] = vector.load %[[B]][%{{.*}}, %[[H]], %[[W]], %[[STEP]], %c0, %[[PAIR]], %{{.*}}] : {{.*}}, vector<32xbf16>
// CHECK:         llvm.call_intrinsic "llvm.x86.avx512bf16.dpbf16ps.512"(%{{.*}}, %{{.*}}, %[[COLUMNS]])
// CHECK-NOT: {{linalg.generic|kernel.contract}}
func.func @windows(%a: memref<9x9x2x1x32xbf16>, %b: memref<2x3x3x2x1x16x32xbf16>, %c: memref<7x7x32xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%c : memref<7x7x32xf32>)
  %k = memref.alloc() : memref<3x3x64xi8>
  linalg.generic {indexing_maps = [#pixels, #filters, #window, #result],
                  iterator_types = ["parallel", "parallel", "reduction", "reduction", "reduction", "parallel"],
                  kernel.schedule = #kernel.schedule<micro_kernel = bf16_dot>}
      ins(%a, %b, %k : memref<9x9x2x1x32xbf16>, memref<2x3x3x2x1x16x32xbf16>, memref<3x3x64xi8>)
      outs(%c : memref<7x7x32xf32>) {
  ^bb0(%x: bf16, %y: bf16, %i: i8, %z: f32):
    %0 = arith.extf %x : bf16 to f32
    %1 = arith.extf %y : bf16 to f32
    %2 = arith.mulf %0, %1 : f32
    %3 = arith.addf %z, %2 : f32
    linalg.yield %3 : f32
  }
  return
}

// Panels may be several vectors wide, as those of Winograd convolutions are.
#wide = affine_map<(m, k, n) -> (n floordiv 32, k floordiv 20, 0, (k mod 20) floordiv 2, (n mod 32) * 2 + k mod 2)>

// CHECK-LABEL: @wide_panels
// CHECK-SAME: %[[A:[a-z0-9]*]]: memref<5x3x1x20xbf16>, %[[B:[a-z0-9]*]]: memref<1x3x1x10x64xbf16>
// CHECK: vector.load %[[B]][%{{.*}}, %{{.*}}, %c0, %{{.*}}, %{{.*}}] : memref<1x3x1x10x64xbf16>, vector<32xbf16>
// CHECK: llvm.call_intrinsic "llvm.x86.avx512bf16.dpbf16ps.512"
// CHECK-NOT: {{linalg.generic|kernel.contract}}
func.func @wide_panels(%a: memref<5x3x1x20xbf16>, %b: memref<1x3x1x10x64xbf16>, %c: memref<5x32xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%c : memref<5x32xf32>)
  %k = memref.alloc() : memref<60xi8>
  linalg.generic {indexing_maps = [#rows, #wide, #extents, #out], iterator_types = ["parallel", "reduction", "parallel"],
                  kernel.schedule = #kernel.schedule<micro_kernel = bf16_dot>}
      ins(%a, %b, %k : memref<5x3x1x20xbf16>, memref<1x3x1x10x64xbf16>, memref<60xi8>)
      outs(%c : memref<5x32xf32>) {
  ^bb0(%x: bf16, %y: bf16, %i: i8, %z: f32):
    %0 = arith.extf %x : bf16 to f32
    %1 = arith.extf %y : bf16 to f32
    %2 = arith.mulf %0, %1 : f32
    %3 = arith.addf %z, %2 : f32
    linalg.yield %3 : f32
  }
  return
}
