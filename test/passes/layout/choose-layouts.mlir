// RUN: tenon-opt %s --tenon-choose-layouts --canonicalize | FileCheck %s
// Between convolutions channels are last; transposes are left at the borders alone.

// CHECK-LABEL: @network
// CHECK: %[[X:.*]] = tenon.transpose %arg0 {permutation = array<i64: 0, 2, 3, 1>}
// CHECK: tenon.pad{{ +}}constant, %[[X]], {{.*}} low = #tenon.shape<0, 1, 1, 0>
// CHECK: tenon.convolve {{.*}}channels_last
// CHECK-NOT: tenon.transpose {{.*}}tensor<1x8x
// CHECK: tenon.add {{.*}} -> tensor<1x8x8x16xf32>
// CHECK: tenon.pool {{.*}}channels_last
// CHECK: tenon.concat {{.*}} {axis = 3 : i64}
// CHECK: tenon.slice {{.*}} {starts = #tenon.shape<0, 0, 0, 4>
// CHECK-NEXT: tenon.transpose {{.*}} {permutation = array<i64: 0, 3, 1, 2>}
// CHECK-NEXT: tenon.reduce{{ +}}sum, {{.*}} {axes = array<i64: 1, 2>}
// CHECK-NOT: tenon.transpose
// CHECK: return
func.func @network(%x: tensor<1x3x8x8xf32>, %f: tensor<16x3x3x3xf32>, %b: tensor<16x1x1xf32>)
    -> (tensor<1x28xf32>, tensor<1x28x4x4xf32>) {
  %z = tenon.weight dense<0.0> : tensor<f32>
  %p = tenon.pad constant, %x, %z {low = #tenon.shape<0, 0, 1, 1>, interior = array<i64: 0, 0, 0, 0>}
    : (tensor<1x3x8x8xf32>, tensor<f32>) -> tensor<1x3x10x10xf32>
  %c = tenon.convolve %p, %f {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>,
    high = array<i64: 0, 0>, groups = 1 : i64} : (tensor<1x3x10x10xf32>, tensor<16x3x3x3xf32>) -> tensor<1x16x8x8xf32>
  %a = tenon.add %c, %b : (tensor<1x16x8x8xf32>, tensor<16x1x1xf32>) -> tensor<1x16x8x8xf32>
  %m = tenon.pool max, %a {window = array<i64: 2, 2>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>,
    low = array<i64: 0, 0>, high = array<i64: 0, 0>} : (tensor<1x16x8x8xf32>) -> tensor<1x16x4x4xf32>
  %j = tenon.concat %m, %m {axis = 1 : i64} : (tensor<1x16x4x4xf32>, tensor<1x16x4x4xf32>) -> tensor<1x32x4x4xf32>
  %s = tenon.slice %j {starts = #tenon.shape<0, 4, 0, 0>, steps = array<i64: 1, 1, 1, 1>} : (tensor<1x32x4x4xf32>) -> tensor<1x28x4x4xf32>
  %r = tenon.reduce sum, %s {axes = array<i64: 2, 3>} : (tensor<1x28x4x4xf32>) -> tensor<1x28xf32>
  return %r, %s : tensor<1x28xf32>, tensor<1x28x4x4xf32>
}

// Larger images, and pixels from channels: what moves does so with the channels last.
// CHECK-LABEL: @parts_of_dimensions
// CHECK: tenon.convolve {{.*}}channels_last
// CHECK-NEXT: tenon.reshape {{.*}} -> tensor<1x4x1x4x1x8xf32>
// CHECK-NEXT: tenon.broadcast {{.*}} -> tensor<1x4x2x4x2x8xf32>
// CHECK-NEXT: tenon.reshape {{.*}} -> tensor<1x8x8x8xf32>
// CHECK-NOT: tenon.broadcast
// CHECK: tenon.convolve {{.*}}channels_last
// CHECK-NEXT: tenon.reshape {{.*}} -> tensor<1x8x8x2x2x2xf32>
// CHECK-NEXT: tenon.transpose {{.*}} {permutation = array<i64: 0, 1, 4, 2, 5, 3>}{{.*}} -> tensor<1x8x2x8x2x2xf32>
// CHECK-NEXT: tenon.reshape {{.*}} -> tensor<1x16x16x2xf32>
// CHECK-NEXT: tenon.transpose {{.*}} {permutation = array<i64: 0, 3, 1, 2>}
// CHECK-NEXT: return
func.func @parts_of_dimensions(%x: tensor<1x3x4x4xf32>, %f: tensor<8x3x3x3xf32>, %g: tensor<8x8x3x3xf32>) -> tensor<1x2x16x16xf32> {
  %a = tenon.convolve %x, %f {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>,
    high = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x3x4x4xf32>, tensor<8x3x3x3xf32>) -> tensor<1x8x4x4xf32>
  %0 = tenon.reshape %a : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x1x4x1xf32>
  %1 = tenon.broadcast %0 : (tensor<1x8x4x1x4x1xf32>) -> tensor<1x8x4x2x4x2xf32>
  %2 = tenon.reshape %1 : (tensor<1x8x4x2x4x2xf32>) -> tensor<1x8x8x8xf32>
  %b = tenon.convolve %2, %g {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>,
    high = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x8x8x8xf32>, tensor<8x8x3x3xf32>) -> tensor<1x8x8x8xf32>
  %3 = tenon.reshape %b : (tensor<1x8x8x8xf32>) -> tensor<1x2x2x2x8x8xf32>
  %4 = tenon.transpose %3 {permutation = array<i64: 0, 1, 4, 2, 5, 3>} : (tensor<1x2x2x2x8x8xf32>) -> tensor<1x2x8x2x8x2xf32>
  %5 = tenon.reshape %4 : (tensor<1x2x8x2x8x2xf32>) -> tensor<1x2x16x16xf32>
  return %5 : tensor<1x2x16x16xf32>
}

// What is stretched from one dimension into another stays with the channels second.
// CHECK-LABEL: @stretched_across_dimensions
// CHECK: tenon.convolve {{.*}}channels_last
// CHECK-NEXT: tenon.transpose {{.*}} {permutation = array<i64: 0, 3, 1, 2>}
// CHECK-NEXT: tenon.reshape {{.*}} -> tensor<1x8x1x16xf32>
func.func @stretched_across_dimensions(%x: tensor<1x3x4x4xf32>, %f: tensor<8x3x3x3xf32>) -> tensor<1x16x4x4xf32> {
  %a = tenon.convolve %x, %f {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>,
    high = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x3x4x4xf32>, tensor<8x3x3x3xf32>) -> tensor<1x8x4x4xf32>
  %0 = tenon.reshape %a : (tensor<1x8x4x4xf32>) -> tensor<1x8x1x16xf32>
  %1 = tenon.broadcast %0 : (tensor<1x8x1x16xf32>) -> tensor<1x8x2x16xf32>
  %2 = tenon.reshape %1 : (tensor<1x8x2x16xf32>) -> tensor<1x16x4x4xf32>
  return %2 : tensor<1x16x4x4xf32>
}

// The model's own transposes stay where they are, also such that look the same.
// CHECK-LABEL: @own_transposes
// CHECK: tenon.transpose
// CHECK-NEXT: tenon.relu
func.func @own_transposes(%x: tensor<1x8x4xf32>) -> tensor<1x4x8xf32> {
  %0 = tenon.transpose %x {permutation = array<i64: 0, 2, 1>} : (tensor<1x8x4xf32>) -> tensor<1x4x8xf32>
  %1 = tenon.relu %0 : (tensor<1x4x8xf32>) -> tensor<1x4x8xf32>
  return %1 : tensor<1x4x8xf32>
}

// An image that becomes a length, as a transformer has it, and back: no element moves in between.
// CHECK-LABEL: @lengths_of_pixels
// CHECK: %[[X:.*]] = tenon.convolve {{.*}} -> tensor<1x4x4x8xf32>
// CHECK-NEXT: %[[L:.*]] = tenon.reshape %[[X]] : {{.*}} -> tensor<1x16x8xf32>
// CHECK-NEXT: %[[S:.*]] = tenon.softmax %[[L]]
// CHECK-NEXT: %[[P:.*]] = tenon.reshape %[[S]] : {{.*}} -> tensor<1x4x4x8xf32>
// CHECK: tenon.convolve %[[P]]
func.func @lengths_of_pixels(%x: tensor<1x3x4x4xf32>, %w: tensor<8x3x3x3xf32>, %v: tensor<8x8x1x1xf32>) -> tensor<1x8x4x4xf32> {
  %0 = tenon.convolve %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>,
      high = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x3x4x4xf32>, tensor<8x3x3x3xf32>) -> tensor<1x8x4x4xf32>
  %1 = tenon.reshape %0 : (tensor<1x8x4x4xf32>) -> tensor<1x8x16xf32>
  %2 = tenon.transpose %1 {permutation = array<i64: 0, 2, 1>} : (tensor<1x8x16xf32>) -> tensor<1x16x8xf32>
  %3 = tenon.softmax %2 {axis = 2 : i64} : (tensor<1x16x8xf32>) -> tensor<1x16x8xf32>
  %4 = tenon.transpose %3 {permutation = array<i64: 0, 2, 1>} : (tensor<1x16x8xf32>) -> tensor<1x8x16xf32>
  %5 = tenon.reshape %4 : (tensor<1x8x16xf32>) -> tensor<1x8x4x4xf32>
  %6 = tenon.convolve %5, %v {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>,
      high = array<i64: 0, 0>, groups = 1 : i64} : (tensor<1x8x4x4xf32>, tensor<8x8x1x1xf32>) -> tensor<1x8x4x4xf32>
  return %6 : tensor<1x8x4x4xf32>
}

// Channels that become pixels move.
// CHECK-LABEL: @lengths_of_channels
// CHECK: tenon.convolve
// CHECK-NEXT: tenon.transpose
// CHECK-NEXT: tenon.reshape {{.*}} -> tensor<1x4x32xf32>
func.func @lengths_of_channels(%x: tensor<1x3x4x4xf32>, %w: tensor<8x3x3x3xf32>) -> tensor<1x4x32xf32> {
  %0 = tenon.convolve %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>,
      high = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x3x4x4xf32>, tensor<8x3x3x3xf32>) -> tensor<1x8x4x4xf32>
  %1 = tenon.reshape %0 : (tensor<1x8x4x4xf32>) -> tensor<1x4x32xf32>
  return %1 : tensor<1x4x32xf32>
}

