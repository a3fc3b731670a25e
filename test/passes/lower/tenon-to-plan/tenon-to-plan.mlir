// RUN: tenon-opt %s -split-input-file -verify-diagnostics -tenon-to-plan | FileCheck %s

// N x 4 elements of 4 bytes are 16 N bytes. The first result is an activation, the second the output itself.
// CHECK-LABEL: plan.program @launches_become_instructions symbols ["N"]
// CHECK-SAME: inputs [{dims = #tenon.shape<N, 4>, name = "x", type = f32}] outputs [{dims = #tenon.shape<N * 4>, name = "y", type = f32}]
// CHECK: ^bb0(%[[N:.*]]: index)
// CHECK: %[[BYTES:.*]] = arith.muli %[[N]], %c16
// CHECK: %[[TILES:.*]] = arith.ceildivsi %[[N]], %c2
// CHECK: %[[X:.*]] = plan.input 0 size %[[BYTES]]
// CHECK: %[[Y:.*]] = plan.output 0
// CHECK: %[[W:.*]] = plan.weight dense<1.000000e+00> : tensor<4xf32> {name = "w"}
// CHECK: %[[A:.*]] = plan.alloc
// CHECK: plan.launch @k(%[[X]], %[[W]]) -> (%[[A]]) sizes(%[[N]]) tiles %[[TILES]]
// CHECK: plan.launch @k(%[[A]], %[[W]]) -> (%[[Y]])
// CHECK-NOT: tenon.reshape
#in = #tenon.shape<N, 4>
func.func @launches_become_instructions(%x: tensor<?x4xf32, #in> {tenon.name = "x"})
    -> (tensor<?xf32, #tenon.shape<N * 4>> {tenon.name = "y"}) {
  %w = tenon.weight dense<1.0> : tensor<4xf32> {name = "w"}
  %0 = tenon.launch @k(%x, %w) {sizes = #tenon.shape<N>} : (tensor<?x4xf32, #in>, tensor<4xf32>) -> tensor<?x4xf32, #in>
  %1 = tenon.launch @k(%0, %w) {sizes = #tenon.shape<N>} : (tensor<?x4xf32, #in>, tensor<4xf32>) -> tensor<?x4xf32, #in>
  %2 = tenon.reshape %1 : (tensor<?x4xf32, #in>) -> tensor<?xf32, #tenon.shape<N * 4>>
  return %2 : tensor<?xf32, #tenon.shape<N * 4>>
}
func.func private @k(tensor<?x4xf32>, tensor<4xf32>, tensor<?x4xf32>, index, index, index) -> tensor<?x4xf32>
    attributes {tenon.kernel, tenon.symbols = ["s0"], tenon.tiles = #tenon.shape<s0 ceildiv 2>}

// -----

// A kernel of the library is one tile, and is told how long each list is. It writes where the output lies.
// CHECK-LABEL: plan.program @calls_are_launches
// CHECK: ^bb0(%[[N:.*]]: index)
// CHECK: %[[X:.*]] = plan.input 0
// CHECK: %[[Y:.*]] = plan.output 0
// CHECK: %[[K:.*]] = plan.weight
// CHECK: plan.launch @tenon_kernel(%[[X]], %[[K]]) -> (%[[Y]]) sizes(%[[N]], %c3{{.*}}, %[[N]]) tiles %c1
func.func @calls_are_launches(%x: tensor<?xui8, #tenon.shape<N>> {tenon.name = "x"})
    -> (tensor<?xui8, #tenon.shape<N>> {tenon.name = "y"}) {
  %k = tenon.weight dense<[1, 2, 3]> : tensor<3xi64>
  %0 = tenon.call "tenon_kernel"(%x, %k) : (tensor<?xui8, #tenon.shape<N>>, tensor<3xi64>) -> tensor<?xui8, #tenon.shape<N>>
  return %0 : tensor<?xui8, #tenon.shape<N>>
}

// -----

// CHECK-LABEL: plan.program @inputs_that_are_results_are_copied
// CHECK: %[[X:.*]] = plan.input 0
// CHECK: %[[Y:.*]] = plan.output 0
// CHECK: plan.copy %[[X]] to %[[Y]] size %c16
func.func @inputs_that_are_results_are_copied(%x: tensor<4xf32> {tenon.name = "x"})
    -> (tensor<4xf32> {tenon.name = "y"}) {
  return %x : tensor<4xf32>
}

// -----

// CHECK-LABEL: plan.program @the_runtime_gives_the_seed
// CHECK: %[[SEED:.*]] = plan.alloc
// CHECK: plan.run_seed %[[SEED]]
// CHECK: plan.copy %[[SEED]]
func.func @the_runtime_gives_the_seed() -> (tensor<i64> {tenon.name = "y"}) {
  %0 = tenon.run_seed : () -> tensor<i64>
  return %0 : tensor<i64>
}

// -----

// expected-error @+1 {{has a dimension N * M that no dimension of an input determines}}
func.func @main(%x: tensor<?xf32, #tenon.shape<N * M>> {tenon.name = "x"})
    -> (tensor<?xf32, #tenon.shape<N * M>> {tenon.name = "y"}) {
  return %x : tensor<?xf32, #tenon.shape<N * M>>
}

// -----

func.func @main(%x: tensor<4xf32> {tenon.name = "x"}) -> (tensor<4xf32> {tenon.name = "y"}) {
  // expected-error @+1 {{is left over: it belongs into a dispatch region}}
  %0 = tenon.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
