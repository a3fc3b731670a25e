// RUN: tenon-opt %s --tenon-prepack-weights | FileCheck %s
// A weight is stored in panels of the dimension that its kernel reads vectors of.

// CHECK-LABEL: @columns_of_a_product
// Columns 0 to 31 of both rows, then 32 and 33, and zeros.
// CHECK: %[[W:.*]] = tenon.weight {{.*}} : tensor<2x2x32xf32> {name = "w (packed)"}
// CHECK: %[[U:.*]] = tenon.unpack %[[W]] {axis = 1 : i64} : (tensor<2x2x32xf32>) -> tensor<2x34xf32>
// CHECK: tenon.contract %arg0, %[[U]]
func.func @columns_of_a_product(%x: tensor<3x2xf32>) -> tensor<3x34xf32> {
  %w = tenon.weight dense_resource<w> : tensor<2x34xf32> {name = "w"}
  %0 = tenon.contract %x, %w {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 2, 1>, result_dims = array<i64: 0, 1>}
    : (tensor<3x2xf32>, tensor<2x34xf32>) -> tensor<3x34xf32>
  return %0 : tensor<3x34xf32>
}

// Rows of a weight that a model stores transposed. Two products share one packed weight.
// CHECK-LABEL: @rows_of_a_transposed_weight
// CHECK: %[[W:.*]] = tenon.weight {{.*}} : tensor<2x2x32xf32>
// CHECK-DAG: tenon.unpack %[[W]] {axis = 0 : i64} : (tensor<2x2x32xf32>) -> tensor<34x2xf32>
// CHECK-DAG: tenon.unpack %[[W]] {axis = 0 : i64}
// CHECK-NOT: tenon.weight
func.func @rows_of_a_transposed_weight(%x: tensor<3x2xf32>, %y: tensor<2xf32>) -> (tensor<3x34xf32>, tensor<34xf32>) {
  %w = tenon.weight dense_resource<v> : tensor<34x2xf32>
  %0 = tenon.contract %x, %w {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 1, 2>, result_dims = array<i64: 0, 1>}
    : (tensor<3x2xf32>, tensor<34x2xf32>) -> tensor<3x34xf32>
  %1 = tenon.contract %y, %w {lhs_dims = array<i64: 2>, rhs_dims = array<i64: 1, 2>, result_dims = array<i64: 1>}
    : (tensor<2xf32>, tensor<34x2xf32>) -> tensor<34xf32>
  return %0, %1 : tensor<3x34xf32>, tensor<34xf32>
}

// An embedding that is the matrix of the output, too, is stored once.
// CHECK-LABEL: @tied
// CHECK: %[[W:.*]] = tenon.weight {{.*}} : tensor<2x2x32xf32>
// CHECK: %[[E:.*]] = tenon.unpack %[[W]] {axis = 0 : i64}
// CHECK: tenon.gather %[[E]], %arg0
// CHECK: tenon.contract {{.*}}, %{{.*}}
// CHECK-NOT: tenon.weight
func.func @tied(%ids: tensor<3xi64>) -> tensor<3x34xf32> {
  %w = tenon.weight dense_resource<v> : tensor<34x2xf32>
  %0 = tenon.gather %w, %ids {axis = 0 : i64} : (tensor<34x2xf32>, tensor<3xi64>) -> tensor<3x2xf32>
  %1 = tenon.contract %0, %w {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 1, 2>, result_dims = array<i64: 0, 1>}
    : (tensor<3x2xf32>, tensor<34x2xf32>) -> tensor<3x34xf32>
  return %1 : tensor<3x34xf32>
}

// A matrix for each index of both operands: panels of all matrices are one tensor, those of other dimensions first.
// CHECK-LABEL: @stacked
// CHECK: %[[W:.*]] = tenon.weight {{.*}} : tensor<2x3x5x32xf32> {name = "s (packed)"}
// CHECK: %[[U:.*]] = tenon.unpack %[[W]] {axis = 2 : i64} : (tensor<2x3x5x32xf32>) -> tensor<3x5x34xf32>
// CHECK: tenon.contract %arg0, %[[U]]
func.func @stacked(%x: tensor<3x4x5xf32>) -> tensor<3x4x34xf32> {
  %w = tenon.weight dense_resource<s> : tensor<3x5x34xf32> {name = "s"}
  %0 = tenon.contract %x, %w {lhs_dims = array<i64: 0, 1, 3>, rhs_dims = array<i64: 0, 3, 2>, result_dims = array<i64: 0, 1, 2>}
    : (tensor<3x4x5xf32>, tensor<3x5x34xf32>) -> tensor<3x4x34xf32>
  return %0 : tensor<3x4x34xf32>
}

