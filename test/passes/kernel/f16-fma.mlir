// RUN: tenon-opt %s --tenon-form-contractions --tenon-vectorize-contractions --canonicalize --cse | FileCheck %s
// RUN: tenon-opt %s --tenon-form-contractions --tenon-vectorize-contractions='vector-bytes=16' --canonicalize --cse | FileCheck %s --check-prefix=SHORT
// Products of f16: chains of 8 multiply-adds and four chains are summed in f16, blocks of 32 products in f32.

#rows = affine_map<(m, k, n) -> (m, k)>
#panels = affine_map<(m, k, n) -> (n floordiv 32, k, n mod 32)>
#out = affine_map<(m, k, n) -> (m, n)>

// CHECK-LABEL: @blocks
// CHECK-SAME: %[[A:[a-z0-9]*]]: memref<6x76xf16>, %[[B:[a-z0-9]*]]: memref<2x76x32xf16>
// Two vectors of f32 for each of 6 rows; 76 products are two blocks, one more chain and four products.
// CHECK: %[[SUMS:.*]]:12 = scf.for {{.*}} = %c0 to %c2 step %c1 {{.*}} -> ({{(vector<16xf32>, )*}}vector<16xf32>)
// CHECK:   %[[OF_BLOCK:.*]]:6 = scf.for {{.*}} = %c0 to %c4 step %c1 iter_args(%[[BEFORE:[a-z0-9]*]] = {{.*}} -> ({{(vector<32xf16>, )*}}vector<32xf16>)
// CHECK:     vector.load %[[B]]{{.*}} : memref<2x76x32xf16>, vector<32xf16>
// CHECK:     memref.load %[[A]]{{.*}} : memref<6x76xf16>
// CHECK:     vector.broadcast %{{.*}} : f16 to vector<32xf16>
// CHECK:     arith.mulf %{{.*}} : vector<32xf16>
// CHECK-COUNT-42: vector.fma %{{.*}} : vector<32xf16>
// CHECK-NOT: vector.fma
// CHECK:     arith.addf %[[BEFORE]], %{{.*}} : vector<32xf16>
// CHECK:     scf.yield
// CHECK:   %[[HALF:.*]] = vector.extract_strided_slice %[[OF_BLOCK]]#0 {offsets = [0], sizes = [16], strides = [1]} : vector<32xf16> to vector<16xf16>
// CHECK:   %[[WIDE:.*]] = arith.extf %[[HALF]] : vector<16xf16> to vector<16xf32>
// CHECK:   arith.addf %{{.*}}, %[[WIDE]] : vector<16xf32>
// CHECK:   scf.yield
// CHECK-COUNT-42: vector.fma %{{.*}} : vector<32xf16>
// CHECK-COUNT-18: vector.fma %{{.*}} : vector<32xf16>
// CHECK-NOT: vector.fma
// CHECK-COUNT-6: arith.addf %{{.*}} : vector<32xf16>
// CHECK-COUNT-12: arith.addf %{{.*}} : vector<16xf32>
// CHECK-NOT: {{linalg.generic|kernel.contract}}
// With vectors of 8 f16, as Arm has them, the elements of a row come in vectors; beside whole chains they come one by one.
// SHORT-LABEL: @blocks
// SHORT-SAME: %[[A:[a-z0-9]*]]: memref<6x76xf16>, %[[B:[a-z0-9]*]]: memref<2x76x32xf16>
// SHORT: scf.for {{.*}} = %c0 to %c2 step %c1 {{.*}} -> ({{(vector<4xf32>, )*}}vector<4xf32>)
// SHORT:   scf.for {{.*}} = %c0 to %c4 step %c1
// SHORT:     %[[ROW:.*]] = vector.load %[[A]]{{.*}} : memref<6x76xf16>, vector<8xf16>
// SHORT:     %[[FIRST:.*]] = vector.extract %[[ROW]][0] : f16 from vector<8xf16>
// SHORT:     vector.broadcast %[[FIRST]] : f16 to vector<8xf16>
// SHORT:     vector.fma %{{.*}} : vector<8xf16>
// SHORT:   arith.extf %{{.*}} : vector<4xf16> to vector<4xf32>
// SHORT: memref.load %[[A]]{{.*}} : memref<6x76xf16>
// SHORT-LABEL: @columns
func.func @blocks(%a: memref<6x76xf16>, %b: memref<2x76x32xf16>, %c: memref<6x64xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%c : memref<6x64xf32>)
  linalg.generic {indexing_maps = [#rows, #panels, #out], iterator_types = ["parallel", "reduction", "parallel"],
                  kernel.schedule = #kernel.schedule<micro_kernel = f16_fma>}
      ins(%a, %b : memref<6x76xf16>, memref<2x76x32xf16>) outs(%c : memref<6x64xf32>) {
  ^bb0(%x: f16, %y: f16, %z: f32):
    %0 = arith.extf %x : f16 to f32
    %1 = arith.extf %y : f16 to f32
    %2 = arith.mulf %0, %1 : f32
    %3 = arith.addf %z, %2 : f32
    linalg.yield %3 : f32
  }
  return
}

// The last 9 of 41 columns are a vector of f16 of half the length: none beyond the panel is read.
// CHECK-LABEL: @columns
// CHECK: vector.load %{{.*}} : memref<2x8x32xf16>, vector<32xf16>
// CHECK: vector.load %{{.*}} : memref<2x8x32xf16>, vector<16xf16>
// CHECK: vector.fma %{{.*}} : vector<16xf16>
// CHECK: arith.extf %{{.*}} : vector<16xf16> to vector<16xf32>
// CHECK: vector.maskedstore
func.func @columns(%a: memref<6x8xf16>, %b: memref<2x8x32xf16>, %c: memref<6x41xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%c : memref<6x41xf32>)
  linalg.generic {indexing_maps = [#rows, #panels, #out], iterator_types = ["parallel", "reduction", "parallel"],
                  kernel.schedule = #kernel.schedule<micro_kernel = f16_fma>}
      ins(%a, %b : memref<6x8xf16>, memref<2x8x32xf16>) outs(%c : memref<6x41xf32>) {
  ^bb0(%x: f16, %y: f16, %z: f32):
    %0 = arith.extf %x : f16 to f32
    %1 = arith.extf %y : f16 to f32
    %2 = arith.mulf %0, %1 : f32
    %3 = arith.addf %z, %2 : f32
    linalg.yield %3 : f32
  }
  return
}

// What no schedule asks for is summed in f32.
// CHECK-LABEL: @automatic
// CHECK-NOT: vector.fma %{{.*}}xf16>
// CHECK: vector.fma %{{.*}} : vector<16xf32>
// CHECK-NOT: vector.fma %{{.*}}xf16>
func.func @automatic(%a: memref<6x76xf16>, %b: memref<2x76x32xf16>, %c: memref<6x64xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%c : memref<6x64xf32>)
  linalg.generic {indexing_maps = [#rows, #panels, #out], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%a, %b : memref<6x76xf16>, memref<2x76x32xf16>) outs(%c : memref<6x64xf32>) {
  ^bb0(%x: f16, %y: f16, %z: f32):
    %0 = arith.extf %x : f16 to f32
    %1 = arith.extf %y : f16 to f32
    %2 = arith.mulf %0, %1 : f32
    %3 = arith.addf %z, %2 : f32
    linalg.yield %3 : f32
  }
  return
}

// Rows of f32 have no such products, whatever the schedule asks for.
// CHECK-LABEL: @rows_of_f32
// CHECK-NOT: vector.fma %{{.*}}xf16>
// CHECK: vector.fma %{{.*}} : vector<16xf32>
// CHECK-NOT: vector.fma %{{.*}}xf16>
func.func @rows_of_f32(%a: memref<6x76xf32>, %b: memref<2x76x32xf16>, %c: memref<6x64xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%c : memref<6x64xf32>)
  linalg.generic {indexing_maps = [#rows, #panels, #out], iterator_types = ["parallel", "reduction", "parallel"],
                  kernel.schedule = #kernel.schedule<micro_kernel = f16_fma>}
      ins(%a, %b : memref<6x76xf32>, memref<2x76x32xf16>) outs(%c : memref<6x64xf32>) {
  ^bb0(%x: f32, %y: f16, %z: f32):
    %0 = arith.extf %y : f16 to f32
    %1 = arith.mulf %x, %0 : f32
    %2 = arith.addf %z, %1 : f32
    linalg.yield %2 : f32
  }
  return
}

// A convolution sums windows: each pixel has chains and blocks of its channels, whose sums are added in f32.
#pixels = affine_map<(y, x, h, w, k, n) -> (y + h, x * 2 + w, k)>
#filters = affine_map<(y, x, h, w, k, n) -> (n floordiv 32, h, w, k, n mod 32)>
#result = affine_map<(y, x, h, w, k, n) -> (y, x, n)>

// CHECK-LABEL: @windows
// CHECK-SAME: %[[A:[a-z0-9]*]]: memref<9x15x40xf16>, %[[B:[a-z0-9]*]]: memref<2x3x3x40x32xf16>
// CHECK: scf.for %[[H:.*]] = %c0 to %c3 step %c1 {{.*}} -> ({{(vector<16xf32>, )*}}vector<16xf32>)
// CHECK:   scf.for %[[W:.*]] = %c0 to %c3 step %c1 {{.*}} -> ({{(vector<16xf32>, )*}}vector<16xf32>)
// CHECK:     scf.for {{.*}} = %c0 to %c4 step %c1 {{.*}} -> ({{(vector<32xf16>, )*}}vector<32xf16>)
// CHECK:       vector.load %[[B]][%{{.*}}, %[[H]], %[[W]], %{{.*}}, %{{.*}}] : memref<2x3x3x40x32xf16>, vector<32xf16>
// CHECK:       vector.fma %{{.*}} : vector<32xf16>
// CHECK:     arith.extf %{{.*}} : vector<16xf16> to vector<16xf32>
// The last 8 channels.
// CHECK:     vector.fma %{{.*}} : vector<32xf16>
// CHECK:     arith.extf %{{.*}} : vector<16xf16> to vector<16xf32>
// CHECK-NOT: {{linalg.generic|kernel.contract}}
// CHECK: return
func.func @windows(%a: memref<9x15x40xf16>, %b: memref<2x3x3x40x32xf16>, %c: memref<7x7x64xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%c : memref<7x7x64xf32>)
  linalg.generic {indexing_maps = [#pixels, #filters, #result],
                  iterator_types = ["parallel", "parallel", "reduction", "reduction", "reduction", "parallel"],
                  kernel.schedule = #kernel.schedule<micro_kernel = f16_fma>}
      ins(%a, %b : memref<9x15x40xf16>, memref<2x3x3x40x32xf16>) outs(%c : memref<7x7x64xf32>) {
  ^bb0(%x: f16, %y: f16, %z: f32):
    %0 = arith.extf %x : f16 to f32
    %1 = arith.extf %y : f16 to f32
    %2 = arith.mulf %0, %1 : f32
    %3 = arith.addf %z, %2 : f32
    linalg.yield %3 : f32
  }
  return
}

// No other micro-kernel sums such windows.
// CHECK-LABEL: @automatic_windows
// CHECK-NOT: {{vector.fma|kernel.contract}}
// CHECK: linalg.generic
func.func @automatic_windows(%a: memref<9x15x40xf16>, %b: memref<2x3x3x40x32xf16>, %c: memref<7x7x64xf32>) {
  linalg.generic {indexing_maps = [#pixels, #filters, #result],
                  iterator_types = ["parallel", "parallel", "reduction", "reduction", "reduction", "parallel"]}
      ins(%a, %b : memref<9x15x40xf16>, memref<2x3x3x40x32xf16>) outs(%c : memref<7x7x64xf32>) {
  ^bb0(%x: f16, %y: f16, %z: f32):
    %0 = arith.extf %x : f16 to f32
    %1 = arith.extf %y : f16 to f32
    %2 = arith.mulf %0, %1 : f32
    %3 = arith.addf %z, %2 : f32
    linalg.yield %3 : f32
  }
  return
}

// Taps that are contiguous where channels are not would make chains of rows that vectors cannot load.
#planes = affine_map<(y, x, h, w, k, n) -> (k, y + h, x * 2 + w)>

// CHECK-LABEL: @windows_of_planes
// CHECK-NOT: {{vector.fma|kernel.contract}}
// CHECK: linalg.generic
func.func @windows_of_planes(%a: memref<40x9x15xf16>, %b: memref<2x3x3x40x32xf16>, %c: memref<7x7x64xf32>) {
  linalg.generic {indexing_maps = [#planes, #filters, #result],
                  iterator_types = ["parallel", "parallel", "reduction", "reduction", "reduction", "parallel"],
                  kernel.schedule = #kernel.schedule<micro_kernel = f16_fma>}
      ins(%a, %b : memref<40x9x15xf16>, memref<2x3x3x40x32xf16>) outs(%c : memref<7x7x64xf32>) {
  ^bb0(%x: f16, %y: f16, %z: f32):
    %0 = arith.extf %x : f16 to f32
    %1 = arith.extf %y : f16 to f32
    %2 = arith.mulf %0, %1 : f32
    %3 = arith.addf %z, %2 : f32
    linalg.yield %3 : f32
  }
  return
}
