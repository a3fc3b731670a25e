// RUN: tenon-opt %s -tenon-to-linalg -canonicalize -split-input-file | FileCheck %s
// RUN: tenon-opt %s -tenon-to-linalg -tenon-form-contractions -tenon-tile-kernels -split-input-file | FileCheck %s --check-prefix=TILED
// RUN: tenon-opt %s -tenon-to-linalg -tenon-form-contractions -tenon-tile-kernels -canonicalize -tenon-bufferize-kernels -tenon-drop-index-checks -canonicalize -split-input-file | FileCheck %s --check-prefix=GPU

// A kernel finds the ends of its share of the indices, and checks them before the loops that read. Where the dimension may be
// empty, an index that does not exist is what the ends start from.
// CHECK-LABEL: func.func private @gather(
// CHECK-SAME: %[[X:.*]]: tensor<?x3xf32> {{.*}}, %[[I:.*]]: tensor<?x4xi64> {{.*}}, %{{.*}}: tensor<?x4x3xf32> {{.*}}, %[[N:.*]]: index, %[[M:.*]]: index)
// CHECK-DAG: %[[HIGHEST:.*]] = arith.constant 9223372036854775807 : index
// CHECK-DAG: %[[LOWEST:.*]] = arith.constant -9223372036854775808 : index
// CHECK: %[[COUNT:.*]] = arith.muli %[[M]], %c4
// CHECK: %[[HASUSES:.*]] = arith.cmpi sgt, %[[COUNT]], %c0
// CHECK: %[[EMPTY:.*]] = arith.cmpi slt
// CHECK: %[[FAILS:.*]] = arith.andi %[[EMPTY]], %[[HASUSES]]
// CHECK: %[[START:.*]] = arith.select %[[FAILS]], %{{.*}}, %[[LOWEST]]
// CHECK: %[[LIST:.*]] = tensor.collapse_shape %[[I]] {{\[\[}}0, 1]]
// CHECK: %[[FIRST:.*]], %[[END:.*]] = kernel.share
// CHECK: %[[ENDS:.*]]:2 = scf.for %[[STEP:.*]] = %[[FIRST]] to %[[END]] {{.*}} iter_args(%[[LOW:.*]] = %[[HIGHEST]], %[[HIGH:.*]] = %[[START]])
// CHECK:   tensor.extract %[[LIST]][%[[STEP]]]
// CHECK:   arith.minsi %[[LOW]]
// CHECK:   arith.maxsi %[[HIGH]]
// CHECK: kernel.check_indices %[[ENDS]]#0 to %[[ENDS]]#1 in
// CHECK: linalg.generic
// The report takes scratch memory. On a GPU nothing is left of the check.
// TILED-LABEL: func.func private @gather(
// TILED-SAME: tenon.scratch = 24
// GPU-LABEL: func.func private @gather(
// GPU-NOT: kernel.
// GPU-NOT: arith.maxsi %{{.*}} : index{{$}}{{[[:space:]]+}}scf.yield
func.func private @gather(%x: tensor<?x3xf32, #tenon.shape<N, 3>>, %i: tensor<?x4xi64, #tenon.shape<M, 4>>)
    -> tensor<?x4x3xf32, #tenon.shape<M, 4, 3>> attributes {tenon.kernel, tenon.symbols = ["N", "M"]} {
  %0 = tenon.gather %x, %i {axis = 0 : i64}
    : (tensor<?x3xf32, #tenon.shape<N, 3>>, tensor<?x4xi64, #tenon.shape<M, 4>>) -> tensor<?x4x3xf32, #tenon.shape<M, 4, 3>>
  return %0 : tensor<?x4x3xf32, #tenon.shape<M, 4, 3>>
}

// -----

// Each coordinate has limits of its own.
// CHECK-LABEL: func.func private @coordinates(
// CHECK: scf.for {{.*}} -> (index, index, index, index)
// CHECK: kernel.check_indices %{{.*}}#0 to %{{.*}}#1 in %c-5 to %c4
// CHECK: kernel.check_indices %{{.*}}#2 to %{{.*}}#3 in %c-3 to %c2
func.func private @coordinates(%x: tensor<5x3xf32>, %i: tensor<4x2xi32>) -> tensor<4xf32> attributes {tenon.kernel, tenon.symbols = []} {
  %0 = tenon.gather_nd %x, %i {batch_dims = 0 : i64} : (tensor<5x3xf32>, tensor<4x2xi32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// Coordinates that are transposed are read where they are: the first dimension of what is in memory has them.
// CHECK-LABEL: func.func private @columns(
// CHECK-SAME: %[[I:[a-z0-9]*]]: tensor<2x4xi64>
// CHECK: kernel.share %c4
// CHECK: scf.for %[[P:[a-z0-9]*]] =
// CHECK: tensor.extract %[[I]][%c0{{.*}}, %[[P]]] : tensor<2x4xi64>
// CHECK: tensor.extract %[[I]][%c1{{.*}}, %[[P]]] : tensor<2x4xi64>
// CHECK: kernel.check_indices %{{.*}}#0 to %{{.*}}#1 in %c-5 to %c4
func.func private @columns(%x: tensor<5x3xf32>, %i: tensor<2x4xi64>) -> tensor<4xf32> attributes {tenon.kernel, tenon.symbols = []} {
  %0 = tenon.transpose %i {permutation = array<i64: 1, 0>} : (tensor<2x4xi64>) -> tensor<4x2xi64>
  %1 = tenon.gather_nd %x, %0 {batch_dims = 0 : i64} : (tensor<5x3xf32>, tensor<4x2xi64>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

// What is known to be in range is not checked, and takes no scratch.
// CHECK-LABEL: func.func private @proven(
// CHECK-NOT: kernel.check_indices
// TILED-LABEL: func.func private @proven(
// TILED-NOT: tenon.scratch
func.func private @proven(%x: tensor<5x3xf32>, %i: tensor<4xi64>) -> tensor<4x3xf32> attributes {tenon.kernel, tenon.symbols = []} {
  %0 = tenon.gather %x, %i {axis = 0 : i64, in_range} : (tensor<5x3xf32>, tensor<4xi64>) -> tensor<4x3xf32>
  return %0 : tensor<4x3xf32>
}

// -----

// Indices that the kernel computes are computed for the check, line by line; those that are stretched are checked as they are.
// TILED-LABEL: func.func private @computed(
// CHECK-LABEL: func.func private @computed(
// CHECK: scf.for
// CHECK:   scf.for
// CHECK:     arith.addi
// CHECK: kernel.check_indices %{{.*}}#0 to %{{.*}}#1 in %c-5 to %c4
func.func private @computed(%x: tensor<5xf32>, %i: tensor<4xi64>, %j: tensor<3x1xi64>) -> tensor<2x3x4xf32> attributes {tenon.kernel, tenon.symbols = []} {
  %0 = tenon.add %i, %j : (tensor<4xi64>, tensor<3x1xi64>) -> tensor<3x4xi64>
  %1 = tenon.broadcast %0 : (tensor<3x4xi64>) -> tensor<2x3x4xi64>
  %2 = tenon.gather %x, %1 {axis = 0 : i64} : (tensor<5xf32>, tensor<2x3x4xi64>) -> tensor<2x3x4xf32>
  return %2 : tensor<2x3x4xf32>
}

// -----

// A border repeats elements, of which there has to be one; zeros need none.
// CHECK-LABEL: func.func private @edge(
// CHECK: kernel.check_indices
// CHECK-LABEL: func.func private @zeros(
// CHECK-NOT: kernel.check_indices
func.func private @edge(%x: tensor<?xf32, #tenon.shape<N>>, %v: tensor<f32>) -> tensor<?xf32, #tenon.shape<N + 2>> attributes {tenon.kernel, tenon.symbols = ["N"]} {
  %0 = tenon.pad edge, %x, %v {low = #tenon.shape<1>, interior = array<i64: 0>} : (tensor<?xf32, #tenon.shape<N>>, tensor<f32>) -> tensor<?xf32, #tenon.shape<N + 2>>
  return %0 : tensor<?xf32, #tenon.shape<N + 2>>
}
func.func private @zeros(%x: tensor<?xf32, #tenon.shape<N>>, %v: tensor<f32>) -> tensor<?xf32, #tenon.shape<N + 2>> attributes {tenon.kernel, tenon.symbols = ["N"]} {
  %0 = tenon.pad constant, %x, %v {low = #tenon.shape<1>, interior = array<i64: 0>} : (tensor<?xf32, #tenon.shape<N>>, tensor<f32>) -> tensor<?xf32, #tenon.shape<N + 2>>
  return %0 : tensor<?xf32, #tenon.shape<N + 2>>
}

// -----

// Labels and lengths are passed on as they are.
// CHECK-LABEL: func.func private @lengths(
// CHECK-SAME: %[[X:[a-z0-9]*]]: tensor<4xi64>
// CHECK: kernel.check_indices %{{.*}}#0 to %{{.*}}#1 in %c0 to %{{.*}}
// CHECK: return %[[X]]
func.func private @lengths(%x: tensor<4xi64>) -> tensor<4xi64> attributes {tenon.kernel, tenon.symbols = ["N"]} {
  %0 = tenon.check_range %x {limits = #tenon.shape<0, N>} : (tensor<4xi64>) -> tensor<4xi64>
  return %0 : tensor<4xi64>
}
