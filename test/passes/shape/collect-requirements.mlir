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
