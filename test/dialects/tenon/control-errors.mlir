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
    // expected-note @+1 {{the body ends here}}
    tenon.yield %y : tensor<3xi64>
  }
  return
}

// -----

func.func @loop(%c: tensor<i1>, %x: tensor<3xf32>) {
  // expected-error @+1 {{has a body that yields 1 values, not 2}}
  %0 = tenon.loop %c(%x) : tensor<i1>, (tensor<3xf32>) -> tensor<3xf32> {
  ^bb0(%v: tensor<3xf32>):
    // expected-note @+1 {{the body ends here}}
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

// -----

func.func @branch_without_end(%c: tensor<i1>, %x: tensor<3xf32>) {
  // expected-error @+1 {{has a body that does not end in tenon.yield}}
  %0 = tenon.if %c : tensor<i1> -> tensor<3xf32> {
    tenon.yield %x : tensor<3xf32>
  } else {
    // expected-note @+1 {{the body ends here}}
    llvm.unreachable
  }
  return
}

// -----

func.func @empty_branch(%c: tensor<i1>, %x: tensor<3xf32>) {
  // expected-error @+1 {{expects a non-empty block}}
  %0 = tenon.if %c : tensor<i1> -> tensor<3xf32> {
    tenon.yield %x : tensor<3xf32>
  } else {
  ^bb0:
  }
  return
}

// -----

func.func @loop_without_results(%c: tensor<i1>, %x: tensor<3xf32>) {
  // expected-error @+1 {{carries 1 values, but results in 0}}
  tenon.loop %c(%x) : tensor<i1>, (tensor<3xf32>) -> () {
  ^bb0(%v: tensor<3xf32>):
    tenon.yield %c : tensor<i1>
  }
  return
}

// -----

func.func @loop_of_other_types(%c: tensor<i1>, %x: tensor<3xf32>) {
  // expected-error @+1 {{has results of other types than its body's arguments}}
  %0 = tenon.loop %c(%x) : tensor<i1>, (tensor<3xf32>) -> tensor<4xf32> {
  ^bb0(%v: tensor<3xf32>):
    tenon.yield %c, %v : tensor<i1>, tensor<3xf32>
  }
  return
}

// -----

func.func @loop_without_end(%c: tensor<i1>, %x: tensor<3xf32>) {
  // expected-error @+1 {{expects a non-empty block}}
  %0 = tenon.loop %c(%x) : tensor<i1>, (tensor<3xf32>) -> tensor<3xf32> {
  ^bb0(%v: tensor<3xf32>):
  }
  return
}

// -----

func.func @append_of_another_type(%x: tensor<?x4xf32, #tenon.shape<n, 4>>, %row: tensor<4xi32>) {
  // expected-error @+1 {{joins tensors of different element types}}
  %0 = tenon.append %x, %row : (tensor<?x4xf32, #tenon.shape<n, 4>>, tensor<4xi32>) -> tensor<?x4xf32, #tenon.shape<n + 1, 4>>
  return
}

// -----

func.func @two_numbers_of_trips(%c: tensor<i1>, %x: tensor<3xf32>) {
  // expected-error @+1 {{has 2 numbers of trips, expected one}}
  %0 = tenon.loop %c(%x) : tensor<i1>, (tensor<3xf32>) -> tensor<3xf32> {
  ^bb0(%v: tensor<3xf32>):
    tenon.yield %c, %v : tensor<i1>, tensor<3xf32>
  } {trips = #tenon.shape<4, N>}
  return
}

// -----

func.func @one_symbol_twice(%x: tensor<2xi64>) {
  // expected-error @+1 {{binds the symbol "a" twice}}
  tenon.bind %x ["a", "a"] {min = 0 : i64} : tensor<2xi64>
  return
}

// -----

func.func @symbol_of_a_branch_twice(%c: tensor<i1>, %x: tensor<3xf32>) {
  // expected-error @+1 {{binds the symbol "n" twice}}
  %0 = tenon.if %c : tensor<i1> -> tensor<3xf32> {
    tenon.yield %x : tensor<3xf32>
  } else {
    tenon.yield %x : tensor<3xf32>
  } {symbols = ["n", "", "", "n"]}
  return
}