// No panel has columns along two dimensions of the result.
// CHECK-LABEL: @not_stacked
// CHECK-NOT: tenon.unpack
func.func @not_stacked(%x: tensor<4x5xf32>) -> tensor<4x3x34xf32> {
  %w = tenon.weight dense_resource<s> : tensor<3x5x34xf32>
  %0 = tenon.contract %x, %w {lhs_dims = array<i64: 0, 3>, rhs_dims = array<i64: 1, 3, 2>, result_dims = array<i64: 0, 1, 2>}
    : (tensor<4x5xf32>, tensor<3x5x34xf32>) -> tensor<4x3x34xf32>
  return %0 : tensor<4x3x34xf32>
}

// Filters of a convolution with channels last; not where each is a group, and not fewer than a panel.
// CHECK-LABEL: @filters
// CHECK: tenon.unpack {{.*}} {axis = 3 : i64} : (tensor<2x1x1x1x32xf32>) -> tensor<1x1x1x34xf32>
// CHECK-NOT: tenon.unpack
func.func @filters(%x: tensor<1x4x4x1xf32>, %y: tensor<1x4x4x34xf32>) -> (tensor<1x4x4x34xf32>, tensor<1x4x4x34xf32>) {
  %w = tenon.weight dense_resource<f> : tensor<1x1x1x34xf32>
  %0 = tenon.convolve %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>,
    high = array<i64: 0, 0>, groups = 1 : i64, channels_last} : (tensor<1x4x4x1xf32>, tensor<1x1x1x34xf32>) -> tensor<1x4x4x34xf32>
  %1 = tenon.convolve %y, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>,
    high = array<i64: 0, 0>, groups = 34 : i64, channels_last} : (tensor<1x4x4x34xf32>, tensor<1x1x1x34xf32>) -> tensor<1x4x4x34xf32>
  return %0, %1 : tensor<1x4x4x34xf32>, tensor<1x4x4x34xf32>
}

// A panel has filters of one group: all six of it, or 32 of 64. Groups of two filters are left alone.
// CHECK-LABEL: @groups
// CHECK: tenon.unpack {{.*}} {axis = 2 : i64} : (tensor<3x1x2x6xf32>) -> tensor<1x2x18xf32>
// CHECK: tenon.unpack {{.*}} {axis = 2 : i64} : (tensor<4x1x2x32xf32>) -> tensor<1x2x128xf32>
// CHECK-NOT: tenon.unpack
func.func @groups(%x: tensor<1x4x6xf32>, %y: tensor<1x4x4xf32>)
    -> (tensor<1x4x18xf32>, tensor<1x4x128xf32>, tensor<1x4x6xf32>) {
  %six = tenon.weight dense_resource<g6> : tensor<1x2x18xf32>
  %0 = tenon.convolve %x, %six {strides = array<i64: 1>, dilations = array<i64: 1>, low = array<i64: 0>,
    high = array<i64: 0>, groups = 3 : i64, channels_last} : (tensor<1x4x6xf32>, tensor<1x2x18xf32>) -> tensor<1x4x18xf32>
  %many = tenon.weight dense_resource<g64> : tensor<1x2x128xf32>
  %1 = tenon.convolve %y, %many {strides = array<i64: 1>, dilations = array<i64: 1>, low = array<i64: 0>,
    high = array<i64: 0>, groups = 2 : i64, channels_last} : (tensor<1x4x4xf32>, tensor<1x2x128xf32>) -> tensor<1x4x128xf32>
  %two = tenon.weight dense_resource<g2> : tensor<1x2x6xf32>
  %2 = tenon.convolve %x, %two {strides = array<i64: 1>, dilations = array<i64: 1>, low = array<i64: 0>,
    high = array<i64: 0>, groups = 3 : i64, channels_last} : (tensor<1x4x6xf32>, tensor<1x2x6xf32>) -> tensor<1x4x6xf32>
  return %0, %1, %2 : tensor<1x4x18xf32>, tensor<1x4x128xf32>, tensor<1x4x6xf32>
}

