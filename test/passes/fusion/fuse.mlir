// RUN: tenon-opt %s -pass-pipeline='builtin.module(func.func(tenon-fuse))' | FileCheck %s
// RUN: tenon-opt %s -pass-pipeline='builtin.module(func.func(tenon-fuse{max-ops=1}))' | FileCheck %s --check-prefix=SINGLE

// CHECK-LABEL: @chain_is_one_region
// CHECK: tenon.dispatch
// CHECK-NEXT: tenon.exp
// CHECK-NEXT: tenon.add
// CHECK-NEXT: tenon.yield
// CHECK-NOT: tenon.dispatch
// SINGLE-LABEL: @chain_is_one_region
// SINGLE-COUNT-2: tenon.dispatch
func.func @chain_is_one_region(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = tenon.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = tenon.add %0, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// CHECK-LABEL: @epilogue_joins_its_contraction
// CHECK: tenon.dispatch
// CHECK-NEXT: tenon.contract
// CHECK-NEXT: tenon.add
// CHECK-NEXT: tenon.relu
// CHECK-NEXT: tenon.yield
// CHECK-NOT: tenon.dispatch
func.func @epilogue_joins_its_contraction(%a: tensor<2x3xf32>, %b: tensor<3x4xf32>, %c: tensor<4xf32>) -> tensor<2x4xf32> {
  %0 = tenon.contract %a, %b {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 2, 1>, result_dims = array<i64: 0, 1>}
    : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  %1 = tenon.add %0, %c : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  %2 = tenon.relu %1 : (tensor<2x4xf32>) -> tensor<2x4xf32>
  return %2 : tensor<2x4xf32>
}

// An element of %0 would be computed for each of the four columns that read it.
// CHECK-LABEL: @no_costly_prologue_of_a_contraction
// CHECK: tenon.dispatch
// CHECK-NEXT: tenon.exp
// CHECK-NEXT: tenon.yield
// CHECK: tenon.dispatch
// CHECK-NEXT: tenon.contract
func.func @no_costly_prologue_of_a_contraction(%a: tensor<2x3xf32>, %b: tensor<3x4xf32>) -> tensor<2x4xf32> {
  %0 = tenon.exp %a : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = tenon.contract %0, %b {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 2, 1>, result_dims = array<i64: 0, 1>}
    : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  return %1 : tensor<2x4xf32>
}

// CHECK-LABEL: @transpose_joins_a_contraction
// CHECK: tenon.dispatch
// CHECK-NEXT: tenon.transpose
// CHECK-NEXT: tenon.contract
// CHECK-NOT: tenon.dispatch
func.func @transpose_joins_a_contraction(%a: tensor<3x2xf32>, %b: tensor<3x4xf32>) -> tensor<2x4xf32> {
  %0 = tenon.transpose %a {permutation = array<i64: 1, 0>} : (tensor<3x2xf32>) -> tensor<2x3xf32>
  %1 = tenon.contract %0, %b {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 2, 1>, result_dims = array<i64: 0, 1>}
    : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  return %1 : tensor<2x4xf32>
}

// CHECK-LABEL: @no_two_loop_nests_in_one_region
// CHECK: tenon.dispatch
// CHECK-NEXT: tenon.softmax
// CHECK-NEXT: tenon.yield
// CHECK: tenon.dispatch
// CHECK-NEXT: tenon.softmax
func.func @no_two_loop_nests_in_one_region(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %0 = tenon.softmax %x {axis = 1 : i64} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %1 = tenon.softmax %0 {axis = 0 : i64} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  return %1 : tensor<2x4xf32>
}

// Both the caller and %1 want the result of %0: it has to be stored.
// CHECK-LABEL: @no_fusion_of_what_is_stored_anyway
// CHECK: %[[E:.*]] = tenon.dispatch
// CHECK: %[[N:.*]] = tenon.dispatch
// CHECK-NEXT: tenon.neg %[[E]]
// CHECK: return %[[E]], %[[N]]
func.func @no_fusion_of_what_is_stored_anyway(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = tenon.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = tenon.neg %0 : (tensor<4xf32>) -> tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// A splat is copied into the region; a weight of many values stays outside, an operand.
// CHECK-LABEL: @weights
// CHECK: %[[W:.*]] = tenon.weight dense<[1.000000e+00, 2.000000e+00]>
// CHECK: tenon.dispatch
// CHECK-NEXT: %[[S:.*]] = tenon.weight dense<3.000000e+00>
// CHECK: tenon.mul %{{.*}}, %[[S]]
// CHECK: tenon.add %{{.*}}, %[[W]]
func.func @weights(%x: tensor<2xf32>) -> tensor<2xf32> {
  %s = tenon.weight dense<3.0> : tensor<f32>
  %w = tenon.weight dense<[1.0, 2.0]> : tensor<2xf32>
  %0 = tenon.mul %x, %s : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  %1 = tenon.add %0, %w : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %1 : tensor<2xf32>
}

// CHECK-LABEL: @reshapes_need_no_kernel
// CHECK-NOT: tenon.dispatch
func.func @reshapes_need_no_kernel(%x: tensor<2x3xf32>) -> tensor<6xf32> {
  %0 = tenon.reshape %x : (tensor<2x3xf32>) -> tensor<6xf32>
  return %0 : tensor<6xf32>
}

// A kernel of the library is launched as it is; a size that it reads has to be in memory.
// CHECK-LABEL: @calls_stay_outside
// CHECK: %[[N:.*]] = tenon.dispatch
// CHECK-NEXT: tenon.sizes
// CHECK: tenon.call "tenon_kernel"(%{{.*}}, %[[N]])
func.func @calls_stay_outside(%x: tensor<?xui8, #tenon.shape<N>>) -> tensor<?xui8, #tenon.shape<N>> {
  %n = tenon.sizes #tenon.shape<N> -> tensor<1xi64>
  %0 = tenon.call "tenon_kernel"(%x, %n) : (tensor<?xui8, #tenon.shape<N>>, tensor<1xi64>) -> tensor<?xui8, #tenon.shape<N>>
  return %0 : tensor<?xui8, #tenon.shape<N>>
}

// A contraction reads an element many times: what it reads through a change of indices is computed once.
// CHECK-LABEL: @contraction_reads_what_is_computed
// CHECK: tenon.dispatch
// CHECK-NEXT: tenon.exp
// CHECK-NEXT: tenon.mul
// CHECK: tenon.dispatch
// CHECK-NEXT: tenon.transpose
// CHECK-NEXT: tenon.contract
func.func @contraction_reads_what_is_computed(%x: tensor<8x4xf32>, %s: tensor<4xf32>, %w: tensor<8x16xf32>) -> tensor<4x16xf32> {
  %0 = tenon.exp %x : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %1 = tenon.mul %0, %s : (tensor<8x4xf32>, tensor<4xf32>) -> tensor<8x4xf32>
  %2 = tenon.transpose %1 {permutation = array<i64: 1, 0>} : (tensor<8x4xf32>) -> tensor<4x8xf32>
  %3 = tenon.contract %2, %w {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 2, 1>, result_dims = array<i64: 0, 1>}
    : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
  return %3 : tensor<4x16xf32>
}

// What is looked up by an index is no branch of a concat: vectors would not do it there.
// CHECK-LABEL: @looked_up_before_a_concat
// CHECK: tenon.dispatch
// CHECK: tenon.gather
// CHECK: tenon.add
// CHECK: tenon.yield
// CHECK: tenon.dispatch
// CHECK-NEXT: tenon.concat
func.func @looked_up_before_a_concat(%x: tensor<4x8xf32>, %y: tensor<6x8xf32>, %i: tensor<6xi64>) -> tensor<6x16xf32> {
  %0 = tenon.gather %x, %i {axis = 0 : i64} : (tensor<4x8xf32>, tensor<6xi64>) -> tensor<6x8xf32>
  %1 = tenon.add %0, %y : (tensor<6x8xf32>, tensor<6x8xf32>) -> tensor<6x8xf32>
  %2 = tenon.concat %1, %y {axis = 1 : i64} : (tensor<6x8xf32>, tensor<6x8xf32>) -> tensor<6x16xf32>
  return %2 : tensor<6x16xf32>
}

// A single query and the keys: vectors run along what is summed, and the keys are read as they lie in memory.
// CHECK-LABEL: @one_query
// CHECK: tenon.dispatch
// CHECK-NEXT: tenon.transpose
// CHECK-NEXT: tenon.contract
func.func @one_query(%q: tensor<2x1x64xf32>, %k: tensor<2x50x64xf32>) -> tensor<2x1x50xf32> {
  %0 = tenon.transpose %k {permutation = array<i64: 0, 2, 1>} : (tensor<2x50x64xf32>) -> tensor<2x64x50xf32>
  %1 = tenon.contract %q, %0 {lhs_dims = array<i64: 0, 1, 3>, rhs_dims = array<i64: 0, 3, 2>, result_dims = array<i64: 0, 1, 2>}
    : (tensor<2x1x64xf32>, tensor<2x64x50xf32>) -> tensor<2x1x50xf32>
  return %1 : tensor<2x1x50xf32>
}

// Several queries: vectors run along the keys.
// CHECK-LABEL: @some_queries
// CHECK: tenon.dispatch
// CHECK-NEXT: tenon.transpose
// CHECK-NEXT: tenon.yield
func.func @some_queries(%q: tensor<2x5x64xf32>, %k: tensor<2x50x64xf32>) -> tensor<2x5x50xf32> {
  %0 = tenon.transpose %k {permutation = array<i64: 0, 2, 1>} : (tensor<2x50x64xf32>) -> tensor<2x64x50xf32>
  %1 = tenon.contract %q, %0 {lhs_dims = array<i64: 0, 1, 3>, rhs_dims = array<i64: 0, 3, 2>, result_dims = array<i64: 0, 1, 2>}
    : (tensor<2x5x64xf32>, tensor<2x64x50xf32>) -> tensor<2x5x50xf32>
  return %1 : tensor<2x5x50xf32>
}

// No vectors run along a scan: what it reads is computed before it.
// CHECK-LABEL: @before_a_scan
// CHECK: tenon.dispatch
// CHECK-NEXT: tenon.exp
// CHECK-NEXT: tenon.neg
// CHECK-NEXT: tenon.yield
// CHECK: tenon.dispatch
// CHECK-NEXT: tenon.scan
func.func @before_a_scan(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = tenon.exp %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = tenon.neg %0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %2 = tenon.scan sum, %1 {axis = 1 : i64} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %2 : tensor<4x8xf32>
}

// Eight exponentials for each of four rows take less time than a kernel of their own does.
// CHECK-LABEL: @costly_and_small_is_repeated
// CHECK: tenon.dispatch
// CHECK-NEXT: tenon.exp
// CHECK-NEXT: tenon.mul
// CHECK-NOT: tenon.dispatch
func.func @costly_and_small_is_repeated(%x: tensor<4x8xf32>, %s: tensor<8xf32>) -> tensor<4x8xf32> {
  %0 = tenon.exp %s : (tensor<8xf32>) -> tensor<8xf32>
  %1 = tenon.mul %x, %0 : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  return %1 : tensor<4x8xf32>
}

// CHECK-LABEL: @costly_and_large_is_stored
// CHECK: tenon.dispatch
// CHECK-NEXT: tenon.exp
// CHECK-NEXT: tenon.yield
// CHECK: tenon.dispatch
// CHECK-NEXT: tenon.mul
func.func @costly_and_large_is_stored(%x: tensor<49x960xf32>, %s: tensor<960xf32>) -> tensor<49x960xf32> {
  %0 = tenon.exp %s : (tensor<960xf32>) -> tensor<960xf32>
  %1 = tenon.mul %x, %0 : (tensor<49x960xf32>, tensor<960xf32>) -> tensor<49x960xf32>
  return %1 : tensor<49x960xf32>
}

// Rows of halves are widened by the kernel that multiplies them; what they are made of is computed before.
// CHECK-LABEL: @rows_of_halves
// CHECK: tenon.dispatch -> tensor<7x48xf16>
// CHECK-NEXT: tenon.relu
// CHECK-NEXT: tenon.yield
// CHECK: tenon.dispatch
// CHECK: tenon.cast
// CHECK: tenon.contract
// CHECK-NOT: tenon.dispatch
func.func @rows_of_halves(%x: tensor<7x48xf16>) -> tensor<7x16xf32> {
  %w = tenon.weight dense<1.0> : tensor<48x16xf32>
  %0 = tenon.relu %x : (tensor<7x48xf16>) -> tensor<7x48xf16>
  %1 = tenon.cast %0 : (tensor<7x48xf16>) -> tensor<7x48xf32>
  %2 = tenon.contract %1, %w {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 2, 1>, result_dims = array<i64: 0, 1>}
    : (tensor<7x48xf32>, tensor<48x16xf32>) -> tensor<7x16xf32>
  return %2 : tensor<7x16xf32>
}

// Rows that are no whole lines long, or a single one, are not copied.
// CHECK-LABEL: @other_halves
// CHECK: tenon.dispatch -> tensor<7x40xf32>
// CHECK-NEXT: tenon.cast
// CHECK: tenon.dispatch -> tensor<1x48xf32>
// CHECK-NEXT: tenon.cast
func.func @other_halves(%x: tensor<7x40xf16>, %y: tensor<1x48xf16>) -> (tensor<7x16xf32>, tensor<1x16xf32>) {
  %v = tenon.weight dense<1.0> : tensor<40x16xf32>
  %w = tenon.weight dense<1.0> : tensor<48x16xf32>
  %0 = tenon.cast %x : (tensor<7x40xf16>) -> tensor<7x40xf32>
  %1 = tenon.contract %0, %v {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 2, 1>, result_dims = array<i64: 0, 1>}
    : (tensor<7x40xf32>, tensor<40x16xf32>) -> tensor<7x16xf32>
  %2 = tenon.cast %y : (tensor<1x48xf16>) -> tensor<1x48xf32>
  %3 = tenon.contract %2, %w {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 2, 1>, result_dims = array<i64: 0, 1>}
    : (tensor<1x48xf32>, tensor<48x16xf32>) -> tensor<1x16xf32>
  return %1, %3 : tensor<7x16xf32>, tensor<1x16xf32>
}

// A convolution widens what its windows see, also where a transpose moves few channels: the image of f16 is read as it lies.
// CHECK-LABEL: @image_of_halves
// CHECK-NOT: tenon.dispatch ->
// CHECK: tenon.dispatch -> tensor<1x4x4x2xf32>
// CHECK: tenon.transpose
// CHECK-NEXT: tenon.cast
// CHECK: tenon.convolve
// CHECK-NOT: tenon.dispatch ->
func.func @image_of_halves(%x: tensor<1x3x7x7xf16>) -> tensor<1x4x4x2xf32> {
  %w = tenon.weight dense<[[[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]]]> : tensor<1x1x3x2xf32>
  %0 = tenon.transpose %x {permutation = array<i64: 0, 2, 3, 1>} : (tensor<1x3x7x7xf16>) -> tensor<1x7x7x3xf16>
  %1 = tenon.cast %0 : (tensor<1x7x7x3xf16>) -> tensor<1x7x7x3xf32>
  %2 = tenon.convolve %1, %w {channels_last, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>,
                              high = array<i64: 0, 0>, groups = 1 : i64} : (tensor<1x7x7x3xf32>, tensor<1x1x3x2xf32>) -> tensor<1x4x4x2xf32>
  return %2 : tensor<1x4x4x2xf32>
}

// Of many channels the transpose has a kernel of its own, which leaves halves; what a filter that is no weight is multiplied with is
// widened before.
// CHECK-LABEL: @other_images
// CHECK: tenon.dispatch -> tensor<1x4x4x8xf16>
// CHECK-NEXT: tenon.transpose
// CHECK: tenon.dispatch -> tensor<1x4x4x2xf32>
// CHECK: tenon.cast
// CHECK: tenon.convolve
// CHECK: tenon.dispatch -> tensor<1x4x4x8xf32>
// CHECK-NEXT: tenon.cast
func.func @other_images(%x: tensor<1x8x4x4xf16>, %y: tensor<1x4x4x8xf16>, %f: tensor<1x1x8x2xf32>)
    -> (tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>) {
  %w = tenon.weight dense<[[[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0], [1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0]]]]> : tensor<1x1x8x2xf32>
  %0 = tenon.transpose %x {permutation = array<i64: 0, 2, 3, 1>} : (tensor<1x8x4x4xf16>) -> tensor<1x4x4x8xf16>
  %1 = tenon.cast %0 : (tensor<1x4x4x8xf16>) -> tensor<1x4x4x8xf32>
  %2 = tenon.convolve %1, %w {channels_last, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>,
                              high = array<i64: 0, 0>, groups = 1 : i64} : (tensor<1x4x4x8xf32>, tensor<1x1x8x2xf32>) -> tensor<1x4x4x2xf32>
  %3 = tenon.cast %y : (tensor<1x4x4x8xf16>) -> tensor<1x4x4x8xf32>
  %4 = tenon.convolve %3, %f {channels_last, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>,
                              high = array<i64: 0, 0>, groups = 1 : i64} : (tensor<1x4x4x8xf32>, tensor<1x1x8x2xf32>) -> tensor<1x4x4x2xf32>
  return %2, %4 : tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>
}

// Each of several convolutions widens what it reads.
// CHECK-LABEL: @readers_of_halves
// CHECK-COUNT-2: tenon.cast %arg0
// CHECK-NOT: tenon.cast
// CHECK: return
func.func @readers_of_halves(%x: tensor<1x4x4x2xf16>) -> (tensor<1x4x4x2xf32>, tensor<1x2x2x2xf32>) {
  %w = tenon.weight dense<[[[[1.0, 2.0], [3.0, 4.0]]]]> : tensor<1x1x2x2xf32>
  %0 = tenon.cast %x : (tensor<1x4x4x2xf16>) -> tensor<1x4x4x2xf32>
  %1 = tenon.convolve %0, %w {channels_last, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>,
                              high = array<i64: 0, 0>, groups = 1 : i64} : (tensor<1x4x4x2xf32>, tensor<1x1x2x2xf32>) -> tensor<1x4x4x2xf32>
  %2 = tenon.convolve %0, %w {channels_last, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>,
                              high = array<i64: 0, 0>, groups = 1 : i64} : (tensor<1x4x4x2xf32>, tensor<1x1x2x2xf32>) -> tensor<1x2x2x2xf32>
  return %1, %2 : tensor<1x4x4x2xf32>, tensor<1x2x2x2xf32>
}

// What two taps see that are far from each other is more than a thread keeps.
// CHECK-LABEL: @large_window_of_halves
// CHECK: tenon.dispatch -> tensor<1x1x70001x1xf32>
// CHECK-NEXT: tenon.cast
func.func @large_window_of_halves(%x: tensor<1x1x70001x1xf16>) -> tensor<1x1x1x2xf32> {
  %w = tenon.weight dense<[[[[1.0, 2.0]], [[3.0, 4.0]]]]> : tensor<1x2x1x2xf32>
  %0 = tenon.cast %x : (tensor<1x1x70001x1xf16>) -> tensor<1x1x70001x1xf32>
  %1 = tenon.convolve %0, %w {channels_last, strides = array<i64: 1, 1>, dilations = array<i64: 1, 70000>, low = array<i64: 0, 0>,
                              high = array<i64: 0, 0>, groups = 1 : i64} : (tensor<1x1x70001x1xf32>, tensor<1x2x1x2xf32>) -> tensor<1x1x1x2xf32>
  return %1 : tensor<1x1x1x2xf32>
}

// What narrows sums stays with them, rather than with what joins it to others.
// CHECK-LABEL: @narrowed_sums
// CHECK: tenon.dispatch -> tensor<7x16xf16>
// CHECK-NEXT: tenon.contract
// CHECK-NEXT: tenon.cast
// CHECK-NEXT: tenon.relu
// CHECK: tenon.dispatch -> tensor<7x24xf16>
// CHECK-NEXT: tenon.concat
func.func @narrowed_sums(%x: tensor<7x48xf32>, %w: tensor<48x16xf32>, %y: tensor<7x8xf16>) -> tensor<7x24xf16> {
  %0 = tenon.contract %x, %w {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 2, 1>, result_dims = array<i64: 0, 1>}
    : (tensor<7x48xf32>, tensor<48x16xf32>) -> tensor<7x16xf32>
  %1 = tenon.cast %0 : (tensor<7x16xf32>) -> tensor<7x16xf16>
  %2 = tenon.relu %1 : (tensor<7x16xf16>) -> tensor<7x16xf16>
  %3 = tenon.concat %2, %y {axis = 1 : i64} : (tensor<7x16xf16>, tensor<7x8xf16>) -> tensor<7x24xf16>
  return %3 : tensor<7x24xf16>
}

// What is quantised of sums is stored by the loop nest, though an element of a table is looked up with it: the sums would be stored else,
// which are wider.
// CHECK-LABEL: @lookup_of_what_sums_become
// CHECK: %[[BYTES:.*]] = tenon.dispatch
// CHECK: tenon.contract
// CHECK: tenon.round
// CHECK: tenon.yield %{{.*}} : tensor<40x40xui8>
// CHECK: tenon.dispatch
// CHECK: tenon.gather
func.func @lookup_of_what_sums_become(%x: tensor<40x40xui8>, %w: tensor<40x40xi8>, %s: tensor<f32>, %t: tensor<256xui8>) -> tensor<40x40xui8> {
  %0 = tenon.contract %x, %w {lhs_dims = array<i64: 0, 1>, rhs_dims = array<i64: 1, 2>, result_dims = array<i64: 0, 2>, result_type = i32}
    : (tensor<40x40xui8>, tensor<40x40xi8>) -> tensor<40x40xi32>
  %1 = tenon.cast %0 : (tensor<40x40xi32>) -> tensor<40x40xf32>
  %2 = tenon.mul %1, %s : (tensor<40x40xf32>, tensor<f32>) -> tensor<40x40xf32>
  %3 = tenon.round %2 : (tensor<40x40xf32>) -> tensor<40x40xf32>
  %4 = tenon.cast %3 : (tensor<40x40xf32>) -> tensor<40x40xui8>
  %5 = tenon.cast %4 : (tensor<40x40xui8>) -> tensor<40x40xi32>
  %6 = tenon.gather %t, %5 {axis = 0 : i64} : (tensor<256xui8>, tensor<40x40xi32>) -> tensor<40x40xui8>
  return %6 : tensor<40x40xui8>
}

// Vectors of a convolution with channels first run along the lines of its input: a transpose that moves these has a kernel
// of its own, and the filter is read in any order.
// CHECK-LABEL: @channels_first
// CHECK: %[[X:.*]] = tenon.dispatch -> tensor<1x8x4x9xf32>
// CHECK-NEXT: tenon.transpose %arg0
// CHECK: tenon.dispatch -> tensor<1x2x4x9xf32>
// CHECK: tenon.transpose %{{.*}} {permutation = array<i64: 3, 2, 0, 1>}
// CHECK: tenon.convolve %[[X]]
func.func @channels_first(%x: tensor<1x4x9x8xf32>, %f: tensor<1x1x8x2xf32>) -> tensor<1x2x4x9xf32> {
  %0 = tenon.transpose %x {permutation = array<i64: 0, 3, 1, 2>} : (tensor<1x4x9x8xf32>) -> tensor<1x8x4x9xf32>
  %1 = tenon.transpose %f {permutation = array<i64: 3, 2, 0, 1>} : (tensor<1x1x8x2xf32>) -> tensor<2x8x1x1xf32>
  %2 = tenon.convolve %0, %1 {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>,
                              high = array<i64: 0, 0>, groups = 1 : i64} : (tensor<1x8x4x9xf32>, tensor<2x8x1x1xf32>) -> tensor<1x2x4x9xf32>
  return %2 : tensor<1x2x4x9xf32>
}

// Lines that stay lines may change places.
// CHECK-LABEL: @channels_first_of_lines
// CHECK: tenon.dispatch -> tensor<1x2x4x9xf32>
// CHECK: tenon.transpose %arg0
// CHECK: tenon.convolve
// CHECK-NOT: tenon.dispatch ->
// CHECK: return
func.func @channels_first_of_lines(%x: tensor<1x4x8x9xf32>, %f: tensor<2x8x1x1xf32>) -> tensor<1x2x4x9xf32> {
  %0 = tenon.transpose %x {permutation = array<i64: 0, 2, 1, 3>} : (tensor<1x4x8x9xf32>) -> tensor<1x8x4x9xf32>
  %1 = tenon.convolve %0, %f {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>,
                              high = array<i64: 0, 0>, groups = 1 : i64} : (tensor<1x8x4x9xf32>, tensor<2x8x1x1xf32>) -> tensor<1x2x4x9xf32>
  return %1 : tensor<1x2x4x9xf32>
}

// A kernel that pads transposes few channels, too; of many, squares are transposed before.
// CHECK-LABEL: @padded_transposes
// CHECK: tenon.dispatch -> tensor<1x3x6x9xf32>
// CHECK-NEXT: tenon.transpose %arg0
// CHECK: tenon.pad
// CHECK: tenon.dispatch -> tensor<1x5x4x9xf32>
// CHECK-NEXT: tenon.transpose %arg1
// CHECK-NEXT: tenon.yield
// CHECK: tenon.dispatch -> tensor<1x5x6x9xf32>
// CHECK: tenon.pad
func.func @padded_transposes(%x: tensor<1x4x9x3xf32>, %y: tensor<1x4x9x5xf32>) -> (tensor<1x3x6x9xf32>, tensor<1x5x6x9xf32>) {
  %zero = tenon.weight dense<0.0> : tensor<f32>
  %0 = tenon.transpose %x {permutation = array<i64: 0, 3, 1, 2>} : (tensor<1x4x9x3xf32>) -> tensor<1x3x4x9xf32>
  %1 = tenon.pad constant, %0, %zero {low = #tenon.shape<0, 0, 1, 0>, interior = array<i64: 0, 0, 0, 0>} : (tensor<1x3x4x9xf32>, tensor<f32>) -> tensor<1x3x6x9xf32>
  %2 = tenon.transpose %y {permutation = array<i64: 0, 3, 1, 2>} : (tensor<1x4x9x5xf32>) -> tensor<1x5x4x9xf32>
  %3 = tenon.pad constant, %2, %zero {low = #tenon.shape<0, 0, 1, 0>, interior = array<i64: 0, 0, 0, 0>} : (tensor<1x5x4x9xf32>, tensor<f32>) -> tensor<1x5x6x9xf32>
  return %1, %3 : tensor<1x3x6x9xf32>, tensor<1x5x6x9xf32>
}

// The epilogue of a product stays with its sums where the result is transposed.
// CHECK-LABEL: @transposed_sums
// CHECK: %[[SUMS:.*]] = tenon.dispatch -> tensor<1x4x9x5xf32>
// CHECK-NEXT: tenon.convolve
// CHECK-NEXT: tenon.relu
// CHECK: tenon.dispatch -> tensor<1x5x4x9xf32>
// CHECK-NEXT: tenon.transpose %[[SUMS]]
func.func @transposed_sums(%x: tensor<1x4x9x8xf32>, %f: tensor<1x1x8x5xf32>) -> tensor<1x5x4x9xf32> {
  %0 = tenon.convolve %x, %f {channels_last, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 0, 0>,
                              high = array<i64: 0, 0>, groups = 1 : i64} : (tensor<1x4x9x8xf32>, tensor<1x1x8x5xf32>) -> tensor<1x4x9x5xf32>
  %1 = tenon.relu %0 : (tensor<1x4x9x5xf32>) -> tensor<1x4x9x5xf32>
  %2 = tenon.transpose %1 {permutation = array<i64: 0, 3, 1, 2>} : (tensor<1x4x9x5xf32>) -> tensor<1x5x4x9xf32>
  return %2 : tensor<1x5x4x9xf32>
}

// A product of f16 reads rows as they are stored, of any length; what else reads them as f32 gets them in memory.
// CHECK-LABEL: @rows_of_f16_products_stay_f16
// CHECK: tenon.dispatch
// CHECK: tenon.cast {{.*}} -> tensor<6x20xf16>
// CHECK-NEXT: tenon.yield
// CHECK: tenon.dispatch
// CHECK: tenon.cast {{.*}} : (tensor<6x20xf16>) -> tensor<6x20xf32>
// CHECK: tenon.contract
// CHECK-LABEL: @rows_of_other_products_are_widened
// CHECK: tenon.dispatch
// CHECK: tenon.cast {{.*}} -> tensor<6x20xf16>
// CHECK: tenon.cast {{.*}} : (tensor<6x20xf16>) -> tensor<6x20xf32>
// CHECK-NEXT: tenon.yield
// CHECK: tenon.dispatch
// CHECK-NOT: tenon.cast
// CHECK: tenon.contract
func.func @rows_of_f16_products_stay_f16(%x: tensor<6x20xf32>, %w: tensor<20x32xf32>) -> tensor<6x32xf32> {
  %0 = tenon.exp %x : (tensor<6x20xf32>) -> tensor<6x20xf32>
  %1 = tenon.cast %0 : (tensor<6x20xf32>) -> tensor<6x20xf16>
  %2 = tenon.cast %1 : (tensor<6x20xf16>) -> tensor<6x20xf32>
  %3 = tenon.contract %2, %w {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 2, 1>, result_dims = array<i64: 0, 1>, tenon.path = "f16_rounded"}
    : (tensor<6x20xf32>, tensor<20x32xf32>) -> tensor<6x32xf32>
  return %3 : tensor<6x32xf32>
}
func.func @rows_of_other_products_are_widened(%x: tensor<6x20xf32>, %w: tensor<20x32xf32>) -> tensor<6x32xf32> {
  %0 = tenon.exp %x : (tensor<6x20xf32>) -> tensor<6x20xf32>
  %1 = tenon.cast %0 : (tensor<6x20xf32>) -> tensor<6x20xf16>
  %2 = tenon.cast %1 : (tensor<6x20xf16>) -> tensor<6x20xf32>
  %3 = tenon.contract %2, %w {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 2, 1>, result_dims = array<i64: 0, 1>, tenon.path = "plain"}
    : (tensor<6x20xf32>, tensor<20x32xf32>) -> tensor<6x32xf32>
  return %3 : tensor<6x32xf32>
}

// To take bits for those of another type costs nothing, so it is repeated for each element that reads the result.
// CHECK-LABEL: @bitcasts_join_their_readers
// CHECK: tenon.dispatch
// CHECK-NEXT: tenon.bitcast
// CHECK-NEXT: tenon.mul
// CHECK-NOT: tenon.dispatch
func.func @bitcasts_join_their_readers(%n: tensor<6x1xi32>, %x: tensor<6x20xf32>) -> tensor<6x20xf32> {
  %0 = tenon.bitcast %n : (tensor<6x1xi32>) -> tensor<6x1xf32>
  %1 = tenon.mul %x, %0 : (tensor<6x20xf32>, tensor<6x1xf32>) -> tensor<6x20xf32>
  return %1 : tensor<6x20xf32>
}
