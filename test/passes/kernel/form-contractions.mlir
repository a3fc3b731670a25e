// RUN: tenon-opt %s --tenon-form-contractions | FileCheck %s
// RUN: tenon-opt %s --tenon-form-contractions --tenon-form-contractions | FileCheck %s
// How a contraction reads its operands is recognized once.

#rows = affine_map<(m, k, n) -> (m, k)>
#columns = affine_map<(m, k, n) -> (k, n)>
#panels = affine_map<(m, k, n) -> (n floordiv 32, k, n mod 32)>
#quads = affine_map<(m, k, n) -> (n floordiv 32, k floordiv 4, n mod 32 * 4 + k mod 4)>
#sums = affine_map<(m, k, n) -> (m, n)>
#transposed = affine_map<(m, k, n) -> (n, k)>

// CHECK-LABEL: @product
// CHECK: %[[R:.*]] = kernel.contract <kind = product, row = 0> ins(%arg0, %arg1 : tensor<4x16xf32>, tensor<16x8xf32>)
// CHECK-SAME: init(%arg2 : tensor<4x8xf32>)
// CHECK-NEXT: ^bb0(%[[X:.*]]: f32, %[[W:.*]]: f32, %{{.*}}: f32):
// CHECK: %[[SUM:.*]] = arith.addf
// CHECK-NEXT: %[[NAMED:.*]] = kernel.sum %[[SUM]] : f32 lhs(%[[X]] : f32) rhs(%[[W]] : f32)
// CHECK-NEXT: linalg.yield %[[NAMED]] : f32
// CHECK: return %[[R]]
func.func @product(%a: tensor<4x16xf32>, %b: tensor<16x8xf32>, %c: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = linalg.generic {indexing_maps = [#rows, #columns, #sums], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%a, %b : tensor<4x16xf32>, tensor<16x8xf32>) outs(%c : tensor<4x8xf32>) {
  ^bb0(%x: f32, %w: f32, %old: f32):
    %p = arith.mulf %w, %x : f32
    %sum = arith.addf %p, %old : f32
    linalg.yield %sum : f32
  } -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// A schedule that it asks for is that of the contraction.
// CHECK-LABEL: @a_schedule
// CHECK: kernel.contract <kind = product, row = 0, panel = 32>
// CHECK-SAME: schedule = #kernel.schedule<many_rows = true>
func.func @a_schedule(%a: memref<?x16xf32>, %b: memref<2x16x32xf32>, %c: memref<?x64xf32>) {
  linalg.generic {indexing_maps = [#rows, #panels, #sums], iterator_types = ["parallel", "reduction", "parallel"],
                  kernel.schedule = #kernel.schedule<many_rows = true>}
      ins(%a, %b : memref<?x16xf32>, memref<2x16x32xf32>) outs(%c : memref<?x64xf32>) {
  ^bb0(%x: f32, %w: f32, %old: f32):
    %p = arith.mulf %x, %w : f32
    %sum = arith.addf %old, %p : f32
    linalg.yield %sum : f32
  }
  return
}

// The path names the micro-kernel, and has done its part.
// CHECK-LABEL: @a_path
// CHECK: kernel.contract <kind = i8_dot4, row = 0, panel = 32, inner = 1, step = 4>
// CHECK-NOT: tenon.path
// CHECK-SAME: schedule = #kernel.schedule<micro_kernel = amx_i8>
// CHECK: kernel.sum %{{.*}} : i32 lhs(%[[X:.*]] : i8) rhs(%[[W:.*]] : i8)
func.func @a_path(%a: memref<4x16xi8>, %b: memref<2x4x128xi8>, %c: memref<4x64xi32>) {
  linalg.generic {indexing_maps = [#rows, #quads, #sums], iterator_types = ["parallel", "reduction", "parallel"],
                  tenon.path = "amx"}
      ins(%a, %b : memref<4x16xi8>, memref<2x4x128xi8>) outs(%c : memref<4x64xi32>) {
  ^bb0(%x: i8, %w: i8, %old: i32):
    %0 = arith.extui %x : i8 to i32
    %1 = arith.extsi %w : i8 to i32
    %p = arith.muli %0, %1 : i32
    %sum = arith.addi %old, %p : i32
    linalg.yield %sum : i32
  }
  return
}

// A path without a micro-kernel of its own has none in the schedule.
// CHECK-LABEL: @another_path
// CHECK: kernel.contract
// CHECK-NOT: schedule
// CHECK-NOT: tenon.path
// CHECK: kernel.sum
func.func @another_path(%a: memref<4x16xf32>, %b: memref<16x8xf32>, %c: memref<4x8xf32>) {
  linalg.generic {indexing_maps = [#rows, #columns, #sums], iterator_types = ["parallel", "reduction", "parallel"],
                  tenon.path = "plain"}
      ins(%a, %b : memref<4x16xf32>, memref<16x8xf32>) outs(%c : memref<4x8xf32>) {
  ^bb0(%x: f32, %w: f32, %old: f32):
    %p = arith.mulf %x, %w : f32
    %sum = arith.addf %old, %p : f32
    linalg.yield %sum : f32
  }
  return
}

// Of two rows of an image, and the pixels of each, the pixels are more.
// CHECK-LABEL: @window
// CHECK: kernel.contract <kind = product, row = 1>
// CHECK: %[[X:.*]] = scf.if
// CHECK: kernel.sum %{{.*}} : f32 lhs(%[[X]] : f32) rhs(%{{.*}} : f32)
func.func @window(%image: tensor<2x30x16xf32>, %f: tensor<3x16x8xf32>, %c: tensor<2x30x8xf32>) -> tensor<2x30x8xf32> {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1 : index
  %width = arith.constant 30 : index
  %0 = linalg.generic {indexing_maps = [affine_map<(y, p, t, k, n) -> (t, k, n)>, affine_map<(y, p, t, k, n) -> (y, p, n)>],
                       iterator_types = ["parallel", "parallel", "reduction", "reduction", "parallel"]}
      ins(%f : tensor<3x16x8xf32>) outs(%c : tensor<2x30x8xf32>) {
  ^bb0(%w: f32, %old: f32):
    %y = linalg.index 0 : index
    %p = linalg.index 1 : index
    %t = linalg.index 2 : index
    %k = linalg.index 3 : index
    %moved = arith.addi %p, %t : index
    %at = arith.subi %moved, %one : index
    %inside = arith.cmpi ult, %at, %width : index
    %x = scf.if %inside -> f32 {
      %there = tensor.extract %image[%y, %at, %k] : tensor<2x30x16xf32>
      scf.yield %there : f32
    } else {
      scf.yield %zero : f32
    }
    %product = arith.mulf %x, %w : f32
    %sum = arith.addf %old, %product : f32
    linalg.yield %sum : f32
  } -> tensor<2x30x8xf32>
  return %0 : tensor<2x30x8xf32>
}

// CHECK-LABEL: @columnwise
// CHECK: kernel.contract <kind = columnwise, row = 0>
// CHECK: kernel.sum %{{.*}} : f32 lhs(%[[PIXEL:.*]] : f32) rhs(%[[TAP:.*]] : f32)
func.func @columnwise(%a: memref<11x8xf32>, %b: memref<3x8xf32>, %c: memref<9x8xf32>) {
  linalg.generic {indexing_maps = [affine_map<(p, t, n) -> (p + t, n)>, affine_map<(p, t, n) -> (t, n)>, affine_map<(p, t, n) -> (p, n)>],
                  iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%a, %b : memref<11x8xf32>, memref<3x8xf32>) outs(%c : memref<9x8xf32>) {
  ^bb0(%x: f32, %w: f32, %old: f32):
    %p = arith.mulf %x, %w : f32
    %sum = arith.addf %old, %p : f32
    linalg.yield %sum : f32
  }
  return
}

// The LHS is promoted, and the RHS is stored in 8 bits.
// CHECK-LABEL: @dequantized
// CHECK: kernel.contract <kind = dequantized, row = 0, panel = 32, promotes = true, block = 64>
// CHECK: %[[X:.*]] = arith.extf
// CHECK: %[[NUMBER:.*]] = arith.sitofp %[[W:.*]] : i8 to f32
// CHECK: kernel.sum %{{.*}} : f32 lhs(%[[X]] : f32) rhs(%[[W]] : i8) number(%[[NUMBER]] : f32) scale(%{{.*}} : f32)
func.func @dequantized(%a: memref<4x256xf16>, %b: memref<2x256x32xi8>, %s: memref<2x4x32xf32>, %c: memref<4x64xf32>) {
  linalg.generic {indexing_maps = [#rows, #panels, affine_map<(m, k, n) -> (n floordiv 32, k floordiv 64, n mod 32)>, #sums],
                  iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%a, %b, %s : memref<4x256xf16>, memref<2x256x32xi8>, memref<2x4x32xf32>) outs(%c : memref<4x64xf32>) {
  ^bb0(%x: f16, %w: i8, %scale: f32, %old: f32):
    %0 = arith.extf %x : f16 to f32
    %number = arith.sitofp %w : i8 to f32
    %factor = arith.mulf %number, %scale : f32
    %p = arith.mulf %0, %factor : f32
    %sum = arith.addf %old, %p : f32
    linalg.yield %sum : f32
  }
  return
}

// Neither operand is contiguous along the columns.
// CHECK-LABEL: @no_columns
// CHECK: linalg.generic
// CHECK-NOT: kernel.
// CHECK: return
func.func @no_columns(%a: memref<4x16xf32>, %b: memref<8x16xf32>, %c: memref<4x8xf32>) {
  linalg.generic {indexing_maps = [#rows, #transposed, #sums], iterator_types = ["parallel", "reduction", "parallel"], tenon.path = "plain"}
      ins(%a, %b : memref<4x16xf32>, memref<8x16xf32>) outs(%c : memref<4x8xf32>) {
  ^bb0(%x: f32, %w: f32, %old: f32):
    %p = arith.mulf %x, %w : f32
    %sum = arith.addf %old, %p : f32
    linalg.yield %sum : f32
  }
  return
}

// Sums of diagonals have no rows and columns.
// CHECK-LABEL: @diagonals
// CHECK: linalg.generic
// CHECK-NOT: kernel.
// CHECK: return
func.func @diagonals(%a: memref<4x16xf32>, %b: memref<16x8xf32>, %c: memref<4x11xf32>) {
  linalg.generic {indexing_maps = [#rows, #columns, affine_map<(m, k, n) -> (m, m + n)>],
                  iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%a, %b : memref<4x16xf32>, memref<16x8xf32>) outs(%c : memref<4x11xf32>) {
  ^bb0(%x: f32, %w: f32, %old: f32):
    %p = arith.mulf %x, %w : f32
    %sum = arith.addf %old, %p : f32
    linalg.yield %sum : f32
  }
  return
}

// The largest product is no sum of products.
// CHECK-LABEL: @no_sum
// CHECK: linalg.generic
// CHECK-NOT: kernel.
// CHECK: return
func.func @no_sum(%a: memref<4x16xf32>, %b: memref<16x8xf32>, %c: memref<4x8xf32>) {
  linalg.generic {indexing_maps = [#rows, #columns, #sums], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%a, %b : memref<4x16xf32>, memref<16x8xf32>) outs(%c : memref<4x8xf32>) {
  ^bb0(%x: f32, %w: f32, %old: f32):
    %p = arith.mulf %x, %w : f32
    %most = arith.maximumf %old, %p : f32
    linalg.yield %most : f32
  }
  return
}
