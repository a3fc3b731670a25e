// RUN: tenon-opt %s --tenon-to-linalg --tenon-form-contractions --tenon-tile-kernels | FileCheck %s --check-prefix=TILES
// RUN: tenon-opt %s --tenon-to-linalg --tenon-form-contractions --tenon-tile-kernels --canonicalize --cse --tenon-bufferize-kernels --cse --canonicalize \
// RUN:   --tenon-vectorize-contractions='vector-bytes=32 registers=16' --canonicalize --cse | FileCheck %s

// Pixels of 512 channels are 2048 bytes apart: two sets of L1. Tiles have few columns and more lines, of which 32 columns are
// copied at a time: 9 lines of the image for 7 of the result, and the filter.
// TILES-LABEL: @power_of_two
// TILES-SAME: tenon.scratch = {{[0-9]+}}
// TILES: kernel.contract
// TILES-SAME: #kernel.schedule<tile = [1, 7, 14, 3, 3, 1, 64], packing = tile>
// CHECK-LABEL: @power_of_two
// CHECK: scf.for %[[COLUMN:.*]] = %c0 to %c64 step %c32
// CHECK: %[[FILTER:.*]] = kernel.scratch {{[0-9]+}} : memref<3x3x1x32xf32>
// CHECK: vector.store %{{.*}}, %[[FILTER]]
// CHECK: %[[LINES:.*]] = kernel.scratch 0 : memref<1x9x14x32xf32>
// CHECK: vector.store %{{.*}}, %[[LINES]]
// CHECK: vector.load %[[LINES]]
// CHECK: vector.load %[[FILTER]]
// CHECK: vector.fma
func.func private @power_of_two(%x: tensor<1x14x14x512xf32>, %f: tensor<3x3x1x512xf32>) -> tensor<1x14x14x512xf32>
    attributes {tenon.kernel, tenon.machine = #tenon.machine<vector_bytes = 32, vector_registers = 16>} {
  %0 = tenon.convolve %x, %f {channels_last, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>,
                              high = array<i64: 1, 1>, groups = 512 : i64}
    : (tensor<1x14x14x512xf32>, tensor<3x3x1x512xf32>) -> tensor<1x14x14x512xf32>
  return %0 : tensor<1x14x14x512xf32>
}

// 1920 bytes are 128 away from a multiple of as much. All columns of some rows are done before other rows.
// TILES-LABEL: @others
// TILES-NOT: packing
// CHECK-LABEL: @others
// CHECK-NOT: kernel.scratch
// CHECK: scf.for {{.*}} step %c8
// CHECK: vector.fma
func.func private @others(%x: tensor<1x14x14x480xf32>, %f: tensor<3x3x1x480xf32>) -> tensor<1x14x14x480xf32>
    attributes {tenon.kernel, tenon.machine = #tenon.machine<vector_bytes = 32, vector_registers = 16>} {
  %0 = tenon.convolve %x, %f {channels_last, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>,
                              high = array<i64: 1, 1>, groups = 480 : i64}
    : (tensor<1x14x14x480xf32>, tensor<3x3x1x480xf32>) -> tensor<1x14x14x480xf32>
  return %0 : tensor<1x14x14x480xf32>
}
