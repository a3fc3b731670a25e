// RUN: tenon-opt %s --tenon-expand-winograd --tenon-form-contractions --tenon-vectorize-contractions | FileCheck %s

#lhs = affine_map<(m, k, n) -> (m, k)>
#rhs = affine_map<(m, k, n) -> (k, n)>
#out = affine_map<(m, k, n) -> (m, n)>
#all = affine_map<(m, n) -> (m, n)>
#column = affine_map<(m, n) -> (n)>
#row = affine_map<(m, n) -> (m)>
#turned = affine_map<(m, n) -> (n, m)>
#pixel = affine_map<(i, y, x, c) -> (i, y, x, c)>
#filter = affine_map<(i, y, x, c) -> (c)>
#scale = affine_map<(i, y, x, c) -> (i, y, x)>

// A bias, a residual and a ReLU: on the sums, before the one store that there is. The block's part of the residual is asked
// for before the loop; the bias is read once for all rows.
// CHECK-LABEL: @sums_are_changed_before_they_are_stored
// CHECK-COUNT-8: memref.prefetch %arg4[{{.*}}], read, locality<3>
// CHECK: %[[SUMS:.*]]:8 = scf.for
// CHECK: scf.yield
// CHECK: %[[BIAS:.*]] = vector.load %arg3[
// CHECK: %[[R:.*]] = vector.load %arg4[
// CHECK: %[[X:.*]] = arith.addf %[[SUMS]]#0, %[[BIAS]] : vector<16xf32>
// CHECK: %[[Y:.*]] = arith.addf %[[X]], %[[R]]
// CHECK: arith.maximumf %[[Y]],
// CHECK: arith.addf %{{.*}}#2, %[[BIAS]]
// CHECK-COUNT-8: vector.store %{{.*}}, %arg2
// CHECK-NOT: vector.store
// CHECK-NOT: {{linalg.generic|kernel.contract}}
func.func @sums_are_changed_before_they_are_stored(%a: memref<4x100xf32>, %b: memref<100x32xf32>, %c: memref<4x32xf32>,
                                                   %bias: memref<32xf32>, %r: memref<4x32xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%c : memref<4x32xf32>)
  linalg.generic {indexing_maps = [#lhs, #rhs, #out], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%a, %b : memref<4x100xf32>, memref<100x32xf32>) outs(%c : memref<4x32xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %0 = arith.mulf %x, %y : f32
    %1 = arith.addf %z, %0 : f32
    linalg.yield %1 : f32
  }
  linalg.generic {indexing_maps = [#column, #all, #all], iterator_types = ["parallel", "parallel"]}
      ins(%bias, %r : memref<32xf32>, memref<4x32xf32>) outs(%c : memref<4x32xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %0 = arith.addf %z, %x : f32
    %1 = arith.addf %0, %y : f32
    %2 = arith.maximumf %1, %zero : f32
    linalg.yield %2 : f32
  }
  return
}

// Numbers of another type, one for a row, a constant, and a last vector of four columns.
// CHECK-LABEL: @rows_types_and_parts
// CHECK: %[[MASK:.*]] = vector.create_mask
// CHECK: scf.for
// CHECK: memref.load %arg3[
// CHECK: vector.broadcast %{{.*}} : i32 to vector<16xi32>
// CHECK: arith.sitofp %{{.*}} : vector<16xi32> to vector<16xf32>
// CHECK: vector.maskedstore %arg2{{.*}}, %[[MASK]]
// CHECK-NOT: {{linalg.generic|kernel.contract}}
func.func @rows_types_and_parts(%a: memref<1x100xf32>, %b: memref<100x20xf32>, %c: memref<1x20xf32>, %s: memref<1xi32>) {
  linalg.generic {indexing_maps = [#lhs, #rhs, #out], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%a, %b : memref<1x100xf32>, memref<100x20xf32>) outs(%c : memref<1x20xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %0 = arith.mulf %x, %y : f32
    %1 = arith.addf %z, %0 : f32
    linalg.yield %1 : f32
  }
  linalg.generic {indexing_maps = [#row, #all], iterator_types = ["parallel", "parallel"]}
      ins(%s : memref<1xi32>) outs(%c : memref<1x20xf32>) {
  ^bb0(%x: i32, %z: f32):
    %half = arith.constant 0.5 : f32
    %0 = arith.sitofp %x : i32 to f32
    %1 = arith.mulf %z, %0 : f32
    %2 = arith.addf %1, %half : f32
    linalg.yield %2 : f32
  }
  return
}

// A function that is a call, and elements that lie apart: loops of their own.
// CHECK-LABEL: @others_are_left
// CHECK: vector.fma
// CHECK: linalg.generic
// CHECK: math.exp
// CHECK: linalg.generic
// CHECK: arith.addf
func.func @others_are_left(%a: memref<4x100xf32>, %b: memref<100x32xf32>, %c: memref<4x32xf32>, %t: memref<32x4xf32>) {
  linalg.generic {indexing_maps = [#lhs, #rhs, #out], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%a, %b : memref<4x100xf32>, memref<100x32xf32>) outs(%c : memref<4x32xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %0 = arith.mulf %x, %y : f32
    %1 = arith.addf %z, %0 : f32
    linalg.yield %1 : f32
  }
  linalg.generic {indexing_maps = [#all], iterator_types = ["parallel", "parallel"]} outs(%c : memref<4x32xf32>) {
  ^bb0(%z: f32):
    %0 = math.exp %z : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [#turned, #all], iterator_types = ["parallel", "parallel"]}
      ins(%t : memref<32x4xf32>) outs(%c : memref<4x32xf32>) {
  ^bb0(%x: f32, %z: f32):
    %0 = arith.addf %z, %x : f32
    linalg.yield %0 : f32
  }
  return
}

// Squares of a Winograd convolution get their bias before they are stored.
// CHECK-LABEL: @squares
// CHECK: scf.if
// CHECK: vector.load %arg3[
// CHECK: arith.addf
// CHECK: vector.store {{.*}} : memref<1x?x11x40xf32
// CHECK: vector.maskedload %arg3[
// CHECK: vector.maskedstore
// One number for a pixel: squares reach beyond the tile, and no mask would hold back its read.
// CHECK: linalg.generic
// CHECK: arith.mulf
func.func private @squares(%x: memref<1x9x11x20xf32>, %w: memref<2x16x20x32xf32>, %out: memref<1x?x11x40xf32>,
                           %bias: memref<40xf32>, %s: memref<1x?x11xf32>, %n: index, %y: index, %c0: index)
    attributes {tenon.kernel} {
  kernel.winograd ins(%x, %w : memref<1x9x11x20xf32>, memref<2x16x20x32xf32>) init(%out : memref<1x?x11x40xf32>)
    at [%n, %y, %c0, %c0] {low = array<i64: 1, 1>, outputs = 2 : i64, tile = array<i64: 4, 12, 64>, window = 3 : i64}
  linalg.generic {indexing_maps = [#filter, #pixel], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%bias : memref<40xf32>) outs(%out : memref<1x?x11x40xf32>) {
  ^bb0(%a: f32, %z: f32):
    %0 = arith.addf %z, %a : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [#scale, #pixel], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%s : memref<1x?x11xf32>) outs(%out : memref<1x?x11x40xf32>) {
  ^bb0(%a: f32, %z: f32):
    %0 = arith.mulf %z, %a : f32
    linalg.yield %0 : f32
  }
  return
}

// Sums in memory of the kernel's own that one stage makes the result of, in another type: they never reach that memory.
// A single column that is left is stored without a mask.
// CHECK-LABEL: @sums_become_bytes
// CHECK: scf.for
// CHECK: arith.fptosi %{{.*}} : vector<16xf32> to vector<16xi32>
// CHECK: %[[BYTES:.*]] = arith.trunci %{{.*}} : vector<16xi32> to vector<16xi8>
// CHECK: vector.store %{{.*}}, %arg2[{{.*}}] : memref<4x17xi8>, vector<16xi8>
// CHECK: %[[LAST:.*]] = vector.extract %{{.*}}[0] : i8 from vector<16xi8>
// CHECK: memref.store %[[LAST]], %arg2
// CHECK-NOT: vector.maskedstore
// CHECK-NOT: {{linalg.generic|kernel.contract}}
func.func @sums_become_bytes(%a: memref<4x100xf32>, %b: memref<100x17xf32>, %c: memref<4x17xi8>) {
  %zero = arith.constant 0.0 : f32
  %sums = memref.alloc() : memref<4x17xf32>
  linalg.fill ins(%zero : f32) outs(%sums : memref<4x17xf32>)
  linalg.generic {indexing_maps = [#lhs, #rhs, #out], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%a, %b : memref<4x100xf32>, memref<100x17xf32>) outs(%sums : memref<4x17xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %0 = arith.mulf %x, %y : f32
    %1 = arith.addf %z, %0 : f32
    linalg.yield %1 : f32
  }
  linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]}
      ins(%sums : memref<4x17xf32>) outs(%c : memref<4x17xi8>) {
  ^bb0(%x: f32, %old: i8):
    %0 = arith.fptosi %x : f32 to i32
    %1 = arith.trunci %0 : i32 to i8
    linalg.yield %1 : i8
  }
  return
}

// The caller sees the sums, too.
// CHECK-LABEL: @sums_are_a_result
// CHECK: linalg.generic
func.func @sums_are_a_result(%a: memref<4x100xf32>, %b: memref<100x32xf32>, %sums: memref<4x32xf32>, %c: memref<4x32xi8>) {
  linalg.generic {indexing_maps = [#lhs, #rhs, #out], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%a, %b : memref<4x100xf32>, memref<100x32xf32>) outs(%sums : memref<4x32xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %0 = arith.mulf %x, %y : f32
    %1 = arith.addf %z, %0 : f32
    linalg.yield %1 : f32
  }
  linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]}
      ins(%sums : memref<4x32xf32>) outs(%c : memref<4x32xi8>) {
  ^bb0(%x: f32, %old: i8):
    %0 = arith.fptosi %x : f32 to i32
    %1 = arith.trunci %0 : i32 to i8
    linalg.yield %1 : i8
  }
  return
}
