// RUN: tenon-opt %s -tenon-drop-index-checks | FileCheck %s

// A kernel on a GPU has no status to return; what it computes stays.
// CHECK-LABEL: func.func private @kernel
// CHECK-NOT: kernel.check_indices
// CHECK: memref.load
// CHECK: memref.store
// CHECK: return
func.func private @kernel(%in: memref<8xf32>, %out: memref<8xf32>, %i: index, %last: index) attributes {tenon.kernel} {
  %c0 = arith.constant 0 : index
  kernel.check_indices %i to %i in %c0 to %last
  %0 = memref.load %in[%i] : memref<8xf32>
  memref.store %0, %out[%c0] : memref<8xf32>
  return
}

// Functions that are no kernels keep their checks.
// CHECK-LABEL: func.func private @other
// CHECK: kernel.check_indices %arg0 to %arg0 in %{{.*}} to %arg1
func.func private @other(%i: index, %last: index) {
  %c0 = arith.constant 0 : index
  kernel.check_indices %i to %i in %c0 to %last
  return
}
