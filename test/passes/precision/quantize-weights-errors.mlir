// RUN: tenon-opt %s -verify-diagnostics -split-input-file -pass-pipeline='builtin.module(tenon-quantize-weights{rules=*w*=int4})'

// expected-error @+1 {{--weights '*w*=int4': '*w*' matches the name of no constant matrix; they are 'other'}}
module {
func.func @unknown(%x: tensor<1x8xf32>) -> tensor<1x1xf32> {
  %o = tenon.weight dense<[[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]]> : tensor<1x8xf32> {name = "other"}
  %y = tenon.contract %x, %o {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 1, 2>, result_dims = array<i64: 0, 1>}
    : (tensor<1x8xf32>, tensor<1x8xf32>) -> tensor<1x1xf32>
  %n = tenon.weight dense<[[2.0, 3.0]]> : tensor<1x2xf32>
  %z = tenon.contract %y, %n {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 2, 1>, result_dims = array<i64: 0, 1>}
    : (tensor<1x1xf32>, tensor<1x2xf32>) -> tensor<1x2xf32>
  return %y : tensor<1x1xf32>
}
}

// -----

func.func @infinite(%x: tensor<1x2xf32>) -> tensor<1x1xf32> {
  // expected-error @+1 {{--weights: the matrix 'w' has elements that are not finite or above 1e37, which int4 (group 32) does not have; leave it as it is by --weights 'w=f32'}}
  %w = tenon.weight dense<[[1.0, 0x7F800000]]> : tensor<1x2xf32> {name = "w"}
  %y = tenon.contract %x, %w {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 1, 2>, result_dims = array<i64: 0, 1>}
    : (tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<1x1xf32>
  return %y : tensor<1x1xf32>
}

// -----

// expected-error @+1 {{there are none}}
module {
func.func @nothing(%x: tensor<1x2xf32>) -> tensor<1x2xf32> {
  return %x : tensor<1x2xf32>
}
}
