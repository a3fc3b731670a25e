// RUN: tenon-opt %s -tenon-to-linalg | FileCheck %s

// CHECK: #[[SWAPPED:.*]] = affine_map<(d0, d1) -> (d1, d0)>

// A destination argument for the result, and everything in one body.
// CHECK-LABEL: @elementwise_is_one_stage
// CHECK-SAME: %[[X:.*]]: tensor<4x3xf32> {tenon.dims = #tenon.shape<4, 3>}, %[[B:.*]]: tensor<3xf32> {{{.*}}}, %[[OUT:.*]]: tensor<4x3xf32> {tenon.dims = #tenon.shape<4, 3>, tenon.output})
// CHECK: linalg.generic
// CHECK-SAME: ins(%[[X]], %[[B]] : {{.*}}) outs(%[[OUT]]
// CHECK: math.exp
// CHECK: arith.addf
// CHECK-NOT: linalg.generic
func.func private @elementwise_is_one_stage(%x: tensor<4x3xf32>, %b: tensor<3xf32>) -> tensor<4x3xf32>
    attributes {tenon.kernel} {
  %0 = tenon.exp %x : (tensor<4x3xf32>) -> tensor<4x3xf32>
  %1 = tenon.add %0, %b : (tensor<4x3xf32>, tensor<3xf32>) -> tensor<4x3xf32>
  return %1 : tensor<4x3xf32>
}

// Of zeros of either sign any one is the largest: one instruction of x86, where the sign of the result would take three.
// CHECK-LABEL: @relu
// CHECK: arith.maximumf {{.*}} fastmath<nsz>
func.func private @relu(%x: tensor<4x3xf32>) -> tensor<4x3xf32> attributes {tenon.kernel} {
  %0 = tenon.relu %x : (tensor<4x3xf32>) -> tensor<4x3xf32>
  return %0 : tensor<4x3xf32>
}

