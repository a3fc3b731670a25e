// RUN: tenon-opt %s -tenon-form-contractions -tenon-tile-kernels=tile-elements=4096 -canonicalize | FileCheck %s

#id = affine_map<(d0) -> (d0)>
#row = affine_map<(d0, d1) -> (d0, d1)>
#first = affine_map<(d0, d1) -> (d0)>

// 10000 elements, of which 4096 make a tile, are three tiles of nearly equal size: 3360, and the last has 3280.
// CHECK-DAG: #[[SIZE:.*]] = affine_map<()[s0] -> (s0 * -3360 + 10000, 3360)>
// CHECK-DAG: #[[START:.*]] = affine_map<()[s0] -> (s0 * 3360)>
// CHECK-LABEL: @long_results_are_split
// CHECK-SAME: %[[BEGIN:[a-z0-9]*]]: index, %[[END:[a-z0-9]*]]: index)
// CHECK-SAME: tenon.tiles = #tenon.shape<3>
// CHECK: scf.for %[[TILE:.*]] = %[[BEGIN]] to %[[END]]
// CHECK-DAG: affine.min #[[SIZE]]()[%[[TILE]]]
// CHECK-DAG: affine.apply #[[START]]()[%[[TILE]]]
// CHECK: tensor.insert_slice
func.func private @long_results_are_split(%x: tensor<10000xf32> {tenon.dims = #tenon.shape<10000>},
    %out: tensor<10000xf32> {tenon.dims = #tenon.shape<10000>, tenon.output}) -> tensor<10000xf32>
    attributes {tenon.kernel} {
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%x : tensor<10000xf32>) outs(%out : tensor<10000xf32>) {
  ^bb0(%a: f32, %b: f32):
    %1 = arith.negf %a : f32
    linalg.yield %1 : f32
  } -> tensor<10000xf32>
  return %0 : tensor<10000xf32>
}

// Where an operand has an element for each block of 128 rows, tiles begin with a block: 170 rows would fit, of which four
// tiles are enough.
// CHECK-LABEL: @blocks_are_not_cut
// CHECK-SAME: tenon.tiles = #tenon.shape<5>
func.func private @blocks_are_not_cut(%x: tensor<600x24xf32> {tenon.dims = #tenon.shape<600, 24>}, %s: tensor<5x24xf32> {tenon.dims = #tenon.shape<5, 24>},
    %out: tensor<600x24xf32> {tenon.dims = #tenon.shape<600, 24>, tenon.output}) -> tensor<600x24xf32>
    attributes {tenon.kernel} {
  %0 = linalg.generic {indexing_maps = [#row, affine_map<(d0, d1) -> (d0 floordiv 128, d1)>, #row], iterator_types = ["parallel", "parallel"]}
      ins(%x, %s : tensor<600x24xf32>, tensor<5x24xf32>) outs(%out : tensor<600x24xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %1 = arith.mulf %a, %b : f32
    linalg.yield %1 : f32
  } -> tensor<600x24xf32>
  return %0 : tensor<600x24xf32>
}

// Rows of two parts are whole, so that each part has a loop. If there are few rows, threads share one.
// CHECK-LABEL: @rows_of_parts_are_whole
// CHECK-SAME: tenon.tiles = #tenon.shape<20>
// CHECK: tensor.extract_slice {{.*}} : tensor<20x10000xf32> to tensor<1x10000xf32>
func.func private @rows_of_parts_are_whole(%x: tensor<20x5000xf32> {tenon.dims = #tenon.shape<20, 5000>},
    %out: tensor<20x10000xf32> {tenon.dims = #tenon.shape<20, 10000>, tenon.output}) -> tensor<20x10000xf32>
    attributes {tenon.kernel} {
  %0 = linalg.generic {indexing_maps = [#row], iterator_types = ["parallel", "parallel"]} outs(%out : tensor<20x10000xf32>) {
  ^bb0(%o: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %c5000 = arith.constant 5000 : index
    %isFirst = arith.cmpi ult, %j, %c5000 : index
    %1 = scf.if %isFirst -> (f32) {
      %2 = tensor.extract %x[%i, %j] : tensor<20x5000xf32>
      scf.yield %2 : f32
    } else {
      %3 = arith.subi %j, %c5000 : index
      %4 = tensor.extract %x[%i, %3] : tensor<20x5000xf32>
      scf.yield %4 : f32
    }
    linalg.yield %1 : f32
  } -> tensor<20x10000xf32>
  return %0 : tensor<20x10000xf32>
}

// CHECK-LABEL: @few_rows_of_parts_are_split
// CHECK-SAME: tenon.tiles = #tenon.shape<6>
func.func private @few_rows_of_parts_are_split(%x: tensor<2x5000xf32> {tenon.dims = #tenon.shape<2, 5000>},
    %out: tensor<2x10000xf32> {tenon.dims = #tenon.shape<2, 10000>, tenon.output}) -> tensor<2x10000xf32>
    attributes {tenon.kernel} {
  %0 = linalg.generic {indexing_maps = [#row], iterator_types = ["parallel", "parallel"]} outs(%out : tensor<2x10000xf32>) {
  ^bb0(%o: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %c5000 = arith.constant 5000 : index
    %isFirst = arith.cmpi ult, %j, %c5000 : index
    %1 = scf.if %isFirst -> (f32) {
      %2 = tensor.extract %x[%i, %j] : tensor<2x5000xf32>
      scf.yield %2 : f32
    } else {
      %3 = arith.subi %j, %c5000 : index
      %4 = tensor.extract %x[%i, %3] : tensor<2x5000xf32>
      scf.yield %4 : f32
    }
    linalg.yield %1 : f32
  } -> tensor<2x10000xf32>
  return %0 : tensor<2x10000xf32>
}

// CHECK-LABEL: @short_results_are_one_tile
// CHECK-SAME: tenon.tiles = #tenon.shape<1>
// CHECK-NOT: scf.for
func.func private @short_results_are_one_tile(%x: tensor<100xf32> {tenon.dims = #tenon.shape<100>},
    %out: tensor<100xf32> {tenon.dims = #tenon.shape<100>, tenon.output}) -> tensor<100xf32>
    attributes {tenon.kernel} {
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%x : tensor<100xf32>) outs(%out : tensor<100xf32>) {
  ^bb0(%a: f32, %b: f32):
    %1 = arith.negf %a : f32
    linalg.yield %1 : f32
  } -> tensor<100xf32>
  return %0 : tensor<100xf32>
}

// A symbol counts as 64 elements; the number of tiles is an expression of it.
// CHECK-LABEL: @tiles_of_a_symbol
// CHECK-SAME: tenon.tiles = #tenon.shape<s0 ceildiv 64>
func.func private @tiles_of_a_symbol(%x: tensor<?xf32> {tenon.dims = #tenon.shape<s0>},
    %out: tensor<?xf32> {tenon.dims = #tenon.shape<s0>, tenon.output}, %s0: index) -> tensor<?xf32>
    attributes {tenon.kernel, tenon.symbols = ["s0"]} {
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%x : tensor<?xf32>) outs(%out : tensor<?xf32>) {
  ^bb0(%a: f32, %b: f32):
    %1 = arith.negf %a : f32
    linalg.yield %1 : f32
  } -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// The sums of a row are computed in the row's tile; columns are not split, since each would need the whole sum.
// Tiles are chosen for the size hint.
// CHECK-LABEL: @tiles_for_a_size_hint
// CHECK-SAME: tenon.tiles = #tenon.shape<s0 ceildiv 1000>
func.func private @tiles_for_a_size_hint(%x: tensor<?xf32> {tenon.dims = #tenon.shape<s0>},
    %out: tensor<?xf32> {tenon.dims = #tenon.shape<s0>, tenon.output}, %s0: index) -> tensor<?xf32>
    attributes {tenon.kernel, tenon.symbols = ["s0"], tenon.size_hints = {s0 = 1000}} {
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%x : tensor<?xf32>) outs(%out : tensor<?xf32>) {
  ^bb0(%a: f32, %b: f32):
    %1 = math.exp %a : f32
    linalg.yield %1 : f32
  } -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// A function counts for four elements, but 1024 are left together.
// CHECK-LABEL: @tiles_of_functions_are_smaller
// CHECK-SAME: tenon.tiles = #tenon.shape<10>
func.func private @tiles_of_functions_are_smaller(%x: tensor<10000xf32> {tenon.dims = #tenon.shape<10000>},
    %out: tensor<10000xf32> {tenon.dims = #tenon.shape<10000>, tenon.output}) -> tensor<10000xf32>
    attributes {tenon.kernel} {
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%x : tensor<10000xf32>) outs(%out : tensor<10000xf32>) {
  ^bb0(%a: f32, %b: f32):
    %1 = math.exp %a : f32
    linalg.yield %1 : f32
  } -> tensor<10000xf32>
  return %0 : tensor<10000xf32>
}

// A row alone has more than the 4096 elements that a tile aims at, so each row is a tile.
// CHECK-LABEL: @earlier_stages_join_the_tile
// CHECK-SAME: tenon.tiles = #tenon.shape<256>
// CHECK: scf.for
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "reduction"]{{.*}}tensor<1x10000xf32>
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]{{.*}}tensor<1x10000xf32>
func.func private @earlier_stages_join_the_tile(%x: tensor<256x10000xf32> {tenon.dims = #tenon.shape<256, 10000>},
    %out: tensor<256x10000xf32> {tenon.dims = #tenon.shape<256, 10000>, tenon.output}) -> tensor<256x10000xf32>
    attributes {tenon.kernel} {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<256xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<256xf32>) -> tensor<256xf32>
  %sum = linalg.generic {indexing_maps = [#row, #first], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<256x10000xf32>) outs(%init : tensor<256xf32>) {
  ^bb0(%a: f32, %b: f32):
    %1 = arith.addf %a, %b : f32
    linalg.yield %1 : f32
  } -> tensor<256xf32>
  %0 = linalg.generic {indexing_maps = [#row, #first, #row], iterator_types = ["parallel", "parallel"]}
      ins(%x, %sum : tensor<256x10000xf32>, tensor<256xf32>) outs(%out : tensor<256x10000xf32>) {
  ^bb0(%a: f32, %s: f32, %b: f32):
    %1 = arith.divf %a, %s : f32
    linalg.yield %1 : f32
  } -> tensor<256x10000xf32>
  return %0 : tensor<256x10000xf32>
}

// Lines that are independent of each other are the tiles.
// CHECK-LABEL: @lines_are_tiles
// CHECK-SAME: %[[BEGIN:[a-z0-9]*]]: index, %[[END:[a-z0-9]*]]: index)
// CHECK-SAME: tenon.tiles = #tenon.shape<7>
// CHECK: scf.for %{{.*}} = %[[BEGIN]] to %[[END]]
func.func private @lines_are_tiles(%out: tensor<7xf32> {tenon.dims = #tenon.shape<7>, tenon.output}) -> tensor<7xf32>
    attributes {tenon.kernel} {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %seven = arith.constant 7 : index
  %a = arith.constant 2.0 : f32
  %0 = scf.for %i = %zero to %seven step %one iter_args(%t = %out) -> tensor<7xf32> {
    %1 = tensor.insert %a into %t[%i] : tensor<7xf32>
    scf.yield %1 : tensor<7xf32>
  } {tenon.tiles = #tenon.shape<7>}
  return %0 : tensor<7xf32>
}

// A Winograd convolution is cut as it asks for, and what follows it with it; a thread computes all rows for a panel of
// filters before those for another one, so that it reads its weights once.
// CHECK-LABEL: @winograd
// CHECK-SAME: tenon.scratch = {{[1-9][0-9]*}} : i64, tenon.tiles = #tenon.shape<6>
// CHECK: %[[TILE:.*]] = scf.for
// CHECK: %[[ROWS:.*]] = arith.remui
// CHECK: %[[PANEL:.*]] = arith.divui
// CHECK: tensor.extract_slice
// CHECK: %[[Y:.*]] = affine.apply {{.*}}[%[[ROWS]]]
// CHECK: %[[K:.*]] = affine.apply {{.*}}[%[[PANEL]]]
// CHECK: %[[W:.*]] = kernel.winograd {{.*}} at[%{{.*}}, %[[Y]], %{{.*}}, %[[K]]]
// CHECK: linalg.generic {{.*}} outs(%[[W]]
func.func private @winograd(%x: tensor<1x12x12x8xf32> {tenon.dims = #tenon.shape<1, 12, 12, 8>},
    %w: tensor<2x16x8x32xf32> {tenon.dims = #tenon.shape<2, 16, 8, 32>},
    %out: tensor<1x12x12x64xf32> {tenon.dims = #tenon.shape<1, 12, 12, 64>, tenon.output}) -> tensor<1x12x12x64xf32>
    attributes {tenon.kernel} {
  %c0 = arith.constant 0 : index
  %0 = kernel.winograd ins(%x, %w : tensor<1x12x12x8xf32>, tensor<2x16x8x32xf32>) init(%out : tensor<1x12x12x64xf32>)
    at [%c0, %c0, %c0, %c0] {low = array<i64: 1, 1>, outputs = 2 : i64, tile = array<i64: 4, 12, 32>, window = 3 : i64}
    -> tensor<1x12x12x64xf32>
  %1 = linalg.generic {indexing_maps = [affine_map<(a, b, c, d) -> (a, b, c, d)>],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      outs(%0 : tensor<1x12x12x64xf32>) {
  ^bb0(%b: f32):
    %2 = arith.negf %b : f32
    linalg.yield %2 : f32
  } -> tensor<1x12x12x64xf32>
  return %1 : tensor<1x12x12x64xf32>
}

// Squares of bf16 are multiplied in AMX tiles where there are such, if the filter has panels for them.
// CHECK-LABEL: @winograd_in_amx_tiles
// CHECK: kernel.winograd {{.*}} {kernel.schedule = #kernel.schedule<micro_kernel = amx_bf16>, low
func.func private @winograd_in_amx_tiles(%x: tensor<1x12x12x8xf32> {tenon.dims = #tenon.shape<1, 12, 12, 8>},
    %w: tensor<4x16x4x32xbf16> {tenon.dims = #tenon.shape<4, 16, 4, 32>},
    %out: tensor<1x12x12x64xf32> {tenon.dims = #tenon.shape<1, 12, 12, 64>, tenon.output}) -> tensor<1x12x12x64xf32>
    attributes {tenon.kernel, tenon.machine = #tenon.machine<amx_bf16 = 1>} {
  %c0 = arith.constant 0 : index
  %0 = kernel.winograd ins(%x, %w : tensor<1x12x12x8xf32>, tensor<4x16x4x32xbf16>) init(%out : tensor<1x12x12x64xf32>)
    at [%c0, %c0, %c0, %c0] {low = array<i64: 1, 1>, outputs = 2 : i64, tile = array<i64: 4, 12, 32>, window = 3 : i64}
    -> tensor<1x12x12x64xf32>
  return %0 : tensor<1x12x12x64xf32>
}

// CHECK-LABEL: @winograd_of_wide_panels
// CHECK: kernel.winograd
// CHECK-NOT: kernel.schedule
// CHECK: return
func.func private @winograd_of_wide_panels(%x: tensor<1x12x12x8xf32> {tenon.dims = #tenon.shape<1, 12, 12, 8>},
    %w: tensor<2x16x4x64xbf16> {tenon.dims = #tenon.shape<2, 16, 4, 64>},
    %out: tensor<1x12x12x64xf32> {tenon.dims = #tenon.shape<1, 12, 12, 64>, tenon.output}) -> tensor<1x12x12x64xf32>
    attributes {tenon.kernel, tenon.machine = #tenon.machine<amx_bf16 = 1>} {
  %c0 = arith.constant 0 : index
  %0 = kernel.winograd ins(%x, %w : tensor<1x12x12x8xf32>, tensor<2x16x4x64xbf16>) init(%out : tensor<1x12x12x64xf32>)
    at [%c0, %c0, %c0, %c0] {low = array<i64: 1, 1>, outputs = 2 : i64, tile = array<i64: 4, 12, 32>, window = 3 : i64}
    -> tensor<1x12x12x64xf32>
  return %0 : tensor<1x12x12x64xf32>
}

// One that another type is made of is cut so, too.
// CHECK-LABEL: @narrowed_winograd
// CHECK-SAME: tenon.scratch = {{[1-9][0-9]*}} : i64, tenon.tiles = #tenon.shape<6>
// CHECK: kernel.winograd
// CHECK: linalg.generic
func.func private @narrowed_winograd(%x: tensor<1x12x12x8xf32> {tenon.dims = #tenon.shape<1, 12, 12, 8>},
    %w: tensor<2x16x8x32xf32> {tenon.dims = #tenon.shape<2, 16, 8, 32>},
    %out: tensor<1x12x12x64xf16> {tenon.dims = #tenon.shape<1, 12, 12, 64>, tenon.output}) -> tensor<1x12x12x64xf16>
    attributes {tenon.kernel} {
  %c0 = arith.constant 0 : index
  %sums = tensor.empty() : tensor<1x12x12x64xf32>
  %0 = kernel.winograd ins(%x, %w : tensor<1x12x12x8xf32>, tensor<2x16x8x32xf32>) init(%sums : tensor<1x12x12x64xf32>)
    at [%c0, %c0, %c0, %c0] {low = array<i64: 1, 1>, outputs = 2 : i64, tile = array<i64: 4, 12, 32>, window = 3 : i64}
    -> tensor<1x12x12x64xf32>
  %1 = linalg.generic {indexing_maps = [affine_map<(a, b, c, d) -> (a, b, c, d)>, affine_map<(a, b, c, d) -> (a, b, c, d)>],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%0 : tensor<1x12x12x64xf32>) outs(%out : tensor<1x12x12x64xf16>) {
  ^bb0(%b: f32, %o: f16):
    %2 = arith.truncf %b : f32 to f16
    linalg.yield %2 : f16
  } -> tensor<1x12x12x64xf16>
  return %1 : tensor<1x12x12x64xf16>
}

// A product with a packed operand: tiles of two panels, and of all rows if that did not make two tiles of 64 and 48
// columns, of which one thread would get more than the other.
// CHECK-LABEL: @few_columns
// CHECK-SAME: tenon.tiles = #tenon.shape<4>
// CHECK: tensor.extract_slice {{.*}} [98, 672] [1, 1]
func.func private @few_columns(%x: tensor<196x672xf32> {tenon.dims = #tenon.shape<196, 672>},
    %w: tensor<4x672x32xf32> {tenon.dims = #tenon.shape<4, 672, 32>},
    %out: tensor<196x112xf32> {tenon.dims = #tenon.shape<196, 112>, tenon.output}) -> tensor<196x112xf32>
    attributes {tenon.kernel} {
  %zero = arith.constant 0.0 : f32
  %0 = linalg.fill ins(%zero : f32) outs(%out : tensor<196x112xf32>) -> tensor<196x112xf32>
  %1 = linalg.generic {indexing_maps = [affine_map<(m, k, n) -> (m, k)>, affine_map<(m, k, n) -> (n floordiv 32, k, n mod 32)>,
                                        affine_map<(m, k, n) -> (m, n)>],
                       iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%x, %w : tensor<196x672xf32>, tensor<4x672x32xf32>) outs(%0 : tensor<196x112xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %2 = arith.mulf %a, %b : f32
    %3 = arith.addf %c, %2 : f32
    linalg.yield %3 : f32
  } -> tensor<196x112xf32>
  return %1 : tensor<196x112xf32>
}

// Of few rows tiles are single panels and half of the rows: three tiles of two panels would keep one thread waiting.
// CHECK-LABEL: @few_rows
// CHECK-SAME: tenon.tiles = #tenon.shape<10>
// CHECK: tensor.extract_slice {{.*}} [1, 960, 32] [1, 1, 1]
func.func private @few_rows(%x: tensor<49x960xf32> {tenon.dims = #tenon.shape<49, 960>},
    %w: tensor<5x960x32xf32> {tenon.dims = #tenon.shape<5, 960, 32>},
    %out: tensor<49x160xf32> {tenon.dims = #tenon.shape<49, 160>, tenon.output}) -> tensor<49x160xf32>
    attributes {tenon.kernel} {
  %zero = arith.constant 0.0 : f32
  %0 = linalg.fill ins(%zero : f32) outs(%out : tensor<49x160xf32>) -> tensor<49x160xf32>
  %1 = linalg.generic {indexing_maps = [affine_map<(m, k, n) -> (m, k)>, affine_map<(m, k, n) -> (n floordiv 32, k, n mod 32)>,
                                        affine_map<(m, k, n) -> (m, n)>],
                       iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%x, %w : tensor<49x960xf32>, tensor<5x960x32xf32>) outs(%0 : tensor<49x160xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %2 = arith.mulf %a, %b : f32
    %3 = arith.addf %c, %2 : f32
    linalg.yield %3 : f32
  } -> tensor<49x160xf32>
  return %1 : tensor<49x160xf32>
}

// A single row only reads its panels: tiles have four of them, and are never cut for there to be more.
// CHECK-LABEL: @single_row
// CHECK-SAME: tenon.tiles = #tenon.shape<8>
func.func private @single_row(%x: tensor<1x1280xf32> {tenon.dims = #tenon.shape<1, 1280>},
    %w: tensor<32x1280x32xf32> {tenon.dims = #tenon.shape<32, 1280, 32>},
    %out: tensor<1x1000xf32> {tenon.dims = #tenon.shape<1, 1000>, tenon.output}) -> tensor<1x1000xf32>
    attributes {tenon.kernel} {
  %zero = arith.constant 0.0 : f32
  %0 = linalg.fill ins(%zero : f32) outs(%out : tensor<1x1000xf32>) -> tensor<1x1000xf32>
  %1 = linalg.generic {indexing_maps = [affine_map<(m, k, n) -> (m, k)>, affine_map<(m, k, n) -> (n floordiv 32, k, n mod 32)>,
                                        affine_map<(m, k, n) -> (m, n)>],
                       iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%x, %w : tensor<1x1280xf32>, tensor<32x1280x32xf32>) outs(%0 : tensor<1x1000xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %2 = arith.mulf %a, %b : f32
    %3 = arith.addf %c, %2 : f32
    linalg.yield %3 : f32
  } -> tensor<1x1000xf32>
  return %1 : tensor<1x1000xf32>
}

// A depthwise convolution of a small image: a tile for each line, so that there are enough.
// CHECK-LABEL: @small_depthwise
// CHECK-SAME: tenon.tiles = #tenon.shape<14>
// CHECK: tensor.extract_slice {{.*}} [3, 16, 184] [1, 1, 1]
func.func private @small_depthwise(%x: tensor<16x16x184xf32> {tenon.dims = #tenon.shape<16, 16, 184>},
    %w: tensor<3x3x184xf32> {tenon.dims = #tenon.shape<3, 3, 184>},
    %out: tensor<14x14x184xf32> {tenon.dims = #tenon.shape<14, 14, 184>, tenon.output}) -> tensor<14x14x184xf32>
    attributes {tenon.kernel} {
  %zero = arith.constant 0.0 : f32
  %0 = linalg.fill ins(%zero : f32) outs(%out : tensor<14x14x184xf32>) -> tensor<14x14x184xf32>
  %1 = linalg.generic {indexing_maps = [affine_map<(y, x, i, j, c) -> (y + i, x + j, c)>, affine_map<(y, x, i, j, c) -> (i, j, c)>,
                                        affine_map<(y, x, i, j, c) -> (y, x, c)>],
                       iterator_types = ["parallel", "parallel", "reduction", "reduction", "parallel"]}
      ins(%x, %w : tensor<16x16x184xf32>, tensor<3x3x184xf32>) outs(%0 : tensor<14x14x184xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %2 = arith.mulf %a, %b : f32
    %3 = arith.addf %c, %2 : f32
    linalg.yield %3 : f32
  } -> tensor<14x14x184xf32>
  return %1 : tensor<14x14x184xf32>
}

// Sums that another stage makes bytes of: a tile's own memory has room for a whole one of 64 rows, of which the last tile of
// an open number uses a part.
// CHECK-LABEL: @sums_of_open_rows
// CHECK: scf.for
// CHECK: %[[SUMS:.*]] = tensor.empty() : tensor<64x64xi32>
// CHECK: tensor.extract_slice %[[SUMS]][0, 0] [%{{.*}}, 64] [1, 1] : tensor<64x64xi32> to tensor<?x64xi32>
func.func private @sums_of_open_rows(%x: tensor<?x256xi8> {tenon.dims = #tenon.shape<N, 256>},
    %w: tensor<2x64x128xi8> {tenon.dims = #tenon.shape<2, 64, 128>},
    %out: tensor<?x64xi8> {tenon.dims = #tenon.shape<N, 64>, tenon.output}) -> tensor<?x64xi8> attributes {tenon.kernel} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0 : i32
  %rows = tensor.dim %x, %c0 : tensor<?x256xi8>
  %memory = tensor.empty(%rows) : tensor<?x64xi32>
  %0 = linalg.fill ins(%zero : i32) outs(%memory : tensor<?x64xi32>) -> tensor<?x64xi32>
  %1 = linalg.generic {indexing_maps = [affine_map<(m, k, n) -> (m, k)>,
                                        affine_map<(m, k, n) -> (n floordiv 32, k floordiv 4, (n mod 32) * 4 + k mod 4)>,
                                        affine_map<(m, k, n) -> (m, n)>],
                       iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%x, %w : tensor<?x256xi8>, tensor<2x64x128xi8>) outs(%0 : tensor<?x64xi32>) {
  ^bb0(%a: i8, %b: i8, %c: i32):
    %2 = arith.extui %a : i8 to i32
    %3 = arith.extsi %b : i8 to i32
    %4 = arith.muli %2, %3 : i32
    %5 = arith.addi %c, %4 : i32
    linalg.yield %5 : i32
  } -> tensor<?x64xi32>
  %6 = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%1 : tensor<?x64xi32>) outs(%out : tensor<?x64xi8>) {
  ^bb0(%a: i32, %b: i8):
    %7 = arith.trunci %a : i32 to i8
    linalg.yield %7 : i8
  } -> tensor<?x64xi8>
  return %6 : tensor<?x64xi8>
}

// Panels are cut by nothing: a sum of packed numbers that is no product has one tile.
// CHECK-LABEL: @sums_of_panels
// CHECK-SAME: tenon.tiles = #tenon.shape<1>
func.func private @sums_of_panels(%w: tensor<21x7x128xi8> {tenon.dims = #tenon.shape<21, 7, 128>},
    %out: tensor<672xi32> {tenon.dims = #tenon.shape<672>, tenon.output}) -> tensor<672xi32> attributes {tenon.kernel} {
  %zero = arith.constant 0 : i32
  %0 = linalg.fill ins(%zero : i32) outs(%out : tensor<672xi32>) -> tensor<672xi32>
  %ks = tensor.empty() : tensor<25xi32>
  %1 = linalg.generic {indexing_maps = [affine_map<(k, n) -> (n floordiv 32, k floordiv 4, (n mod 32) * 4 + k mod 4)>,
                                        affine_map<(k, n) -> (k)>, affine_map<(k, n) -> (n)>],
                       iterator_types = ["reduction", "parallel"]}
      ins(%w, %ks : tensor<21x7x128xi8>, tensor<25xi32>) outs(%0 : tensor<672xi32>) {
  ^bb0(%a: i8, %k: i32, %c: i32):
    %2 = arith.extsi %a : i8 to i32
    %3 = arith.addi %c, %2 : i32
    linalg.yield %3 : i32
  } -> tensor<672xi32>
  return %1 : tensor<672xi32>
}

// A transpose is cut along both of the dimensions that are contiguous on either side, however long one of them is.
// CHECK-LABEL: @transposes_have_square_tiles
// CHECK-SAME: tenon.tiles = #tenon.shape<32>
// CHECK: tensor.extract_slice %{{.*}} [128, 128] [1, 1] : tensor<4096x128xf32>
func.func private @transposes_have_square_tiles(%x: tensor<4096x128xf32> {tenon.dims = #tenon.shape<4096, 128>},
    %out: tensor<128x4096xf32> {tenon.dims = #tenon.shape<128, 4096>, tenon.output}) -> tensor<128x4096xf32>
    attributes {tenon.kernel} {
  %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1, d0)>, #row], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<4096x128xf32>) outs(%out : tensor<128x4096xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  } -> tensor<128x4096xf32>
  return %0 : tensor<128x4096xf32>
}

// A short dimension is whole in a tile, with a part of the next one; so is an open one, which may be 1.
// CHECK-LABEL: @transposes_of_short_dimensions
// CHECK: tensor.extract_slice %{{.*}} [256, 1, 64, 2] [1, 1, 1, 1] : tensor<256x8x64x2xf32>
func.func private @transposes_of_short_dimensions(%x: tensor<256x8x64x2xf32> {tenon.dims = #tenon.shape<256, 8, 64, 2>},
    %out: tensor<2x8x64x256xf32> {tenon.dims = #tenon.shape<2, 8, 64, 256>, tenon.output}) -> tensor<2x8x64x256xf32>
    attributes {tenon.kernel} {
  %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d3, d1, d2, d0)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%x : tensor<256x8x64x2xf32>) outs(%out : tensor<2x8x64x256xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  } -> tensor<2x8x64x256xf32>
  return %0 : tensor<2x8x64x256xf32>
}
// CHECK-LABEL: @transposes_of_open_dimensions
// CHECK-SAME: tenon.tiles = #tenon.shape<(s0 ceildiv 64) * 8>
// CHECK: tensor.extract_slice %{{.*}} [256, 1, 64, %{{.*}}] [1, 1, 1, 1] : tensor<256x8x64x?xf32>
func.func private @transposes_of_open_dimensions(%x: tensor<256x8x64x?xf32> {tenon.dims = #tenon.shape<256, 8, 64, s0>},
    %out: tensor<?x8x64x256xf32> {tenon.dims = #tenon.shape<s0, 8, 64, 256>, tenon.output}, %s0: index) -> tensor<?x8x64x256xf32>
    attributes {tenon.kernel, tenon.symbols = ["s0"]} {
  %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d3, d1, d2, d0)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%x : tensor<256x8x64x?xf32>) outs(%out : tensor<?x8x64x256xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  } -> tensor<?x8x64x256xf32>
  return %0 : tensor<?x8x64x256xf32>
}

// Tiles of bytes have 128 columns, two cache lines, and four times as many elements as tiles of words.
// CHECK-LABEL: @transposes_of_bytes
// CHECK: tensor.extract_slice %{{.*}} [128, 128] [1, 1] : tensor<4096x512xi8>
func.func private @transposes_of_bytes(%x: tensor<4096x512xi8> {tenon.dims = #tenon.shape<4096, 512>},
    %out: tensor<512x4096xi8> {tenon.dims = #tenon.shape<512, 4096>, tenon.output}) -> tensor<512x4096xi8>
    attributes {tenon.kernel} {
  %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1, d0)>, affine_map<(d0, d1) -> (d0, d1)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<4096x512xi8>) outs(%out : tensor<512x4096xi8>) {
  ^bb0(%a: i8, %b: i8):
    linalg.yield %a : i8
  } -> tensor<512x4096xi8>
  return %0 : tensor<512x4096xi8>
}

// A short innermost dimension that stays is whole in a tile, which is square in the others.
// CHECK-LABEL: @transposes_of_units
// CHECK: tensor.extract_slice %{{.*}} [64, 64, 2] [1, 1, 1] : tensor<512x512x2xf32>
func.func private @transposes_of_units(%x: tensor<512x512x2xf32> {tenon.dims = #tenon.shape<512, 512, 2>},
    %out: tensor<512x512x2xf32> {tenon.dims = #tenon.shape<512, 512, 2>, tenon.output}) -> tensor<512x512x2xf32>
    attributes {tenon.kernel} {
  %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d1, d0, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>],
                       iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x : tensor<512x512x2xf32>) outs(%out : tensor<512x512x2xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  } -> tensor<512x512x2xf32>
  return %0 : tensor<512x512x2xf32>
}

// Rows of 12 KiB, which lie a multiple of 4096 bytes apart, are copied side by side where registers are few: as many as fit a
// mebibyte are in a tile. Its code knows how many there are, and how many are in the last tile.
// CHECK-LABEL: @rows_on_pages
// CHECK-SAME: tenon.scratch = 1007616
// CHECK-SAME: tenon.tiles = #tenon.shape<36>
// CHECK: kernel.contract
// CHECK-SAME: #kernel.schedule<tile = [66, {{[0-9]+}}, {{[0-9]+}}], packing = rows, last_rows = 65>
#rows = affine_map<(d0, d1, d2) -> (d0, d1)>
#panels = affine_map<(d0, d1, d2) -> (d2 floordiv 16, d1, d2 mod 16)>
#sums = affine_map<(d0, d1, d2) -> (d0, d2)>
func.func private @rows_on_pages(%x: tensor<197x3072xf32> {tenon.dims = #tenon.shape<197, 3072>},
    %w: tensor<48x3072x16xf32> {tenon.dims = #tenon.shape<48, 3072, 16>},
    %out: tensor<197x768xf32> {tenon.dims = #tenon.shape<197, 768>, tenon.output}) -> tensor<197x768xf32>
    attributes {tenon.kernel, tenon.machine = #tenon.machine<vector_bytes = 32, vector_registers = 16>} {
  %zero = arith.constant 0.0 : f32
  %1 = linalg.fill ins(%zero : f32) outs(%out : tensor<197x768xf32>) -> tensor<197x768xf32>
  %2 = linalg.generic {indexing_maps = [#rows, #panels, #sums], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%x, %w : tensor<197x3072xf32>, tensor<48x3072x16xf32>) outs(%1 : tensor<197x768xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %3 = arith.mulf %a, %b : f32
    %4 = arith.addf %c, %3 : f32
    linalg.yield %4 : f32
  } -> tensor<197x768xf32>
  return %2 : tensor<197x768xf32>
}

// Open rows may be few, for which a matrix that the core's own cache does not hold is read once.
// CHECK-LABEL: @few_open_rows
// CHECK: kernel.contract
// CHECK-SAME: row_versions = 5
func.func private @few_open_rows(%x: tensor<?x512xf32> {tenon.dims = #tenon.shape<s0, 512>},
    %w: tensor<128x512x16xf32> {tenon.dims = #tenon.shape<128, 512, 16>},
    %out: tensor<?x2048xf32> {tenon.dims = #tenon.shape<s0, 2048>, tenon.output}, %s0: index) -> tensor<?x2048xf32>
    attributes {tenon.kernel, tenon.machine = #tenon.machine<vector_bytes = 32, vector_registers = 16, l2_bytes = 524288>} {
  %zero = arith.constant 0.0 : f32
  %1 = linalg.fill ins(%zero : f32) outs(%out : tensor<?x2048xf32>) -> tensor<?x2048xf32>
  %2 = linalg.generic {indexing_maps = [#rows, #panels, #sums], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%x, %w : tensor<?x512xf32>, tensor<128x512x16xf32>) outs(%1 : tensor<?x2048xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %3 = arith.mulf %a, %b : f32
    %4 = arith.addf %c, %3 : f32
    linalg.yield %4 : f32
  } -> tensor<?x2048xf32>
  return %2 : tensor<?x2048xf32>
}
// One that it holds may be read more often; a product of two open extents is seldom 2 to 5.
// CHECK-LABEL: @few_open_rows_of_a_small_matrix
// CHECK: kernel.contract
// CHECK-SAME: row_versions = 1
func.func private @few_open_rows_of_a_small_matrix(%x: tensor<?x512xf32> {tenon.dims = #tenon.shape<s0, 512>},
    %w: tensor<8x512x16xf32> {tenon.dims = #tenon.shape<8, 512, 16>},
    %out: tensor<?x128xf32> {tenon.dims = #tenon.shape<s0, 128>, tenon.output}, %s0: index) -> tensor<?x128xf32>
    attributes {tenon.kernel, tenon.machine = #tenon.machine<vector_bytes = 32, vector_registers = 16, l2_bytes = 524288>} {
  %zero = arith.constant 0.0 : f32
  %1 = linalg.fill ins(%zero : f32) outs(%out : tensor<?x128xf32>) -> tensor<?x128xf32>
  %2 = linalg.generic {indexing_maps = [#rows, #panels, #sums], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%x, %w : tensor<?x512xf32>, tensor<8x512x16xf32>) outs(%1 : tensor<?x128xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %3 = arith.mulf %a, %b : f32
    %4 = arith.addf %c, %3 : f32
    linalg.yield %4 : f32
  } -> tensor<?x128xf32>
  return %2 : tensor<?x128xf32>
}
// CHECK-LABEL: @few_open_rows_of_two_extents
// CHECK: kernel.contract
// CHECK-SAME: row_versions = 1
func.func private @few_open_rows_of_two_extents(%x: tensor<?x512xf32> {tenon.dims = #tenon.shape<s0 * s1, 512>},
    %w: tensor<128x512x16xf32> {tenon.dims = #tenon.shape<128, 512, 16>},
    %out: tensor<?x2048xf32> {tenon.dims = #tenon.shape<s0 * s1, 2048>, tenon.output}, %s0: index, %s1: index) -> tensor<?x2048xf32>
    attributes {tenon.kernel, tenon.machine = #tenon.machine<vector_bytes = 32, vector_registers = 16, l2_bytes = 524288>} {
  %zero = arith.constant 0.0 : f32
  %1 = linalg.fill ins(%zero : f32) outs(%out : tensor<?x2048xf32>) -> tensor<?x2048xf32>
  %2 = linalg.generic {indexing_maps = [#rows, #panels, #sums], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%x, %w : tensor<?x512xf32>, tensor<128x512x16xf32>) outs(%1 : tensor<?x2048xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %3 = arith.mulf %a, %b : f32
    %4 = arith.addf %c, %3 : f32
    linalg.yield %4 : f32
  } -> tensor<?x2048xf32>
  return %2 : tensor<?x2048xf32>
}
// CHECK-LABEL: @rows_by_the_dozen
// CHECK: kernel.contract
// CHECK-NOT: row_versions
func.func private @rows_by_the_dozen(%x: tensor<?x512xf32> {tenon.dims = #tenon.shape<s0 * 12, 512>},
    %w: tensor<128x512x16xf32> {tenon.dims = #tenon.shape<128, 512, 16>},
    %out: tensor<?x2048xf32> {tenon.dims = #tenon.shape<s0 * 12, 2048>, tenon.output}, %s0: index) -> tensor<?x2048xf32>
    attributes {tenon.kernel, tenon.machine = #tenon.machine<vector_bytes = 32, vector_registers = 16, l2_bytes = 524288>} {
  %zero = arith.constant 0.0 : f32
  %1 = linalg.fill ins(%zero : f32) outs(%out : tensor<?x2048xf32>) -> tensor<?x2048xf32>
  %2 = linalg.generic {indexing_maps = [#rows, #panels, #sums], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%x, %w : tensor<?x512xf32>, tensor<128x512x16xf32>) outs(%1 : tensor<?x2048xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %3 = arith.mulf %a, %b : f32
    %4 = arith.addf %c, %3 : f32
    linalg.yield %4 : f32
  } -> tensor<?x2048xf32>
  return %2 : tensor<?x2048xf32>
}

// Registers are many, or rows lie otherwise: nothing is copied.
// CHECK-LABEL: @rows_beside_pages
// CHECK-NOT: packing
func.func private @rows_beside_pages(%x: tensor<64x3088xf32> {tenon.dims = #tenon.shape<64, 3088>},
    %w: tensor<48x3088x16xf32> {tenon.dims = #tenon.shape<48, 3088, 16>},
    %out: tensor<64x768xf32> {tenon.dims = #tenon.shape<64, 768>, tenon.output}) -> tensor<64x768xf32>
    attributes {tenon.kernel, tenon.machine = #tenon.machine<vector_bytes = 32, vector_registers = 16>} {
  %zero = arith.constant 0.0 : f32
  %1 = linalg.fill ins(%zero : f32) outs(%out : tensor<64x768xf32>) -> tensor<64x768xf32>
  %2 = linalg.generic {indexing_maps = [#rows, #panels, #sums], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%x, %w : tensor<64x3088xf32>, tensor<48x3088x16xf32>) outs(%1 : tensor<64x768xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %3 = arith.mulf %a, %b : f32
    %4 = arith.addf %c, %3 : f32
    linalg.yield %4 : f32
  } -> tensor<64x768xf32>
  return %2 : tensor<64x768xf32>
}
// CHECK-LABEL: @many_registers
// CHECK-NOT: packing
func.func private @many_registers(%x: tensor<64x3072xf32> {tenon.dims = #tenon.shape<64, 3072>},
    %w: tensor<48x3072x16xf32> {tenon.dims = #tenon.shape<48, 3072, 16>},
    %out: tensor<64x768xf32> {tenon.dims = #tenon.shape<64, 768>, tenon.output}) -> tensor<64x768xf32>
    attributes {tenon.kernel, tenon.machine = #tenon.machine<vector_bytes = 32, vector_registers = 32>} {
  %zero = arith.constant 0.0 : f32
  %1 = linalg.fill ins(%zero : f32) outs(%out : tensor<64x768xf32>) -> tensor<64x768xf32>
  %2 = linalg.generic {indexing_maps = [#rows, #panels, #sums], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%x, %w : tensor<64x3072xf32>, tensor<48x3072x16xf32>) outs(%1 : tensor<64x768xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %3 = arith.mulf %a, %b : f32
    %4 = arith.addf %c, %3 : f32
    linalg.yield %4 : f32
  } -> tensor<64x768xf32>
  return %2 : tensor<64x768xf32>
}

// A matrix that the shared cache does not hold would come from memory for each of several tiles of rows.
// CHECK-LABEL: @large_matrix
// CHECK-NOT: packing
func.func private @large_matrix(%x: tensor<512x4096xf32> {tenon.dims = #tenon.shape<512, 4096>},
    %w: tensor<256x4096x16xf32> {tenon.dims = #tenon.shape<256, 4096, 16>},
    %out: tensor<512x4096xf32> {tenon.dims = #tenon.shape<512, 4096>, tenon.output}) -> tensor<512x4096xf32>
    attributes {tenon.kernel, tenon.machine = #tenon.machine<vector_bytes = 32, vector_registers = 16>} {
  %zero = arith.constant 0.0 : f32
  %1 = linalg.fill ins(%zero : f32) outs(%out : tensor<512x4096xf32>) -> tensor<512x4096xf32>
  %2 = linalg.generic {indexing_maps = [#rows, #panels, #sums], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%x, %w : tensor<512x4096xf32>, tensor<256x4096x16xf32>) outs(%1 : tensor<512x4096xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %3 = arith.mulf %a, %b : f32
    %4 = arith.addf %c, %3 : f32
    linalg.yield %4 : f32
  } -> tensor<512x4096xf32>
  return %2 : tensor<512x4096xf32>
}

// Rows in panels of 32 stay together: a tile that begins within a panel would read places that are no slice.
#panels_of_rows = affine_map<(d0, d1) -> (d0 floordiv 32, d1, d0 mod 32)>
// CHECK-LABEL: @panels_of_rows_stay_together
// CHECK-NOT: scf.for
// CHECK: linalg.generic
func.func private @panels_of_rows_stay_together(%x: tensor<4x320x32xf32> {tenon.dims = #tenon.shape<4, 320, 32>},
    %out: tensor<128x320xf32> {tenon.dims = #tenon.shape<128, 320>, tenon.output}) -> tensor<128x320xf32>
    attributes {tenon.kernel} {
  %0 = linalg.generic {indexing_maps = [#panels_of_rows, #row], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<4x320x32xf32>) outs(%out : tensor<128x320xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  } -> tensor<128x320xf32>
  return %0 : tensor<128x320xf32>
}
