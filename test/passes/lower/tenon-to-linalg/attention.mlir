// RUN: tenon-opt %s -tenon-to-linalg | FileCheck %s
// RUN: tenon-opt %s -tenon-to-linalg -tenon-form-contractions -tenon-tile-kernels -canonicalize -cse -tenon-bufferize-kernels -cse -canonicalize \
// RUN:   | FileCheck %s --check-prefix=BUFFERS
// RUN: tenon-opt %s -tenon-to-linalg -tenon-form-contractions -tenon-tile-kernels -canonicalize -cse -tenon-bufferize-kernels -cse -canonicalize \
// RUN:   -tenon-place-allocations | FileCheck %s --check-prefix=STACK

// 70 queries are a tile of 64 and one of 16, all keys are done at once: queries, the scores, what the body makes of them
// and the largest ones, exponentials and their sums, results.
// CHECK-LABEL: @one_block_of_keys
// CHECK: scf.for {{.*}} to %c4
// CHECK: scf.if
// CHECK: linalg.generic {{.*}} ins(%{{.*}} : tensor<64x4xf32>) outs(%{{.*}} : tensor<4x64xf32>)
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<40x4xf32>, tensor<4x64xf32>) outs(%{{.*}} : tensor<40x64xf32>)
// CHECK: linalg.generic {{.*}} outs(%{{.*}}, %{{.*}} : tensor<40x4x16xf32>, tensor<4x16xf32>)
// CHECK: math.tanh
// CHECK-NOT: math.exp
// CHECK: linalg.generic {{.*}} outs(%{{.*}}, %{{.*}} : tensor<40x4x16xf32>, tensor<4x16xf32>)
// CHECK: math.exp
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<40x5xf32>, tensor<40x64xf32>) outs(%{{.*}} : tensor<5x64xf32>)
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<64x5xf32>)
// CHECK: } else {
// CHECK: arith.minui
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<40x4xf32>, tensor<4x16xf32>) outs(%{{.*}} : tensor<40x16xf32>)

// Nothing is copied, and all memory has a size that is known.
// BUFFERS-LABEL: @one_block_of_keys
// BUFFERS-NOT: memref.copy
// BUFFERS-NOT: alloc(%
func.func @one_block_of_keys(%q: tensor<2x70x4xf32>, %k: tensor<2x40x4xf32>, %v: tensor<2x40x5xf32>) -> tensor<2x70x5xf32>
    attributes {tenon.kernel} {
  %0 = tenon.attention %q, %k, %v {
  ^bb0(%scores: tensor<2x70x40xf32>):
    %1 = tenon.tanh %scores : (tensor<2x70x40xf32>) -> tensor<2x70x40xf32>
    tenon.yield %1 : tensor<2x70x40xf32>
  } {query_dims = array<i64: 0, 1, 3>, key_dims = array<i64: 0, 2, 3>, score_dims = array<i64: 0, 1, 2>,
     value_dims = array<i64: 0, 2, 4>, result_dims = array<i64: 0, 1, 4>}
    : (tensor<2x70x4xf32>, tensor<2x40x4xf32>, tensor<2x40x5xf32>) -> tensor<2x70x5xf32>
  return %0 : tensor<2x70x5xf32>
}

