// RUN: tenon-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(tenon-choose-forms))' | FileCheck %s
// RUN: tenon-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(tenon-choose-forms{force=*=channels_first}))' | FileCheck %s --check-prefix=FIRST
// RUN: tenon-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(tenon-choose-forms{exclude=channels_first}))' | FileCheck %s --check-prefix=LAST

// LAST-NOT: channels_first
// LAST-NOT: tensor<1x3x64x64xf32>) -> tensor<1x3x64x64xf32>

// With 3 filters, 13 of 16 lanes are idle if these are vectors. The model has channels first before and behind the
// convolution, so that both transposes vanish. Biases are one for each line, and the activation is computed where the
// sums are.
// CHECK-LABEL: @head
// CHECK-SAME: %[[X:.*]]: tensor<1x64x64x64xf32>
// CHECK-NOT: tenon.transpose %[[X]]
// CHECK: %[[F:.*]] = tenon.transpose %{{.*}} {permutation = array<i64: 3, 2, 0, 1>} : (tensor<3x3x64x3xf32>) -> tensor<3x64x3x3xf32>
// CHECK: %[[SUM:.*]] = tenon.convolve %[[X]], %[[F]] {dilations = array<i64: 1, 1>, groups = 1 : i64, high = array<i64: 1, 1>, low = array<i64: 1, 1>, strides = array<i64: 1, 1>} : {{.*}} -> tensor<1x3x64x64xf32>
// CHECK: %[[B:.*]] = tenon.weight dense<{{\[\[\[\[1.0.*\], \[\[2.0.*\], \[\[3.0.*}}> : tensor<1x3x1x1xf32>
// CHECK: %[[BIASED:.*]] = tenon.add %[[SUM]], %[[B]]
// CHECK: %[[RESULT:.*]] = tenon.sigmoid %[[BIASED]]
// CHECK: return %[[RESULT]]
func.func @head(%x: tensor<1x64x64x64xf32>) -> tensor<1x3x64x64xf32> {
  %f = tenon.weight dense<0.5> : tensor<3x3x64x3xf32>
  %b = tenon.weight dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %0 = tenon.transpose %x {permutation = array<i64: 0, 2, 3, 1>} : (tensor<1x64x64x64xf32>) -> tensor<1x64x64x64xf32>
  %1 = tenon.convolve %0, %f {channels_last, dilations = array<i64: 1, 1>, groups = 1 : i64, high = array<i64: 1, 1>, low = array<i64: 1, 1>, strides = array<i64: 1, 1>}
    : (tensor<1x64x64x64xf32>, tensor<3x3x64x3xf32>) -> tensor<1x64x64x3xf32>
  %2 = tenon.add %1, %b : (tensor<1x64x64x3xf32>, tensor<3xf32>) -> tensor<1x64x64x3xf32>
  %3 = tenon.sigmoid %2 : (tensor<1x64x64x3xf32>) -> tensor<1x64x64x3xf32>
  %4 = tenon.transpose %3 {permutation = array<i64: 0, 3, 1, 2>} : (tensor<1x64x64x3xf32>) -> tensor<1x3x64x64xf32>
  return %4 : tensor<1x3x64x64xf32>
}

// -----

