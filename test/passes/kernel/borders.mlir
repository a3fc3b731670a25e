// RUN: tenon-opt %s -tenon-to-linalg -tenon-form-contractions -tenon-tile-kernels -canonicalize -cse -tenon-bufferize-kernels -cse \
// RUN:   -canonicalize -tenon-vectorize-contractions -canonicalize | FileCheck %s
// From convolutions with padding to blocked loops: what the passes between make of the border's conditions is still
// understood, whatever is cut into tiles and whatever is open.

// Channels of a pixel by themselves. Blocks of pixels of one row of the image; the rows of the window are cut.
// CHECK-LABEL: @one_channel_a_group
// CHECK: affine.max
// CHECK: affine.min
// CHECK: scf.for
// CHECK: vector.fma
// CHECK-NOT: {{linalg.generic|kernel.contract}}
func.func private @one_channel_a_group(%x: tensor<?x14x14x240xf32, #tenon.shape<n, 14, 14, 240>>, %f: tensor<5x5x1x240xf32>)
    -> tensor<?x7x7x240xf32, #tenon.shape<n, 7, 7, 240>> attributes {tenon.kernel, tenon.symbols = ["n"]} {
  %0 = tenon.convolve %x, %f {strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, low = array<i64: 2, 2>,
      high = array<i64: 2, 2>, groups = 240 : i64, channels_last}
      : (tensor<?x14x14x240xf32, #tenon.shape<n, 14, 14, 240>>, tensor<5x5x1x240xf32>) -> tensor<?x7x7x240xf32, #tenon.shape<n, 7, 7, 240>>
  return %0 : tensor<?x7x7x240xf32, #tenon.shape<n, 7, 7, 240>>
}

// CHECK-LABEL: @open_extents
// CHECK: scf.if
// CHECK: vector.fma
// CHECK-NOT: {{linalg.generic|kernel.contract}}
func.func private @open_extents(%x: tensor<1x?x?x8xf32, #tenon.shape<1, h, w, 8>>, %f: tensor<2x3x3x8x32xf32>)
    -> tensor<1x?x?x64xf32, #tenon.shape<1, h, w, 64>> attributes {tenon.kernel, tenon.symbols = ["h", "w"]} {
  %g = tenon.unpack %f {axis = 3 : i64} : (tensor<2x3x3x8x32xf32>) -> tensor<3x3x8x64xf32>
  %0 = tenon.convolve %x, %g {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>,
      high = array<i64: 1, 1>, groups = 1 : i64, channels_last}
      : (tensor<1x?x?x8xf32, #tenon.shape<1, h, w, 8>>, tensor<3x3x8x64xf32>) -> tensor<1x?x?x64xf32, #tenon.shape<1, h, w, 64>>
  return %0 : tensor<1x?x?x64xf32, #tenon.shape<1, h, w, 64>>
}

// A long line is cut into tiles: which of them has the border is known at run time.
// CHECK-LABEL: @a_long_line
// CHECK: scf.if
// CHECK: vector.fma
// CHECK-NOT: {{linalg.generic|kernel.contract}}
func.func private @a_long_line(%x: tensor<1x16000x16xf32>, %f: tensor<9x16x32xf32>) -> tensor<1x16000x32xf32> attributes {tenon.kernel} {
  %0 = tenon.convolve %x, %f {strides = array<i64: 1>, dilations = array<i64: 1>, low = array<i64: 4>,
      high = array<i64: 4>, groups = 1 : i64, channels_last} : (tensor<1x16000x16xf32>, tensor<9x16x32xf32>) -> tensor<1x16000x32xf32>
  return %0 : tensor<1x16000x32xf32>
}
