// RUN: tenon-opt %s -pass-pipeline='builtin.module(func.func(tenon-choose-forms{late}))' | FileCheck %s
// RUN: tenon-opt %s -pass-pipeline='builtin.module(func.func(tenon-choose-forms{late exclude=chained_nests}))' | FileCheck %s --check-prefix=SEPARATE
// RUN: tenon-opt %s -pass-pipeline='builtin.module(func.func(tenon-choose-forms{late force=*=chained_nests}))' | FileCheck %s --check-prefix=CHAINED

// Two loop nests in one kernel are a form, which marks the reshape between them with the tile: where the image between them is not
// in the core's own cache, and wherever it is demanded and a tile fits.
module attributes {tenon.machine = #tenon.machine<vector_bytes = 32, vector_registers = 16, panel_columns = 16, l2_bytes = 524288>} {

// SEPARATE-NOT: tenon.chain_tile
// CHECK-LABEL: @large_image
// CHECK: tenon.reshape {{.*}}tenon.chain_tile
// CHAINED-LABEL: @large_image
// CHAINED: tenon.reshape {{.*}}tenon.chain_tile
func.func @large_image(%x: tensor<12544x16xf32>, %w: tensor<16x64xf32>, %f: tensor<3x3x1x64xf32>) -> tensor<1x56x56x64xf32> {
  %1 = tenon.contract %x, %w {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 2, 1>, result_dims = array<i64: 0, 1>,
                              tenon.path = "plain", tenon.paths = {plain = 892000 : i64}}
    : (tensor<12544x16xf32>, tensor<16x64xf32>) -> tensor<12544x64xf32>
  %2 = tenon.relu %1 : (tensor<12544x64xf32>) -> tensor<12544x64xf32>
  %3 = tenon.reshape %2 : (tensor<12544x64xf32>) -> tensor<1x112x112x64xf32>
  %4 = tenon.convolve %3, %f {channels_last, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>,
                              high = array<i64: 1, 1>, groups = 64 : i64, tenon.path = "direct", tenon.paths = {direct = 150000 : i64}}
    : (tensor<1x112x112x64xf32>, tensor<3x3x1x64xf32>) -> tensor<1x56x56x64xf32>
  return %4 : tensor<1x56x56x64xf32>
}

// Lines that are computed twice cost more than the image between.
// CHECK-LABEL: @small_image
// CHECK-NOT: tenon.chain_tile
// CHAINED-LABEL: @small_image
// CHAINED: tenon.reshape {{.*}}tenon.chain_tile
func.func @small_image(%x: tensor<784x64xf32>, %w: tensor<64x80xf32>, %f: tensor<3x3x1x80xf32>) -> tensor<1x28x28x80xf32> {
  %1 = tenon.contract %x, %w {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 2, 1>, result_dims = array<i64: 0, 1>,
                              tenon.path = "plain", tenon.paths = {plain = 280000 : i64}}
    : (tensor<784x64xf32>, tensor<64x80xf32>) -> tensor<784x80xf32>
  %3 = tenon.reshape %1 : (tensor<784x80xf32>) -> tensor<1x28x28x80xf32>
  %4 = tenon.convolve %3, %f {channels_last, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>,
                              high = array<i64: 1, 1>, groups = 80 : i64, tenon.path = "direct", tenon.paths = {direct = 48000 : i64}}
    : (tensor<1x28x28x80xf32>, tensor<3x3x1x80xf32>) -> tensor<1x28x28x80xf32>
  return %4 : tensor<1x28x28x80xf32>
}

// An operation is in one chain at most: of the two that the depthwise convolution could be in, the one that saves more.
// CHECK-LABEL: @expand_depthwise_project
// CHECK-COUNT-1: tenon.chain_tile
// CHECK-NOT: tenon.chain_tile
// Of two that are demanded, too.
// CHAINED-LABEL: @expand_depthwise_project
// CHAINED-COUNT-1: tenon.chain_tile
// CHAINED-NOT: tenon.chain_tile
func.func @expand_depthwise_project(%x: tensor<12544x16xf32>, %w: tensor<16x64xf32>, %f: tensor<3x3x1x64xf32>, %p: tensor<64x16xf32>) -> tensor<12544x16xf32> {
  %1 = tenon.contract %x, %w {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 2, 1>, result_dims = array<i64: 0, 1>,
                              tenon.path = "plain", tenon.paths = {plain = 892000 : i64}}
    : (tensor<12544x16xf32>, tensor<16x64xf32>) -> tensor<12544x64xf32>
  %2 = tenon.reshape %1 : (tensor<12544x64xf32>) -> tensor<1x112x112x64xf32>
  %3 = tenon.convolve %2, %f {channels_last, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>,
                              high = array<i64: 1, 1>, groups = 64 : i64, tenon.path = "direct", tenon.paths = {direct = 600000 : i64}}
    : (tensor<1x112x112x64xf32>, tensor<3x3x1x64xf32>) -> tensor<1x112x112x64xf32>
  %4 = tenon.reshape %3 : (tensor<1x112x112x64xf32>) -> tensor<12544x64xf32>
  %5 = tenon.contract %4, %p {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 2, 1>, result_dims = array<i64: 0, 1>,
                              tenon.path = "plain", tenon.paths = {plain = 892000 : i64}}
    : (tensor<12544x64xf32>, tensor<64x16xf32>) -> tensor<12544x16xf32>
  return %5 : tensor<12544x16xf32>
}

// As many sites as possible take what is demanded of them, of which two exclude each other here.
// CHECK-LABEL: @one_region_twice
// CHAINED-LABEL: @one_region_twice
// CHAINED-COUNT-2: tenon.chain_tile
// CHAINED-NOT: tenon.chain_tile
func.func @one_region_twice(%x: tensor<12544x16xf32>, %y: tensor<12544x16xf32>, %w: tensor<16x64xf32>, %f: tensor<3x3x1x64xf32>, %p: tensor<64x16xf32>)
    -> (tensor<1x112x112x64xf32>, tensor<12544x16xf32>) {
  %1 = tenon.contract %x, %w {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 2, 1>, result_dims = array<i64: 0, 1>,
                              tenon.path = "plain", tenon.paths = {plain = 892000 : i64}}
    : (tensor<12544x16xf32>, tensor<16x64xf32>) -> tensor<12544x64xf32>
  %2 = tenon.reshape %1 : (tensor<12544x64xf32>) -> tensor<1x112x112x64xf32>
  %3 = tenon.convolve %2, %f {channels_last, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>,
                              high = array<i64: 1, 1>, groups = 64 : i64, tenon.path = "direct", tenon.paths = {direct = 600000 : i64}}
    : (tensor<1x112x112x64xf32>, tensor<3x3x1x64xf32>) -> tensor<1x112x112x64xf32>
  %4 = tenon.contract %y, %w {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 2, 1>, result_dims = array<i64: 0, 1>,
                              tenon.path = "plain", tenon.paths = {plain = 892000 : i64}}
    : (tensor<12544x16xf32>, tensor<16x64xf32>) -> tensor<12544x64xf32>
  %5 = tenon.reshape %4 : (tensor<12544x64xf32>) -> tensor<1x112x112x64xf32>
  %6 = tenon.convolve %5, %f {channels_last, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>,
                              high = array<i64: 1, 1>, groups = 64 : i64, tenon.path = "direct", tenon.paths = {direct = 600000 : i64}}
    : (tensor<1x112x112x64xf32>, tensor<3x3x1x64xf32>) -> tensor<1x112x112x64xf32>
  %7 = tenon.reshape %6 : (tensor<1x112x112x64xf32>) -> tensor<12544x64xf32>
  %8 = tenon.contract %7, %p {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 2, 1>, result_dims = array<i64: 0, 1>,
                              tenon.path = "plain", tenon.paths = {plain = 892000 : i64}}
    : (tensor<12544x64xf32>, tensor<64x16xf32>) -> tensor<12544x16xf32>
  return %3, %8 : tensor<1x112x112x64xf32>, tensor<12544x16xf32>
}

}
