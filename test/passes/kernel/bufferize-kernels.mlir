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
