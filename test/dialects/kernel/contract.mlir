// RUN: tenon-opt %s | FileCheck %s
// RUN: tenon-opt %s | tenon-opt | FileCheck %s
// RUN: tenon-opt %s -canonicalize | FileCheck %s --check-prefix=FOLDED

#rows = affine_map<(m, k, n) -> (m, k)>
#panels = affine_map<(m, k, n) -> (n floordiv 32, k, n mod 32)>
#groups = affine_map<(m, k, n) -> (n floordiv 32, k floordiv 4, n mod 32 * 4 + k mod 4)>
#sums = affine_map<(m, k, n) -> (m, n)>

// CHECK-LABEL: @product
// CHECK: kernel.contract <kind = product, row = 0, panel = 32> ins(%{{.*}}, %{{.*}} : tensor<64x256xf32>, tensor<2x256x32xf32>)
// CHECK-SAME: init(%{{.*}} : tensor<64x64xf32>) attributes {indexing_maps = [{{.*}}], schedule = #kernel.schedule<tile = [32, 256, 64]>} {
// CHECK: kernel.sum %{{.*}} : f32 lhs(%{{.*}} : f32) rhs(%{{.*}} : f32)
// CHECK: } -> tensor<64x64xf32>
// FOLDED-LABEL: @product
// FOLDED: kernel.sum
func.func @product(%a: tensor<64x256xf32>, %b: tensor<2x256x32xf32>, %c: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %0 = kernel.contract <kind = product, row = 0, panel = 32>
      ins(%a, %b : tensor<64x256xf32>, tensor<2x256x32xf32>) init(%c : tensor<64x64xf32>)
      attributes {indexing_maps = [#rows, #panels, #sums], schedule = #kernel.schedule<tile = [32, 256, 64]>} {
  ^bb0(%x: f32, %w: f32, %old: f32):
    %p = arith.mulf %x, %w : f32
    %added = arith.addf %old, %p : f32
    %sum = kernel.sum %added : f32 lhs(%x : f32) rhs(%w : f32)
    linalg.yield %sum : f32
  } -> tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}

// A weight of 8 bits with one scale for 64 of its rows: the body makes factors of it.
// CHECK-LABEL: @dequantized
// CHECK: kernel.contract <kind = dequantized, row = 0, panel = 32, block = 64>
// CHECK: kernel.sum %{{.*}} : f32 lhs(%{{.*}} : f32) rhs(%{{.*}} : i8) number(%{{.*}} : f32) scale(%{{.*}} : f32)
func.func @dequantized(%a: memref<64x256xf32>, %b: memref<2x256x32xi8>, %s: memref<2x4x32xf32>, %c: memref<64x64xf32>) {
  kernel.contract <kind = dequantized, row = 0, panel = 32, block = 64>
      ins(%a, %b, %s : memref<64x256xf32>, memref<2x256x32xi8>, memref<2x4x32xf32>) init(%c : memref<64x64xf32>)
      attributes {indexing_maps = [#rows, #panels, affine_map<(m, k, n) -> (n floordiv 32, k floordiv 64, n mod 32)>, #sums]} {
  ^bb0(%x: f32, %w: i8, %scale: f32, %old: f32):
    %number = arith.sitofp %w : i8 to f32
    %factor = arith.mulf %number, %scale : f32
    %p = arith.mulf %x, %factor : f32
    %added = arith.addf %old, %p : f32
    %sum = kernel.sum %added : f32 lhs(%x : f32) rhs(%w : i8) number(%number : f32) scale(%scale : f32)
    linalg.yield %sum : f32
  }
  return
}

// Integers of 4 bits, eight in an i32, and rows of bytes, which are 128 more than their numbers: 32 neighbours have one scale.
// CHECK-LABEL: @groups_with_scales
// CHECK: kernel.contract <kind = integer_groups, row = 0, panel = 32, inner = 1, step = 8, block = 32>
// CHECK: kernel.sum %{{.*}} : f32 lhs(%{{.*}}, %{{.*}} : i8, f32) rhs(%{{.*}} : i32) number(%{{.*}} : f32) scale(%{{.*}} : f32)
func.func @groups_with_scales(%a: memref<64x256xi8>, %as: memref<64x8xf32>, %b: memref<2x32x32xi32>, %bs: memref<2x8x32xf32>,
                              %c: memref<64x64xf32>) {
  kernel.contract <kind = integer_groups, row = 0, panel = 32, inner = 1, step = 8, block = 32>
      ins(%a, %as, %b, %bs : memref<64x256xi8>, memref<64x8xf32>, memref<2x32x32xi32>, memref<2x8x32xf32>)
      init(%c : memref<64x64xf32>)
      attributes {indexing_maps = [#rows, affine_map<(m, k, n) -> (m, k floordiv 32)>,
                                   affine_map<(m, k, n) -> (n floordiv 32, k floordiv 8, n mod 32)>,
                                   affine_map<(m, k, n) -> (n floordiv 32, k floordiv 32, n mod 32)>, #sums]} {
  ^bb0(%x: i8, %xs: f32, %w: i32, %ws: f32, %old: f32):
    %middle = arith.constant 128.0 : f32
    %15 = arith.constant 15 : i32
    %byte = arith.uitofp %x : i8 to f32
    %row = arith.subf %byte, %middle : f32
    %left = arith.mulf %row, %xs : f32
    %low = arith.andi %w, %15 : i32
    %number = arith.sitofp %low : i32 to f32
    %right = arith.mulf %number, %ws : f32
    %p = arith.mulf %left, %right : f32
    %added = arith.addf %old, %p : f32
    %sum = kernel.sum %added : f32 lhs(%x, %xs : i8, f32) rhs(%w : i32) number(%number : f32) scale(%ws : f32)
    linalg.yield %sum : f32
  }
  return
}

// CHECK-LABEL: @groups_of_four
// CHECK: kernel.contract <kind = i8_dot4, row = 0, panel = 32, inner = 1, step = 4>
func.func @groups_of_four(%a: memref<64x256xi8>, %b: memref<2x64x128xi8>, %c: memref<64x64xi32>) {
  kernel.contract <kind = i8_dot4, row = 0, panel = 32, inner = 1, step = 4>
      ins(%a, %b : memref<64x256xi8>, memref<2x64x128xi8>) init(%c : memref<64x64xi32>)
      attributes {indexing_maps = [#rows, #groups, #sums]} {
  ^bb0(%x: i8, %w: i8, %old: i32):
    %0 = arith.extui %x : i8 to i32
    %1 = arith.extsi %w : i8 to i32
    %p = arith.muli %0, %1 : i32
    %added = arith.addi %old, %p : i32
    %sum = kernel.sum %added : i32 lhs(%x : i8) rhs(%w : i8)
    linalg.yield %sum : i32
  }
  return
}

// Elsewhere it is the sum, of which nothing is left in loops over elements.
// CHECK-LABEL: @elsewhere
// CHECK: kernel.sum
// FOLDED-LABEL: @elsewhere
// FOLDED-NEXT: return %arg0
func.func @elsewhere(%sum: f32, %x: f32, %w: f32) -> f32 {
  %0 = kernel.sum %sum : f32 lhs(%x : f32) rhs(%w : f32)
  return %0 : f32
}
