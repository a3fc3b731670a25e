// RUN: tenon-opt %s -tenon-kernel-abi | FileCheck %s

// Three buffers, one size, 64 bytes of scratch and a slot of 16; s0 + s0 tiles; what the buffers have at least, of one
// that two parts use the larger number; the second and the third are written.
// CHECK-DAG: llvm.mlir.global external constant @all_facts(dense<[3, 1, 128, 1, 0, 1, 0, 2, -1, 0, 0, 16, -1, 1, 1, 0, 0, 4, 4, 0, 16, 9, -1, 1, 1, 0, 0, 4, 4, -1]>

// Parts have no entry points of their own, and are not copied into the caller.
// CHECK-DAG: func.func private @norm_body{{.*}} attributes {llvm.linkage = #llvm.linkage<internal>, passthrough = ["noinline"]}
// CHECK-DAG: func.func private @part_body
// CHECK-NOT: func.func @norm(
// CHECK-NOT: @norm_facts

// CHECK-LABEL: func.func @all(
// CHECK-SAME: %[[BUFFERS:.*]]: !llvm.ptr, %[[SIZES:.*]]: !llvm.ptr, %[[BEGIN:.*]]: i64, %[[END:.*]]: i64, %[[SCRATCH:.*]]: !llvm.ptr, %[[LAST:.*]]: i64) -> i32
// In the first call of a thread, all tiles of the norm, to the slot.
// CHECK: %[[NONE:.*]] = arith.constant -1 : i64
// CHECK: %[[FIRST:.*]] = arith.cmpi eq, %[[LAST]], %[[NONE]]
// CHECK: cf.cond_br %[[FIRST]]
// CHECK: %[[SLOT:.*]] = llvm.getelementptr %[[SCRATCH]][64]
// CHECK: %[[CODE:.*]] = call @norm_body(%{{.*}}, %[[SLOT]], %{{.*}}, %{{.*}}, %[[SCRATCH]], %[[NONE]])
// CHECK: %[[FAILS:.*]] = arith.cmpi ne, %[[CODE]]
// CHECK: cf.cond_br %[[FAILS]]
// Tiles of the second part; what the part left in scratch is what it was if it came last.
// CHECK: arith.maxsi
// CHECK: arith.minsi
// CHECK: %[[OWN:.*]] = arith.select
// CHECK: call @part_body(%[[SLOT2:.*]], %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %[[SCRATCH]], %[[OWN]])
// CHECK-NOT: kernel.merged
func.func private @norm(%in: memref<4xf32> {tenon.dims = #tenon.shape<4>},
    %out: memref<4xf32> {tenon.dims = #tenon.shape<4>, tenon.output}, %begin: index, %end: index)
    attributes {tenon.kernel, tenon.tiles = #tenon.shape<1>} {
  return
}
func.func private @part(%in: memref<4xf32> {tenon.dims = #tenon.shape<4>},
    %out: memref<?xf32> {tenon.dims = #tenon.shape<s0>, tenon.output}, %s0: index, %begin: index, %end: index)
    attributes {tenon.kernel, tenon.scratch = 64 : i64, tenon.symbols = ["s0"], tenon.tiles = #tenon.shape<s0>} {
  return
}
kernel.merged @all buffers 3 sizes 1 scratch 64 slots [16] [
    #kernel.part<@norm, whole, buffers = [0, 3], sizes = []>,
    #kernel.part<@part, tiles, buffers = [3, 1], sizes = [0]>,
    #kernel.part<@part, tiles, buffers = [1, 2], sizes = [0]>]
