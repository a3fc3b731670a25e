// RUN: tenon-opt %s -pass-pipeline='builtin.module(func.func(tenon-pad-convolutions))' | FileCheck %s

// The kernel of a matrix product, or of one channel a group, knows where the border is.
// CHECK-LABEL: @the_border_is_not_read
// CHECK-NOT: tenon.pad
// CHECK-COUNT-2: tenon.convolve {{.*}} low = array<i64: 1>
func.func @the_border_is_not_read(%x: tensor<1x6x4xf32>) -> tensor<1x6x4xf32> {
  %f = tenon.weight dense_resource<dense> : tensor<3x4x4xf32>
  %g = tenon.weight dense_resource<depthwise> : tensor<3x1x4xf32>
  %0 = tenon.convolve %x, %f {strides = array<i64: 1>, dilations = array<i64: 1>, low = array<i64: 1>, high = array<i64: 1>,
      groups = 1 : i64, channels_last} : (tensor<1x6x4xf32>, tensor<3x4x4xf32>) -> tensor<1x6x4xf32>
  %1 = tenon.convolve %0, %g {strides = array<i64: 1>, dilations = array<i64: 1>, low = array<i64: 1>, high = array<i64: 1>,
      groups = 4 : i64, channels_last} : (tensor<1x6x4xf32>, tensor<3x1x4xf32>) -> tensor<1x6x4xf32>
  return %1 : tensor<1x6x4xf32>
}

// One of some groups is a matrix product for each, where each has enough filters.
// CHECK-LABEL: @groups
// CHECK-NOT: tenon.pad
// CHECK: tenon.convolve {{.*}} groups = 2 {{.*}} low = array<i64: 1>
// CHECK: tenon.pad
// CHECK: tenon.convolve
func.func @groups(%x: tensor<1x6x4xf32>) -> (tensor<1x6x8xf32>, tensor<1x6x4xf32>) {
  %f = tenon.weight dense_resource<dense> : tensor<3x2x8xf32>
  %g = tenon.weight dense_resource<pairs> : tensor<3x2x4xf32>
  %0 = tenon.convolve %x, %f {strides = array<i64: 1>, dilations = array<i64: 1>, low = array<i64: 1>, high = array<i64: 1>,
      groups = 2 : i64, channels_last} : (tensor<1x6x4xf32>, tensor<3x2x8xf32>) -> tensor<1x6x8xf32>
  %1 = tenon.convolve %x, %g {strides = array<i64: 1>, dilations = array<i64: 1>, low = array<i64: 1>, high = array<i64: 1>,
      groups = 2 : i64, channels_last} : (tensor<1x6x4xf32>, tensor<3x2x4xf32>) -> tensor<1x6x4xf32>
  return %0, %1 : tensor<1x6x8xf32>, tensor<1x6x4xf32>
}

// CHECK-LABEL: @other_kernels_read_a_copy
// CHECK: %[[P:.*]] = tenon.pad constant, {{.*}} low = #tenon.shape<0, 0, 1, 1>} {{.*}} -> tensor<1x1x6x7xf16>
// CHECK: tenon.convolve %[[P]]
// CHECK-SAME: high = array<i64: 0, 0>
// CHECK-SAME: low = array<i64: 0, 0>
func.func @other_kernels_read_a_copy(%x: tensor<1x1x4x4xf16>, %f: tensor<1x1x3x3xf16>) -> tensor<1x1x4x5xf16> {
  %0 = tenon.convolve %x, %f {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>,
      high = array<i64: 1, 2>, groups = 1 : i64} : (tensor<1x1x4x4xf16>, tensor<1x1x3x3xf16>) -> tensor<1x1x4x5xf16>
  return %0 : tensor<1x1x4x5xf16>
}

// A filter whose elements are all the same is a number, and no operand that vectors are read of.
// CHECK-LABEL: @a_filter_of_one_number
// CHECK: tenon.pad
func.func @a_filter_of_one_number(%x: tensor<1x6x4xf32>) -> tensor<1x6x4xf32> {
  %f = tenon.weight dense<1.0> : tensor<3x4x4xf32>
  %0 = tenon.convolve %x, %f {strides = array<i64: 1>, dilations = array<i64: 1>, low = array<i64: 1>, high = array<i64: 1>,
      groups = 1 : i64, channels_last} : (tensor<1x6x4xf32>, tensor<3x4x4xf32>) -> tensor<1x6x4xf32>
  return %0 : tensor<1x6x4xf32>
}

// CHECK-LABEL: @no_pad_where_there_is_no_padding
// CHECK-NOT: tenon.pad
func.func @no_pad_where_there_is_no_padding(%x: tensor<1x1x4x4xf32>, %f: tensor<1x1x3x3xf32>) -> tensor<1x1x2x2xf32> {
  %0 = tenon.convolve %x, %f {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>,
      high = array<i64: 0, 0>, groups = 1 : i64} : (tensor<1x1x4x4xf32>, tensor<1x1x3x3xf32>) -> tensor<1x1x2x2xf32>
  return %0 : tensor<1x1x2x2xf32>
}

{-#
  dialect_resources: {
    builtin: {
      pairs: "0x04000000000000000000803f0000004000004040000080400000a0400000c040000000000000803f0000004000004040000080400000a0400000c040000000000000803f0000004000004040000080400000a0400000c040000000000000803f00000040",
      dense: "0x04000000000000000000000100000002000000030000000400000005000000060000000700000008000000090000000a0000000b0000000c0000000d0000000e0000000f000000100000001100000012000000130000001400000015000000160000001700000018000000190000001a0000001b0000001c0000001d0000001e0000001f000000200000002100000022000000230000002400000025000000260000002700000028000000290000002a0000002b0000002c0000002d0000002e0000002f",
      depthwise: "0x04000000000000000000000100000002000000030000000400000005000000060000000700000008000000090000000a0000000b"
    }
  }
#-}
