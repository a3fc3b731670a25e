// RUN: tenon-opt %s -split-input-file -verify-diagnostics

// What verification of launches, regions and attention says.

func.func @launch_of_nothing(%a: tensor<2x3xf32>) {
  // expected-error @+1 {{launches 'nothing', which is no function of this module}}
  %0 = tenon.launch @nothing(%a) {sizes = #tenon.shape<>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

// expected-note @+1 {{the kernel is here, of type '(tensor<4xf32>) -> tensor<4xf32>'}}
func.func private @kernel(tensor<4xf32>) -> tensor<4xf32>
func.func @kernel_of_other_types(%a: tensor<2x3xf32>) {
  // expected-error @+1 {{does not fit the kernel 'kernel', which has other types}}
  %0 = tenon.launch @kernel(%a) {sizes = #tenon.shape<>} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @call_of_what_is_no_list(%a: tensor<2x3xui8>) {
  // expected-error @+1 {{takes and gives lists, found 'tensor<2x3xui8>'}}
  %0 = tenon.call "tenon_upper_case"(%a) : (tensor<2x3xui8>) -> tensor<6xui8>
  return
}

// -----

func.func @attention_of_two_scores(%q: tensor<3x4xf32>, %k: tensor<2x4xf32>) {
  // expected-error @+1 {{needs a body of the scores}}
  %0 = tenon.attention %q, %k, %k {
  ^bb0(%s: tensor<3x2xf32>, %t: tensor<3x2xf32>):
    tenon.yield %s : tensor<3x2xf32>
  } {query_dims = array<i64: 2, 4>, key_dims = array<i64: 3, 4>, score_dims = array<i64: 2, 3>, value_dims = array<i64: 3, 5>, result_dims = array<i64: 2, 5>}
    : (tensor<3x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<3x4xf32>
  return
}

// -----

func.func @attention_indices(%q: tensor<3x4xf32>, %k: tensor<2x4xf32>) {
  // expected-error @+1 {{has 1 indices for a tensor of type 'tensor<2x4xf32>'}}
  %0 = tenon.attention %q, %k, %k {
  ^bb0(%s: tensor<3x2xf32>):
    tenon.yield %s : tensor<3x2xf32>
  } {query_dims = array<i64: 2, 4>, key_dims = array<i64: 4>, score_dims = array<i64: 2, 3>, value_dims = array<i64: 3, 5>, result_dims = array<i64: 2, 5>}
    : (tensor<3x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<3x4xf32>
  return
}

// -----

func.func @attention_of_other_scores(%q: tensor<3x4xf32>, %k: tensor<2x4xf32>) {
  // expected-error @+1 {{needs a body that yields a number for each score}}
  %0 = tenon.attention %q, %k, %k {
  ^bb0(%s: tensor<3x2xf32>):
    // expected-note @+1 {{the body ends here}}
    tenon.yield %q : tensor<3x4xf32>
  } {query_dims = array<i64: 2, 4>, key_dims = array<i64: 3, 4>, score_dims = array<i64: 2, 3>, value_dims = array<i64: 3, 5>, result_dims = array<i64: 2, 5>}
    : (tensor<3x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<3x4xf32>
  return
}

// -----

func.func @attention_without_sizes(%q: tensor<3x4xf32>, %k: tensor<2x4xf32>) {
  // expected-error @+1 {{needs one index each for keys, sizes and values}}
  %0 = tenon.attention %q, %k, %k {
  ^bb0(%s: tensor<3x2xf32>):
    tenon.yield %s : tensor<3x2xf32>
  } {query_dims = array<i64: 2, 4>, key_dims = array<i64: 3, 6>, score_dims = array<i64: 2, 3>, value_dims = array<i64: 3, 5>, result_dims = array<i64: 2, 5>}
    : (tensor<3x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<3x4xf32>
  return
}

// -----

func.func @attention_without_splits(%q: tensor<3x4xf32>, %k: tensor<40x4xf32>) {
  // expected-error @+1 {{has splits of 16 keys, for each of which the result needs values and 2 more elements in its last dimension}}
  %0 = tenon.attention %q, %k, %k {
  ^bb0(%s: tensor<3x40xf32>):
    tenon.yield %s : tensor<3x40xf32>
  } {query_dims = array<i64: 2, 4>, key_dims = array<i64: 3, 4>, score_dims = array<i64: 2, 3>, value_dims = array<i64: 3, 5>, result_dims = array<i64: 2, 5>, split_keys = 16 : i64}
    : (tensor<3x4xf32>, tensor<40x4xf32>, tensor<40x4xf32>) -> tensor<2x3x6xf32>
  return
}

// -----

func.func @attention_of_small_sums(%q: tensor<3x4xf16>, %k: tensor<40x4xf16>) {
  // expected-error @+1 {{needs a result of f32 where keys are split, or of f64 as the scores, and has 'f16'}}
  %0 = tenon.attention %q, %k, %k {
  ^bb0(%s: tensor<3x40xf16>):
    tenon.yield %s : tensor<3x40xf16>
  } {query_dims = array<i64: 2, 4>, key_dims = array<i64: 3, 4>, score_dims = array<i64: 2, 3>, value_dims = array<i64: 3, 5>, result_dims = array<i64: 2, 5>, split_keys = 16 : i64}
    : (tensor<3x4xf16>, tensor<40x4xf16>, tensor<40x4xf16>) -> tensor<3x3x6xf16>
  return
}

// -----

func.func @splits_of_other_values(%x: tensor<3x5x6xf32>) {
  // expected-error @+1 {{has parts of type 'tensor<3x5x6xf32>', which give no result of type 'tensor<5x6xf32>'}}
  %0 = tenon.combine_splits %x : (tensor<3x5x6xf32>) -> tensor<5x6xf32>
  return
}

// -----

func.func @attention_without_end(%q: tensor<3x4xf32>, %k: tensor<2x4xf32>) {
  // expected-error @+1 {{expects a non-empty block}}
  %0 = tenon.attention %q, %k, %k {
  ^bb0(%s: tensor<3x2xf32>):
  } {query_dims = array<i64: 2, 4>, key_dims = array<i64: 3, 4>, score_dims = array<i64: 2, 3>, value_dims = array<i64: 3, 5>, result_dims = array<i64: 2, 5>}
    : (tensor<3x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<3x4xf32>
  return
}

// -----

func.func @dispatch_of_another_type(%x: tensor<3xf32>) {
  // expected-error @+1 {{has a body that yields 'tensor<3xf32>' as value 0, not 'tensor<3xi32>'}}
  %0 = tenon.dispatch -> tensor<3xi32> {
    // expected-note @+1 {{the body ends here}}
    tenon.yield %x : tensor<3xf32>
  }
  return
}

// -----

func.func @dispatch_of_fewer_values(%x: tensor<3xf32>) {
  // expected-error @+1 {{has a body that yields 1 values, not 2}}
  %0:2 = tenon.dispatch -> tensor<3xf32>, tensor<3xf32> {
    // expected-note @+1 {{the body ends here}}
    tenon.yield %x : tensor<3xf32>
  }
  return
}

// -----

func.func @rounded_factors_of_f64(%q: tensor<3x4xf64>, %k: tensor<2x4xf64>) {
  // expected-error @+1 {{rounds factors to bf16, which it does not for scores of f64, or for splits of its keys}}
  %0 = tenon.attention %q, %k, %k {
  ^bb0(%s: tensor<3x2xf64>):
    tenon.yield %s : tensor<3x2xf64>
  } {bf16_products, query_dims = array<i64: 2, 4>, key_dims = array<i64: 3, 4>, score_dims = array<i64: 2, 3>, value_dims = array<i64: 3, 5>, result_dims = array<i64: 2, 5>}
    : (tensor<3x4xf64>, tensor<2x4xf64>, tensor<2x4xf64>) -> tensor<3x4xf64>
  return
}
