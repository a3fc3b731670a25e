// RUN: tenon-opt %s --split-input-file --tenon-collect-requirements | FileCheck %s

// Two symbols that meet must be equal: both differences must not be negative.
// CHECK: tenon.requires = #tenon.shape<{{.*}}N{{.*}}M{{.*}}>
// CHECK-SAME: {{.*}}M and N to be equal
func.func @different_symbols(%a: tensor<?xf32, #tenon.shape<N>>, %b: tensor<?xf32, #tenon.shape<M>>) -> tensor<?xf32, #tenon.shape<N>> {
  %0 = tenon.add %a, %b : (tensor<?xf32, #tenon.shape<N>>, tensor<?xf32, #tenon.shape<M>>) -> tensor<?xf32, #tenon.shape<N>>
  return %0 : tensor<?xf32, #tenon.shape<N>>
}

// -----

// CHECK-NOT: tenon.requires
// CHECK: @equal_symbols_and_ones
func.func @equal_symbols_and_ones(%a: tensor<?x4xf32, #tenon.shape<N, 4>>, %b: tensor<?x1xf32, #tenon.shape<N, 1>>) -> tensor<?x4xf32, #tenon.shape<N, 4>> {
  %0 = tenon.add %a, %b : (tensor<?x4xf32, #tenon.shape<N, 4>>, tensor<?x1xf32, #tenon.shape<N, 1>>) -> tensor<?x4xf32, #tenon.shape<N, 4>>
  return %0 : tensor<?x4xf32, #tenon.shape<N, 4>>
}

// -----

// What depends on data is checked in place, once in a block.
// CHECK-LABEL: func.func @data
// CHECK: tenon.bind
// CHECK: tenon.require #tenon.shape<{{.*}}> "needs {{.*}} to be equal"
// CHECK-NEXT: tenon.require
// CHECK-NEXT: tenon.add
// CHECK-NEXT: tenon.mul
func.func @data(%n: tensor<1xi64>, %x: tensor<?xf32, #tenon.shape<N>>) {
  tenon.bind %n ["k"] {min = 0 : i64} : tensor<1xi64>
  %0 = tenon.iota {axis = 0 : i64} : () -> tensor<?xf32, #tenon.shape<k>>
  %1 = tenon.add %0, %x : (tensor<?xf32, #tenon.shape<k>>, tensor<?xf32, #tenon.shape<N>>) -> tensor<?xf32, #tenon.shape<k>>
  %2 = tenon.mul %0, %x : (tensor<?xf32, #tenon.shape<k>>, tensor<?xf32, #tenon.shape<N>>) -> tensor<?xf32, #tenon.shape<k>>
  return
}

// -----

// What a kernel reads and writes besides what indices say is inside of its tensors.
// CHECK-LABEL: func.func @indexed
// CHECK-SAME: tenon.requires = #tenon.shape<N + -2, U + (K * -1), (U * -1) + K, W + -3, (W * -1) + 3>
// CHECK-SAME: "needs 2 to be at most N", "needs U and K to be equal"
func.func @indexed(%x: tensor<?x3xf32, #tenon.shape<N, 3>>, %i: tensor<2x1xi64>, %j: tensor<?x1xi64, #tenon.shape<K, 1>>,
                   %u: tensor<?x?xf32, #tenon.shape<U, W>>) -> (tensor<2x1xf32>, tensor<?x3xf32, #tenon.shape<N, 3>>) {
  %0 = tenon.gather_elements %x, %i {axis = 1 : i64} : (tensor<?x3xf32, #tenon.shape<N, 3>>, tensor<2x1xi64>) -> tensor<2x1xf32>
  %1 = tenon.scatter_nd assign, %x, %j, %u
    : (tensor<?x3xf32, #tenon.shape<N, 3>>, tensor<?x1xi64, #tenon.shape<K, 1>>, tensor<?x?xf32, #tenon.shape<U, W>>) -> tensor<?x3xf32, #tenon.shape<N, 3>>
  return %0, %1 : tensor<2x1xf32>, tensor<?x3xf32, #tenon.shape<N, 3>>
}

// -----

// A slice reads nothing outside of its input, and one element is one element.
// CHECK-LABEL: func.func @sliced
// CHECK-SAME: tenon.requires = #tenon.shape<N + -5, N + -1, (N * -1) + 1>
func.func @sliced(%x: tensor<?xf32, #tenon.shape<N>>) -> (tensor<3xf32>, tensor<f32>) {
  %0 = tenon.slice %x {starts = #tenon.shape<0>, steps = array<i64: 2>} : (tensor<?xf32, #tenon.shape<N>>) -> tensor<3xf32>
  %1 = tenon.reshape %x : (tensor<?xf32, #tenon.shape<N>>) -> tensor<f32>
  return %0, %1 : tensor<3xf32>, tensor<f32>
}
