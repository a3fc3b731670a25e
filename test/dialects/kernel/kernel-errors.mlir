// RUN: tenon-opt %s -split-input-file -verify-diagnostics

func.func @three_dimensions(%x: memref<8x8x4xf32>, %w: memref<1x16x4x32xf32>, %out: memref<1x8x8x32xf32>, %i: index) {
  // expected-error @+1 {{has 'memref<8x8x4xf32>' as input, expected four dimensions}}
  kernel.winograd ins(%x, %w : memref<8x8x4xf32>, memref<1x16x4x32xf32>) init(%out : memref<1x8x8x32xf32>)
    at [%i, %i, %i, %i] {low = array<i64: 1, 1>, outputs = 2 : i64, tile = array<i64: 8, 8, 32>, window = 3 : i64}
  return
}

// -----

func.func @mixed(%x: tensor<1x8x8x4xf32>, %w: memref<1x16x4x32xf32>, %out: memref<1x8x8x32xf32>, %i: index) {
  // expected-error @+1 {{mixes tensors and buffers}}
  kernel.winograd ins(%x, %w : tensor<1x8x8x4xf32>, memref<1x16x4x32xf32>) init(%out : memref<1x8x8x32xf32>)
    at [%i, %i, %i, %i] {low = array<i64: 1, 1>, outputs = 2 : i64, tile = array<i64: 8, 8, 32>, window = 3 : i64}
  return
}

// -----

func.func @no_result(%x: tensor<1x8x8x4xf32>, %w: tensor<1x16x4x32xf32>, %out: tensor<1x8x8x32xf32>, %i: index) {
  // expected-error @+1 {{has results that are not the destination's: one on tensors, none on buffers}}
  kernel.winograd ins(%x, %w : tensor<1x8x8x4xf32>, tensor<1x16x4x32xf32>) init(%out : tensor<1x8x8x32xf32>)
    at [%i, %i, %i, %i] {low = array<i64: 1, 1>, outputs = 2 : i64, tile = array<i64: 8, 8, 32>, window = 3 : i64}
  return
}

// -----

func.func @two_offsets(%x: memref<1x8x8x4xf32>, %w: memref<1x16x4x32xf32>, %out: memref<1x8x8x32xf32>, %i: index) {
  // expected-error @+1 {{has 2 offsets, expected batch, row, column and filter}}
  kernel.winograd ins(%x, %w : memref<1x8x8x4xf32>, memref<1x16x4x32xf32>) init(%out : memref<1x8x8x32xf32>)
    at [%i, %i] {low = array<i64: 1, 1>, outputs = 2 : i64, tile = array<i64: 8, 8, 32>, window = 3 : i64}
  return
}

// -----

func.func @low(%x: memref<1x8x8x4xf32>, %w: memref<1x16x4x32xf32>, %out: memref<1x8x8x32xf32>, %i: index) {
  // expected-error @+1 {{has array<i64: 1> as 'low', expected the padding before rows and columns}}
  kernel.winograd ins(%x, %w : memref<1x8x8x4xf32>, memref<1x16x4x32xf32>) init(%out : memref<1x8x8x32xf32>)
    at [%i, %i, %i, %i] {low = array<i64: 1>, outputs = 2 : i64, tile = array<i64: 8, 8, 32>, window = 3 : i64}
  return
}

// -----

func.func @no_outputs(%x: memref<1x8x8x4xf32>, %w: memref<1x16x4x32xf32>, %out: memref<1x8x8x32xf32>, %i: index) {
  // expected-error @+1 {{has squares of 0 outputs for a window of 3}}
  kernel.winograd ins(%x, %w : memref<1x8x8x4xf32>, memref<1x16x4x32xf32>) init(%out : memref<1x8x8x32xf32>)
    at [%i, %i, %i, %i] {low = array<i64: 1, 1>, outputs = 0 : i64, tile = array<i64: 8, 8, 32>, window = 3 : i64}
  return
}

// -----

func.func @products(%x: memref<1x8x8x4xf32>, %w: memref<1x9x4x32xf32>, %out: memref<1x8x8x32xf32>, %i: index) {
  // expected-error @+1 {{has a filter of 9 products, expected 16 for 'outputs' and 'window'}}
  kernel.winograd ins(%x, %w : memref<1x8x8x4xf32>, memref<1x9x4x32xf32>) init(%out : memref<1x8x8x32xf32>)
    at [%i, %i, %i, %i] {low = array<i64: 1, 1>, outputs = 2 : i64, tile = array<i64: 8, 8, 32>, window = 3 : i64}
  return
}

// -----

func.func @half_a_pair(%x: memref<1x8x8x4xf32>, %w: memref<1x16x2x33xbf16>, %out: memref<1x8x8x32xf32>, %i: index) {
  // expected-error @+1 {{has a filter of 33 columns, expected pairs of bf16}}
  kernel.winograd ins(%x, %w : memref<1x8x8x4xf32>, memref<1x16x2x33xbf16>) init(%out : memref<1x8x8x32xf32>)
    at [%i, %i, %i, %i] {low = array<i64: 1, 1>, outputs = 2 : i64, tile = array<i64: 8, 8, 32>, window = 3 : i64}
  return
}

// -----

func.func @tile(%x: memref<1x8x8x4xf32>, %w: memref<1x16x4x32xf32>, %out: memref<1x8x8x32xf32>, %i: index) {
  // expected-error @+1 {{has array<i64: 8, 8> as 'tile', expected rows, columns and filters}}
  kernel.winograd ins(%x, %w : memref<1x8x8x4xf32>, memref<1x16x4x32xf32>) init(%out : memref<1x8x8x32xf32>)
    at [%i, %i, %i, %i] {low = array<i64: 1, 1>, outputs = 2 : i64, tile = array<i64: 8, 8>, window = 3 : i64}
  return
}

// -----

func.func @squares(%x: memref<1x8x8x4xf32>, %w: memref<1x16x4x32xf32>, %out: memref<1x8x8x32xf32>, %i: index) {
  // expected-error @+1 {{has tiles of 7 by 8, expected whole squares of 2}}
  kernel.winograd ins(%x, %w : memref<1x8x8x4xf32>, memref<1x16x4x32xf32>) init(%out : memref<1x8x8x32xf32>)
    at [%i, %i, %i, %i] {low = array<i64: 1, 1>, outputs = 2 : i64, tile = array<i64: 7, 8, 32>, window = 3 : i64}
  return
}

// -----

func.func @unaligned() {
  // expected-error @+1 {{is at offset 8, expected a multiple of 64}}
  %0 = kernel.scratch 8 : memref<4xf32>
  return
}

// -----

func.func @dynamic() {
  // expected-error @+1 {{has type 'memref<?xf32>', expected a contiguous memref with a static shape}}
  %0 = kernel.scratch 64 : memref<?xf32>
  return
}

// -----

func.func @nested(%i: index) {
  // expected-note @+1 {{it is in this operation}}
  scf.for %j = %i to %i step %i {
    // expected-error @+1 {{is not in a function's own block, which it would return from}}
    kernel.check_indices %i to %i in %i to %i
  }
  return
}

// -----

func.func @prefetch_of_open_rows(%rows: tensor<?x64xf32>) {
  // expected-error @+1 {{needs a matrix of known extents, not 'tensor<?x64xf32>'}}
  kernel.prefetch %rows : tensor<?x64xf32>
  return
}
