// RUN: tenon-opt %s --tenon-form-contractions --tenon-vectorize-contractions='vector-bytes=64 registers=32 int8-dot=vnni' --canonicalize --cse | FileCheck %s
// Products of i16 in groups that have scales: integer sums of a group, which is scaled once.

#rows = affine_map<(m, k, n) -> (m, k)>
#row_scales = affine_map<(m, k, n) -> (m, k floordiv 32)>
#one_row_scale = affine_map<(m, k, n) -> (m, 0)>
#halves = affine_map<(m, k, n) -> (n floordiv 32, k floordiv 2, n mod 32)>
#scales = affine_map<(m, k, n) -> (n floordiv 32, k floordiv 32, n mod 32)>
#one_scale = affine_map<(m, k, n) -> (n floordiv 32, 0, n mod 32)>
#out = affine_map<(m, k, n) -> (m, n)>

module attributes {tenon.machine = #tenon.machine<vector_bytes = 64, vector_registers = 32, int8_dot = 4>} {

// CHECK-LABEL: @groups
// CHECK-SAME: %[[X:[a-z0-9]*]]: memref<1x64xi16>, %[[XS:[a-z0-9]*]]: memref<1x2xf32>, %[[W:[a-z0-9]*]]: memref<1x32x32xi32>
// CHECK: scf.for %{{.*}} = %c0 to %c2 step %c1 iter_args({{.*}}) -> (vector<16xf32>, vector<16xf32>)
// CHECK: scf.for %{{.*}} = %c0 to %c16 step %c4 iter_args({{.*}}) -> (vector<16xi32>, vector<16xi32>)
// CHECK: memref.prefetch %[[W]]
// CHECK: %[[WORDS:.*]] = vector.load %[[W]]{{.*}} vector<16xi32>
// CHECK: %[[TWO:.*]] = vector.load %[[X]]{{.*}} vector<2xi16>
// CHECK: llvm.call_intrinsic "llvm.x86.avx512.pmaddw.d.512"(%{{.*}}, %{{.*}}) : (vector<32xi16>, vector<32xi16>) -> vector<16xi32>
// CHECK: arith.addi %{{.*}} : vector<16xi32>
// CHECK: vector.load %{{.*}} : memref<1x2x32xf32>, vector<16xf32>
// CHECK: memref.load %[[XS]]
// CHECK-NOT: arith.subi
// CHECK: arith.sitofp %{{.*}} : vector<16xi32> to vector<16xf32>
// CHECK: arith.mulf %{{.*}} : vector<16xf32>
// CHECK: vector.fma
// CHECK-NOT: {{linalg.generic|kernel.contract}}
func.func @groups(%x: memref<1x64xi16>, %xs: memref<1x2xf32>, %w: memref<1x32x32xi32>, %ws: memref<1x2x32xf32>, %c: memref<1x32xf32>) {
  linalg.generic {indexing_maps = [#rows, #row_scales, #halves, #scales, #out], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%x, %xs, %w, %ws : memref<1x64xi16>, memref<1x2xf32>, memref<1x32x32xi32>, memref<1x2x32xf32>) outs(%c : memref<1x32xf32>) {
  ^bb0(%a: i16, %as: f32, %word: i32, %bs: f32, %sum: f32):
    %two = arith.constant 2 : index
    %sixteen = arith.constant 16 : index
    %top = arith.constant 16 : i32
    %row = arith.sitofp %a : i16 to f32
    %left = arith.mulf %row, %as : f32
    %k = linalg.index 1 : index
    %place = arith.remui %k, %two : index
    %bit = arith.muli %place, %sixteen : index
    %shift = arith.index_cast %bit : index to i32
    %up = arith.subi %top, %shift : i32
    %high = arith.shli %word, %up : i32
    %integer = arith.shrsi %high, %top : i32
    %number = arith.sitofp %integer : i32 to f32
    %right = arith.mulf %number, %bs : f32
    %product = arith.mulf %left, %right : f32
    %new = arith.addf %sum, %product : f32
    linalg.yield %new : f32
  }
  return
}

// One group may be the whole sum.
// CHECK-LABEL: @one_group
// CHECK: scf.for %{{.*}} = %c0 to %c8 step %c4 iter_args({{.*}}) -> (vector<16xi32>, vector<16xi32>)
// CHECK: llvm.x86.avx512.pmaddw.d.512
// CHECK-NOT: {{linalg.generic|kernel.contract}}
func.func @one_group(%x: memref<1x16xi16>, %xs: memref<1x1xf32>, %w: memref<1x8x32xi32>, %ws: memref<1x1x32xf32>, %c: memref<1x32xf32>) {
  linalg.generic {indexing_maps = [#rows, #one_row_scale, #halves, #one_scale, #out], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%x, %xs, %w, %ws : memref<1x16xi16>, memref<1x1xf32>, memref<1x8x32xi32>, memref<1x1x32xf32>) outs(%c : memref<1x32xf32>) {
  ^bb0(%a: i16, %as: f32, %word: i32, %bs: f32, %sum: f32):
    %two = arith.constant 2 : index
    %sixteen = arith.constant 16 : index
    %top = arith.constant 16 : i32
    %row = arith.sitofp %a : i16 to f32
    %left = arith.mulf %row, %as : f32
    %k = linalg.index 1 : index
    %place = arith.remui %k, %two : index
    %bit = arith.muli %place, %sixteen : index
    %shift = arith.index_cast %bit : index to i32
    %up = arith.subi %top, %shift : i32
    %high = arith.shli %word, %up : i32
    %integer = arith.shrsi %high, %top : i32
    %number = arith.sitofp %integer : i32 to f32
    %right = arith.mulf %number, %bs : f32
    %product = arith.mulf %left, %right : f32
    %new = arith.addf %sum, %product : f32
    linalg.yield %new : f32
  }
  return
}

// A window is summed with loops around that of the groups.
// CHECK-LABEL: @windows
// CHECK: scf.for {{.*}} iter_args
// CHECK: scf.for %{{.*}} = %c0 to %c2 step %c1 iter_args({{.*}}vector<16xf32>
// CHECK: scf.for %{{.*}} = %c0 to %c16 step %c4 iter_args({{.*}}vector<16xi32>
// CHECK: llvm.x86.avx512.pmaddw.d.512
// CHECK-NOT: {{linalg.generic|kernel.contract}}
func.func @windows(%x: memref<1x5x64xi16>, %xs: memref<1x5x2xf32>, %w: memref<1x3x32x32xi32>, %ws: memref<1x3x2x32xf32>, %c: memref<1x3x32xf32>) {
  linalg.generic {indexing_maps = [affine_map<(b, m, t, k, n) -> (b, m + t, k)>, affine_map<(b, m, t, k, n) -> (b, m + t, k floordiv 32)>,
                                   affine_map<(b, m, t, k, n) -> (n floordiv 32, t, k floordiv 2, n mod 32)>,
                                   affine_map<(b, m, t, k, n) -> (n floordiv 32, t, k floordiv 32, n mod 32)>, affine_map<(b, m, t, k, n) -> (b, m, n)>],
                  iterator_types = ["parallel", "parallel", "reduction", "reduction", "parallel"]}
      ins(%x, %xs, %w, %ws : memref<1x5x64xi16>, memref<1x5x2xf32>, memref<1x3x32x32xi32>, memref<1x3x2x32xf32>) outs(%c : memref<1x3x32xf32>) {
  ^bb0(%a: i16, %as: f32, %word: i32, %bs: f32, %sum: f32):
    %two = arith.constant 2 : index
    %sixteen = arith.constant 16 : index
    %top = arith.constant 16 : i32
    %row = arith.sitofp %a : i16 to f32
    %left = arith.mulf %row, %as : f32
    %k = linalg.index 3 : index
    %place = arith.remui %k, %two : index
    %bit = arith.muli %place, %sixteen : index
    %shift = arith.index_cast %bit : index to i32
    %up = arith.subi %top, %shift : i32
    %high = arith.shli %word, %up : i32
    %integer = arith.shrsi %high, %top : i32
    %number = arith.sitofp %integer : i32 to f32
    %right = arith.mulf %number, %bs : f32
    %product = arith.mulf %left, %right : f32
    %new = arith.addf %sum, %product : f32
    linalg.yield %new : f32
  }
  return
}

// Rows of bytes do not pair with weights of i16.
// CHECK-LABEL: @bytes_by_i16
// CHECK-NOT: pmaddw
// CHECK: return
func.func @bytes_by_i16(%x: memref<1x64xi8>, %xs: memref<1x2xf32>, %w: memref<1x32x32xi32>, %ws: memref<1x2x32xf32>, %c: memref<1x32xf32>) {
  linalg.generic {indexing_maps = [#rows, #row_scales, #halves, #scales, #out], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%x, %xs, %w, %ws : memref<1x64xi8>, memref<1x2xf32>, memref<1x32x32xi32>, memref<1x2x32xf32>) outs(%c : memref<1x32xf32>) {
  ^bb0(%a: i8, %as: f32, %word: i32, %bs: f32, %sum: f32):
    %middle = arith.constant 128.0 : f32
    %two = arith.constant 2 : index
    %sixteen = arith.constant 16 : index
    %top = arith.constant 16 : i32
    %byte = arith.uitofp %a : i8 to f32
    %row = arith.subf %byte, %middle : f32
    %left = arith.mulf %row, %as : f32
    %k = linalg.index 1 : index
    %place = arith.remui %k, %two : index
    %bit = arith.muli %place, %sixteen : index
    %shift = arith.index_cast %bit : index to i32
    %up = arith.subi %top, %shift : i32
    %high = arith.shli %word, %up : i32
    %integer = arith.shrsi %high, %top : i32
    %number = arith.sitofp %integer : i32 to f32
    %right = arith.mulf %number, %bs : f32
    %product = arith.mulf %left, %right : f32
    %new = arith.addf %sum, %product : f32
    linalg.yield %new : f32
  }
  return
}

// A register block has five rows and both vectors of a panel where the schedule says so, and K-blocks have whole groups: of 192 steps there are
// two of 96. Sums wait in memory between them.
// CHECK-LABEL: @k_blocks
// CHECK: %[[SUMS:.*]] = memref.alloc() : memref<12x32xf32>
// CHECK: linalg.fill {{.*}} outs(%[[SUMS]]
// CHECK: vector.load %[[SUMS]]
// CHECK: scf.for %{{.*}} = %c0 to %c3 step %c1 iter_args({{.*}}) -> (vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>)
// CHECK: llvm.x86.avx512.pmaddw.d.512
// CHECK: vector.store %{{.*}}, %[[SUMS]]
// CHECK: scf.for %{{.*}} = %c0 to %c3 step %c1 iter_args
// CHECK: llvm.x86.avx512.pmaddw.d.512
// CHECK-NOT: {{linalg.generic|kernel.contract}}
func.func @k_blocks(%x: memref<12x192xi16>, %xs: memref<12x6xf32>, %w: memref<1x96x32xi32>, %ws: memref<1x6x32xf32>, %c: memref<12x32xf32>) {
  %none = arith.constant 0.0 : f32
  linalg.fill ins(%none : f32) outs(%c : memref<12x32xf32>)
  linalg.generic {indexing_maps = [#rows, #row_scales, #halves, #scales, #out], iterator_types = ["parallel", "reduction", "parallel"],
                  kernel.schedule = #kernel.schedule<tile = [12, 192, 32], k_block = 70, block = [5, 2]>}
      ins(%x, %xs, %w, %ws : memref<12x192xi16>, memref<12x6xf32>, memref<1x96x32xi32>, memref<1x6x32xf32>) outs(%c : memref<12x32xf32>) {
  ^bb0(%a: i16, %as: f32, %word: i32, %bs: f32, %sum: f32):
    %two = arith.constant 2 : index
    %sixteen = arith.constant 16 : index
    %top = arith.constant 16 : i32
    %row = arith.sitofp %a : i16 to f32
    %left = arith.mulf %row, %as : f32
    %k = linalg.index 1 : index
    %place = arith.remui %k, %two : index
    %bit = arith.muli %place, %sixteen : index
    %shift = arith.index_cast %bit : index to i32
    %up = arith.subi %top, %shift : i32
    %high = arith.shli %word, %up : i32
    %integer = arith.shrsi %high, %top : i32
    %number = arith.sitofp %integer : i32 to f32
    %right = arith.mulf %number, %bs : f32
    %product = arith.mulf %left, %right : f32
    %new = arith.addf %sum, %product : f32
    linalg.yield %new : f32
  }
  return
}
}
