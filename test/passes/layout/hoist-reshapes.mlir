// RUN: tenon-opt %s --tenon-hoist-reshapes --canonicalize | FileCheck %s

// As exporters write keys: three of [tokens, heads * size] in one product, which comes first, split into heads.
// CHECK-LABEL: @one_of_three
// CHECK: %[[X:.*]] = tenon.reshape %arg0 : (tensor<197x2304xf32>) -> tensor<197x1x36x64xf32>
// CHECK: %[[S:.*]] = tenon.slice %[[X]] {starts = #tenon.shape<0, 0, 12, 0>
// CHECK: %[[T:.*]] = tenon.transpose %[[S]] {permutation = array<i64: 1, 2, 0, 3>} : (tensor<197x1x12x64xf32>) -> tensor<1x12x197x64xf32>
// CHECK: return %[[T]]
func.func @one_of_three(%x: tensor<197x2304xf32>) -> tensor<1x12x197x64xf32> {
  %1 = tenon.reshape %x : (tensor<197x2304xf32>) -> tensor<1x197x1x3x768xf32>
  %2 = tenon.transpose %1 {permutation = array<i64: 3, 1, 2, 0, 4>} : (tensor<1x197x1x3x768xf32>) -> tensor<3x197x1x1x768xf32>
  %3 = tenon.reshape %2 : (tensor<3x197x1x1x768xf32>) -> tensor<3x197x1x768xf32>
  %4 = tenon.slice %3 {starts = #tenon.shape<1, 0, 0, 0>, steps = array<i64: 1, 1, 1, 1>} : (tensor<3x197x1x768xf32>) -> tensor<1x197x1x768xf32>
  %5 = tenon.reshape %4 : (tensor<1x197x1x768xf32>) -> tensor<197x12x64xf32>
  %6 = tenon.transpose %5 {permutation = array<i64: 1, 0, 2>} : (tensor<197x12x64xf32>) -> tensor<12x197x64xf32>
  %7 = tenon.reshape %6 : (tensor<12x197x64xf32>) -> tensor<1x12x197x64xf32>
  return %7 : tensor<1x12x197x64xf32>
}

// An open number of rows stays what it is; a part of the columns is a part of the heads.
// CHECK-LABEL: @a_part_of_the_columns
// CHECK: tenon.reshape %arg0 : (tensor<?x192xf32, #tenon.shape<N * 7, 192>>) -> tensor<?x7x12x16xf32, #tenon.shape<N, 7, 12, 16>>
// CHECK: tenon.slice %{{.*}} {starts = #tenon.shape<0, 0, 8, 0>
// CHECK-NOT: tenon.reshape
func.func @a_part_of_the_columns(%x: tensor<?x192xf32, #tenon.shape<N * 7, 192>>) -> tensor<?x7x4x16xf32, #tenon.shape<N, 7, 4, 16>> {
  %1 = tenon.slice %x {starts = #tenon.shape<0, 128>, steps = array<i64: 1, 1>} : (tensor<?x192xf32, #tenon.shape<N * 7, 192>>) -> tensor<?x64xf32, #tenon.shape<N * 7, 64>>
  %2 = tenon.reshape %1 : (tensor<?x64xf32, #tenon.shape<N * 7, 64>>) -> tensor<?x7x4x16xf32, #tenon.shape<N, 7, 4, 16>>
  return %2 : tensor<?x7x4x16xf32, #tenon.shape<N, 7, 4, 16>>
}

// CHECK-LABEL: @joined_rows_of_a_part
// CHECK: %[[X:.*]] = tenon.reshape %arg0 : (tensor<9x4x5xf32>) -> tensor<36x5xf32>
// CHECK: tenon.slice %[[X]] {starts = #tenon.shape<8, 0>, steps = array<i64: 1, 1>} : (tensor<36x5xf32>) -> tensor<12x5xf32>
func.func @joined_rows_of_a_part(%x: tensor<9x4x5xf32>) -> tensor<12x5xf32> {
  %1 = tenon.slice %x {starts = #tenon.shape<2, 0, 0>, steps = array<i64: 1, 1, 1>} : (tensor<9x4x5xf32>) -> tensor<3x4x5xf32>
  %2 = tenon.reshape %1 : (tensor<3x4x5xf32>) -> tensor<12x5xf32>
  return %2 : tensor<12x5xf32>
}

// These cannot rise: 60 columns from 100 on are no whole heads; every other column is no part; columns of a part are not
// next to those of the next row.
// CHECK-LABEL: @no_whole_rows
// CHECK-COUNT-3: tenon.slice %arg0
// CHECK-COUNT-3: tenon.reshape
func.func @no_whole_rows(%x: tensor<7x192xf32>) -> (tensor<7x4x16xf32>, tensor<7x6x16xf32>, tensor<448xf32>) {
  %1 = tenon.slice %x {starts = #tenon.shape<0, 100>, steps = array<i64: 1, 1>} : (tensor<7x192xf32>) -> tensor<7x64xf32>
  %2 = tenon.slice %x {starts = #tenon.shape<0, 0>, steps = array<i64: 1, 2>} : (tensor<7x192xf32>) -> tensor<7x96xf32>
  %3 = tenon.slice %x {starts = #tenon.shape<0, 64>, steps = array<i64: 1, 1>} : (tensor<7x192xf32>) -> tensor<7x64xf32>
  %4 = tenon.reshape %1 : (tensor<7x64xf32>) -> tensor<7x4x16xf32>
  %5 = tenon.reshape %2 : (tensor<7x96xf32>) -> tensor<7x6x16xf32>
  %6 = tenon.reshape %3 : (tensor<7x64xf32>) -> tensor<448xf32>
  return %4, %5, %6 : tensor<7x4x16xf32>, tensor<7x6x16xf32>, tensor<448xf32>
}

// What a transpose brought together is not together before it.
// CHECK-LABEL: @joined_by_a_transpose
// CHECK: tenon.transpose
// CHECK: tenon.reshape
func.func @joined_by_a_transpose(%x: tensor<2x3x5xf32>) -> tensor<5x6xf32> {
  %1 = tenon.transpose %x {permutation = array<i64: 2, 1, 0>} : (tensor<2x3x5xf32>) -> tensor<5x3x2xf32>
  %2 = tenon.reshape %1 : (tensor<5x3x2xf32>) -> tensor<5x6xf32>
  return %2 : tensor<5x6xf32>
}

// A product widens rows of halves itself, which then have its shape.
// CHECK-LABEL: @rows_of_halves
// CHECK: %[[ROWS:.*]] = tenon.reshape %arg0 : (tensor<1x5x5x32xf16>) -> tensor<25x32xf16>
// CHECK: %[[WIDE:.*]] = tenon.cast %[[ROWS]]
// CHECK: tenon.contract %[[WIDE]]
func.func @rows_of_halves(%x: tensor<1x5x5x32xf16>) -> tensor<25x2xf32> {
  %w = tenon.weight dense<1.0> : tensor<32x2xf32>
  %0 = tenon.cast %x : (tensor<1x5x5x32xf16>) -> tensor<1x5x5x32xf32>
  %1 = tenon.reshape %0 : (tensor<1x5x5x32xf32>) -> tensor<25x32xf32>
  %2 = tenon.contract %1, %w {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 2, 1>, result_dims = array<i64: 0, 1>}
    : (tensor<25x32xf32>, tensor<32x2xf32>) -> tensor<25x2xf32>
  return %2 : tensor<25x2xf32>
}

// So does a convolution with its input, which is transposed before then; not so where its filter is no weight.
// CHECK-LABEL: @image_of_halves
// CHECK: %[[MOVED:.*]] = tenon.transpose %arg0 {{.*}} -> tensor<1x4x4x8xf16>
// CHECK: %[[WIDE:.*]] = tenon.cast %[[MOVED]]
// CHECK: tenon.convolve %[[WIDE]]
// CHECK: %[[WIDE:.*]] = tenon.cast %arg0
// CHECK: %[[MOVED:.*]] = tenon.transpose %[[WIDE]]
// CHECK: tenon.convolve %[[MOVED]]
func.func @image_of_halves(%x: tensor<1x8x4x4xf16>, %f: tensor<1x1x8x1xf32>) -> (tensor<1x4x4x1xf32>, tensor<1x4x4x1xf32>) {
  %w = tenon.weight dense<[[[[1.0], [2.0], [3.0], [4.0], [5.0], [6.0], [7.0], [8.0]]]]> : tensor<1x1x8x1xf32>
  %0 = tenon.cast %x : (tensor<1x8x4x4xf16>) -> tensor<1x8x4x4xf32>
  %1 = tenon.transpose %0 {permutation = array<i64: 0, 2, 3, 1>} : (tensor<1x8x4x4xf32>) -> tensor<1x4x4x8xf32>
  %2 = tenon.convolve %1, %w {channels_last, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>,
                              high = array<i64: 0, 0>, groups = 1 : i64} : (tensor<1x4x4x8xf32>, tensor<1x1x8x1xf32>) -> tensor<1x4x4x1xf32>
  %3 = tenon.cast %x : (tensor<1x8x4x4xf16>) -> tensor<1x8x4x4xf32>
  %4 = tenon.transpose %3 {permutation = array<i64: 0, 2, 3, 1>} : (tensor<1x8x4x4xf32>) -> tensor<1x4x4x8xf32>
  %5 = tenon.convolve %4, %f {channels_last, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>,
                              high = array<i64: 0, 0>, groups = 1 : i64} : (tensor<1x4x4x8xf32>, tensor<1x1x8x1xf32>) -> tensor<1x4x4x1xf32>
  return %2, %5 : tensor<1x4x4x1xf32>, tensor<1x4x4x1xf32>
}

// CHECK-LABEL: @pixels_of_halves
// CHECK: %[[PIXELS:.*]] = tenon.reshape %arg0 : (tensor<16x2xf16>) -> tensor<1x4x4x2xf16>
// CHECK: %[[WIDE:.*]] = tenon.cast %[[PIXELS]]
// CHECK: tenon.convolve %[[WIDE]]
func.func @pixels_of_halves(%x: tensor<16x2xf16>) -> tensor<1x4x4x1xf32> {
  %w = tenon.weight dense<[[[[1.0], [2.0]]]]> : tensor<1x1x2x1xf32>
  %0 = tenon.cast %x : (tensor<16x2xf16>) -> tensor<16x2xf32>
  %1 = tenon.reshape %0 : (tensor<16x2xf32>) -> tensor<1x4x4x2xf32>
  %2 = tenon.convolve %1, %w {channels_last, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>,
                              high = array<i64: 0, 0>, groups = 1 : i64} : (tensor<1x4x4x2xf32>, tensor<1x1x2x1xf32>) -> tensor<1x4x4x1xf32>
  return %2 : tensor<1x4x4x1xf32>
}
