// RUN: tenon-opt %s -tenon-kernel-abi | FileCheck %s

// Two buffers, one size, no scratch; s0 tiles; an input of s0 * 160 bytes; an output of s0 * 4 bytes.
// CHECK: llvm.mlir.global external constant @k_facts(dense<[2, 1, 0, 1, 0, -1, 0, 1, 0, 0, 160, 4, -1, 1, 1, 0, 0, 4, 4, -1]>

// CHECK-LABEL: func.func private @k_body(
// CHECK-SAME: %[[IN:.*]]: !llvm.ptr {llvm.noalias, llvm.readonly}, %[[OUT:.*]]: !llvm.ptr {llvm.noalias}, %[[S0:.*]]: i64, %{{.*}}: i64, %{{.*}}: i64, %{{.*}}: !llvm.ptr {llvm.noalias}, %{{.*}}: i64) -> i32
// CHECK-SAME: llvm.linkage = #llvm.linkage<internal>
// Sizes and strides of an s0 x 40 buffer: s0, 40 and 40, 1.
// CHECK: llvm.insertvalue %[[S0]], %{{.*}}[3, 0]
// CHECK: arith.constant 40 : i64
// CHECK: %[[OK:.*]] = llvm.mlir.constant(0 : i32)
// CHECK: return %[[OK]] : i32

// Pointers come from the first table and sizes from the second.
// CHECK-LABEL: func.func @k(
// CHECK-SAME: %[[BUFFERS:.*]]: !llvm.ptr, %[[SIZES:.*]]: !llvm.ptr, %[[BEGIN:.*]]: i64, %[[END:.*]]: i64, %[[SCRATCH:.*]]: !llvm.ptr, %[[LAST:.*]]: i64) -> i32
// CHECK: llvm.getelementptr %[[BUFFERS]][0]
// CHECK: %[[P0:.*]] = llvm.load {{.*}} -> !llvm.ptr
// CHECK: llvm.getelementptr %[[BUFFERS]][1]
// CHECK: %[[P1:.*]] = llvm.load {{.*}} -> !llvm.ptr
// CHECK: llvm.getelementptr %[[SIZES]][0]
// CHECK: %[[N:.*]] = llvm.load {{.*}} -> i64
// CHECK: call @k_body(%[[P0]], %[[P1]], %[[N]], %[[BEGIN]], %[[END]], %[[SCRATCH]], %[[LAST]])
func.func private @k(%in: memref<?x40xf32> {tenon.dims = #tenon.shape<s0, 40>},
    %out: memref<?xf32> {tenon.dims = #tenon.shape<s0>, tenon.output}, %s0: index, %begin: index, %end: index)
    attributes {tenon.kernel, tenon.symbols = ["s0"], tenon.tiles = #tenon.shape<s0>} {
  %x = memref.load %in[%begin, %begin] : memref<?x40xf32>
  memref.store %x, %out[%begin] : memref<?xf32>
  return
}

// A function that is no kernel has no entry for the runtime, and keeps its arguments.
// CHECK-LABEL: func.func private @helper(%{{.*}}: memref<4xf32>, %{{.*}}: index)
// CHECK-NOT: llvm.
// CHECK-NOT: @helper_
func.func private @helper(%x: memref<4xf32>, %i: index) -> f32 {
  %0 = memref.load %x[%i] : memref<4xf32>
  return %0 : f32
}
