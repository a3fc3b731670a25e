// RUN: tenon-opt %s -split-input-file -verify-diagnostics -tenon-kernels-to-nvvm | FileCheck %s

// The body keeps what a CPU's has; the entry asks which thread it is, and calls the body for one tile.
// CHECK-LABEL: func.func private @k_body(
// CHECK-SAME: !llvm.ptr {llvm.noalias, llvm.readonly}, %{{.*}}: !llvm.ptr {llvm.noalias}, %{{.*}}: i64, %{{.*}}: i64, %{{.*}}: i64, %{{.*}}: !llvm.ptr {llvm.noalias}, %{{.*}}: i64) -> i32
// CHECK-LABEL: llvm.func @k(
// CHECK-SAME: %[[IN:.*]]: !llvm.ptr {llvm.noalias, llvm.readonly}, %[[OUT:.*]]: !llvm.ptr {llvm.noalias}, %[[N:.*]]: i64, %[[TILES:.*]]: i64)
// CHECK-SAME: nvvm.kernel
// CHECK-DAG: nvvm.read.ptx.sreg.ctaid.x
// CHECK-DAG: nvvm.read.ptx.sreg.ntid.x
// CHECK-DAG: nvvm.read.ptx.sreg.tid.x
// CHECK: %[[TILE:.*]] = llvm.add
// CHECK: %[[WORK:.*]] = llvm.icmp "slt" %[[TILE]], %[[TILES]]
// CHECK: llvm.cond_br %[[WORK]]
// CHECK: %[[END:.*]] = llvm.add %[[TILE]]
// CHECK: call @k_body(%[[IN]], %[[OUT]], %[[N]], %[[TILE]], %[[END]],
func.func private @k(%in: memref<?xf32> {tenon.dims = #tenon.shape<s0>},
                     %out: memref<?xf32> {tenon.dims = #tenon.shape<s0>, tenon.output}, %n: index, %begin: index,
                     %end: index) attributes {tenon.kernel, tenon.symbols = ["s0"], tenon.tiles = #tenon.shape<s0>} {
  %c1 = arith.constant 1 : index
  scf.for %i = %begin to %end step %c1 {
    %x = memref.load %in[%i] : memref<?xf32>
    memref.store %x, %out[%i] : memref<?xf32>
  }
  return
}

// -----

// CHECK-LABEL: func.func @no_kernel
// CHECK-NOT: llvm.func
func.func @no_kernel(%in: memref<4xf32>) {
  return
}

// -----

// expected-error @+1 {{kernel 'small' works on elements of type 'f8E5M2', which have no form in PTX yet: convert them to f16 or f32}}
func.func private @small(%out: memref<4xf8E5M2> {tenon.dims = #tenon.shape<4>, tenon.output}, %begin: index, %end: index)
    attributes {tenon.kernel, tenon.tiles = #tenon.shape<1>} {
  return
}
