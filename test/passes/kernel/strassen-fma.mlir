// RUN: tenon-opt %s --tenon-form-contractions --tenon-vectorize-contractions --canonicalize --cse | FileCheck %s
// Products of halves: seven in place of eight.

#rows = affine_map<(m, k, n) -> (m, k)>
#panels = affine_map<(m, k, n) -> (n floordiv 32, k, n mod 32)>
#out = affine_map<(m, k, n) -> (m, n)>

// CHECK-LABEL: @halves
// CHECK-SAME: %[[A:[a-z0-9]*]]: memref<8x64xf32>, %[[B:[a-z0-9]*]]: memref<4x64x32xf32>, %[[BIAS:[a-z0-9]*]]: memref<128xf32>, %[[C:[a-z0-9]*]]: memref<8x128xf32>
// The sums of the rows, of seven products, have an odd number of cache lines.
// CHECK-DAG: %[[ROWS:.*]] = kernel.scratch 0 : memref<7x4x48xf32>
// CHECK-DAG: %[[SCALES:.*]] = kernel.scratch {{.*}} : memref<4x2xf32>
// CHECK-DAG: %[[SUM:.*]] = kernel.scratch {{.*}} : memref<1x32x32xf32>
// CHECK-DAG: %[[PRODUCTS:.*]] = kernel.scratch {{.*}} : memref<7x4x32xf32>
// Each pair of rows has its largest magnitudes, powers of two, and sums of scaled halves.
// CHECK: scf.for %[[PAIR:.*]] = %c0 to %c4 step %c1
// CHECK:   arith.maxui
// CHECK:   vector.reduction <maxui>
// CHECK:   vector.reduction <maxui>
// CHECK:   scf.if
// CHECK:     memref.store {{.*}}, %[[SCALES]][%[[PAIR]], %c0]
// CHECK:     memref.store {{.*}}, %[[SCALES]][%[[PAIR]], %c1]
// CHECK:     scf.for
// CHECK-COUNT-4: arith.mulf
// CHECK-COUNT-7: vector.store {{.*}}, %[[ROWS]]
// CHECK:   } else {
// CHECK:     memref.store %cst{{.*}}, %[[SCALES]][%[[PAIR]], %c0]
// Then for each pair of panels three products by sums, two by differences, two by blocks, and sums of all. The one register block of rows, which
// makes a sum, stores it.
// CHECK: scf.for {{.*}} = %c0 to %c2 step %c1
// CHECK:   scf.for {{.*}} = %c0 to %c3 step %c1
// CHECK:     scf.for
// CHECK:       %[[X:.*]] = vector.load
// CHECK:       %[[Y:.*]] = vector.load
// CHECK:       %[[Z:.*]] = arith.addf %[[X]], %[[Y]]
// CHECK:       vector.store %[[Z]], %[[SUM]]
// CHECK:       vector.fma
// CHECK:   scf.for {{.*}} = %c0 to %c2 step %c1
// CHECK:     scf.for
// CHECK:       arith.subf
// CHECK:       vector.store {{.*}}, %[[SUM]]
// CHECK:       vector.fma
// CHECK:   scf.for {{.*}} = %c0 to %c2 step %c1
// CHECK-NOT: vector.store {{.*}}, %[[SUM]]
// CHECK:       vector.fma
// CHECK:   scf.for %[[PAIR:.*]] = %c0 to %c4 step %c1
// CHECK:     scf.if
// CHECK-COUNT-7: vector.load %[[PRODUCTS]]
// CHECK:       arith.addf
// CHECK-COUNT-4: vector.store {{.*}}, %[[C]]
// CHECK:     } else {
// CHECK:       scf.for {{.*}} = %c0 to %c64 step %c1
// CHECK-COUNT-4: vector.fma
// CHECK-NOT: {{linalg.generic|kernel.contract}}
// CHECK-LABEL: @odd
func.func @halves(%a: memref<8x64xf32>, %b: memref<4x64x32xf32>, %bias: memref<128xf32>, %c: memref<8x128xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%c : memref<8x128xf32>)
  linalg.generic {indexing_maps = [#rows, #panels, #out], iterator_types = ["parallel", "reduction", "parallel"],
                  kernel.schedule = #kernel.schedule<micro_kernel = strassen_fma>}
      ins(%a, %b : memref<8x64xf32>, memref<4x64x32xf32>) outs(%c : memref<8x128xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %0 = arith.mulf %x, %y : f32
    %1 = arith.addf %z, %0 : f32
    linalg.yield %1 : f32
  }
  linalg.generic {indexing_maps = [affine_map<(m, n) -> (n)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]}
      ins(%bias : memref<128xf32>) outs(%c : memref<8x128xf32>) {
  ^bb0(%x: f32, %z: f32):
    %0 = arith.addf %x, %z : f32
    linalg.yield %0 : f32
  }
  return
}

// The last row has no other one, nor has the third panel, which is multiplied as it is stored; of its columns 10 are the result's.
// CHECK: %[[MASK:.*]] = vector.constant_mask [10] : vector<16xi1>
// CHECK: vector.maskedstore {{.*}}, %[[MASK]]
// CHECK-NOT: {{linalg.generic|kernel.contract}}
// CHECK-LABEL: @odd_depth
func.func @odd(%a: memref<7x64xf32>, %b: memref<3x64x32xf32>, %c: memref<7x74xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%c : memref<7x74xf32>)
  linalg.generic {indexing_maps = [#rows, #panels, #out], iterator_types = ["parallel", "reduction", "parallel"],
                  kernel.schedule = #kernel.schedule<micro_kernel = strassen_fma>}
      ins(%a, %b : memref<7x64xf32>, memref<3x64x32xf32>) outs(%c : memref<7x74xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %0 = arith.mulf %x, %y : f32
    %1 = arith.addf %z, %0 : f32
    linalg.yield %1 : f32
  }
  return
}

// An odd depth has no halves: the schedule asks for what does not fit, so that it is a product of rows by panels.
// CHECK-NOT: kernel.scratch
// CHECK: vector.fma
// CHECK-NOT: vector.reduction
// CHECK: return
func.func @odd_depth(%a: memref<8x63xf32>, %b: memref<4x63x32xf32>, %c: memref<8x128xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%c : memref<8x128xf32>)
  linalg.generic {indexing_maps = [#rows, #panels, #out], iterator_types = ["parallel", "reduction", "parallel"],
                  kernel.schedule = #kernel.schedule<micro_kernel = strassen_fma>}
      ins(%a, %b : memref<8x63xf32>, memref<4x63x32xf32>) outs(%c : memref<8x128xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %0 = arith.mulf %x, %y : f32
    %1 = arith.addf %z, %0 : f32
    linalg.yield %1 : f32
  }
  return
}

// Of 64 rows, blocks after the first one read the sum that it made, and prefetch what is next; a sum of 1100 steps has K-blocks of equal size.
// CHECK-LABEL: @blocks
// CHECK: %[[SUM:.*]] = kernel.scratch {{.*}} : memref<1x275x32xf32>
// CHECK: scf.for {{.*}} = %c0 to %c550 step %c275
// CHECK:   scf.for {{.*}} = %c0 to %c3 step %c1
// CHECK:     vector.store {{.*}}, %[[SUM]]
// CHECK:     memref.prefetch {{.*}}, read, locality<2>
// CHECK:     vector.load %[[SUM]]
// CHECK:     vector.fma
// CHECK: return
func.func @blocks(%a: memref<128x1100xf32>, %b: memref<2x1100x32xf32>, %c: memref<128x64xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%c : memref<128x64xf32>)
  linalg.generic {indexing_maps = [#rows, #panels, #out], iterator_types = ["parallel", "reduction", "parallel"],
                  kernel.schedule = #kernel.schedule<micro_kernel = strassen_fma>}
      ins(%a, %b : memref<128x1100xf32>, memref<2x1100x32xf32>) outs(%c : memref<128x64xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %0 = arith.mulf %x, %y : f32
    %1 = arith.addf %z, %0 : f32
    linalg.yield %1 : f32
  }
  return
}