// Neighbours that keep channels last make transposes necessary: few products do not pay for them. What is forced has one
// before and one behind the epilogue.
// CHECK-LABEL: @inside
// CHECK-NOT: tenon.transpose
// CHECK: tenon.convolve {{.*}}channels_last
// FIRST-LABEL: @inside
// FIRST-DAG: %[[X:.*]] = tenon.transpose %arg0 {permutation = array<i64: 0, 3, 1, 2>} : (tensor<2x9x7x64xf32>) -> tensor<2x64x9x7xf32>
// FIRST: %[[SUM:.*]] = tenon.convolve %[[X]], {{.*}} -> tensor<2x2x9x7xf32>
// FIRST: %[[RESULT:.*]] = tenon.relu %[[SUM]]
// FIRST: %[[BACK:.*]] = tenon.transpose %[[RESULT]] {permutation = array<i64: 0, 2, 3, 1>} : (tensor<2x2x9x7xf32>) -> tensor<2x9x7x2xf32>
// FIRST: return %[[BACK]]
func.func @inside(%x: tensor<2x9x7x64xf32>) -> tensor<2x9x7x2xf32> {
  %f = tenon.weight dense<0.5> : tensor<1x1x64x2xf32>
  %0 = tenon.convolve %x, %f {channels_last, dilations = array<i64: 1, 1>, groups = 1 : i64, high = array<i64: 0, 0>, low = array<i64: 0, 0>, strides = array<i64: 1, 1>}
    : (tensor<2x9x7x64xf32>, tensor<1x1x64x2xf32>) -> tensor<2x9x7x2xf32>
  %1 = tenon.relu %0 : (tensor<2x9x7x2xf32>) -> tensor<2x9x7x2xf32>
  return %1 : tensor<2x9x7x2xf32>
}

// -----

// An image of one channel is the same in either layout: no transposes, and two such convolutions in a row have none between
// them.
// CHECK-LABEL: @gray
// CHECK-NOT: tenon.transpose %arg0
// CHECK: %[[X:.*]] = tenon.reshape %arg0 : (tensor<1x99x99x1xf32>) -> tensor<1x1x99x99xf32>
// CHECK: %[[INNER:.*]] = tenon.convolve %[[X]], {{.*}} -> tensor<1x2x99x99xf32>
// CHECK-NOT: tenon.transpose %[[INNER]]
// CHECK: %[[SECOND:.*]] = tenon.convolve %[[INNER]], {{.*}} -> tensor<1x1x99x99xf32>
// CHECK: %[[BACK:.*]] = tenon.reshape %[[SECOND]] : (tensor<1x1x99x99xf32>) -> tensor<1x99x99x1xf32>
// CHECK: return %[[BACK]]
func.func @gray(%x: tensor<1x99x99x1xf32>) -> tensor<1x99x99x1xf32> {
  %f = tenon.weight dense<0.5> : tensor<3x3x1x2xf32>
  %g = tenon.weight dense<0.5> : tensor<3x3x2x1xf32>
  %0 = tenon.convolve %x, %f {channels_last, dilations = array<i64: 1, 1>, groups = 1 : i64, high = array<i64: 1, 1>, low = array<i64: 1, 1>, strides = array<i64: 1, 1>}
    : (tensor<1x99x99x1xf32>, tensor<3x3x1x2xf32>) -> tensor<1x99x99x2xf32>
  %1 = tenon.convolve %0, %g {channels_last, dilations = array<i64: 1, 1>, groups = 1 : i64, high = array<i64: 1, 1>, low = array<i64: 1, 1>, strides = array<i64: 1, 1>}
    : (tensor<1x99x99x2xf32>, tensor<3x3x2x1xf32>) -> tensor<1x99x99x1xf32>
  return %1 : tensor<1x99x99x1xf32>
}

// -----

