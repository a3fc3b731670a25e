// RUN: tenon-opt %s --tenon-to-linalg --tenon-form-contractions --tenon-tile-kernels | FileCheck %s
// RUN: tenon-opt %s --tenon-to-linalg --tenon-form-contractions --tenon-tile-kernels --canonicalize --cse --tenon-bufferize-kernels --cse --canonicalize \
// RUN:   --tenon-vectorize-contractions='vector-bytes=32 registers=16' | FileCheck %s --check-prefix=VECTORS

// Three lines of the result are of five between: as many in each tile, all of them lines of the image.
// CHECK-LABEL: @expand_and_depthwise
// CHECK-SAME: tenon.tiles = #tenon.shape<6>
// CHECK-NOT: {{linalg.generic|kernel.contract}}
// CHECK: scf.for
// CHECK: %[[LAST:.*]] = arith.minsi %{{.*}}, %c2
// CHECK: %[[LINE:.*]] = arith.maxsi %[[LAST]], %c0
// CHECK: %[[SUMS:.*]] = linalg.fill {{.*}} -> tensor<25x16xf32>
// CHECK: kernel.contract {{.*}} init(%[[SUMS]] : tensor<25x16xf32>)
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]
// CHECK: %[[IMAGE:.*]] = tensor.expand_shape {{.*}} : tensor<25x16xf32> into tensor<1x5x5x16xf32>
// CHECK: kernel.contract {{.*}}init(%{{.*}} : tensor<1x?x5x16xf32>)
// CHECK: %[[INSIDE:.*]] = affine.apply {{.*}}%[[LINE]]
// CHECK: tensor.extract %[[IMAGE]][%{{.*}}, %[[INSIDE]],
// CHECK: scf.yield
// What both sum is done in registers.
// VECTORS-LABEL: @expand_and_depthwise
// VECTORS: memref.alloc() {{.*}}: memref<25x16xf32>
// VECTORS-NOT: {{linalg.generic|kernel.contract}}
// VECTORS: vector.fma
// VECTORS-NOT: {{linalg.generic|kernel.contract}}
// VECTORS: return
func.func private @expand_and_depthwise(%x: tensor<35x9xf32>, %w: tensor<2x9x16xf32>, %f: tensor<3x3x1x32xf32>) -> tensor<1x7x5x32xf32>
    attributes {tenon.kernel, tenon.machine = #tenon.machine<vector_bytes = 32, vector_registers = 16>} {
  %0 = tenon.unpack %w {axis = 1 : i64} : (tensor<2x9x16xf32>) -> tensor<9x32xf32>
  %1 = tenon.contract %x, %0 {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 2, 1>, result_dims = array<i64: 0, 1>}
    : (tensor<35x9xf32>, tensor<9x32xf32>) -> tensor<35x32xf32>
  %2 = tenon.relu %1 : (tensor<35x32xf32>) -> tensor<35x32xf32>
  %3 = tenon.reshape %2 {tenon.chain_tile = array<i64: 1, 3, 5, 16>} : (tensor<35x32xf32>) -> tensor<1x7x5x32xf32>
  %4 = tenon.convolve %3, %f {channels_last, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>,
                              high = array<i64: 1, 1>, groups = 32 : i64}
    : (tensor<1x7x5x32xf32>, tensor<3x3x1x32xf32>) -> tensor<1x7x5x32xf32>
  return %4 : tensor<1x7x5x32xf32>
}

// Two of six lines are ten rows, of any number of images.
// CHECK-LABEL: @depthwise_and_project
// CHECK-SAME: tenon.tiles = #tenon.shape<s0 * 3>
// CHECK-NOT: {{linalg.generic|kernel.contract}}
// CHECK: scf.for
// CHECK: linalg.fill {{.*}} -> tensor<1x2x5x8xf32>
// CHECK: kernel.contract {{.*}}init(%{{.*}} : tensor<1x2x5x8xf32>)
// CHECK: %[[ROWS:.*]] = tensor.collapse_shape {{.*}} : tensor<1x2x5x8xf32> into tensor<10x8xf32>
// CHECK: kernel.contract {{.*}} ins(%[[ROWS]], {{.*}} init(%{{.*}} : tensor<10x24xf32>)
// CHECK: tensor.insert_slice {{.*}} [10, 24] [1, 1] : tensor<10x24xf32> into tensor<?x24xf32>
// VECTORS-LABEL: @depthwise_and_project
// VECTORS: memref.alloc() {{.*}}: memref<1x2x5x8xf32>
// VECTORS-NOT: {{linalg.generic|kernel.contract}}
// VECTORS: vector.fma
// VECTORS-NOT: {{linalg.generic|kernel.contract}}
// VECTORS: return
func.func private @depthwise_and_project(%x: tensor<?x6x5x8xf32, #tenon.shape<s0, 6, 5, 8>>, %f: tensor<3x3x1x8xf32>, %w: tensor<8x24xf32>)
    -> tensor<?x24xf32, #tenon.shape<s0 * 30, 24>>
    attributes {tenon.kernel, tenon.symbols = ["s0"], tenon.machine = #tenon.machine<vector_bytes = 32, vector_registers = 16>} {
  %0 = tenon.convolve %x, %f {channels_last, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>,
                              high = array<i64: 1, 1>, groups = 8 : i64}
    : (tensor<?x6x5x8xf32, #tenon.shape<s0, 6, 5, 8>>, tensor<3x3x1x8xf32>) -> tensor<?x6x5x8xf32, #tenon.shape<s0, 6, 5, 8>>
  %1 = tenon.reshape %0 {tenon.chain_tile = array<i64: 10, 24>} : (tensor<?x6x5x8xf32, #tenon.shape<s0, 6, 5, 8>>) -> tensor<?x8xf32, #tenon.shape<s0 * 30, 8>>
  %2 = tenon.contract %1, %w {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 2, 1>, result_dims = array<i64: 0, 1>}
    : (tensor<?x8xf32, #tenon.shape<s0 * 30, 8>>, tensor<8x24xf32>) -> tensor<?x24xf32, #tenon.shape<s0 * 30, 24>>
  return %2 : tensor<?x24xf32, #tenon.shape<s0 * 30, 24>>
}
