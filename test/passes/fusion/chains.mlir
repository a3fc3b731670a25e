// Only what is marked becomes one kernel.
// RUN: tenon-opt %s -pass-pipeline='builtin.module(func.func(tenon-fuse))' | FileCheck %s --check-prefix=FEW
// RUN: tenon-opt %s -pass-pipeline='builtin.module(func.func(tenon-choose-forms{late},tenon-fuse))' | FileCheck %s
// RUN: tenon-opt %s -pass-pipeline='builtin.module(func.func(tenon-choose-forms{late},tenon-fuse{max-ops=12}))' | FileCheck %s --check-prefix=FEW

// A core's own cache of 512 KB, and 8 bytes a cycle from behind it: what is between two convolutions is best computed where it is read.
module attributes {tenon.machine = #tenon.machine<vector_bytes = 32, vector_registers = 16, panel_columns = 16, l2_bytes = 524288>} {

// 3.2 MB are neither written nor read. A tile has some lines and channels, and computes the lines that its windows see.
// A region that has no room for all of it gets none.
// FEW-NOT: tenon.chain_tile
// CHECK-LABEL: @expand_and_depthwise
// CHECK: tenon.dispatch
// CHECK-NEXT: tenon.unpack
// CHECK-NEXT: tenon.contract
// CHECK-NEXT: tenon.relu
// CHECK-NEXT: tenon.reshape {{.*}} {tenon.chain_tile = array<i64: 1, {{[0-9]+}}, 56, {{16|32|64}}>}
// CHECK-NEXT: tenon.convolve
// CHECK-NEXT: tenon.relu
// CHECK-NEXT: tenon.yield
// CHECK-NOT: tenon.dispatch
func.func @expand_and_depthwise(%x: tensor<12544x16xf32>, %w: tensor<4x16x16xf32>, %f: tensor<3x3x1x64xf32>) -> tensor<1x56x56x64xf32> {
  %0 = tenon.unpack %w {axis = 1 : i64} : (tensor<4x16x16xf32>) -> tensor<16x64xf32>
  %1 = tenon.contract %x, %0 {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 2, 1>, result_dims = array<i64: 0, 1>,
                              tenon.path = "panels", tenon.paths = {panels = 892000 : i64}}
    : (tensor<12544x16xf32>, tensor<16x64xf32>) -> tensor<12544x64xf32>
  %2 = tenon.relu %1 : (tensor<12544x64xf32>) -> tensor<12544x64xf32>
  %3 = tenon.reshape %2 : (tensor<12544x64xf32>) -> tensor<1x112x112x64xf32>
  %4 = tenon.convolve %3, %f {channels_last, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>,
                              high = array<i64: 1, 1>, groups = 64 : i64, tenon.path = "direct", tenon.paths = {direct = 150000 : i64}}
    : (tensor<1x112x112x64xf32>, tensor<3x3x1x64xf32>) -> tensor<1x56x56x64xf32>
  %5 = tenon.relu %4 : (tensor<1x56x56x64xf32>) -> tensor<1x56x56x64xf32>
  return %5 : tensor<1x56x56x64xf32>
}

// Rows of all images are one dimension, so that a tile has lines of which an image has a multiple; of each all columns.
// CHECK-LABEL: @depthwise_and_project
// CHECK: tenon.dispatch
// CHECK: tenon.convolve
// CHECK: %[[SUM:.*]] = tenon.add
// CHECK-NEXT: %[[LOW:.*]] = tenon.relu %[[SUM]]
// CHECK-NEXT: tenon.mul %[[LOW]], %[[SUM]]
// CHECK-NEXT: tenon.reshape {{.*}} {tenon.chain_tile = array<i64: {{112|224|448|784|896}}, 16>}
// CHECK: tenon.contract
// CHECK-NEXT: tenon.add
// CHECK-NEXT: tenon.yield
// CHECK-NOT: tenon.dispatch
func.func @depthwise_and_project(%x: tensor<?x112x112x16xf32, #tenon.shape<N, 112, 112, 16>>, %f: tensor<3x3x1x16xf32>, %b: tensor<16xf32>,
    %w: tensor<1x16x16xf32>, %r: tensor<?x16xf32, #tenon.shape<N * 12544, 16>>) -> tensor<?x16xf32, #tenon.shape<N * 12544, 16>> {
  %0 = tenon.convolve %x, %f {channels_last, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>,
                              high = array<i64: 1, 1>, groups = 16 : i64, tenon.path = "direct", tenon.paths = {direct = 9633792 : i64}}
    : (tensor<?x112x112x16xf32, #tenon.shape<N, 112, 112, 16>>, tensor<3x3x1x16xf32>) -> tensor<?x112x112x16xf32, #tenon.shape<N, 112, 112, 16>>
  %1 = tenon.add %0, %b : (tensor<?x112x112x16xf32, #tenon.shape<N, 112, 112, 16>>, tensor<16xf32>) -> tensor<?x112x112x16xf32, #tenon.shape<N, 112, 112, 16>>
  %2 = tenon.relu %1 : (tensor<?x112x112x16xf32, #tenon.shape<N, 112, 112, 16>>) -> tensor<?x112x112x16xf32, #tenon.shape<N, 112, 112, 16>>
  %3 = tenon.mul %2, %1 : (tensor<?x112x112x16xf32, #tenon.shape<N, 112, 112, 16>>, tensor<?x112x112x16xf32, #tenon.shape<N, 112, 112, 16>>) -> tensor<?x112x112x16xf32, #tenon.shape<N, 112, 112, 16>>
  %4 = tenon.reshape %3 : (tensor<?x112x112x16xf32, #tenon.shape<N, 112, 112, 16>>) -> tensor<?x16xf32, #tenon.shape<N * 12544, 16>>
  %5 = tenon.unpack %w {axis = 1 : i64} : (tensor<1x16x16xf32>) -> tensor<16x16xf32>
  %6 = tenon.contract %4, %5 {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 2, 1>, result_dims = array<i64: 0, 1>,
                              tenon.path = "panels", tenon.paths = {panels = 14000000 : i64}}
    : (tensor<?x16xf32, #tenon.shape<N * 12544, 16>>, tensor<16x16xf32>) -> tensor<?x16xf32, #tenon.shape<N * 12544, 16>>
  %7 = tenon.add %6, %r : (tensor<?x16xf32, #tenon.shape<N * 12544, 16>>, tensor<?x16xf32, #tenon.shape<N * 12544, 16>>) -> tensor<?x16xf32, #tenon.shape<N * 12544, 16>>
  return %7 : tensor<?x16xf32, #tenon.shape<N * 12544, 16>>
}

// Something else reads it, too.
// CHECK-LABEL: @read_twice
// CHECK-COUNT-2: tenon.dispatch
// CHECK: return
func.func @read_twice(%x: tensor<12544x16xf32>, %w: tensor<16x64xf32>, %f: tensor<3x3x1x64xf32>) -> (tensor<12544x64xf32>, tensor<1x56x56x64xf32>) {
  %1 = tenon.contract %x, %w {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 2, 1>, result_dims = array<i64: 0, 1>,
                              tenon.path = "plain", tenon.paths = {plain = 892000 : i64}}
    : (tensor<12544x16xf32>, tensor<16x64xf32>) -> tensor<12544x64xf32>
  %3 = tenon.reshape %1 : (tensor<12544x64xf32>) -> tensor<1x112x112x64xf32>
  %4 = tenon.convolve %3, %f {channels_last, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>,
                              high = array<i64: 1, 1>, groups = 64 : i64, tenon.path = "direct", tenon.paths = {direct = 150000 : i64}}
    : (tensor<1x112x112x64xf32>, tensor<3x3x1x64xf32>) -> tensor<1x56x56x64xf32>
  return %1, %4 : tensor<12544x64xf32>, tensor<1x56x56x64xf32>
}

// A core's own cache holds 60 KB, and lines that are computed twice would cost more.
// CHECK-LABEL: @small_image
// CHECK-COUNT-2: tenon.dispatch
// CHECK: return
func.func @small_image(%x: tensor<196x64xf32>, %w: tensor<64x80xf32>, %f: tensor<3x3x1x80xf32>) -> tensor<1x14x14x80xf32> {
  %1 = tenon.contract %x, %w {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 2, 1>, result_dims = array<i64: 0, 1>,
                              tenon.path = "plain", tenon.paths = {plain = 70000 : i64}}
    : (tensor<196x64xf32>, tensor<64x80xf32>) -> tensor<196x80xf32>
  %3 = tenon.reshape %1 : (tensor<196x80xf32>) -> tensor<1x14x14x80xf32>
  %4 = tenon.convolve %3, %f {channels_last, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>,
                              high = array<i64: 1, 1>, groups = 80 : i64, tenon.path = "direct", tenon.paths = {direct = 12000 : i64}}
    : (tensor<1x14x14x80xf32>, tensor<3x3x1x80xf32>) -> tensor<1x14x14x80xf32>
  return %4 : tensor<1x14x14x80xf32>
}

// How many lines there are is not known.
// CHECK-LABEL: @open_lines
// CHECK-COUNT-2: tenon.dispatch
// CHECK: return
func.func @open_lines(%x: tensor<?x16xf32, #tenon.shape<H * 112, 16>>, %w: tensor<16x64xf32>, %f: tensor<3x3x1x64xf32>)
    -> tensor<1x?x112x64xf32, #tenon.shape<1, H, 112, 64>> {
  %1 = tenon.contract %x, %w {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 2, 1>, result_dims = array<i64: 0, 1>,
                              tenon.path = "plain", tenon.paths = {plain = 892000 : i64}}
    : (tensor<?x16xf32, #tenon.shape<H * 112, 16>>, tensor<16x64xf32>) -> tensor<?x64xf32, #tenon.shape<H * 112, 64>>
  %3 = tenon.reshape %1 : (tensor<?x64xf32, #tenon.shape<H * 112, 64>>) -> tensor<1x?x112x64xf32, #tenon.shape<1, H, 112, 64>>
  %4 = tenon.convolve %3, %f {channels_last, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>,
                              high = array<i64: 1, 1>, groups = 64 : i64, tenon.path = "direct", tenon.paths = {direct = 150000 : i64}}
    : (tensor<1x?x112x64xf32, #tenon.shape<1, H, 112, 64>>, tensor<3x3x1x64xf32>) -> tensor<1x?x112x64xf32, #tenon.shape<1, H, 112, 64>>
  return %4 : tensor<1x?x112x64xf32, #tenon.shape<1, H, 112, 64>>
}

}
