// RUN: tenon-opt %s --tenon-to-linalg --tenon-form-contractions | FileCheck %s --check-prefix=FORMED
// RUN: tenon-opt %s --tenon-to-linalg --tenon-form-contractions --tenon-tile-kernels --canonicalize --cse --tenon-bufferize-kernels --cse --canonicalize \
// RUN:   --tenon-vectorize-contractions='vector-bytes=64 registers=32' --canonicalize --cse | FileCheck %s

// With channels first, filters are the rows of a product, whose columns are the pixels of a line: vectors of shifted lines
// are multiplied with elements of each filter, in whatever order these are stored.
// FORMED-LABEL: @filters
// FORMED: kernel.contract <kind = product, row = 1> {{.*}}tensor<3x3x8x3xf32>{{.*}}tensor<1x3x9x64xf32>
// CHECK-LABEL: @filters
// CHECK: scf.for
// CHECK: vector.load %{{.*}} : memref<1x8x11x34xf32{{.*}}>, vector<16xf32>
// CHECK-COUNT-3: vector.broadcast %{{.*}} : f32 to vector<16xf32>
// CHECK: vector.fma
// CHECK-NOT: {{linalg.generic|kernel.contract}}
// CHECK: return
func.func private @filters(%x: tensor<1x8x11x66xf32>, %f: tensor<3x3x8x3xf32>) -> tensor<1x3x9x64xf32> attributes {tenon.kernel} {
  %0 = tenon.transpose %f {permutation = array<i64: 3, 2, 0, 1>} : (tensor<3x3x8x3xf32>) -> tensor<3x8x3x3xf32>
  %1 = tenon.convolve %x, %0 {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>, groups = 1 : i64}
    : (tensor<1x8x11x66xf32>, tensor<3x8x3x3xf32>) -> tensor<1x3x9x64xf32>
  return %1 : tensor<1x3x9x64xf32>
}

// Each channel with a filter of its own has no rows. What is left of a line is masked.
// FORMED-LABEL: @depthwise
// FORMED: kernel.contract <kind = product>
// CHECK-LABEL: @depthwise
// CHECK: vector.maskedload
// CHECK: vector.fma
// CHECK: vector.maskedstore
// CHECK-NOT: {{linalg.generic|kernel.contract}}
// CHECK: return
func.func private @depthwise(%x: tensor<1x2x11x19xf32>, %f: tensor<2x1x3x3xf32>) -> tensor<1x2x9x15xf32> attributes {tenon.kernel} {
  %0 = tenon.convolve %x, %f {strides = array<i64: 1, 1>, dilations = array<i64: 1, 2>, low = array<i64: 0, 0>, high = array<i64: 0, 0>, groups = 2 : i64}
    : (tensor<1x2x11x19xf32>, tensor<2x1x3x3xf32>) -> tensor<1x2x9x15xf32>
  return %0 : tensor<1x2x9x15xf32>
}

// Vectors have no bounds, and no steps: these stay loops over elements.
// FORMED-LABEL: @padded
// FORMED-NOT: kernel.contract
// FORMED-LABEL: @strided
// FORMED-NOT: kernel.contract
// CHECK-LABEL: @padded
// CHECK-NOT: vector.fma
// CHECK: return
func.func private @padded(%x: tensor<1x8x9x64xf32>, %f: tensor<3x8x3x3xf32>) -> tensor<1x3x9x64xf32> attributes {tenon.kernel} {
  %0 = tenon.convolve %x, %f {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, groups = 1 : i64}
    : (tensor<1x8x9x64xf32>, tensor<3x8x3x3xf32>) -> tensor<1x3x9x64xf32>
  return %0 : tensor<1x3x9x64xf32>
}

func.func private @strided(%x: tensor<1x8x11x66xf32>, %f: tensor<3x8x3x3xf32>) -> tensor<1x3x9x32xf32> attributes {tenon.kernel} {
  %0 = tenon.convolve %x, %f {strides = array<i64: 1, 2>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>, groups = 1 : i64}
    : (tensor<1x8x11x66xf32>, tensor<3x8x3x3xf32>) -> tensor<1x3x9x32xf32>
  return %0 : tensor<1x3x9x32xf32>
}