// Quads of five bytes along what is summed, with three zeros at the end.
// CHECK-LABEL: @bytes
// CHECK: %[[W:.*]] = tenon.weight {{.*}} : tensor<1x2x128xi8>
// CHECK: tenon.unpack %[[W]] {axis = 1 : i64, k4_axis = 0 : i64} : (tensor<1x2x128xi8>) -> tensor<5x4xi8>
func.func @bytes(%x: tensor<3x5xui8>) -> tensor<3x4xi32> {
  %w = tenon.weight dense_resource<b> : tensor<5x4xi8>
  %0 = tenon.contract %x, %w {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 2, 1>, result_dims = array<i64: 0, 1>,
    result_type = i32} : (tensor<3x5xui8>, tensor<5x4xi8>) -> tensor<3x4xi32>
  return %0 : tensor<3x4xi32>
}

// Ten numbers of four bits are two words, with six zeros at the end; scales and zero points lie in panels beside them.
// CHECK-LABEL: @words
// CHECK-DAG: %[[W:.*]] = tenon.unpack %{{.*}} {axis = 0 : i64, packed_i32_axis = 1 : i64} : (tensor<1x2x32xi32>) -> tensor<4x10xui4>
// CHECK-DAG: %[[S:.*]] = tenon.unpack %{{.*}} {axis = 0 : i64} : (tensor<1x2x32xf32>) -> tensor<4x2xf32>
// CHECK-DAG: %[[Z:.*]] = tenon.weight dense<8> : tensor<1x1xui4>
// CHECK: tenon.dequantize %[[W]], %[[S]], %[[Z]]
func.func @words(%x: tensor<3x10xf32>) -> tensor<3x4xf32> {
  %w = tenon.weight dense_resource<n> : tensor<4x10xui4>
  %s = tenon.weight dense<[[0.1, 0.2], [0.3, 0.4], [0.5, 0.6], [0.7, 0.8]]> : tensor<4x2xf32>
  %z = tenon.weight dense<8> : tensor<1x1xui4>
  %0 = tenon.dequantize %w, %s, %z {axis = 1 : i64, block = 8 : i64} : (tensor<4x10xui4>, tensor<4x2xf32>, tensor<1x1xui4>) -> tensor<4x10xf32>
  %1 = tenon.contract %x, %0 {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 1, 2>, result_dims = array<i64: 0, 1>}
    : (tensor<3x10xf32>, tensor<4x10xf32>) -> tensor<3x4xf32>
  return %1 : tensor<3x4xf32>
}