// Each channel with a filter of its own is a line for each, too. What something else reads beside the epilogue, and what
// has another value for each pixel, is no part of the site: the result is transposed before.
// CHECK-LABEL: @depthwise
// CHECK: %[[SUM:.*]] = tenon.convolve %arg0, {{.*}}groups = 3 : i64{{.*}} : (tensor<?x3x99x?xf32, #tenon.shape<N, 3, 99, W>>, tensor<3x1x3x3xf32>) -> tensor<?x3x99x?xf32, #tenon.shape<N, 3, 99, W>>
// CHECK: %[[MAX:.*]] = tenon.relu %[[SUM]] : (tensor<?x3x99x?xf32, #tenon.shape<N, 3, 99, W>>)
// CHECK-DAG: %[[BACK:.*]] = tenon.transpose %[[MAX]] {permutation = array<i64: 0, 2, 3, 1>} : {{.*}} -> tensor<?x99x?x3xf32, #tenon.shape<N, 99, W, 3>>
// CHECK-DAG: %[[SHIFTED:.*]] = tenon.add %[[BACK]], %arg1
// CHECK: return %[[MAX]], %[[SHIFTED]]
func.func @depthwise(%x: tensor<?x3x99x?xf32, #tenon.shape<N, 3, 99, W>>, %m: tensor<99x1x3xf32>)
    -> (tensor<?x3x99x?xf32, #tenon.shape<N, 3, 99, W>>, tensor<?x99x?x3xf32, #tenon.shape<N, 99, W, 3>>) {
  %f = tenon.weight dense<0.5> : tensor<3x3x1x3xf32>
  %0 = tenon.transpose %x {permutation = array<i64: 0, 2, 3, 1>} : (tensor<?x3x99x?xf32, #tenon.shape<N, 3, 99, W>>) -> tensor<?x99x?x3xf32, #tenon.shape<N, 99, W, 3>>
  %1 = tenon.convolve %0, %f {channels_last, dilations = array<i64: 1, 1>, groups = 3 : i64, high = array<i64: 1, 1>, low = array<i64: 1, 1>, strides = array<i64: 1, 1>}
    : (tensor<?x99x?x3xf32, #tenon.shape<N, 99, W, 3>>, tensor<3x3x1x3xf32>) -> tensor<?x99x?x3xf32, #tenon.shape<N, 99, W, 3>>
  %2 = tenon.relu %1 : (tensor<?x99x?x3xf32, #tenon.shape<N, 99, W, 3>>) -> tensor<?x99x?x3xf32, #tenon.shape<N, 99, W, 3>>
  %3 = tenon.transpose %2 {permutation = array<i64: 0, 3, 1, 2>} : (tensor<?x99x?x3xf32, #tenon.shape<N, 99, W, 3>>) -> tensor<?x3x99x?xf32, #tenon.shape<N, 3, 99, W>>
  %4 = tenon.add %2, %m : (tensor<?x99x?x3xf32, #tenon.shape<N, 99, W, 3>>, tensor<99x1x3xf32>) -> tensor<?x99x?x3xf32, #tenon.shape<N, 99, W, 3>>
  return %3, %4 : tensor<?x3x99x?xf32, #tenon.shape<N, 3, 99, W>>, tensor<?x99x?x3xf32, #tenon.shape<N, 99, W, 3>>
}

// -----

// A residual is added with channels first if it was transposed for that alone.
// FIRST-LABEL: @residual
// FIRST-NOT: tenon.transpose %arg
// FIRST: %[[SUM:.*]] = tenon.convolve %arg0
// FIRST: %[[RESULT:.*]] = tenon.add %arg1, %[[SUM]]
// FIRST: return %[[RESULT]]
func.func @residual(%x: tensor<1x5x9x9xf32>, %y: tensor<1x2x9x9xf32>) -> tensor<1x2x9x9xf32> {
  %f = tenon.weight dense<0.5> : tensor<3x3x5x2xf32>
  %0 = tenon.transpose %x {permutation = array<i64: 0, 2, 3, 1>} : (tensor<1x5x9x9xf32>) -> tensor<1x9x9x5xf32>
  %1 = tenon.transpose %y {permutation = array<i64: 0, 2, 3, 1>} : (tensor<1x2x9x9xf32>) -> tensor<1x9x9x2xf32>
  %2 = tenon.convolve %0, %f {channels_last, dilations = array<i64: 1, 1>, groups = 1 : i64, high = array<i64: 1, 1>, low = array<i64: 1, 1>, strides = array<i64: 1, 1>}
    : (tensor<1x9x9x5xf32>, tensor<3x3x5x2xf32>) -> tensor<1x9x9x2xf32>
  %3 = tenon.add %1, %2 : (tensor<1x9x9x2xf32>, tensor<1x9x9x2xf32>) -> tensor<1x9x9x2xf32>
  %4 = tenon.transpose %3 {permutation = array<i64: 0, 3, 1, 2>} : (tensor<1x9x9x2xf32>) -> tensor<1x2x9x9xf32>
  return %4 : tensor<1x2x9x9xf32>
}

// -----

// Convolutions without this form: of every second pixel of a line, of two groups, of more filters than a vector has lanes,
// of integers, and with channels first already.
// FIRST-LABEL: @refused
// FIRST-NOT: tenon.transpose
// FIRST: return
func.func @refused(%x: tensor<1x9x9x4xf32>, %i: tensor<1x9x9x4xui8>, %y: tensor<1x4x9x9xf32>)
    -> (tensor<1x9x5x2xf32>, tensor<1x9x9x2xf32>, tensor<1x9x9x17xf32>, tensor<1x9x9x2xi32>, tensor<1x2x9x9xf32>) {
  %f = tenon.weight dense<0.5> : tensor<3x3x4x2xf32>
  %g = tenon.weight dense<0.5> : tensor<3x3x2x2xf32>
  %h = tenon.weight dense<0.5> : tensor<3x3x4x17xf32>
  %j = tenon.weight dense<5> : tensor<3x3x4x2xi8>
  %k = tenon.weight dense<0.5> : tensor<2x4x3x3xf32>
  %0 = tenon.convolve %x, %f {channels_last, dilations = array<i64: 1, 1>, groups = 1 : i64, high = array<i64: 1, 1>, low = array<i64: 1, 1>, strides = array<i64: 1, 2>}
    : (tensor<1x9x9x4xf32>, tensor<3x3x4x2xf32>) -> tensor<1x9x5x2xf32>
  %1 = tenon.convolve %x, %g {channels_last, dilations = array<i64: 1, 1>, groups = 2 : i64, high = array<i64: 1, 1>, low = array<i64: 1, 1>, strides = array<i64: 1, 1>}
    : (tensor<1x9x9x4xf32>, tensor<3x3x2x2xf32>) -> tensor<1x9x9x2xf32>
  %2 = tenon.convolve %x, %h {channels_last, dilations = array<i64: 1, 1>, groups = 1 : i64, high = array<i64: 1, 1>, low = array<i64: 1, 1>, strides = array<i64: 1, 1>}
    : (tensor<1x9x9x4xf32>, tensor<3x3x4x17xf32>) -> tensor<1x9x9x17xf32>
  %3 = tenon.convolve %i, %j {channels_last, dilations = array<i64: 1, 1>, groups = 1 : i64, high = array<i64: 1, 1>, low = array<i64: 1, 1>, strides = array<i64: 1, 1>, result_type = i32}
    : (tensor<1x9x9x4xui8>, tensor<3x3x4x2xi8>) -> tensor<1x9x9x2xi32>
  %4 = tenon.convolve %y, %k {dilations = array<i64: 1, 1>, groups = 1 : i64, high = array<i64: 1, 1>, low = array<i64: 1, 1>, strides = array<i64: 1, 1>}
    : (tensor<1x4x9x9xf32>, tensor<2x4x3x3xf32>) -> tensor<1x2x9x9xf32>
  return %0, %1, %2, %3, %4 : tensor<1x9x5x2xf32>, tensor<1x9x9x2xf32>, tensor<1x9x9x17xf32>, tensor<1x9x9x2xi32>, tensor<1x2x9x9xf32>
}

// -----

// A filter has many lanes where there are more filters, and nothing is gained where lines are short: with 16 filters all
// of a vector are full.
// CHECK-LABEL: @full_vectors
// CHECK: tenon.convolve {{.*}}channels_last
func.func @full_vectors(%x: tensor<1x99x3x8xf32>) -> tensor<1x99x3x16xf32> {
  %f = tenon.weight dense<0.5> : tensor<3x3x8x16xf32>
  %0 = tenon.convolve %x, %f {channels_last, dilations = array<i64: 1, 1>, groups = 1 : i64, high = array<i64: 1, 1>, low = array<i64: 1, 1>, strides = array<i64: 1, 1>}
    : (tensor<1x99x3x8xf32>, tensor<3x3x8x16xf32>) -> tensor<1x99x3x16xf32>
  return %0 : tensor<1x99x3x16xf32>
}
