// RUN: tenon-opt %s -tenon-to-linalg | FileCheck %s
// RUN: tenon-opt %s -tenon-to-linalg -tenon-form-contractions -tenon-tile-kernels -canonicalize -cse -tenon-bufferize-kernels -cse -canonicalize \
// RUN:   | FileCheck %s --check-prefix=BUFFERS
// RUN: tenon-opt %s -tenon-to-linalg -tenon-form-contractions -tenon-tile-kernels -canonicalize -cse -tenon-bufferize-kernels -cse -canonicalize \
// RUN:   '--tenon-vectorize-contractions=vector-bytes=64 registers=32' | FileCheck %s --check-prefix=TILES
// RUN: tenon-opt %s -tenon-to-linalg -tenon-form-contractions -tenon-tile-kernels -canonicalize -cse -tenon-bufferize-kernels -cse -canonicalize \
// RUN:   -tenon-place-allocations | FileCheck %s --check-prefix=STACK

module attributes {tenon.machine = #tenon.machine<vector_bytes = 64, vector_registers = 32, amx_bf16 = 1>} {

// For AMX tiles, pairs of keys stay in the rows of the keys, and those of values are transposed, so that a tile has rows of either. 33 sizes
// are 17 pairs, two steps of 9 with zeros.
// CHECK-LABEL: @tiles
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<64x16xf32>, tensor<64x16xf32>) outs(%{{.*}} : tensor<64x16xi32>)
// CHECK: linalg.fill {{.*}} outs(%{{.*}} : tensor<18x64xi32>)
// CHECK: linalg.generic {{.*}} ins(%{{.*}} : tensor<64x17xi32>) outs(%{{.*}} : tensor<17x64xi32>)
// CHECK: linalg.fill {{.*}} outs(%{{.*}} : tensor<40x18xi32>)
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<40x18xi32>, tensor<18x64xi32>) outs(%{{.*}} : tensor<40x64xf32>) attrs = {kernel.schedule = #kernel.schedule<micro_kernel = amx_bf16_pairs>}
// CHECK: math.exp
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<20x48xf32>, tensor<20x48xf32>) outs(%{{.*}} : tensor<20x48xi32>)
// CHECK: linalg.generic {{.*}} ins(%{{.*}} : tensor<20x48xi32>) outs(%{{.*}} : tensor<48x20xi32>)
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<48x20xi32>, tensor<20x64xi32>) outs(%{{.*}} : tensor<48x64xf32>) attrs = {kernel.schedule = #kernel.schedule<micro_kernel = amx_bf16_pairs>}
// BUFFERS-LABEL: @tiles
// BUFFERS-NOT: memref.copy
// BUFFERS-NOT: alloc(%
// BUFFERS: kernel.contract <kind = bf16_pairs, row = 0>
// BUFFERS: schedule = #kernel.schedule<micro_kernel = amx_bf16_pairs>
// BUFFERS: kernel.contract <kind = bf16_pairs, row = 0>
// BUFFERS: schedule = #kernel.schedule<micro_kernel = amx_bf16_pairs>
// TILES-LABEL: @tiles
// TILES: ldtilecfg
// TILES: tdpbf16ps
// TILES: tilerelease
// TILES: ldtilecfg
// TILES: tdpbf16ps
// TILES: tilerelease
// TILES-NOT: dpbf16ps.512
// TILES-NOT: vector.fma
func.func @tiles(%q: tensor<2x64x33xf32>, %k: tensor<2x40x33xf32>, %v: tensor<2x40x48xf32>) -> tensor<2x64x48xf32>
    attributes {tenon.kernel} {
  %0 = tenon.attention %q, %k, %v {
  ^bb0(%scores: tensor<2x64x40xf32>):
    tenon.yield %scores : tensor<2x64x40xf32>
  } {bf16_products, query_dims = array<i64: 0, 1, 3>, key_dims = array<i64: 0, 2, 3>, score_dims = array<i64: 0, 1, 2>,
     value_dims = array<i64: 0, 2, 4>, result_dims = array<i64: 0, 1, 4>}
    : (tensor<2x64x33xf32>, tensor<2x40x33xf32>, tensor<2x40x48xf32>) -> tensor<2x64x48xf32>
  return %0 : tensor<2x64x48xf32>
}

// Keys and values that are stored the other way around: keys are transposed, and values are not. The last block of a dynamic number of keys
// has zeros where it ends.
// CHECK-LABEL: @transposed
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<16x64xf32>, tensor<16x64xf32>) outs(%{{.*}} : tensor<16x64xi32>)
// CHECK: linalg.generic {{.*}} ins(%{{.*}} : tensor<16x64xi32>) outs(%{{.*}} : tensor<64x16xi32>)
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<64x16xi32>, tensor<16x64xi32>) outs(%{{.*}} : tensor<64x64xf32>) attrs
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<32x32xf32>, tensor<32x32xf32>) outs(%{{.*}} : tensor<32x32xi32>)
// CHECK-NOT: ins(%{{.*}} : tensor<32x32xi32>)
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<32x32xi32>, tensor<32x64xi32>) outs(%{{.*}} : tensor<32x64xf32>) attrs
// CHECK: scf.if
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<?x16xi32>, tensor<16x64xi32>) outs(%{{.*}} : tensor<?x64xf32>) attrs
// CHECK: linalg.fill {{.*}} outs(%{{.*}} : tensor<32x32xi32>)
// CHECK: linalg.fill {{.*}} outs(%{{.*}} : tensor<32x64xi32>)
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<32x32xi32>, tensor<32x64xi32>) outs(%{{.*}} : tensor<32x64xf32>) attrs
// BUFFERS-LABEL: @transposed
// BUFFERS-NOT: memref.copy
// BUFFERS-NOT: alloc(%
// TILES-LABEL: @transposed
// TILES-COUNT-4: ldtilecfg
// TILES-NOT: vector.fma
func.func @transposed(%q: tensor<64x32xf32>, %k: tensor<32x?xf32, #tenon.shape<32, s0>>) -> tensor<64x32xf32>
    attributes {tenon.kernel, tenon.symbols = ["s0"]} {
  %0 = tenon.attention %q, %k, %k {
  ^bb0(%scores: tensor<64x?xf32, #tenon.shape<64, s0>>):
    tenon.yield %scores : tensor<64x?xf32, #tenon.shape<64, s0>>
  } {bf16_products, query_dims = array<i64: 0, 2>, key_dims = array<i64: 2, 1>, score_dims = array<i64: 0, 1>,
     value_dims = array<i64: 3, 1>, result_dims = array<i64: 0, 3>}
    : (tensor<64x32xf32>, tensor<32x?xf32, #tenon.shape<32, s0>>, tensor<32x?xf32, #tenon.shape<32, s0>>) -> tensor<64x32xf32>
  return %0 : tensor<64x32xf32>
}

// Blocks have fewer keys where they are copied twice, so that the stack has room for all.
// CHECK-LABEL: @copied_twice
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<36x65xi32>, tensor<65x64xi32>) outs(%{{.*}} : tensor<36x64xf32>) attrs
// STACK-LABEL: @copied_twice
// STACK: memref.alloca
func.func @copied_twice(%q: tensor<?x130xf32, #tenon.shape<s0, 130>>, %k: tensor<130x?xf32, #tenon.shape<130, s1>>,
                        %v: tensor<?x32xf32, #tenon.shape<s1, 32>>) -> tensor<?x32xf32, #tenon.shape<s0, 32>>
    attributes {tenon.kernel, tenon.symbols = ["s0", "s1"]} {
  %0 = tenon.attention %q, %k, %v {
  ^bb0(%scores: tensor<?x?xf32, #tenon.shape<s0, s1>>):
    tenon.yield %scores : tensor<?x?xf32, #tenon.shape<s0, s1>>
  } {bf16_products, query_dims = array<i64: 0, 2>, key_dims = array<i64: 2, 1>, score_dims = array<i64: 0, 1>,
     value_dims = array<i64: 1, 3>, result_dims = array<i64: 0, 3>}
    : (tensor<?x130xf32, #tenon.shape<s0, 130>>, tensor<130x?xf32, #tenon.shape<130, s1>>, tensor<?x32xf32, #tenon.shape<s1, 32>>)
      -> tensor<?x32xf32, #tenon.shape<s0, 32>>
  return %0 : tensor<?x32xf32, #tenon.shape<s0, 32>>
}

// Sizes that fill no tile are summed in vectors.
// CHECK-LABEL: @small
// CHECK-NOT: micro_kernel
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<20x16xi32>, tensor<20x64xi32>) outs(%{{.*}} : tensor<16x64xf32>)
// CHECK-NOT: micro_kernel
// TILES-LABEL: @small
// TILES-NOT: tdpbf16ps
func.func @small(%q: tensor<2x64x32xf32>, %k: tensor<2x40x32xf32>, %v: tensor<2x40x16xf32>) -> tensor<2x64x16xf32>
    attributes {tenon.kernel} {
  %0 = tenon.attention %q, %k, %v {
  ^bb0(%scores: tensor<2x64x40xf32>):
    tenon.yield %scores : tensor<2x64x40xf32>
  } {bf16_products, query_dims = array<i64: 0, 1, 3>, key_dims = array<i64: 0, 2, 3>, score_dims = array<i64: 0, 1, 2>,
     value_dims = array<i64: 0, 2, 4>, result_dims = array<i64: 0, 1, 4>}
    : (tensor<2x64x32xf32>, tensor<2x40x32xf32>, tensor<2x40x16xf32>) -> tensor<2x64x16xf32>
  return %0 : tensor<2x64x16xf32>
}
}