// Two numbers of 16 bits are a word.
// CHECK-LABEL: @halves_of_words
// CHECK: %[[W:.*]] = tenon.unpack %{{.*}} {axis = 1 : i64, packed_i32_axis = 0 : i64} : (tensor<1x2x32xi32>) -> tensor<3x4xi16>
// CHECK: tenon.dequantize %[[W]]
func.func @halves_of_words(%x: tensor<3x3xf32>) -> tensor<3x4xf32> {
  %w = tenon.weight dense<[[1, -2, 3, -4], [5, 6, 7, 8], [9, 10, 11, -32768]]> : tensor<3x4xi16>
  %s = tenon.weight dense<0.1> : tensor<1x4xf32>
  %0 = tenon.dequantize %w, %s {axis = 0 : i64, block = 3 : i64} : (tensor<3x4xi16>, tensor<1x4xf32>) -> tensor<3x4xf32>
  %1 = tenon.contract %x, %0 {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 2, 1>, result_dims = array<i64: 0, 1>}
    : (tensor<3x3xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  return %1 : tensor<3x4xf32>
}

// Rows that are gathered alone lie by themselves.
// CHECK-LABEL: @rows_of_words
// CHECK: tenon.unpack %{{.*}} {axis = 0 : i64, packed_i32_axis = 1 : i64} : (tensor<4x2x1xi32>) -> tensor<4x10xui4>
func.func @rows_of_words(%ids: tensor<3xi64>) -> tensor<3x10xui4> {
  %w = tenon.weight dense_resource<n> : tensor<4x10xui4>
  %0 = tenon.gather %w, %ids {axis = 0 : i64} : (tensor<4x10xui4>, tensor<3xi64>) -> tensor<3x10xui4>
  return %0 : tensor<3x10xui4>
}

// A matrix of halves is widened by the product.
// CHECK-LABEL: @halves
// CHECK: %[[W:.*]] = tenon.unpack %{{.*}} {axis = 1 : i64} : (tensor<1x2x32xf16>) -> tensor<2x4xf16>
// CHECK: tenon.cast %[[W]]
func.func @halves(%x: tensor<3x2xf32>) -> tensor<3x4xf32> {
  %w = tenon.weight dense<[[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]]> : tensor<2x4xf16>
  %0 = tenon.cast %w : (tensor<2x4xf16>) -> tensor<2x4xf32>
  %1 = tenon.contract %x, %0 {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 2, 1>, result_dims = array<i64: 0, 1>}
    : (tensor<3x2xf32>, tensor<2x4xf32>) -> tensor<3x4xf32>
  return %1 : tensor<3x4xf32>
}

// Products that share the conversion of a matrix get one each, and share its panels.
// CHECK-LABEL: @shared_halves
// CHECK: %[[W:.*]] = tenon.weight {{.*}} : tensor<1x2x32xf16>
// CHECK: %[[OF_FIRST:.*]] = tenon.unpack %[[W]]
// CHECK: %[[FIRST:.*]] = tenon.cast %[[OF_FIRST]]
// CHECK: %[[OF_SECOND:.*]] = tenon.unpack %[[W]]
// CHECK: %[[SECOND:.*]] = tenon.cast %[[OF_SECOND]]
// CHECK-NOT: tenon.weight
// CHECK-DAG: tenon.contract %arg0, %[[SECOND]]
// CHECK-DAG: tenon.contract %arg1, %[[FIRST]]
func.func @shared_halves(%x: tensor<3x2xf32>, %y: tensor<5x2xf32>) -> (tensor<3x4xf32>, tensor<5x4xf32>) {
  %w = tenon.weight dense<[[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]]> : tensor<2x4xf16>
  %0 = tenon.cast %w : (tensor<2x4xf16>) -> tensor<2x4xf32>
  %1 = tenon.contract %x, %0 {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 2, 1>, result_dims = array<i64: 0, 1>}
    : (tensor<3x2xf32>, tensor<2x4xf32>) -> tensor<3x4xf32>
  %2 = tenon.contract %y, %0 {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 2, 1>, result_dims = array<i64: 0, 1>}
    : (tensor<5x2xf32>, tensor<2x4xf32>) -> tensor<5x4xf32>
  return %1, %2 : tensor<3x4xf32>, tensor<5x4xf32>
}

// A filter of halves is widened by a convolution that multiplies f16, and by no other.
// CHECK-LABEL: @filter_of_halves
// CHECK: %[[W:.*]] = tenon.unpack %{{.*}} {axis = 3 : i64} : (tensor<1x1x2x1x32xf16>) -> tensor<1x2x1x4xf16>
// CHECK: tenon.cast %[[W]]
func.func @filter_of_halves(%x: tensor<1x5x5x1xf32>) -> tensor<1x5x4x4xf32> {
  %w = tenon.weight dense<[[[[1.0, 2.0, 3.0, 4.0]], [[5.0, 6.0, 7.0, 8.0]]]]> : tensor<1x2x1x4xf16>
  %0 = tenon.cast %w : (tensor<1x2x1x4xf16>) -> tensor<1x2x1x4xf32>
  %1 = tenon.convolve %x, %0 {channels_last, dilations = array<i64: 1, 1>, groups = 1 : i64, high = array<i64: 0, 0>, low = array<i64: 0, 0>,
    strides = array<i64: 1, 1>, tenon.path = "f16_rounded", tenon.paths = {f16_rounded = 1 : i64}} : (tensor<1x5x5x1xf32>, tensor<1x2x1x4xf32>) -> tensor<1x5x4x4xf32>
  return %1 : tensor<1x5x4x4xf32>
}

// CHECK-LABEL: @filter_of_another_path
// CHECK-NOT: tenon.unpack
// CHECK: tenon.convolve
func.func @filter_of_another_path(%x: tensor<1x5x5x1xf32>) -> tensor<1x5x4x4xf32> {
  %w = tenon.weight dense<[[[[1.0, 2.0, 3.0, 4.0]], [[5.0, 6.0, 7.0, 8.0]]]]> : tensor<1x2x1x4xf16>
  %0 = tenon.cast %w : (tensor<1x2x1x4xf16>) -> tensor<1x2x1x4xf32>
  %1 = tenon.convolve %x, %0 {channels_last, dilations = array<i64: 1, 1>, groups = 1 : i64, high = array<i64: 0, 0>, low = array<i64: 0, 0>,
    strides = array<i64: 1, 1>, tenon.path = "direct", tenon.paths = {direct = 1 : i64}} : (tensor<1x5x5x1xf32>, tensor<1x2x1x4xf32>) -> tensor<1x5x4x4xf32>
  return %1 : tensor<1x5x4x4xf32>
}

{-#
  dialect_resources: {
    builtin: {
      n: "0x0800000001020304050607010203040506070102030405060701020304050607010203040506070102030405",
      s: "0x040000000000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f0000803f",
      g6: "0x04000000000000000000803f0000004000004040000080400000a0400000c040000000000000803f0000004000004040000080400000a0400000c040000000000000803f0000004000004040000080400000a0400000c040000000000000803f0000004000004040000080400000a0400000c040000000000000803f0000004000004040000080400000a0400000c04000000000",
      g64: "0x04000000000000000000803f0000004000004040000080400000a0400000c040000000000000803f0000004000004040000080400000a0400000c040000000000000803f0000004000004040000080400000a0400000c040000000000000803f0000004000004040000080400000a0400000c040000000000000803f0000004000004040000080400000a0400000c040000000000000803f0000004000004040000080400000a0400000c040000000000000803f0000004000004040000080400000a0400000c040000000000000803f0000004000004040000080400000a0400000c040000000000000803f0000004000004040000080400000a0400000c040000000000000803f0000004000004040000080400000a0400000c040000000000000803f0000004000004040000080400000a0400000c040000000000000803f0000004000004040000080400000a0400000c040000000000000803f0000004000004040000080400000a0400000c040000000000000803f0000004000004040000080400000a0400000c040000000000000803f0000004000004040000080400000a0400000c040000000000000803f0000004000004040000080400000a0400000c040000000000000803f0000004000004040000080400000a0400000c040000000000000803f0000004000004040000080400000a0400000c040000000000000803f0000004000004040000080400000a0400000c040000000000000803f0000004000004040000080400000a0400000c040000000000000803f0000004000004040000080400000a0400000c040000000000000803f0000004000004040000080400000a0400000c040000000000000803f0000004000004040000080400000a0400000c040000000000000803f0000004000004040000080400000a0400000c040000000000000803f0000004000004040000080400000a0400000c040000000000000803f0000004000004040000080400000a0400000c040000000000000803f0000004000004040000080400000a0400000c040000000000000803f0000004000004040000080400000a0400000c040000000000000803f0000004000004040000080400000a0400000c040000000000000803f0000004000004040000080400000a0400000c040000000000000803f0000004000004040000080400000a0400000c040000000000000803f0000004000004040000080400000a0400000c040000000000000803f0000004000004040000080400000a0400000c040000000000000803f0000004000004040000080400000a0400000c040000000000000803f0000004000004040000080400000a0400000c040000000000000803f0000004000004040000080400000a0400000c040000000000000803f0000004000004040",
      g2: "0x04000000000000000000803f0000004000004040000080400000a0400000c040000000000000803f000000400000404000008040",
      b: "0x08000000000102030405060708090A0B0C0D0E0F10111213",
      w: "0x04000000000000000000803F0000004000004040000080400000A0400000C0400000E0400000004100001041000020410000304100004041000050410000604100007041000080410000884100009041000098410000A0410000A8410000B0410000B8410000C0410000C8410000D0410000D8410000E0410000E8410000F0410000F84100000042000004420000084200000C4200001042000014420000184200001C4200002042000024420000284200002C4200003042000034420000384200003C4200004042000044420000484200004C4200005042000054420000584200005C4200006042000064420000684200006C4200007042000074420000784200007C4200008042000082420000844200008642",
      v: "0x04000000000000000000803F0000004000004040000080400000A0400000C0400000E0400000004100001041000020410000304100004041000050410000604100007041000080410000884100009041000098410000A0410000A8410000B0410000B8410000C0410000C8410000D0410000D8410000E0410000E8410000F0410000F84100000042000004420000084200000C4200001042000014420000184200001C4200002042000024420000284200002C4200003042000034420000384200003C4200004042000044420000484200004C4200005042000054420000584200005C4200006042000064420000684200006C4200007042000074420000784200007C4200008042000082420000844200008642",
      f: "0x04000000000000000000803F0000004000004040000080400000A0400000C0400000E0400000004100001041000020410000304100004041000050410000604100007041000080410000884100009041000098410000A0410000A8410000B0410000B8410000C0410000C8410000D0410000D8410000E0410000E8410000F0410000F8410000004200000442"
    }
  }
#-}
