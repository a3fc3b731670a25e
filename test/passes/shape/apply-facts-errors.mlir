// RUN: tenon-opt %s --split-input-file --verify-diagnostics --tenon-apply-facts

// Sizes that a constant decides, and that do not hold, whatever the inputs are.
func.func @bound_sizes_do_not_fit(%x: tensor<2x3xf32>) -> tensor<2x4xf32> {
  %0 = tenon.weight dense<5> : tensor<1xi64>
  tenon.bind %0 ["n"] {min = 0 : i64} : tensor<1xi64>
  // expected-error @+1 {{needs 5 and 4 to be equal}}
  tenon.require #tenon.shape<4 + n * -1> "needs 5 and 4 to be equal"
  %1 = tenon.weight dense<0.0> : tensor<2x4xf32>
  return %1 : tensor<2x4xf32>
}

// -----

func.func @bound_constant_below_min() {
  %0 = tenon.weight dense<[-3]> : tensor<1xi64>
  // expected-error @+1 {{needs a size of at least 0}}
  tenon.bind %0 ["k"] {min = 0 : i64} : tensor<1xi64>
  return
}

// -----

// A branch that does not hold may never run.
func.func @branches_may_not_run(%x: tensor<i1>) -> tensor<f32> {
  %0 = tenon.weight dense<1.0> : tensor<f32>
  %1 = tenon.if %x : tensor<i1> -> tensor<f32> {
    tenon.require #tenon.shape<-1> "never holds"
    tenon.yield %0 : tensor<f32>
  } else {
    tenon.yield %0 : tensor<f32>
  }
  return %1 : tensor<f32>
}
