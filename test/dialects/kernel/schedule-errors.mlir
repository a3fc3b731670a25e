// RUN: tenon-opt %s --split-input-file --verify-diagnostics

// expected-error @+1 {{a loop of a tile has -2 iterations, expected none or more}}
func.func private @negative(f32 {a.a = #kernel.schedule<tile = [8, -2]>})

// -----

// expected-error @+1 {{'prefetch' is -1, expected 0 or more}}
func.func private @negative(f32 {a.a = #kernel.schedule<prefetch = -1>})

// -----

// expected-error @+1 {{packing needs a 'tile', whose size says how much is packed}}
func.func private @unknown_size(f32 {a.a = #kernel.schedule<packing = rows>})

// -----

// expected-error @+1 {{'k_block' needs a 'tile'}}
func.func private @unknown_sums(f32 {a.a = #kernel.schedule<k_block = 1536>})

// -----

// expected-error @+1 {{'last_rows' needs a 'tile'}}
func.func private @unknown_rows(f32 {a.a = #kernel.schedule<last_rows = 5>})

// -----

// expected-error @+1 {{'many_rows' says that there are never few rows, but 'row_versions' is 5}}
func.func private @few_and_many(f32 {a.a = #kernel.schedule<many_rows = true, row_versions = 5>})

// -----

// expected-error @+1 {{'last_rows' is of a static number of rows, 'row_versions' of a dynamic one}}
func.func private @static_and_dynamic(f32 {a.a = #kernel.schedule<tile = [8, 8], last_rows = 3, row_versions = 5>})

// -----

// expected-error @+1 {{'block' has 1 extents, expected rows and vectors}}
func.func private @one_extent(f32 {a.a = #kernel.schedule<block = [6]>})

// -----

// expected-error @+1 {{'block' has 2 extents that are not all above 0, expected rows and vectors}}
func.func private @no_vectors(f32 {a.a = #kernel.schedule<block = [6, 0]>})

// -----

// expected-error @+1 {{'unroll' is 3, expected a power of two up to 16, or 0}}
func.func private @three_steps(f32 {a.a = #kernel.schedule<unroll = 3>})

// -----

// expected-error @+1 {{'vector_bits' is 8, expected 128, 256, 512, or 0}}
func.func private @one_byte(f32 {a.a = #kernel.schedule<vector_bits = 8>})

// -----

#map = affine_map<(i, j) -> (i, j)>
func.func @other_loops(%a: tensor<4x8xf32>, %b: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // expected-error @+1 {{has 2 loops, but the tile of its schedule 3}}
  %0 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"],
                       kernel.schedule = #kernel.schedule<tile = [4, 8, 8]>}
      ins(%a : tensor<4x8xf32>) outs(%b : tensor<4x8xf32>) {
  ^bb0(%x: f32, %y: f32):
    linalg.yield %x : f32
  } -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// -----

func.func @no_contraction() {
  // expected-error @+1 {{has a 'kernel.schedule', which only a linalg.generic or a kernel.winograd may have}}
  %0 = arith.constant {kernel.schedule = #kernel.schedule<prefetch = 20>} 0 : index
  return
}

// -----

func.func @squares_of_floats(%x: memref<1x8x8x4xf32>, %w: memref<1x16x4x32xf32>, %out: memref<1x8x8x32xf32>, %i: index) {
  // expected-error @+1 {{has a 'kernel.schedule', which names bf16_dot or amx_bf16 for a filter of bf16, and nothing else}}
  kernel.winograd ins(%x, %w : memref<1x8x8x4xf32>, memref<1x16x4x32xf32>) init(%out : memref<1x8x8x32xf32>)
    at [%i, %i, %i, %i] {kernel.schedule = #kernel.schedule<micro_kernel = amx_bf16>, low = array<i64: 1, 1>, outputs = 2 : i64,
                         tile = array<i64: 8, 8, 32>, window = 3 : i64}
  return
}

// -----

func.func @squares_with_more(%x: memref<1x8x8x4xf32>, %w: memref<2x16x2x32xbf16>, %out: memref<1x8x8x32xf32>, %i: index) {
  // expected-error @+1 {{has a 'kernel.schedule', which names bf16_dot or amx_bf16 for a filter of bf16, and nothing else}}
  kernel.winograd ins(%x, %w : memref<1x8x8x4xf32>, memref<2x16x2x32xbf16>) init(%out : memref<1x8x8x32xf32>)
    at [%i, %i, %i, %i] {kernel.schedule = #kernel.schedule<micro_kernel = amx_bf16, prefetch = 4>, low = array<i64: 1, 1>,
                         outputs = 2 : i64, tile = array<i64: 8, 8, 32>, window = 3 : i64}
  return
}

// -----

func.func @wide_panels_of_squares(%x: memref<1x8x8x4xf32>, %w: memref<1x16x2x64xbf16>, %out: memref<1x8x8x32xf32>, %i: index) {
  // expected-error @+1 {{has panels of 32 filters, but AMX tiles have 16}}
  kernel.winograd ins(%x, %w : memref<1x8x8x4xf32>, memref<1x16x2x64xbf16>) init(%out : memref<1x8x8x32xf32>)
    at [%i, %i, %i, %i] {kernel.schedule = #kernel.schedule<micro_kernel = amx_bf16>, low = array<i64: 1, 1>, outputs = 2 : i64,
                         tile = array<i64: 8, 8, 32>, window = 3 : i64}
  return
}

// -----

func.func @no_schedule() {
  // expected-error @+1 {{has a 'kernel.schedule' that is no #kernel.schedule}}
  %0 = arith.constant {kernel.schedule = 20 : i64} 0 : index
  return
}

// -----

func.func @misspelled() {
  // expected-error @+1 {{has the attribute 'kernel.shedule', which the kernel dialect does not define}}
  %0 = arith.constant {kernel.shedule = #kernel.schedule<prefetch = 20>} 0 : index
  return
}
