// RUN: tenon-opt %s -split-input-file -verify-diagnostics -tenon-flatten-buffers -canonicalize | FileCheck %s

// Row i of a buffer of s0 rows of 40 is at 40 i; the subview begins at row %t.
// CHECK-LABEL: @through_a_subview
// CHECK-SAME: %[[IN:.*]]: memref<?xf32> {{{.*}}}, %[[OUT:.*]]: memref<?xf32>
// CHECK: %[[ROW:.*]] = arith.muli %[[T:.*]], %c40
// CHECK: %[[PLACE:.*]] = arith.addi %[[ROW]], %[[J:.*]] : index
// CHECK: memref.load %[[IN]][%[[PLACE]]] : memref<?xf32>
// CHECK-NOT: memref.subview
func.func private @through_a_subview(%in: memref<?x40xf32> {tenon.dims = #tenon.shape<s0, 40>},
    %out: memref<?xf32> {tenon.dims = #tenon.shape<s0>, tenon.output}, %s0: index, %begin: index, %end: index)
    attributes {tenon.kernel, tenon.symbols = ["s0"]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c40 = arith.constant 40 : index
  scf.for %t = %begin to %end step %c1 {
    %row = memref.subview %in[%t, 0] [1, 40] [1, 1] : memref<?x40xf32> to memref<1x40xf32, strided<[40, 1], offset: ?>>
    scf.for %j = %c0 to %c40 step %c1 {
      %x = memref.load %row[%c0, %j] : memref<1x40xf32, strided<[40, 1], offset: ?>>
      memref.store %x, %out[%t] : memref<?xf32>
    }
  }
  return
}

// -----

// A subview that drops its first dimension and takes every second element: [i] is [3, 2 i].
// CHECK-LABEL: @strides_and_dropped_dimensions
// CHECK: %[[TWICE:.*]] = arith.muli %{{.*}}, %c2
// CHECK: %[[PLACE:.*]] = arith.addi %[[TWICE]], %c24
// CHECK: memref.store %{{.*}}, %{{.*}}[%[[PLACE]]] : memref<?xf32>
func.func private @strides_and_dropped_dimensions(
    %out: memref<4x8xf32> {tenon.dims = #tenon.shape<4, 8>, tenon.output}, %begin: index, %end: index)
    attributes {tenon.kernel} {
  %zero = arith.constant 0.0 : f32
  %part = memref.subview %out[3, 0] [1, 4] [1, 2] : memref<4x8xf32> to memref<4xf32, strided<[2], offset: 24>>
  memref.store %zero, %part[%begin] : memref<4xf32, strided<[2], offset: 24>>
  return
}

// -----

// CHECK-LABEL: @stack_and_copy
// CHECK: %[[STACK:.*]] = memref.alloca() : memref<6xf32>
// CHECK: scf.for
// CHECK: scf.for
// CHECK: memref.load %[[STACK]]
// CHECK: memref.store
// CHECK-NOT: memref.copy
func.func private @stack_and_copy(%out: memref<2x3xf32> {tenon.dims = #tenon.shape<2, 3>, tenon.output},
    %begin: index, %end: index) attributes {tenon.kernel} {
  %zero = arith.constant 0.0 : f32
  %stack = memref.alloca() : memref<2x3xf32>
  memref.store %zero, %stack[%begin, %begin] : memref<2x3xf32>
  memref.copy %stack, %out : memref<2x3xf32> to memref<2x3xf32>
  return
}

// -----

// CHECK-LABEL: @brain_floats_are_stored_as_integers
// CHECK-SAME: memref<?xi16>
// CHECK: %[[X:.*]] = memref.load %{{.*}} : memref<?xi16>
// CHECK: arith.bitcast %[[X]] : i16 to bf16
func.func private @brain_floats_are_stored_as_integers(%in: memref<4xbf16> {tenon.dims = #tenon.shape<4>},
    %out: memref<4xf32> {tenon.dims = #tenon.shape<4>, tenon.output}, %begin: index, %end: index)
    attributes {tenon.kernel} {
  %x = memref.load %in[%begin] : memref<4xbf16>
  %wide = arith.extf %x : bf16 to f32
  memref.store %wide, %out[%begin] : memref<4xf32>
  return
}

// -----

func.func private @pointers_have_no_form(%out: memref<4xf32> {tenon.dims = #tenon.shape<4>, tenon.output},
    %begin: index, %end: index) attributes {tenon.kernel} {
  // expected-error @+1 {{'memref.extract_aligned_pointer_as_index' on a buffer has no form for Vulkan}}
  %0 = memref.extract_aligned_pointer_as_index %out : memref<4xf32> -> index
  return
}

// -----

func.func private @vectors_have_no_form(%out: memref<4xf32> {tenon.dims = #tenon.shape<4>, tenon.output},
    %begin: index, %end: index) attributes {tenon.kernel} {
  // expected-error @+1 {{'vector.load' on a buffer has no form for Vulkan}}
  %0 = vector.load %out[%begin] : memref<4xf32>, vector<4xf32>
  return
}