// The maximum, the exponentials, their sum, and the quotients in place; the symbol of the rows is an index argument.
// CHECK-LABEL: @softmax_is_four_stages
// CHECK-SAME: %[[S0:[a-z0-9]*]]: index)
// CHECK: tensor.empty(%[[S0]]) : tensor<?xf32>
// CHECK: %[[MAX:.*]] = linalg.generic {{.*}}iterator_types = ["parallel", "reduction"]
// CHECK: arith.maximumf
// CHECK: %[[EXP:.*]] = linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]{{.*}} ins(%{{.*}}, %[[MAX]]
// Weights too small for a normal number are 0.
// CHECK: %[[SMALL:.*]] = arith.cmpf olt
// CHECK: %[[WEIGHT:.*]] = math.exp
// CHECK: arith.select %[[SMALL]], %{{.*}}, %[[WEIGHT]]
// CHECK: %[[SUM:.*]] = linalg.generic {{.*}}iterator_types = ["parallel", "reduction"]{{.*}} ins(%[[EXP]]
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]{{.*}} ins(%[[SUM]] {{.*}} outs(%[[EXP]]
// CHECK: arith.divf
// CHECK: arith.mulf
func.func private @softmax_is_four_stages(%x: tensor<?x40xf32, #tenon.shape<s0, 40>>)
    -> tensor<?x40xf32, #tenon.shape<s0, 40>> attributes {tenon.kernel, tenon.symbols = ["s0"]} {
  %0 = tenon.softmax %x {axis = 1 : i64}
    : (tensor<?x40xf32, #tenon.shape<s0, 40>>) -> tensor<?x40xf32, #tenon.shape<s0, 40>>
  return %0 : tensor<?x40xf32, #tenon.shape<s0, 40>>
}

// Where what follows has another type, the result has no memory of its own, which an open line would fit in none: it is computed where
// it is read, the exponentials a second time.
// CHECK-LABEL: @softmax_that_becomes_halves
// CHECK-NOT: tensor.empty{{.*}}tensor<?x?xf32>
// CHECK: %[[MAX:.*]] = linalg.generic {{.*}}iterator_types = ["parallel", "reduction"]
// CHECK: %[[SUM:.*]] = linalg.generic {{.*}}iterator_types = ["parallel", "reduction"]{{.*}} ins(%{{.*}}, %[[MAX]]
// CHECK: math.exp
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]{{.*}} ins(%{{.*}}, %[[MAX]], %[[SUM]] {{.*}} outs(%{{.*}} : tensor<?x?xf16>)
// CHECK: math.exp
// CHECK: arith.truncf
// CHECK-NEXT: linalg.yield
func.func private @softmax_that_becomes_halves(%x: tensor<?x?xf32, #tenon.shape<s0, s1>>)
    -> tensor<?x?xf16, #tenon.shape<s0, s1>> attributes {tenon.kernel, tenon.symbols = ["s0", "s1"]} {
  %0 = tenon.softmax %x {axis = 1 : i64}
    : (tensor<?x?xf32, #tenon.shape<s0, s1>>) -> tensor<?x?xf32, #tenon.shape<s0, s1>>
  %1 = tenon.cast %0 : (tensor<?x?xf32, #tenon.shape<s0, s1>>) -> tensor<?x?xf16, #tenon.shape<s0, s1>>
  return %1 : tensor<?x?xf16, #tenon.shape<s0, s1>>
}

// CHECK-LABEL: @norm_that_becomes_halves
// CHECK-NOT: tensor.empty{{.*}}tensor<?x40xf32>
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]{{.*}} outs(%{{.*}} : tensor<?x40xf16>)
// CHECK: math.sqrt
// CHECK: return
func.func private @norm_that_becomes_halves(%x: tensor<?x40xf32, #tenon.shape<s0, 40>>, %w: tensor<40xf32>)
    -> tensor<?x40xf16, #tenon.shape<s0, 40>> attributes {tenon.kernel, tenon.symbols = ["s0"]} {
  %0 = tenon.rms_norm %x, %w {axis = 1 : i64, epsilon = 1.0e-05 : f64}
    : (tensor<?x40xf32, #tenon.shape<s0, 40>>, tensor<40xf32>) -> tensor<?x40xf32, #tenon.shape<s0, 40>>
  %1 = tenon.cast %0 : (tensor<?x40xf32, #tenon.shape<s0, 40>>) -> tensor<?x40xf16, #tenon.shape<s0, 40>>
  return %1 : tensor<?x40xf16, #tenon.shape<s0, 40>>
}

// A change of indices is no stage; booleans are bytes in memory.
// CHECK-LABEL: @transpose_is_an_indexing_map
// CHECK-SAME: tensor<3x4xi8> {{{.*}}tenon.output}) -> tensor<3x4xi8>
// CHECK: linalg.generic {indexing_maps = [#[[SWAPPED]],
// CHECK: %[[NAN:.*]] = arith.cmpf uno
// CHECK: arith.extui %[[NAN]] : i1 to i8
func.func private @transpose_is_an_indexing_map(%x: tensor<4x3xf32>) -> tensor<3x4xi1> attributes {tenon.kernel} {
  %0 = tenon.transpose %x {permutation = array<i64: 1, 0>} : (tensor<4x3xf32>) -> tensor<3x4xf32>
  %1 = tenon.isnan %0 : (tensor<3x4xf32>) -> tensor<3x4xi1>
  return %1 : tensor<3x4xi1>
}

// CHECK-LABEL: @sums_of_halves_are_carried_in_f32
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<4xf32>)
// CHECK: arith.extf %{{.*}} : f16 to f32
// CHECK: arith.truncf %{{.*}} : f32 to f16
func.func private @sums_of_halves_are_carried_in_f32(%x: tensor<4x3xf16>) -> tensor<4xf16> attributes {tenon.kernel} {
  %0 = tenon.reduce sum, %x {axes = array<i64: 1>} : (tensor<4x3xf16>) -> tensor<4xf16>
  return %0 : tensor<4xf16>
}

// CHECK-LABEL: @no_kernel_stays_as_it_is
// CHECK: tenon.exp
func.func @no_kernel_stays_as_it_is(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = tenon.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// A single row: the innermost loop is the sum, along which both operands lie.
// CHECK-LABEL: @dot_products
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "reduction"]
func.func private @dot_products(%q: tensor<1x64xf32>, %k: tensor<50x64xf32>) -> tensor<1x50xf32> attributes {tenon.kernel} {
  %0 = tenon.transpose %k {permutation = array<i64: 1, 0>} : (tensor<50x64xf32>) -> tensor<64x50xf32>
  %1 = tenon.contract %q, %0 {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 2, 1>, result_dims = array<i64: 0, 1>}
    : (tensor<1x64xf32>, tensor<64x50xf32>) -> tensor<1x50xf32>
  return %1 : tensor<1x50xf32>
}

// A packed weight has its own order.
// CHECK-LABEL: @packed_columns
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "reduction", "parallel"]
func.func private @packed_columns(%q: tensor<1x64xf32>, %w: tensor<2x64x32xf32>) -> tensor<1x50xf32> attributes {tenon.kernel} {
  %0 = tenon.unpack %w {axis = 0 : i64} : (tensor<2x64x32xf32>) -> tensor<50x64xf32>
  %1 = tenon.contract %q, %0 {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 1, 2>, result_dims = array<i64: 0, 1>}
    : (tensor<1x64xf32>, tensor<50x64xf32>) -> tensor<1x50xf32>
  return %1 : tensor<1x50xf32>
}

// Three parts of an element are cut off one after the other; those of factors are read where they lie.
// CHECK-LABEL: @split_terms
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "parallel", "parallel"]
// CHECK-COUNT-2: arith.subf
// CHECK: arith.shrui
func.func private @split_terms(%x: tensor<5x40xf32>) -> tensor<5x2x3x20xbf16> attributes {tenon.kernel} {
  %0 = tenon.split_terms %x : (tensor<5x40xf32>) -> tensor<5x2x3x20xbf16>
  return %0 : tensor<5x2x3x20xbf16>
}
// Digits of a number in units of the last one, from the last to the first.
// CHECK-LABEL: @split_digits
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "parallel", "parallel"]
// CHECK: arith.maxnumf
// CHECK: arith.minnumf
// CHECK: %[[UNITS:.*]] = arith.constant 6.553600e+04 : f32
// CHECK: arith.mulf %{{.*}}, %[[UNITS]]
// CHECK: math.roundeven
// CHECK: arith.fptosi
// CHECK-COUNT-2: arith.shrsi
// CHECK: arith.trunci {{.*}} : i32 to i8
func.func private @split_digits(%x: tensor<5x64xf32>) -> tensor<5x1x3x64xi8> attributes {tenon.kernel} {
  %0 = tenon.split_terms %x : (tensor<5x64xf32>) -> tensor<5x1x3x64xi8>
  return %0 : tensor<5x1x3x64xi8>
}
// CHECK-LABEL: @product_of_parts
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "reduction", "parallel"]
// CHECK-SAME: ins(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : tensor<5x2x3x20xbf16>
// CHECK-COUNT-6: arith.extf
func.func private @product_of_parts(%x: tensor<5x2x3x20xbf16>, %w: tensor<3x2x3x10x32xbf16>) -> tensor<5x37xf32> attributes {tenon.kernel} {
  %0 = tenon.merge_terms %x : (tensor<5x2x3x20xbf16>) -> tensor<5x40xf32>
  %1 = tenon.unpack_terms %w {axis = 1 : i64, depth_axis = 0 : i64} : (tensor<3x2x3x10x32xbf16>) -> tensor<40x37xf32>
  %2 = tenon.contract %0, %1 {lhs_dims = array<i64: 0, 1>, rhs_dims = array<i64: 1, 2>, result_dims = array<i64: 0, 2>}
    : (tensor<5x40xf32>, tensor<40x37xf32>) -> tensor<5x37xf32>
  return %2 : tensor<5x37xf32>
}

// The first and the last two windows have no element inside the input, and the count of none is 0, not less.
// CHECK-LABEL: @average_of_nothing
// CHECK: arith.maxsi
// CHECK: %[[COUNT:.*]] = arith.subi
// CHECK-NEXT: %[[ATLEAST:.*]] = arith.maxsi %{{.*}}, %[[COUNT]]
// CHECK: arith.index_cast %[[ATLEAST]]
func.func private @average_of_nothing(%x: tensor<1x1x3xf32>) -> tensor<1x1x6xf32> attributes {tenon.kernel} {
  %0 = tenon.pool average, %x {window = array<i64: 1>, strides = array<i64: 1>, dilations = array<i64: 1>, low = array<i64: 1>, high = array<i64: 2>}
    : (tensor<1x1x3xf32>) -> tensor<1x1x6xf32>
  return %0 : tensor<1x1x6xf32>
}

// Of a window of 2^31 - 1 rows, the 4 that lie inside the input for some result are read.
// CHECK-LABEL: @pool_of_padding
// CHECK: %[[WINDOW:.*]] = tensor.empty() : tensor<4x1xi8>
// CHECK: linalg.generic {{.*}} ins(%[[WINDOW]] : tensor<4x1xi8>)
func.func private @pool_of_padding(%x: tensor<1x1x4x4xf32>) -> tensor<1x1x5x4xf32> attributes {tenon.kernel} {
  %0 = tenon.pool sum, %x {window = array<i64: 2147483647, 1>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 2147483647, 0>, high = array<i64: 0, 0>}
    : (tensor<1x1x4x4xf32>) -> tensor<1x1x5x4xf32>
  return %0 : tensor<1x1x5x4xf32>
}

// A window of 25 is a maximum of 5 along one dimension, with what all windows see along the other, and one of 5 of those. Where that joins
// no fewer elements it is one of the window.
// CHECK-LABEL: @pool_by_dimensions
// CHECK: tensor.empty() : tensor<1x2x9x13xf32>
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "parallel", "reduction", "parallel"]
// CHECK: arith.maximumf
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "parallel", "reduction", "parallel"]
// CHECK-NOT: scf.if
// CHECK: arith.maximumf
// CHECK-LABEL: @pool_at_once
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction", "parallel"]
func.func private @pool_by_dimensions(%x: tensor<1x2x9x9xf32>) -> tensor<1x2x9x9xf32> attributes {tenon.kernel} {
  %0 = tenon.pool max, %x {window = array<i64: 5, 5>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 2, 2>, high = array<i64: 2, 2>}
    : (tensor<1x2x9x9xf32>) -> tensor<1x2x9x9xf32>
  return %0 : tensor<1x2x9x9xf32>
}
func.func private @pool_at_once(%x: tensor<1x8x8x2xf32>) -> tensor<1x4x4x2xf32> attributes {tenon.kernel} {
  %0 = tenon.pool max, %x {window = array<i64: 2, 2>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>, channels_last}
    : (tensor<1x8x8x2xf32>) -> tensor<1x4x4x2xf32>
  return %0 : tensor<1x4x4x2xf32>
}
