// RUN: tenon-opt %s -tenon-kernel-abi -canonicalize | FileCheck %s

// Each tile has as many steps; a check that fails ends the kernel, and one block reports for all of them.
// CHECK-LABEL: func.func private @k_body(
// CHECK-SAME: %[[IN:.*]]: !llvm.ptr {llvm.noalias, llvm.readonly}, %[[COUNT:.*]]: i64, %[[BEGIN:.*]]: i64, %[[END:.*]]: i64, %[[SCRATCH:.*]]: !llvm.ptr {llvm.noalias}, %{{.*}}: i64) -> i32
// CHECK-DAG: %[[OK:.*]] = llvm.mlir.constant(0 : i32)
// CHECK-DAG: %[[CODE:.*]] = llvm.mlir.constant(1 : i32)
// CHECK: %[[PERTILE:.*]] = arith.ceildivui %[[COUNT]], %{{.*}} : i64
// CHECK: arith.muli %[[BEGIN]], %[[PERTILE]]
// CHECK: arith.minsi
// CHECK: arith.muli %[[END]], %[[PERTILE]]
// CHECK: arith.minsi
// CHECK: cf.cond_br %{{.*}}, ^[[REPORT:.*]](%{{.*}} : i64, i64, i64), ^[[NEXT:.*]]
// CHECK: ^[[NEXT]]:
// CHECK: cf.cond_br %{{.*}}, ^[[REPORT]](%{{.*}} : i64, i64, i64), ^[[REST:.*]]
// CHECK: ^[[REST]]:
// CHECK: return %[[OK]] : i32
// CHECK: ^[[REPORT]](%[[INDEX:.*]]: i64, %[[FIRST:.*]]: i64, %[[LAST:.*]]: i64):
// CHECK: llvm.store %[[INDEX]], %[[SCRATCH]]
// CHECK: llvm.store %[[FIRST]]
// CHECK: llvm.store %[[LAST]]
// CHECK: return %[[CODE]] : i32
func.func private @k(%in: memref<?xindex> {tenon.dims = #tenon.shape<s0>}, %s0: index, %begin: index, %end: index)
    attributes {tenon.kernel, tenon.symbols = ["s0"], tenon.tiles = #tenon.shape<s0 ceildiv 16>} {
  %first, %last = kernel.share %s0
  %a = memref.load %in[%first] : memref<?xindex>
  %b = memref.load %in[%last] : memref<?xindex>
  kernel.check_indices %a to %b in %begin to %s0
  kernel.check_indices %b to %a in %begin to %end
  return
}
