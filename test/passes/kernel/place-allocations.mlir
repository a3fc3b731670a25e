// RUN: tenon-opt %s -split-input-file -verify-diagnostics -tenon-place-allocations | FileCheck %s

// Reserved once at entry, though it is used anew in every tile.
// CHECK-LABEL: @stack_memory
// CHECK-NEXT: memref.alloca() {alignment = 64 : i64} : memref<8xf32>
// CHECK: scf.for
// CHECK-NOT: memref.alloc
// CHECK-NOT: memref.dealloc
func.func private @stack_memory(%begin: index, %end: index) attributes {tenon.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  scf.for %t = %begin to %end step %c1 {
    %tile = memref.alloc() : memref<8xf32>
    memref.store %zero, %tile[%c0] : memref<8xf32>
    memref.dealloc %tile : memref<8xf32>
  }
  return
}

// -----

// CHECK-LABEL: @unused_memory_vanishes
// CHECK-NEXT: return
func.func private @unused_memory_vanishes(%begin: index, %end: index) attributes {tenon.kernel} {
  %0 = memref.alloc() : memref<1000000xf32>
  return
}

// -----

// expected-error @+1 {{needs an intermediate buffer of type 'memref<?xf32>', which no tile can hold}}
func.func private @no_stack_of_unknown_size(%n: index, %begin: index, %end: index) attributes {tenon.kernel} {
  %zero = arith.constant 0.0 : f32
  %0 = memref.alloc(%n) : memref<?xf32>
  memref.store %zero, %0[%n] : memref<?xf32>
  return
}

// -----

// expected-error @+1 {{needs an intermediate buffer of type 'memref<100000xf32>', which no tile can hold}}
func.func private @no_stack_beyond_a_limit(%n: index, %begin: index, %end: index) attributes {tenon.kernel} {
  %zero = arith.constant 0.0 : f32
  %0 = memref.alloc() : memref<100000xf32>
  memref.store %zero, %0[%n] : memref<100000xf32>
  return
}