// Pixels that are taken by index bring their channels along; of what a reduction leaves the order is put right.
// CHECK-LABEL: @taken_and_reduced
// CHECK: %[[X:.*]] = tenon.convolve {{.*}} -> tensor<1x4x4x8xf32>
// CHECK-NEXT: %[[G:.*]] = tenon.gather %[[X]], %{{.*}} {axis = 2 : i64} : {{.*}} -> tensor<1x4x6x8xf32>
// CHECK-NEXT: %[[R:.*]] = tenon.reduce{{ +}}max, %[[G]] {axes = array<i64: 2>} : {{.*}} -> tensor<1x4x8xf32>
// CHECK-NEXT: tenon.transpose %[[R]] {permutation = array<i64: 0, 2, 1>} : {{.*}} -> tensor<1x8x4xf32>
func.func @taken_and_reduced(%x: tensor<1x3x4x4xf32>, %w: tensor<8x3x3x3xf32>, %i: tensor<6xi64>) -> tensor<1x8x4xf32> {
  %0 = tenon.convolve %x, %w {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>,
      high = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x3x4x4xf32>, tensor<8x3x3x3xf32>) -> tensor<1x8x4x4xf32>
  %1 = tenon.gather %0, %i {axis = 3 : i64} : (tensor<1x8x4x4xf32>, tensor<6xi64>) -> tensor<1x8x4x6xf32>
  %2 = tenon.reduce max, %1 {axes = array<i64: 3>} : (tensor<1x8x4x6xf32>) -> tensor<1x8x4xf32>
  return %2 : tensor<1x8x4xf32>
}
