// RUN: tenon-opt %s --tenon-form-contractions --tenon-vectorize-contractions='vector-bytes=64 registers=32 int8-dot=vnni' --canonicalize --cse | FileCheck %s
// Products of small integers in groups that have scales: integer sums of a group, which is scaled once.

#rows = affine_map<(m, k, n) -> (m, k)>
#row_scales = affine_map<(m, k, n) -> (m, k floordiv 32)>
#bytes = affine_map<(m, k, n) -> (n floordiv 32, k floordiv 4, n mod 32)>
#nibbles = affine_map<(m, k, n) -> (n floordiv 32, k floordiv 8, n mod 32)>
#scales = affine_map<(m, k, n) -> (n floordiv 32, k floordiv 32, n mod 32)>
#out = affine_map<(m, k, n) -> (m, n)>

module attributes {tenon.machine = #tenon.machine<vector_bytes = 64, vector_registers = 32, int8_dot = 4>} {

// Four integers of an i32 are four bytes.
// CHECK-LABEL: @bytes
// CHECK-SAME: %[[X:[a-z0-9]*]]: memref<1x64xi8>, %[[XS:[a-z0-9]*]]: memref<1x2xf32>, %[[W:[a-z0-9]*]]: memref<1x16x32xi32>
// CHECK-DAG: %[[EXCESS:.*]] = arith.constant dense<-128> : vector<64xi8>
// CHECK: scf.for %{{.*}} = %c0 to %c2 step %c1 iter_args({{.*}}) -> (vector<16xf32>, vector<16xf32>)
// CHECK: memref.prefetch %[[W]]
// CHECK: %[[WORDS:.*]] = vector.load %[[W]]{{.*}} vector<16xi32>
// CHECK: %[[WEIGHTS:.*]] = vector.bitcast %[[WORDS]] : vector<16xi32> to vector<64xi8>
// CHECK: llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.512"(%{{.*}}, %[[EXCESS]], %[[WEIGHTS]])
// CHECK: %[[FOUR:.*]] = vector.load %[[X]]{{.*}} vector<4xi8>
// CHECK: llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.512"(%{{.*}}, %{{.*}}, %[[WEIGHTS]])
// CHECK: vector.load %{{.*}} : memref<1x2x32xf32>, vector<16xf32>
// CHECK: memref.load %[[XS]]
// CHECK: arith.subi %{{.*}} : vector<16xi32>
// CHECK: arith.sitofp %{{.*}} : vector<16xi32> to vector<16xf32>
// CHECK: arith.mulf %{{.*}} : vector<16xf32>
// CHECK: vector.fma
// CHECK-NOT: {{linalg.generic|kernel.contract}}
func.func @bytes(%x: memref<1x64xi8>, %xs: memref<1x2xf32>, %w: memref<1x16x32xi32>, %ws: memref<1x2x32xf32>, %c: memref<1x32xf32>) {
  linalg.generic {indexing_maps = [#rows, #row_scales, #bytes, #scales, #out], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%x, %xs, %w, %ws : memref<1x64xi8>, memref<1x2xf32>, memref<1x16x32xi32>, memref<1x2x32xf32>) outs(%c : memref<1x32xf32>) {
  ^bb0(%a: i8, %as: f32, %word: i32, %bs: f32, %sum: f32):
    %middle = arith.constant 128.0 : f32
    %four = arith.constant 4 : index
    %eight = arith.constant 8 : index
    %top = arith.constant 24 : i32
    %byte = arith.uitofp %a : i8 to f32
    %row = arith.subf %byte, %middle : f32
    %left = arith.mulf %row, %as : f32
    %k = linalg.index 1 : index
    %place = arith.remui %k, %four : index
    %bit = arith.muli %place, %eight : index
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

// Eight are two such vectors, whose zero points are subtracted as bytes.
// CHECK-LABEL: @nibbles
// CHECK-DAG: %[[LOW:.*]] = arith.constant dense<252645135> : vector<16xi32>
// CHECK: %[[WORDS:.*]] = vector.load %{{.*}} : memref<1x8x32xi32>, vector<16xi32>
// CHECK: %[[FIRST:.*]] = arith.andi %[[WORDS]], %[[LOW]]
// CHECK: vector.bitcast %[[FIRST]] : vector<16xi32> to vector<64xi8>
// CHECK: arith.subi %{{.*}} : vector<64xi8>
// CHECK: %[[SHIFTED:.*]] = arith.shrui %[[WORDS]]
// CHECK: arith.andi %[[SHIFTED]], %[[LOW]]
// CHECK: llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.512"
// CHECK-NOT: {{linalg.generic|kernel.contract}}
func.func @nibbles(%x: memref<1x64xi8>, %xs: memref<1x2xf32>, %w: memref<1x8x32xi32>, %ws: memref<1x2x32xf32>, %c: memref<1x32xf32>) {
  linalg.generic {indexing_maps = [#rows, #row_scales, #nibbles, #scales, #out], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%x, %xs, %w, %ws : memref<1x64xi8>, memref<1x2xf32>, memref<1x8x32xi32>, memref<1x2x32xf32>) outs(%c : memref<1x32xf32>) {
  ^bb0(%a: i8, %as: f32, %word: i32, %bs: f32, %sum: f32):
    %middle = arith.constant 128.0 : f32
    %zero = arith.constant 8.0 : f32
    %four = arith.constant 4 : index
    %eight = arith.constant 8 : index
    %mask = arith.constant 15 : i32
    %byte = arith.uitofp %a : i8 to f32
    %row = arith.subf %byte, %middle : f32
    %left = arith.mulf %row, %as : f32
    %k = linalg.index 1 : index
    %place = arith.remui %k, %four : index
    %bit = arith.muli %place, %eight : index
    %both = arith.remui %k, %eight : index
    %half = arith.divui %both, %four : index
    %upper = arith.muli %half, %four : index
    %at = arith.addi %bit, %upper : index
    %shift = arith.index_cast %at : index to i32
    %shifted = arith.shrui %word, %shift : i32
    %integer = arith.andi %shifted, %mask : i32
    %float = arith.sitofp %integer : i32 to f32
    %number = arith.subf %float, %zero : f32
    %right = arith.mulf %number, %bs : f32
    %product = arith.mulf %left, %right : f32
    %new = arith.addf %sum, %product : f32
    linalg.yield %new : f32
  }
  return
}

// In another order the integers of an i32 are no operands of the instruction.
// CHECK-LABEL: @other_order
// CHECK-NOT: vpdpbusd
// CHECK: return
func.func @other_order(%x: memref<1x64xi8>, %xs: memref<1x2xf32>, %w: memref<1x8x32xi32>, %ws: memref<1x2x32xf32>, %c: memref<1x32xf32>) {
  linalg.generic {indexing_maps = [#rows, #row_scales, #nibbles, #scales, #out], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%x, %xs, %w, %ws : memref<1x64xi8>, memref<1x2xf32>, memref<1x8x32xi32>, memref<1x2x32xf32>) outs(%c : memref<1x32xf32>) {
  ^bb0(%a: i8, %as: f32, %word: i32, %bs: f32, %sum: f32):
    %middle = arith.constant 128.0 : f32
    %four = arith.constant 4 : index
    %eight = arith.constant 8 : index
    %mask = arith.constant 15 : i32
    %byte = arith.uitofp %a : i8 to f32
    %row = arith.subf %byte, %middle : f32
    %left = arith.mulf %row, %as : f32
    %k = linalg.index 1 : index
    %place = arith.remui %k, %eight : index
    %bit = arith.muli %place, %four : index
    %shift = arith.index_cast %bit : index to i32
    %shifted = arith.shrui %word, %shift : i32
    %integer = arith.andi %shifted, %mask : i32
    %number = arith.sitofp %integer : i32 to f32
    %right = arith.mulf %number, %bs : f32
    %product = arith.mulf %left, %right : f32
    %new = arith.addf %sum, %product : f32
    linalg.yield %new : f32
  }
  return
}
}
