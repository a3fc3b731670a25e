// RUN: tenon-opt %s | tenon-opt | FileCheck %s

// CHECK-LABEL: @extents_of_a_concatenation
// CHECK: tenon.concat {{.*}} -> tensor<?x3xf32, #tenon.shape<(N + M) + 2, 3>>
func.func @extents_of_a_concatenation(%a: tensor<?x3xf32, #tenon.shape<N, 3>>, %b: tensor<?x3xf32, #tenon.shape<M, 3>>,
                                      %c: tensor<2x3xf32>) {
  %0 = tenon.concat %a, %b, %c {axis = 0 : i64}
    : (tensor<?x3xf32, #tenon.shape<N, 3>>, tensor<?x3xf32, #tenon.shape<M, 3>>, tensor<2x3xf32>)
    -> tensor<?x3xf32, #tenon.shape<N + M + 2, 3>>
  return
}

// CHECK-LABEL: @indices_replace_a_dimension
// CHECK: tenon.gather {{.*}} -> tensor<?x2x?x4xf32, #tenon.shape<N, 2, K, 4>>
func.func @indices_replace_a_dimension(%x: tensor<?x10x4xf32, #tenon.shape<N, 10, 4>>,
                                       %i: tensor<2x?xi64, #tenon.shape<2, K>>) {
  %0 = tenon.gather %x, %i {axis = 1 : i64}
    : (tensor<?x10x4xf32, #tenon.shape<N, 10, 4>>, tensor<2x?xi64, #tenon.shape<2, K>>)
    -> tensor<?x2x?x4xf32, #tenon.shape<N, 2, K, 4>>
  return
}

// CHECK-LABEL: @starts_may_depend_on_symbols
// CHECK: tenon.slice %{{.*}} {starts = #tenon.shape<N + -1>, steps = array<i64: -1>}
func.func @starts_may_depend_on_symbols(%x: tensor<?xf32, #tenon.shape<N>>) {
  %0 = tenon.slice %x {starts = #tenon.shape<N + -1>, steps = array<i64: -1>}
    : (tensor<?xf32, #tenon.shape<N>>) -> tensor<?xf32, #tenon.shape<N>>
  return
}

// CHECK-LABEL: @weights_of_many_values_are_resources
// CHECK: tenon.weight dense_resource<two> : tensor<2xf32> {name = "bias"}
func.func @weights_of_many_values_are_resources() {
  %0 = tenon.weight dense_resource<two> : tensor<2xf32> {name = "bias"}
  return
}

{-# dialect_resources: { builtin: { two: "0x040000000000803F00000040" } } #-}
