// RUN: tenon-opt %s -pass-pipeline='builtin.module(func.func(tenon-simplify,canonicalize))' | FileCheck %s

//===----------------------------------------------------------------------===//
// Scatters over ranges
//===----------------------------------------------------------------------===//

// x[:, 3:67] = y as exporters write it: both transposes cancel, too.
// CHECK-LABEL: @slice_scatter
// CHECK-SAME: %[[X:.*]]: tensor<2x128x768xf32>, %[[Y:.*]]: tensor<2x64x768xf32>
// CHECK-DAG: %[[LOW:.*]] = tenon.slice %[[X]] {starts = #tenon.shape<0, 0, 0>, {{.*}} -> tensor<2x3x768xf32>
// CHECK-DAG: %[[HIGH:.*]] = tenon.slice %[[X]] {starts = #tenon.shape<0, 67, 0>, {{.*}} -> tensor<2x61x768xf32>
// CHECK: %[[Z:.*]] = tenon.concat %[[LOW]], %[[Y]], %[[HIGH]] {axis = 1 : i64}
// CHECK: return %[[Z]]
func.func @slice_scatter(%x: tensor<2x128x768xf32>, %y: tensor<2x64x768xf32>) -> tensor<2x128x768xf32> {
  %0 = tenon.iota {axis = 0 : i64} : () -> tensor<128xi64>
  %1 = tenon.slice %0 {starts = #tenon.shape<3>, steps = array<i64: 1>} : (tensor<128xi64>) -> tensor<64xi64>
  %2 = tenon.reshape %1 : (tensor<64xi64>) -> tensor<64x1xi64>
  %3 = tenon.transpose %x {permutation = array<i64: 1, 0, 2>} : (tensor<2x128x768xf32>) -> tensor<128x2x768xf32>
  %4 = tenon.transpose %y {permutation = array<i64: 1, 0, 2>} : (tensor<2x64x768xf32>) -> tensor<64x2x768xf32>
  %5 = tenon.scatter_nd assign, %3, %2, %4 : (tensor<128x2x768xf32>, tensor<64x1xi64>, tensor<64x2x768xf32>) -> tensor<128x2x768xf32>
  %6 = tenon.transpose %5 {permutation = array<i64: 1, 0, 2>} : (tensor<128x2x768xf32>) -> tensor<2x128x768xf32>
  return %6 : tensor<2x128x768xf32>
}

// CHECK-LABEL: @constant_indices
// CHECK-SAME: %[[X:.*]]: tensor<8xf32>, %[[Y:.*]]: tensor<3xf32>
// CHECK: tenon.concat %{{.*}}, %[[Y]], %{{.*}} {axis = 0 : i64} : (tensor<2xf32>, tensor<3xf32>, tensor<3xf32>)
func.func @constant_indices(%x: tensor<8xf32>, %y: tensor<3xf32>) -> tensor<8xf32> {
  %i = tenon.weight dense<[[2], [3], [4]]> : tensor<3x1xi64>
  %0 = tenon.scatter_nd assign, %x, %i, %y : (tensor<8xf32>, tensor<3x1xi64>, tensor<3xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// Indices that are negative count from the end: the last three of eight.
// CHECK-LABEL: @negative_indices
// CHECK: tenon.concat %{{.*}}, %arg1 {axis = 0 : i64} : (tensor<5xf32>, tensor<3xf32>)
func.func @negative_indices(%x: tensor<8xf32>, %y: tensor<3xf32>) -> tensor<8xf32> {
  %i = tenon.weight dense<[[-3], [-2], [-1]]> : tensor<3x1xi64>
  %0 = tenon.scatter_nd assign, %x, %i, %y : (tensor<8xf32>, tensor<3x1xi64>, tensor<3xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// CHECK-LABEL: @all_elements
// CHECK-SAME: %[[X:.*]]: tensor<3xf32>, %[[Y:.*]]: tensor<3xf32>
// CHECK: return %[[Y]]
func.func @all_elements(%x: tensor<3xf32>, %y: tensor<3xf32>) -> tensor<3xf32> {
  %i = tenon.weight dense<[[0], [1], [2]]> : tensor<3x1xi64>
  %0 = tenon.scatter_nd assign, %x, %i, %y : (tensor<3xf32>, tensor<3x1xi64>, tensor<3xf32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// Rows 1, 3 and 5: the mask says which ones the padded updates replace.
// CHECK-LABEL: @every_second_row
// CHECK-DAG: %[[MASK:.*]] = tenon.weight dense<{{\[\[}}false], [true], [false], [true], [false], [true], [false]]>
// CHECK-DAG: %[[SPREAD:.*]] = tenon.pad constant, %arg1, %{{.*}} {interior = array<i64: 1, 0>, low = #tenon.shape<1, 0>}
// CHECK: tenon.select %[[MASK]], %[[SPREAD]], %arg0
func.func @every_second_row(%x: tensor<7x4xf32>, %y: tensor<3x4xf32>) -> tensor<7x4xf32> {
  %i = tenon.weight dense<[[1], [3], [5]]> : tensor<3x1xi64>
  %0 = tenon.scatter_nd assign, %x, %i, %y : (tensor<7x4xf32>, tensor<3x1xi64>, tensor<3x4xf32>) -> tensor<7x4xf32>
  return %0 : tensor<7x4xf32>
}

// x[:, 1:3] = y by coordinates, the first of which are all rows.
// CHECK-LABEL: @coordinates
// CHECK-SAME: %[[X:.*]]: tensor<3x5xf32>, %[[Y:.*]]: tensor<3x2xf32>
// CHECK: tenon.concat %{{.*}}, %[[Y]], %{{.*}} {axis = 1 : i64} : (tensor<3x1xf32>, tensor<3x2xf32>, tensor<3x2xf32>)
func.func @coordinates(%x: tensor<3x5xf32>, %y: tensor<3x2xf32>) -> tensor<3x5xf32> {
  %one = tenon.weight dense<1> : tensor<i64>
  %rows = tenon.iota {axis = 0 : i64} : () -> tensor<3x2x1xi64>
  %iota = tenon.iota {axis = 0 : i64} : () -> tensor<2xi64>
  %first = tenon.add %iota, %one : (tensor<2xi64>, tensor<i64>) -> tensor<2xi64>
  %columns = tenon.broadcast %first : (tensor<2xi64>) -> tensor<3x2xi64>
  %columns1 = tenon.reshape %columns : (tensor<3x2xi64>) -> tensor<3x2x1xi64>
  %i = tenon.concat %rows, %columns1 {axis = 2 : i64} : (tensor<3x2x1xi64>, tensor<3x2x1xi64>) -> tensor<3x2x2xi64>
  %0 = tenon.scatter_nd assign, %x, %i, %y : (tensor<3x5xf32>, tensor<3x2x2xi64>, tensor<3x2xf32>) -> tensor<3x5xf32>
  return %0 : tensor<3x5xf32>
}

// The first coordinate moves along the second dimension of the updates.
// CHECK-LABEL: @swapped_coordinates
// CHECK: %[[T:.*]] = tenon.transpose %arg1 {permutation = array<i64: 1, 0>}
// CHECK: tenon.concat %[[T]], %{{.*}} {axis = 1 : i64} : (tensor<2x3xf32>, tensor<2x1xf32>)
func.func @swapped_coordinates(%x: tensor<2x4xf32>, %y: tensor<3x2xf32>) -> tensor<2x4xf32> {
  %i = tenon.weight dense<[[[0, 0], [1, 0]], [[0, 1], [1, 1]], [[0, 2], [1, 2]]]> : tensor<3x2x2xi64>
  %0 = tenon.scatter_nd assign, %x, %i, %y : (tensor<2x4xf32>, tensor<3x2x2xi64>, tensor<3x2xf32>) -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}

// x[1, :, 2] = y, where both dimensions are cut.
// CHECK-LABEL: @box
// CHECK: %[[ROW:.*]] = tenon.concat %{{.*}}, %{{.*}}, %{{.*}} {axis = 2 : i64} : (tensor<1x3x2xf32>, tensor<1x3x1xf32>, tensor<1x3x1xf32>)
// CHECK: tenon.concat %{{.*}}, %[[ROW]] {axis = 0 : i64} : (tensor<1x3x4xf32>, tensor<1x3x4xf32>)
func.func @box(%x: tensor<2x3x4xf32>, %y: tensor<3xf32>) -> tensor<2x3x4xf32> {
  %i = tenon.weight dense<[[1, 0, 2], [1, 1, 2], [1, 2, 2]]> : tensor<3x3xi64>
  %0 = tenon.scatter_nd assign, %x, %i, %y : (tensor<2x3x4xf32>, tensor<3x3xi64>, tensor<3xf32>) -> tensor<2x3x4xf32>
  return %0 : tensor<2x3x4xf32>
}

// A dynamic batch, and indices as ScatterElements has them.
// CHECK-LABEL: @elements
// CHECK-NOT: tenon.scatter_elements
// CHECK: tenon.concat %{{.*}}, %arg1, %{{.*}} {axis = 1 : i64}
func.func @elements(%x: tensor<?x8x5xf32, #tenon.shape<N, 8, 5>>, %y: tensor<?x4x5xf32, #tenon.shape<N, 4, 5>>) -> tensor<?x8x5xf32, #tenon.shape<N, 8, 5>> {
  %0 = tenon.iota {axis = 0 : i64} : () -> tensor<8xi64>
  %1 = tenon.slice %0 {starts = #tenon.shape<3>, steps = array<i64: 1>} : (tensor<8xi64>) -> tensor<4xi64>
  %2 = tenon.broadcast %1 : (tensor<4xi64>) -> tensor<?x5x4xi64, #tenon.shape<N, 5, 4>>
  %3 = tenon.transpose %2 {permutation = array<i64: 0, 2, 1>} : (tensor<?x5x4xi64, #tenon.shape<N, 5, 4>>) -> tensor<?x4x5xi64, #tenon.shape<N, 4, 5>>
  %4 = tenon.scatter_elements assign, %x, %3, %y {axis = 1 : i64} : (tensor<?x8x5xf32, #tenon.shape<N, 8, 5>>,
      tensor<?x4x5xi64, #tenon.shape<N, 4, 5>>, tensor<?x4x5xf32, #tenon.shape<N, 4, 5>>) -> tensor<?x8x5xf32, #tenon.shape<N, 8, 5>>
  return %4 : tensor<?x8x5xf32, #tenon.shape<N, 8, 5>>
}

// T new rows behind P old ones: within P + T for any sizes.
// CHECK-LABEL: @dynamic_range
// CHECK-NOT: tenon.scatter_nd
// CHECK: tenon.concat %{{.*}}, %arg1 {axis = 0 : i64}
func.func @dynamic_range(%x: tensor<?x4xf32, #tenon.shape<P + T, 4>>, %y: tensor<?x4xf32, #tenon.shape<T, 4>>) -> tensor<?x4xf32, #tenon.shape<P + T, 4>> {
  %p = tenon.sizes #tenon.shape<P> -> tensor<i64>
  %iota = tenon.iota {axis = 0 : i64} : () -> tensor<?xi64, #tenon.shape<T>>
  %0 = tenon.add %iota, %p : (tensor<?xi64, #tenon.shape<T>>, tensor<i64>) -> tensor<?xi64, #tenon.shape<T>>
  %i = tenon.reshape %0 : (tensor<?xi64, #tenon.shape<T>>) -> tensor<?x1xi64, #tenon.shape<T, 1>>
  %1 = tenon.scatter_nd assign, %x, %i, %y : (tensor<?x4xf32, #tenon.shape<P + T, 4>>, tensor<?x1xi64, #tenon.shape<T, 1>>,
      tensor<?x4xf32, #tenon.shape<T, 4>>) -> tensor<?x4xf32, #tenon.shape<P + T, 4>>
  return %1 : tensor<?x4xf32, #tenon.shape<P + T, 4>>
}

// select(i < 0, i + n, i) is i: no index of the range is negative.
// CHECK-LABEL: @wrapped_indices
// CHECK: tenon.concat %{{.*}}, %arg1, %{{.*}} {axis = 0 : i64}
func.func @wrapped_indices(%x: tensor<8xf32>, %y: tensor<3xf32>) -> tensor<8xf32> {
  %zero = tenon.weight dense<0> : tensor<i64>
  %two = tenon.weight dense<2> : tensor<i64>
  %eight = tenon.weight dense<8> : tensor<i64>
  %iota = tenon.iota {axis = 0 : i64} : () -> tensor<3xi64>
  %i = tenon.add %iota, %two : (tensor<3xi64>, tensor<i64>) -> tensor<3xi64>
  %isNegative = tenon.compare lt, %i, %zero : (tensor<3xi64>, tensor<i64>) -> tensor<3xi1>
  %fromEnd = tenon.add %i, %eight : (tensor<3xi64>, tensor<i64>) -> tensor<3xi64>
  %wrapped = tenon.select %isNegative, %fromEnd, %i : (tensor<3xi1>, tensor<3xi64>, tensor<3xi64>) -> tensor<3xi64>
  %indices = tenon.reshape %wrapped : (tensor<3xi64>) -> tensor<3x1xi64>
  %0 = tenon.scatter_nd assign, %x, %indices, %y : (tensor<8xf32>, tensor<3x1xi64>, tensor<3xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// CHECK-LABEL: @no_indices
// CHECK: return %arg0
func.func @no_indices(%x: tensor<?x4xf32, #tenon.shape<N, 4>>, %i: tensor<0x?x1xi64, #tenon.shape<0, M, 1>>, %y: tensor<0x?x4xf32, #tenon.shape<0, M, 4>>) -> tensor<?x4xf32, #tenon.shape<N, 4>> {
  %0 = tenon.scatter_nd assign, %x, %i, %y : (tensor<?x4xf32, #tenon.shape<N, 4>>, tensor<0x?x1xi64, #tenon.shape<0, M, 1>>,
      tensor<0x?x4xf32, #tenon.shape<0, M, 4>>) -> tensor<?x4xf32, #tenon.shape<N, 4>>
  return %0 : tensor<?x4xf32, #tenon.shape<N, 4>>
}

// CHECK-LABEL: @no_update_of_an_element_twice
// CHECK: tenon.scatter_nd
func.func @no_update_of_an_element_twice(%x: tensor<8xf32>, %y: tensor<3xf32>) -> tensor<8xf32> {
  %i = tenon.weight dense<2> : tensor<3x1xi64>
  %0 = tenon.scatter_nd assign, %x, %i, %y : (tensor<8xf32>, tensor<3x1xi64>, tensor<3xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// The diagonal: both coordinates move along one dimension of the updates.
// CHECK-LABEL: @no_update_of_a_diagonal
// CHECK: tenon.scatter_nd
func.func @no_update_of_a_diagonal(%x: tensor<3x3xf32>, %y: tensor<3xf32>) -> tensor<3x3xf32> {
  %i = tenon.weight dense<[[0, 0], [1, 1], [2, 2]]> : tensor<3x2xi64>
  %0 = tenon.scatter_nd assign, %x, %i, %y : (tensor<3x3xf32>, tensor<3x2xi64>, tensor<3xf32>) -> tensor<3x3xf32>
  return %0 : tensor<3x3xf32>
}

// CHECK-LABEL: @no_update_backwards
// CHECK: tenon.scatter_nd
func.func @no_update_backwards(%x: tensor<8xf32>, %y: tensor<3xf32>) -> tensor<8xf32> {
  %i = tenon.weight dense<[[4], [3], [2]]> : tensor<3x1xi64>
  %0 = tenon.scatter_nd assign, %x, %i, %y : (tensor<8xf32>, tensor<3x1xi64>, tensor<3xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// CHECK-LABEL: @no_update_at_uneven_steps
// CHECK: tenon.scatter_nd
func.func @no_update_at_uneven_steps(%x: tensor<8xf32>, %y: tensor<3xf32>) -> tensor<8xf32> {
  %i = tenon.weight dense<[[2], [3], [5]]> : tensor<3x1xi64>
  %0 = tenon.scatter_nd assign, %x, %i, %y : (tensor<8xf32>, tensor<3x1xi64>, tensor<3xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// Every second element of a row is padding: a test for each.
// CHECK-LABEL: @no_update_with_gaps_in_a_row
// CHECK: tenon.scatter_nd
func.func @no_update_with_gaps_in_a_row(%x: tensor<7xf32>, %y: tensor<3xf32>) -> tensor<7xf32> {
  %i = tenon.weight dense<[[1], [3], [5]]> : tensor<3x1xi64>
  %0 = tenon.scatter_nd assign, %x, %i, %y : (tensor<7xf32>, tensor<3x1xi64>, tensor<3xf32>) -> tensor<7xf32>
  return %0 : tensor<7xf32>
}

// Without the transposes, which cancel, the gaps are between the elements of a row.
// CHECK-LABEL: @no_update_with_gaps_in_a_transposed_row
// CHECK: tenon.scatter_nd
func.func @no_update_with_gaps_in_a_transposed_row(%x: tensor<4x7xf32>, %y: tensor<3x4xf32>) -> tensor<4x7xf32> {
  %i = tenon.weight dense<[[1], [3], [5]]> : tensor<3x1xi64>
  %t = tenon.transpose %x {permutation = array<i64: 1, 0>} : (tensor<4x7xf32>) -> tensor<7x4xf32>
  %0 = tenon.scatter_nd assign, %t, %i, %y : (tensor<7x4xf32>, tensor<3x1xi64>, tensor<3x4xf32>) -> tensor<7x4xf32>
  %1 = tenon.transpose %0 {permutation = array<i64: 1, 0>} : (tensor<7x4xf32>) -> tensor<4x7xf32>
  return %1 : tensor<4x7xf32>
}

// Some of the negative indices count from the end, the others do not.
// CHECK-LABEL: @no_update_across_the_end
// CHECK: tenon.scatter_nd
func.func @no_update_across_the_end(%x: tensor<8xf32>, %y: tensor<3xf32>) -> tensor<8xf32> {
  %i = tenon.weight dense<[[-1], [0], [1]]> : tensor<3x1xi64>
  %0 = tenon.scatter_nd assign, %x, %i, %y : (tensor<8xf32>, tensor<3x1xi64>, tensor<3xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// The run has to end with an error.
// CHECK-LABEL: @no_update_out_of_range
// CHECK: tenon.scatter_nd
func.func @no_update_out_of_range(%x: tensor<8xf32>, %y: tensor<3xf32>) -> tensor<8xf32> {
  %i = tenon.weight dense<[[6], [7], [8]]> : tensor<3x1xi64>
  %0 = tenon.scatter_nd assign, %x, %i, %y : (tensor<8xf32>, tensor<3x1xi64>, tensor<3xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// N may be less than 5.
// CHECK-LABEL: @no_update_of_what_may_be_too_small
// CHECK: tenon.scatter_nd
func.func @no_update_of_what_may_be_too_small(%x: tensor<?xf32, #tenon.shape<N>>, %y: tensor<3xf32>) -> tensor<?xf32, #tenon.shape<N>> {
  %i = tenon.weight dense<[[2], [3], [4]]> : tensor<3x1xi64>
  %0 = tenon.scatter_nd assign, %x, %i, %y : (tensor<?xf32, #tenon.shape<N>>, tensor<3x1xi64>, tensor<3xf32>) -> tensor<?xf32, #tenon.shape<N>>
  return %0 : tensor<?xf32, #tenon.shape<N>>
}

// CHECK-LABEL: @no_update_of_a_sum
// CHECK: tenon.scatter_nd
func.func @no_update_of_a_sum(%x: tensor<8xf32>, %y: tensor<3xf32>) -> tensor<8xf32> {
  %i = tenon.weight dense<[[2], [3], [4]]> : tensor<3x1xi64>
  %0 = tenon.scatter_nd add, %x, %i, %y : (tensor<8xf32>, tensor<3x1xi64>, tensor<3xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// CHECK-LABEL: @no_update_at_indices_of_the_caller
// CHECK: tenon.scatter_nd
func.func @no_update_at_indices_of_the_caller(%x: tensor<8xf32>, %i: tensor<3x1xi64>, %y: tensor<3xf32>) -> tensor<8xf32> {
  %0 = tenon.scatter_nd assign, %x, %i, %y : (tensor<8xf32>, tensor<3x1xi64>, tensor<3xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// The index of an element depends on its column.
// CHECK-LABEL: @no_update_of_slanted_elements
// CHECK: tenon.scatter_elements
func.func @no_update_of_slanted_elements(%x: tensor<4x2xf32>, %y: tensor<2x2xf32>) -> tensor<4x2xf32> {
  %i = tenon.weight dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>
  %0 = tenon.scatter_elements assign, %x, %i, %y {axis = 0 : i64} : (tensor<4x2xf32>, tensor<2x2xi64>, tensor<2x2xf32>) -> tensor<4x2xf32>
  return %0 : tensor<4x2xf32>
}

// A sum of 32 bits may have overflowed before it is widened.
// CHECK-LABEL: @no_update_at_widened_sums
// CHECK: tenon.scatter_nd
func.func @no_update_at_widened_sums(%x: tensor<8xf32>, %y: tensor<3xf32>) -> tensor<8xf32> {
  %two = tenon.weight dense<2> : tensor<i32>
  %iota = tenon.iota {axis = 0 : i64} : () -> tensor<3x1xi32>
  %sum = tenon.add %iota, %two : (tensor<3x1xi32>, tensor<i32>) -> tensor<3x1xi32>
  %i = tenon.cast %sum : (tensor<3x1xi32>) -> tensor<3x1xi64>
  %0 = tenon.scatter_nd assign, %x, %i, %y : (tensor<8xf32>, tensor<3x1xi64>, tensor<3xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

//===----------------------------------------------------------------------===//
// Gathers over ranges
//===----------------------------------------------------------------------===//

// CHECK-LABEL: @gather_range
// CHECK: %[[Y:.*]] = tenon.slice %arg0 {starts = #tenon.shape<0, 2>, steps = array<i64: 1, 3>} : (tensor<4x9xf32>) -> tensor<4x3xf32>
// CHECK: return %[[Y]]
func.func @gather_range(%x: tensor<4x9xf32>) -> tensor<4x3xf32> {
  %i = tenon.weight dense<[2, 5, 8]> : tensor<3xi64>
  %0 = tenon.gather %x, %i {axis = 1 : i64} : (tensor<4x9xf32>, tensor<3xi64>) -> tensor<4x3xf32>
  return %0 : tensor<4x3xf32>
}

// CHECK-LABEL: @gather_backwards
// CHECK: tenon.slice %arg0 {starts = #tenon.shape<8>, steps = array<i64: -1>} : (tensor<9xf32>) -> tensor<9xf32>
func.func @gather_backwards(%x: tensor<9xf32>) -> tensor<9xf32> {
  %i = tenon.weight dense<[-1, -2, -3, -4, -5, -6, -7, -8, -9]> : tensor<9xi64>
  %0 = tenon.gather %x, %i {axis = 0 : i64} : (tensor<9xf32>, tensor<9xi64>) -> tensor<9xf32>
  return %0 : tensor<9xf32>
}

// Windows that neither overlap nor leave anything out are a reshape.
// CHECK-LABEL: @gather_windows_side_by_side
// CHECK: %[[ROWS:.*]] = tenon.slice %arg0 {starts = #tenon.shape<1, 0>, {{.*}} -> tensor<6x5xf32>
// CHECK: tenon.reshape %[[ROWS]] : (tensor<6x5xf32>) -> tensor<2x3x5xf32>
func.func @gather_windows_side_by_side(%x: tensor<8x5xf32>) -> tensor<2x3x5xf32> {
  %i = tenon.weight dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi64>
  %0 = tenon.gather %x, %i {axis = 0 : i64} : (tensor<8x5xf32>, tensor<2x3xi64>) -> tensor<2x3x5xf32>
  return %0 : tensor<2x3x5xf32>
}

// CHECK-LABEL: @no_slice_of_windows_that_overlap
// CHECK: tenon.gather
func.func @no_slice_of_windows_that_overlap(%x: tensor<8x5xf32>) -> tensor<2x3x5xf32> {
  %i = tenon.weight dense<[[1, 2, 3], [3, 4, 5]]> : tensor<2x3xi64>
  %0 = tenon.gather %x, %i {axis = 0 : i64} : (tensor<8x5xf32>, tensor<2x3xi64>) -> tensor<2x3x5xf32>
  return %0 : tensor<2x3x5xf32>
}

// CHECK-LABEL: @no_slice_of_repeated_elements
// CHECK: tenon.gather
func.func @no_slice_of_repeated_elements(%x: tensor<8xf32>) -> tensor<3xf32> {
  %i = tenon.weight dense<2> : tensor<3xi64>
  %0 = tenon.gather %x, %i {axis = 0 : i64} : (tensor<8xf32>, tensor<3xi64>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// CHECK-LABEL: @no_slice_out_of_range
// CHECK: tenon.gather
func.func @no_slice_out_of_range(%x: tensor<8xf32>) -> tensor<3xf32> {
  %i = tenon.weight dense<[6, 7, 8]> : tensor<3xi64>
  %0 = tenon.gather %x, %i {axis = 0 : i64} : (tensor<8xf32>, tensor<3xi64>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// Of eight rows there may be fewer than T.
// CHECK-LABEL: @no_slice_of_what_may_be_too_small
// CHECK: tenon.gather
func.func @no_slice_of_what_may_be_too_small(%x: tensor<8x2xf32>, %y: tensor<?xf32, #tenon.shape<T>>) -> tensor<?x2xf32, #tenon.shape<T, 2>> {
  %i = tenon.iota {axis = 0 : i64} : () -> tensor<?xi64, #tenon.shape<T>>
  %0 = tenon.gather %x, %i {axis = 0 : i64} : (tensor<8x2xf32>, tensor<?xi64, #tenon.shape<T>>) -> tensor<?x2xf32, #tenon.shape<T, 2>>
  return %0 : tensor<?x2xf32, #tenon.shape<T, 2>>
}
