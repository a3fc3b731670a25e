// RUN: tenon-opt %s -split-input-file -verify-diagnostics -tenon-kernels-to-gpu | FileCheck %s

// CHECK-LABEL: gpu.module @k attributes {spirv.target_env = #spirv.target_env<#spirv.vce<v1.3
// CHECK: gpu.func @k(
// CHECK-SAME: %[[OUT:.*]]: memref<?xf32, #spirv.storage_class<StorageBuffer>> {spirv.interface_var_abi = #spirv.interface_var_abi<(0, 0)>}
// CHECK-SAME: %[[PUSH:.*]]: memref<2xi32, #spirv.storage_class<PushConstant>>
// CHECK-SAME: kernel
// CHECK-SAME: workgroup_size = [64, 1, 1]
// Memory of an invocation is declared first; push constants are the size, then the number of tiles.
// CHECK: memref.alloca() : memref<4xf32, #spirv.storage_class<Function>>
// CHECK: memref.load %[[PUSH]]
// CHECK: %[[LAST:.*]] = memref.load %[[PUSH]]
// CHECK: %[[TILES:.*]] = arith.index_cast %[[LAST]]
// CHECK: %[[THREAD:.*]] = gpu.thread_id x
// CHECK: %[[TILE:.*]] = arith.addi %{{.*}}, %[[THREAD]] : index
// CHECK: %[[END:.*]] = arith.addi %[[TILE]]
// CHECK: %[[WORK:.*]] = arith.cmpi ult, %[[TILE]], %[[TILES]]
// CHECK: scf.if %[[WORK]]
// CHECK: scf.for %{{.*}} = %[[TILE]] to %[[END]]
func.func private @k(%out: memref<?xf32>, %n: index, %begin: index, %end: index) attributes {tenon.kernel} {
  %stack = memref.alloca() : memref<4xf32>
  %c1 = arith.constant 1 : index
  scf.for %t = %begin to %end step %c1 {
    %x = memref.load %stack[%n] : memref<4xf32>
    memref.store %x, %out[%t] : memref<?xf32>
  }
  return
}

// -----

// expected-error @+1 {{has a buffer of 'f8E5M2', which Vulkan cannot hold}}
func.func private @buffer_of_small_floats(%out: memref<?xf8E5M2>, %begin: index, %end: index) attributes {tenon.kernel} {
  return
}

// -----

func.func private @brain_floats_that_are_left(%out: memref<?xi16>, %begin: index, %end: index) attributes {tenon.kernel} {
  // expected-error @+1 {{computes in 'bf16', which Vulkan cannot: convert it to f32}}
  %0 = arith.constant 1.0 : bf16
  return
}

// -----

func.func private @far_index(%out: memref<?xi8>, %begin: index, %end: index) attributes {tenon.kernel} {
  // expected-error @+1 {{needs the index 2147483648, and indices have 32 bits on Vulkan}}
  %0 = arith.constant 2147483648 : index
  return
}
