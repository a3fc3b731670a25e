// RUN: tenon-opt %s -split-input-file -verify-diagnostics

// expected-error @+1 {{has an unknown attribute 'tenon.kernal' on an operation}}
func.func private @unknown() attributes {tenon.kernal}

// -----

// expected-error @+1 {{has an unknown attribute 'tenon.nam' on argument 0}}
func.func private @unknown_of_argument(tensor<4xf32> {tenon.nam = "x"})

// -----

// expected-error @+1 {{has an unknown attribute 'tenon.dims' on result 0}}
func.func private @of_arguments_alone() -> (tensor<4xf32> {tenon.dims = #tenon.shape<4>})

// -----

// expected-error @+1 {{has the attribute 'tenon.kernel', which belongs on a function}}
module @misplaced attributes {tenon.kernel} {
}

// -----

func.func @misplaced_normal(%x: f32) -> f32 {
  // expected-error @+1 {{has the attribute 'tenon.normal', which belongs on a math.exp}}
  %0 = math.log %x {tenon.normal} : f32
  return %0 : f32
}

// -----

// expected-error @+1 {{has "yes" for 'tenon.kernel' on an operation, expected a unit attribute}}
func.func private @no_unit() attributes {tenon.kernel = "yes"}

// -----

// expected-error @+1 {{has ["a", "a"] for 'tenon.symbols' on an operation, expected an array of distinct names}}
func.func private @symbol_twice() attributes {tenon.symbols = ["a", "a"]}

// -----

// expected-error @+1 {{has #tenon.shape<N, 4> for 'tenon.tiles' on an operation, expected a #tenon.shape of one expression}}
func.func private @two_counts() attributes {tenon.tiles = #tenon.shape<N, 4>}

// -----

// expected-error @+1 {{has -8 : i64 for 'tenon.scratch' on an operation, expected a 64-bit integer that is not negative}}
func.func private @negative_scratch() attributes {tenon.scratch = -8}

// -----

// expected-error @+1 {{for 'tenon.flops' on an operation, expected a #tenon.shape of one expression, or an affine map of sizes}}
func.func private @flops_that_are_a_number() attributes {tenon.flops = 8 : i64}

// -----

// expected-error @+1 {{for 'tenon.ranges' on an operation, expected a dictionary of array<i64: smallest, largest>}}
func.func private @empty_range() attributes {tenon.ranges = {N = array<i64: 8, 1>}}

// -----

// expected-error @+1 {{for 'tenon.size_hints' on an operation, expected a dictionary of 64-bit integers above 0}}
func.func private @hint_of_zero() attributes {tenon.size_hints = {N = 0}}

// -----

// expected-error @+1 {{has "N" for 'tenon.program' on an operation, expected sizes as --specialize accepts them}}
func.func private @no_sizes() attributes {tenon.program = "N"}

// -----

// expected-error @+1 {{has 1 : i64 for 'tenon.sequences' on an operation, expected a 64-bit integer from 2 on}}
func.func private @one_sequence() attributes {tenon.sequences = 1 : i64}

// -----

// expected-error @+1 {{has 2 texts in 'tenon.requires_text' for 1 requirements}}
func.func private @texts() attributes {tenon.requires = #tenon.shape<N>, tenon.requires_text = ["a", "b"]}

// -----

// expected-error @+1 {{has 1 texts in 'tenon.requires_text' for 0 requirements}}
module @texts_alone attributes {tenon.requires_text = ["a"]} {
}

// -----

// expected-error @+1 {{takes the path "amx", which is not among 'tenon.paths'}}
func.func private @path_without_estimate() attributes {tenon.path = "amx", tenon.paths = {direct = 10}}

// -----

// expected-error @+1 {{has "all" for 'tenon.role' on argument 0, expected a #tenon.role}}
func.func private @role(tensor<4xf32> {tenon.role = "all"})

// -----

// expected-error @+2 {{expected one of [value, elements, shapes, has, bytes, ends]}}
// expected-error @+1 {{failed to parse Tenon_RoleAttr}}
func.func private @unknown_role(tensor<4xf32> {tenon.role = #tenon.role<all>})

// -----

// expected-error @+1 {{has #tenon.shape<4> for 'tenon.dims' on argument 0, which has rank 2}}
func.func private @dims(tensor<4x4xf32> {tenon.dims = #tenon.shape<4>})

// -----

// expected-error @+1 {{has 1 results, but 'tenon.reused' on argument 0 names result 1}}
func.func private @reused(tensor<4xf32> {tenon.reused = 1}) -> tensor<4xf32>

// -----

// expected-error @+1 {{unknown struct parameter name: vectr_bytes}}
module @unknown_figure attributes {tenon.machine = #tenon.machine<vectr_bytes = 32>} {
}

// -----

// expected-error @+1 {{has 2 for 'vector_bytes', expected 4 to 1024, or 0 where it is not known}}
module @small_vectors attributes {tenon.machine = #tenon.machine<vector_bytes = 2>} {
}

// -----

// expected-error @+1 {{has 2 for 'f16_fma', expected 1 to 1, or 0 where it is not known}}
module @unknown_multiply_adds attributes {tenon.machine = #tenon.machine<f16_fma = 2>} {
}

// -----

// expected-error @+1 {{has 2 for 'l2_bound', expected 1 to 1, or 0 where it is not known}}
module @unknown_bound attributes {tenon.machine = #tenon.machine<l2_bound = 2>} {
}

// -----

// expected-error @+1 {{has 3 for 'int8_dot', expected 1, 2 or 4, or 0 where it is not known}}
module @unknown_products attributes {tenon.machine = #tenon.machine<int8_dot = 3>} {
}

// -----

// expected-error @+1 {{for 'tenon.machine' on an operation, expected a #tenon.machine}}
module @figures_alone attributes {tenon.machine = {vector_bytes = 32}} {
}

// -----

// expected-error @+1 {{has the attribute 'tenon.materialized', which belongs on an operation of the dialect tenon that a kernel computes}}
func.func private @materialized_function() attributes {tenon.materialized}

// -----

func.func @recomputed_often(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{has 2 : i64 for 'tenon.recomputed' on an operation, expected a unit attribute}}
  %0 = tenon.neg %x {tenon.recomputed = 2 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @materialized_and_recomputed(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{has both 'tenon.materialized' and 'tenon.recomputed'}}
  %0 = tenon.neg %x {tenon.materialized, tenon.recomputed} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
