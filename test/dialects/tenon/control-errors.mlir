// RUN: tenon-opt %s -split-input-file -verify-diagnostics

func.func @bind(%x: tensor<3xi64>) {
  // expected-error @+1 {{binds 2 symbols to a tensor of 3; it takes a vector with one element for each}}
  tenon.bind %x ["a", "b"] {min = 0 : i64} : tensor<3xi64>
  return
}

// -----

func.func @bounds(%x: tensor<2xi64>) {
  // expected-error @+1 {{has 1 bounds for 2 symbols}}
  tenon.bind %x ["a", "b"] {min = 0 : i64, bounds = #tenon.shape<4>} : tensor<2xi64>
  return
}

// -----

func.func @branches(%c: tensor<i1>, %x: tensor<3xf32>, %y: tensor<3xi64>) {
  // expected-error @+1 {{has a body that yields 'tensor<3xi64>' as value 0, not 'tensor<3xf32>'}}
  %0 = tenon.if %c : tensor<i1> -> tensor<3xf32> {
    tenon.yield %x : tensor<3xf32>
  } else {
    tenon.yield %y : tensor<3xi64>
  }
  return
}

// -----

func.func @loop(%c: tensor<i1>, %x: tensor<3xf32>) {
  // expected-error @+1 {{has a body that yields 1 values, not 2}}
  %0 = tenon.loop %c(%x) : tensor<i1>, (tensor<3xf32>) -> tensor<3xf32> {
  ^bb0(%v: tensor<3xf32>):
    tenon.yield %c : tensor<i1>
  }
  return
}

// -----

func.func @append(%x: tensor<?x4xf32, #tenon.shape<n, 4>>, %row: tensor<1x4xf32>) {
  // expected-error @+1 {{takes a slice of one dimension less than its input}}
  %0 = tenon.append %x, %row : (tensor<?x4xf32, #tenon.shape<n, 4>>, tensor<1x4xf32>) -> tensor<?x4xf32, #tenon.shape<n + 1, 4>>
  return
}
