// RUN: tenon-opt %s | FileCheck %s
// RUN: tenon-opt %s | tenon-opt | FileCheck %s

// How a contraction is computed: what has its default is left out.

#rows = affine_map<(m, k, n) -> (m, k)>
#columns = affine_map<(m, k, n) -> (k, n)>
#sums = affine_map<(m, k, n) -> (m, n)>

// CHECK-LABEL: @all
// CHECK: kernel.schedule = #kernel.schedule<micro_kernel = amx_bf16, tile = [66, 4096, 64], packing = split, last_rows = 65, k_block = 1536, prefetch = 20>
func.func @all(%a: tensor<131x4096xf32>, %b: tensor<4096x64xf32>, %c: tensor<131x64xf32>) -> tensor<131x64xf32> {
  %0 = linalg.generic {indexing_maps = [#rows, #columns, #sums], iterator_types = ["parallel", "reduction", "parallel"],
                       kernel.schedule = #kernel.schedule<prefetch = 20, k_block = 1536, last_rows = 65, packing = split,
                                                          tile = [66, 4096, 64], micro_kernel = amx_bf16>}
      ins(%a, %b : tensor<131x4096xf32>, tensor<4096x64xf32>) outs(%c : tensor<131x64xf32>) {
  ^bb0(%x: f32, %y: f32, %s: f32):
    %p = arith.mulf %x, %y : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<131x64xf32>
  return %0 : tensor<131x64xf32>
}

// CHECK-LABEL: @attributes
// CHECK-SAME: rows = #kernel.schedule<tile = [?, 64, ?], row_versions = 5>
// CHECK-SAME: many = #kernel.schedule<many_rows = true>
// CHECK-SAME: none = #kernel.schedule<>
// CHECK-SAME: measured = #kernel.schedule<tile = [8, 8], prefetches = false, block = [6, 2], unroll = 4, vector_bits = 256, columns_slowest = true>
// CHECK-SAME: packings = [#kernel.schedule<tile = [8, 8], packing = rows>, #kernel.schedule<tile = [8, 8], packing = tile>]
func.func private @attributes(f32 {
  a.rows = #kernel.schedule<tile = [?, 64, ?], row_versions = 5>,
  b.many = #kernel.schedule<many_rows = true>,
  c.none = #kernel.schedule<micro_kernel = automatic, packing = none, last_rows = 0>,
  d.measured = #kernel.schedule<columns_slowest = true, vector_bits = 256, unroll = 4, block = [6, 2], prefetches = false, tile = [8, 8]>,
  e.packings = [#kernel.schedule<tile = [8, 8], packing = rows>, #kernel.schedule<tile = [8, 8], packing = tile>]})
