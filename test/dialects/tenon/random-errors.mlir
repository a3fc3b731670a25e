// RUN: tenon-opt %s --split-input-file --verify-diagnostics

func.func @seeds() {
  // expected-error @+1 {{gives one number, not 'tensor<2xi64>'}}
  %0 = tenon.run_seed : () -> tensor<2xi64>
  return
}

// -----

func.func @keys(%k: tensor<2xi64>) {
  // expected-error @+1 {{needs one number as a key, found 'tensor<2xi64>'}}
  %0 = tenon.random_bits %k {stream = 0 : i64} : (tensor<2xi64>) -> tensor<4xui32>
  return
}
