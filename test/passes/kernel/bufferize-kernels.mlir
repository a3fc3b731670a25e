// RUN: tenon-opt %s -tenon-bufferize-kernels | FileCheck %s

#id = affine_map<(d0) -> (d0)>

// CHECK-LABEL: @results_are_written_in_place
// CHECK-SAME: %[[X:.*]]: memref<4xf32>{{.*}}, %[[OUT:.*]]: memref<4xf32>
// CHECK: linalg.generic {{.*}} ins(%[[X]] : memref<4xf32>) outs(%[[OUT]] : memref<4xf32>)
// CHECK-NOT: memref.alloc
// CHECK-NOT: memref.copy
// CHECK: return{{$}}
func.func private @results_are_written_in_place(%x: tensor<4xf32>, %out: tensor<4xf32> {tenon.output}) -> tensor<4xf32>
    attributes {tenon.kernel} {
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%x : tensor<4xf32>) outs(%out : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32):
    %1 = math.exp %a : f32
    linalg.yield %1 : f32
  } -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: @results_that_lie_elsewhere_are_copied
// CHECK-SAME: %[[X:.*]]: memref<4xf32>{{.*}}, %[[OUT:.*]]: memref<4xf32>
// CHECK: linalg.generic {{.*}} ins(%[[X]] : memref<4xf32>) outs(%[[OUT]] : memref<4xf32>)
func.func private @results_that_lie_elsewhere_are_copied(%x: tensor<4xf32>, %out: tensor<4xf32> {tenon.output})
    -> tensor<4xf32> attributes {tenon.kernel} {
  return %x : tensor<4xf32>
}

// CHECK-LABEL: @inputs_are_never_written
// CHECK-SAME: %[[X:.*]]: memref<4xf32>{{.*}}, %[[OUT:.*]]: memref<4xf32>
// CHECK-NOT: memref.store %{{.*}}, %[[X]]
// CHECK: return
func.func private @inputs_are_never_written(%x: tensor<4xf32>, %out: tensor<4xf32> {tenon.output}) -> tensor<4xf32>
    attributes {tenon.kernel} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %0 = tensor.insert %zero into %x[%c0] : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: @no_kernel_keeps_its_tensors
// CHECK: tensor<4xf32>
func.func @no_kernel_keeps_its_tensors(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// A contraction adds to its destination, and the factors that its body names are read from the buffers: the LHS that is an
// operand, and the image that the body reads by itself.
// CHECK-LABEL: @contractions_keep_their_factors
// CHECK-SAME: %[[X:.*]]: memref<4x16xf32>{{.*}}, %[[W:.*]]: memref<18x8xf32>{{.*}}, %[[OUT:.*]]: memref<4x8xf32>
// CHECK-NOT: memref.alloc
// CHECK: kernel.contract <kind = product, row = 0> ins(%[[X]] : memref<4x16xf32>) init(%[[OUT]] : memref<4x8xf32>)
// CHECK-SAME: schedule = #kernel.schedule<tile = [4, 16, 8]>
// CHECK: ^bb0(%[[LHS:.*]]: f32,
// CHECK: %[[RHS:.*]] = memref.load %[[W]]
// CHECK: kernel.sum %{{.*}} : f32 lhs(%[[LHS]] : f32) rhs(%[[RHS]] : f32)
// CHECK-NOT: memref.copy
// CHECK: return{{$}}
func.func private @contractions_keep_their_factors(%x: tensor<4x16xf32>, %w: tensor<18x8xf32>,
    %out: tensor<4x8xf32> {tenon.output}) -> tensor<4x8xf32> attributes {tenon.kernel} {
  %two = arith.constant 2 : index
  %0 = kernel.contract <kind = product, row = 0> ins(%x : tensor<4x16xf32>) init(%out : tensor<4x8xf32>)
      attributes {indexing_maps = [affine_map<(m, k, n) -> (m, k)>, affine_map<(m, k, n) -> (m, n)>],
                  schedule = #kernel.schedule<tile = [4, 16, 8]>} {
  ^bb0(%a: f32, %old: f32):
    %k = linalg.index 1 : index
    %n = linalg.index 2 : index
    %row = arith.addi %k, %two : index
    %b = tensor.extract %w[%row, %n] : tensor<18x8xf32>
    %p = arith.mulf %a, %b : f32
    %added = arith.addf %old, %p : f32
    %sum = kernel.sum %added : f32 lhs(%a : f32) rhs(%b : f32)
    linalg.yield %sum : f32
  } -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}