// Blocks of keys are left out where the first key comes behind the last query, unless a query has no key at all.
// CHECK-LABEL: @causal
// CHECK: scf.for %[[ROUND:.*]] = %{{.*}} to %c2
// CHECK: %[[LEAST:.*]] = tensor.extract
// CHECK: arith.cmpf ogt, %[[LEAST]]
// CHECK: scf.if
// CHECK: scf.for
// CHECK: %[[LIVE:.*]] = arith.cmpi sle
// CHECK: %[[WANTED:.*]] = arith.xori %[[LIVE]]
// CHECK: scf.if %[[WANTED]]
// BUFFERS-LABEL: @causal
// BUFFERS-NOT: memref.copy
// BUFFERS-NOT: alloc(%
func.func @causal(%q: tensor<?x8xf32, #tenon.shape<s0, 8>>) -> tensor<?x8xf32, #tenon.shape<s0, 8>>
    attributes {tenon.kernel, tenon.symbols = ["s0"]} {
  %0 = tenon.attention %q, %q, %q {
  ^bb0(%scores: tensor<?x?xf32, #tenon.shape<s0, s0>>):
    %low = tenon.weight dense<-1.0e+09> : tensor<f32>
    %key = tenon.iota {axis = 1 : i64} : () -> tensor<?x?xi64, #tenon.shape<s0, s0>>
    %query = tenon.iota {axis = 0 : i64} : () -> tensor<?x?xi64, #tenon.shape<s0, s0>>
    %1 = tenon.compare le, %key, %query : (tensor<?x?xi64, #tenon.shape<s0, s0>>, tensor<?x?xi64, #tenon.shape<s0, s0>>) -> tensor<?x?xi1, #tenon.shape<s0, s0>>
    %2 = tenon.select %1, %scores, %low : (tensor<?x?xi1, #tenon.shape<s0, s0>>, tensor<?x?xf32, #tenon.shape<s0, s0>>, tensor<f32>) -> tensor<?x?xf32, #tenon.shape<s0, s0>>
    tenon.yield %2 : tensor<?x?xf32, #tenon.shape<s0, s0>>
  } {query_dims = array<i64: 0, 2>, key_dims = array<i64: 1, 2>, score_dims = array<i64: 0, 1>,
     value_dims = array<i64: 1, 3>, result_dims = array<i64: 0, 3>}
    : (tensor<?x8xf32, #tenon.shape<s0, 8>>, tensor<?x8xf32, #tenon.shape<s0, 8>>, tensor<?x8xf32, #tenon.shape<s0, 8>>) -> tensor<?x8xf32, #tenon.shape<s0, 8>>
  return %0 : tensor<?x8xf32, #tenon.shape<s0, 8>>
}

// A mask that memory has, keys side by side, is transposed; keys and values of 16 bits become f32 in a copy.
// CHECK-LABEL: @mask_and_halves
// CHECK: arith.extf
// CHECK: linalg.generic {{.*}} ins(%{{.*}} : tensor<16x16xi8>) outs(%{{.*}} : tensor<16x16xi8>)
// BUFFERS-LABEL: @mask_and_halves
// BUFFERS-NOT: memref.copy
// BUFFERS-NOT: alloc(%
func.func @mask_and_halves(%q: tensor<16x8xf16>, %mask: tensor<16x16xi1>) -> tensor<16x8xf16> attributes {tenon.kernel} {
  %0 = tenon.attention %q, %q, %q {
  ^bb0(%scores: tensor<16x16xf16>):
    %low = tenon.weight dense<-6.0e+04> : tensor<f16>
    %1 = tenon.select %mask, %scores, %low : (tensor<16x16xi1>, tensor<16x16xf16>, tensor<f16>) -> tensor<16x16xf16>
    tenon.yield %1 : tensor<16x16xf16>
  } {query_dims = array<i64: 0, 2>, key_dims = array<i64: 1, 2>, score_dims = array<i64: 0, 1>,
     value_dims = array<i64: 1, 3>, result_dims = array<i64: 0, 3>}
    : (tensor<16x8xf16>, tensor<16x8xf16>, tensor<16x8xf16>) -> tensor<16x8xf16>
  return %0 : tensor<16x8xf16>
}

// Few queries: keys run along the vectors, transposed a block at a time, and values as they lie. A block that is not whole
// has scores of -inf behind its last key. Sums of exponentials are of every sixteenth key until the end.
// CHECK-LABEL: @few_queries
// CHECK: scf.for
// CHECK: scf.for
// CHECK: linalg.generic {{.*}} ins(%{{.*}} : tensor<128x64xf32>) outs(%{{.*}} : tensor<64x128xf32>)
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<3x64xf32>, tensor<64x128xf32>) outs(%{{.*}} : tensor<3x128xf32>)
// CHECK: linalg.generic {{.*}} outs(%{{.*}}, %{{.*}} : tensor<3x8x16xf32>, tensor<3x16xf32>)
// CHECK: math.exp
// CHECK: linalg.generic {{.*}} ins(%{{.*}} : tensor<3xf32>) outs(%{{.*}}, %{{.*}} : tensor<3x8x16xf32>, tensor<3x16xf32>)
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<3x128xf32>, tensor<128x32xf32>) outs(%{{.*}} : tensor<3x32xf32>)
// CHECK: scf.if
// CHECK: linalg.generic {{.*}} ins(%{{.*}} : tensor<?x64xf32>) outs(%{{.*}} : tensor<64x?xf32>)
// CHECK: arith.select %{{.*}}, %{{.*}}, %cst
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<3x?xf32>, tensor<?x32xf32>) outs(%{{.*}} : tensor<3x32xf32>)
// BUFFERS-LABEL: @few_queries
// BUFFERS-NOT: memref.copy
// BUFFERS-NOT: alloc(%
func.func @few_queries(%q: tensor<2x3x64xf32>, %k: tensor<?x2x64xf32, #tenon.shape<s0, 2, 64>>,
                       %v: tensor<?x2x32xf32, #tenon.shape<s0, 2, 32>>) -> tensor<2x3x32xf32>
    attributes {tenon.kernel, tenon.symbols = ["s0"]} {
  %0 = tenon.attention %q, %k, %v {
  ^bb0(%scores: tensor<2x3x?xf32, #tenon.shape<2, 3, s0>>):
    tenon.yield %scores : tensor<2x3x?xf32, #tenon.shape<2, 3, s0>>
  } {query_dims = array<i64: 0, 1, 3>, key_dims = array<i64: 2, 0, 3>, score_dims = array<i64: 0, 1, 2>,
     value_dims = array<i64: 2, 0, 4>, result_dims = array<i64: 0, 1, 4>}
    : (tensor<2x3x64xf32>, tensor<?x2x64xf32, #tenon.shape<s0, 2, 64>>, tensor<?x2x32xf32, #tenon.shape<s0, 2, 32>>) -> tensor<2x3x32xf32>
  return %0 : tensor<2x3x32xf32>
}

// A mask in memory is read as it lies, for the keys that there are: its queries are not side by side.
// CHECK-LABEL: @few_queries_and_mask
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<2x5xf32>)
// CHECK: tensor.extract
// CHECK: arith.select
// BUFFERS-LABEL: @few_queries_and_mask
// BUFFERS-NOT: memref.copy
// BUFFERS-NOT: alloc(%
func.func @few_queries_and_mask(%q: tensor<3x2x4xf32>, %k: tensor<3x5x4xf32>, %mask: tensor<2x5xi1>) -> tensor<3x2x4xf32>
    attributes {tenon.kernel} {
  %0 = tenon.attention %q, %k, %k {
  ^bb0(%scores: tensor<3x2x5xf32>):
    %low = tenon.weight dense<-1.0e+09> : tensor<f32>
    %1 = tenon.select %mask, %scores, %low : (tensor<2x5xi1>, tensor<3x2x5xf32>, tensor<f32>) -> tensor<3x2x5xf32>
    tenon.yield %1 : tensor<3x2x5xf32>
  } {query_dims = array<i64: 0, 1, 3>, key_dims = array<i64: 0, 2, 3>, score_dims = array<i64: 0, 1, 2>,
     value_dims = array<i64: 0, 2, 4>, result_dims = array<i64: 0, 1, 4>}
    : (tensor<3x2x4xf32>, tensor<3x5x4xf32>, tensor<3x5x4xf32>) -> tensor<3x2x4xf32>
  return %0 : tensor<3x2x4xf32>
}

// Splits are the lines. In each of them blocks of 16 keys pass by, of which all heads take theirs; scores of a whole split are kept. The
// next keys and the values are asked for. What is left of a block has an unknown number of keys.
// CHECK-LABEL: @splits
// CHECK: scf.for %[[SPLIT:.*]] = %{{.*}} to %{{.*}} step %{{.*}} iter_args
// CHECK: scf.for {{.*}} -> (tensor<2x3x64xf32>)
// CHECK: scf.for {{.*}} to %c2
// CHECK: kernel.prefetch %{{.*}} : tensor<16x64xf32>
// CHECK: kernel.prefetch %{{.*}} : tensor<16x40xf32>
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<3x64xf32>, tensor<64x16xf32>) outs(%{{.*}} : tensor<3x16xf32>)
// CHECK: scf.if
// CHECK: tensor<?x64xf32>
// CHECK: linalg.generic {{.*}} outs(%{{.*}}, %{{.*}} : tensor<3x4x16xf32>, tensor<3x16xf32>)
// CHECK: math.exp
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<3x16xf32>, tensor<16x40xf32>) outs(%{{.*}} : tensor<3x40xf32>)
// BUFFERS-LABEL: @splits
// BUFFERS: memref.prefetch
// BUFFERS-NOT: memref.copy
// BUFFERS-NOT: alloc(%
func.func @splits(%q: tensor<2x3x64xf32>, %k: tensor<?x2x64xf32, #tenon.shape<s0, 2, 64>>, %v: tensor<?x2x40xf32, #tenon.shape<s0, 2, 40>>)
    -> tensor<?x2x3x42xf32, #tenon.shape<s0 ceildiv 64, 2, 3, 42>> attributes {tenon.kernel, tenon.symbols = ["s0"]} {
  %0 = tenon.attention %q, %k, %v {
  ^bb0(%scores: tensor<2x3x?xf32, #tenon.shape<2, 3, s0>>):
    tenon.yield %scores : tensor<2x3x?xf32, #tenon.shape<2, 3, s0>>
  } {query_dims = array<i64: 0, 1, 3>, key_dims = array<i64: 2, 0, 3>, score_dims = array<i64: 0, 1, 2>,
     value_dims = array<i64: 2, 0, 4>, result_dims = array<i64: 0, 1, 4>, split_keys = 64 : i64}
    : (tensor<2x3x64xf32>, tensor<?x2x64xf32, #tenon.shape<s0, 2, 64>>, tensor<?x2x40xf32, #tenon.shape<s0, 2, 40>>)
      -> tensor<?x2x3x42xf32, #tenon.shape<s0 ceildiv 64, 2, 3, 42>>
  return %0 : tensor<?x2x3x42xf32, #tenon.shape<s0 ceildiv 64, 2, 3, 42>>
}

// One query takes keys as they lie, and its products with them are transposed instead.
// CHECK-LABEL: @splits_of_one_query
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<1x4x16xf32>, tensor<16x4x16xf32>) outs(%{{.*}} : tensor<1x16x16xf32>)
// Not math.fma, for which targets without the instruction call a function.
// CHECK-NEXT: ^bb0
// CHECK-NEXT: arith.mulf {{.*}} fastmath<contract>
// CHECK-NEXT: arith.addf {{.*}} fastmath<contract>
// CHECK: linalg.generic {{.*}} ins(%{{.*}} : tensor<1x16x16xf32>) outs(%{{.*}} : tensor<1x16x16xf32>)
// BUFFERS-LABEL: @splits_of_one_query
// BUFFERS-NOT: memref.copy
func.func @splits_of_one_query(%q: tensor<2x1x64xf32>, %k: tensor<?x2x64xf32, #tenon.shape<s0, 2, 64>>)
    -> tensor<?x2x1x66xf32, #tenon.shape<s0 ceildiv 64, 2, 1, 66>> attributes {tenon.kernel, tenon.symbols = ["s0"]} {
  %0 = tenon.attention %q, %k, %k {
  ^bb0(%scores: tensor<2x1x?xf32, #tenon.shape<2, 1, s0>>):
    tenon.yield %scores : tensor<2x1x?xf32, #tenon.shape<2, 1, s0>>
  } {query_dims = array<i64: 0, 1, 3>, key_dims = array<i64: 2, 0, 3>, score_dims = array<i64: 0, 1, 2>,
     value_dims = array<i64: 2, 0, 4>, result_dims = array<i64: 0, 1, 4>, split_keys = 64 : i64}
    : (tensor<2x1x64xf32>, tensor<?x2x64xf32, #tenon.shape<s0, 2, 64>>, tensor<?x2x64xf32, #tenon.shape<s0, 2, 64>>)
      -> tensor<?x2x1x66xf32, #tenon.shape<s0 ceildiv 64, 2, 1, 66>>
  return %0 : tensor<?x2x1x66xf32, #tenon.shape<s0 ceildiv 64, 2, 1, 66>>
}

// What combines splits scales each by its largest score.
// CHECK-LABEL: @combined
// CHECK: arith.maximumf
// CHECK: math.exp
// CHECK: arith.divf
// BUFFERS-LABEL: @combined
// BUFFERS-NOT: memref.copy
func.func @combined(%x: tensor<?x2x3x42xf32, #tenon.shape<s0, 2, 3, 42>>) -> tensor<2x3x40xf16> attributes {tenon.kernel, tenon.symbols = ["s0"]} {
  %0 = tenon.combine_splits %x {zeroes_queries} : (tensor<?x2x3x42xf32, #tenon.shape<s0, 2, 3, 42>>) -> tensor<2x3x40xf16>
  return %0 : tensor<2x3x40xf16>
}

// Factors are rounded to bf16 in pairs along the sums: of queries, sizes, of which the last one is paired with zero; of keys the same; of
// weights and values, keys.
// CHECK-LABEL: @bf16_products
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<64x2xf32>, tensor<64x2xf32>) outs(%{{.*}} : tensor<64x2xi32>)
// CHECK: arith.truncf %{{.*}} : f32 to bf16
// CHECK: linalg.generic {{.*}} ins(%{{.*}} : tensor<64x1xf32>) outs(%{{.*}} : tensor<64x1xi32>)
// CHECK: linalg.generic {{.*}} ins(%{{.*}} : tensor<64x3xi32>) outs(%{{.*}} : tensor<3x64xi32>)
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<40x3xi32>, tensor<3x64xi32>) outs(%{{.*}} : tensor<40x64xf32>)
// CHECK: math.exp
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<20x6xf32>, tensor<20x6xf32>) outs(%{{.*}} : tensor<20x6xi32>)
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<20x64xf32>, tensor<20x64xf32>) outs(%{{.*}} : tensor<20x64xi32>)
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<20x6xi32>, tensor<20x64xi32>) outs(%{{.*}} : tensor<6x64xf32>)
// BUFFERS-LABEL: @bf16_products
// BUFFERS-NOT: memref.copy
// BUFFERS-NOT: alloc(%
// Scores are zeroed right before their product, which therefore reads no sums.
// BUFFERS: linalg.fill {{.*}} outs(%{{.*}} : memref<40x64xf32, strided<[64, 1]>>)
// BUFFERS-NEXT: kernel.contract <kind = bf16_pairs, row = 0>
// BUFFERS: kernel.contract <kind = bf16_pairs, row = 0>
func.func @bf16_products(%q: tensor<2x64x5xf32>, %k: tensor<2x40x5xf32>, %v: tensor<2x40x6xf32>) -> tensor<2x64x6xf32>
    attributes {tenon.kernel} {
  %0 = tenon.attention %q, %k, %v {
  ^bb0(%scores: tensor<2x64x40xf32>):
    tenon.yield %scores : tensor<2x64x40xf32>
  } {bf16_products, query_dims = array<i64: 0, 1, 3>, key_dims = array<i64: 0, 2, 3>, score_dims = array<i64: 0, 1, 2>,
     value_dims = array<i64: 0, 2, 4>, result_dims = array<i64: 0, 1, 4>}
    : (tensor<2x64x5xf32>, tensor<2x40x5xf32>, tensor<2x40x6xf32>) -> tensor<2x64x6xf32>
  return %0 : tensor<2x64x6xf32>
}

// A number of keys that is dynamic may be odd.
// CHECK-LABEL: @bf16_products_of_any_keys
// CHECK: scf.for
// CHECK: linalg.generic {{.*}} outs(%{{.*}}, %{{.*}} : tensor<64x4x16xf32>, tensor<4x16xf32>)
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<32x4xf32>, tensor<32x4xf32>) outs(%{{.*}} : tensor<32x4xi32>)
// CHECK: scf.if
// CHECK: affine.apply #{{.*}}()[%{{.*}}]
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<?x4xf32>, tensor<?x4xf32>) outs(%{{.*}} : tensor<?x4xi32>)
// BUFFERS-LABEL: @bf16_products_of_any_keys
// BUFFERS-NOT: memref.copy
// BUFFERS-NOT: alloc(%
func.func @bf16_products_of_any_keys(%q: tensor<64x4xf32>, %k: tensor<?x4xf32, #tenon.shape<s0, 4>>) -> tensor<64x4xf32>
    attributes {tenon.kernel, tenon.symbols = ["s0"]} {
  %0 = tenon.attention %q, %k, %k {
  ^bb0(%scores: tensor<64x?xf32, #tenon.shape<64, s0>>):
    tenon.yield %scores : tensor<64x?xf32, #tenon.shape<64, s0>>
  } {bf16_products, query_dims = array<i64: 0, 2>, key_dims = array<i64: 1, 2>, score_dims = array<i64: 0, 1>,
     value_dims = array<i64: 1, 3>, result_dims = array<i64: 0, 3>}
    : (tensor<64x4xf32>, tensor<?x4xf32, #tenon.shape<s0, 4>>, tensor<?x4xf32, #tenon.shape<s0, 4>>) -> tensor<64x4xf32>
  return %0 : tensor<64x4xf32>
}

// With two masks and all that is rounded, the stack has no room for blocks of 64 keys.
// CHECK-LABEL: @bf16_products_with_masks
// CHECK: outs(%{{.*}}, %{{.*}} : tensor<60x4x16xf32>, tensor<4x16xf32>)
// BUFFERS-LABEL: @bf16_products_with_masks
// STACK-LABEL: @bf16_products_with_masks
// STACK: memref.alloca
func.func @bf16_products_with_masks(%q: tensor<?x96xf32, #tenon.shape<s0, 96>>, %k: tensor<?x96xf32, #tenon.shape<s1, 96>>,
                                    %m: tensor<?x?xf32, #tenon.shape<s0, s1>>, %n: tensor<?x?xf32, #tenon.shape<s0, s1>>)
    -> tensor<?x96xf32, #tenon.shape<s0, 96>> attributes {tenon.kernel, tenon.symbols = ["s0", "s1"]} {
  %0 = tenon.attention %q, %k, %k {
  ^bb0(%scores: tensor<?x?xf32, #tenon.shape<s0, s1>>):
    %1 = tenon.add %scores, %m : (tensor<?x?xf32, #tenon.shape<s0, s1>>, tensor<?x?xf32, #tenon.shape<s0, s1>>) -> tensor<?x?xf32, #tenon.shape<s0, s1>>
    %2 = tenon.add %1, %n : (tensor<?x?xf32, #tenon.shape<s0, s1>>, tensor<?x?xf32, #tenon.shape<s0, s1>>) -> tensor<?x?xf32, #tenon.shape<s0, s1>>
    tenon.yield %2 : tensor<?x?xf32, #tenon.shape<s0, s1>>
  } {bf16_products, query_dims = array<i64: 0, 2>, key_dims = array<i64: 1, 2>, score_dims = array<i64: 0, 1>,
     value_dims = array<i64: 1, 3>, result_dims = array<i64: 0, 3>}
    : (tensor<?x96xf32, #tenon.shape<s0, 96>>, tensor<?x96xf32, #tenon.shape<s1, 96>>, tensor<?x96xf32, #tenon.shape<s1, 96>>)
      -> tensor<?x96xf32, #tenon.shape<s0, 96>>
  return %0 : tensor<?x96xf32, #tenon.shape<s0, 96>>
}
