// RUN: tenon-opt %s -split-input-file -verify-diagnostics

// What verification of gathers and scatters says.

func.func @gather_axis(%a: tensor<2x3xf32>, %i: tensor<4x2xi64>) {
  // expected-error @+1 {{has axis 2, but the input has 2 dimensions}}
  %0 = tenon.gather %a, %i {axis = 2 : i64} : (tensor<2x3xf32>, tensor<4x2xi64>) -> tensor<2x3xf32>
  return
}

// -----

func.func @gather_elements_ranks(%a: tensor<2x3xf32>, %i: tensor<3xi64>) {
  // expected-error @+1 {{needs an input and indices of one rank, found 'tensor<2x3xf32>' and 'tensor<3xi64>'}}
  %0 = tenon.gather_elements %a, %i {axis = 0 : i64} : (tensor<2x3xf32>, tensor<3xi64>) -> tensor<3xf32>
  return
}

// -----

func.func @gather_elements_axis(%a: tensor<2x3xf32>, %i: tensor<4x2xi64>) {
  // expected-error @+1 {{has axis 5, but the input has 2 dimensions}}
  %0 = tenon.gather_elements %a, %i {axis = 5 : i64} : (tensor<2x3xf32>, tensor<4x2xi64>) -> tensor<4x2xf32>
  return
}

// -----

func.func @too_many_coordinates(%a: tensor<2x3xf32>, %i: tensor<4x3xi64>) {
  // expected-error @+1 {{indices of shape 4x3 after 0 batch dimensions do not address an input of rank 2}}
  %0 = tenon.gather_nd %a, %i {batch_dims = 0 : i64} : (tensor<2x3xf32>, tensor<4x3xi64>) -> tensor<4xf32>
  return
}

// -----

func.func @coordinates_of_unknown_count(%a: tensor<2x3xf32>, %i: tensor<4x?xi64, #tenon.shape<4, K>>) {
  // expected-error @+1 {{indices of shape 4xK after 0 batch dimensions do not address an input of rank 2}}
  %0 = tenon.gather_nd %a, %i {batch_dims = 0 : i64} : (tensor<2x3xf32>, tensor<4x?xi64, #tenon.shape<4, K>>) -> tensor<4xf32>
  return
}

// -----

func.func @updates_of_another_shape(%a: tensor<2x3xf32>, %i: tensor<4x2xi64>, %u: tensor<4x1xf32>) {
  // expected-error @+1 {{needs indices and updates of one shape, and of the input's rank}}
  %0 = tenon.scatter_elements assign, %a, %i, %u {axis = 0 : i64} : (tensor<2x3xf32>, tensor<4x2xi64>, tensor<4x1xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @scatter_elements_axis(%a: tensor<2x3xf32>, %i: tensor<4x2xi64>, %u: tensor<4x2xf32>) {
  // expected-error @+1 {{has axis -1, but the input has 2 dimensions}}
  %0 = tenon.scatter_elements add, %a, %i, %u {axis = -1 : i64} : (tensor<2x3xf32>, tensor<4x2xi64>, tensor<4x2xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @scatter_nd_updates(%a: tensor<2x3xf32>, %i: tensor<4x1xi64>, %u: tensor<4xf32>) {
  // expected-error @+1 {{needs updates of shape 4x3, found 4}}
  %0 = tenon.scatter_nd add, %a, %i, %u : (tensor<2x3xf32>, tensor<4x1xi64>, tensor<4xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @top_k_axis(%a: tensor<2x3xf32>) {
  // expected-error @+2 {{has axis 2, but the input has 2 dimensions}}
  // expected-error @+1 {{failed to infer returned types}}
  %v, %i = tenon.top_k %a {axis = 2 : i64, k = 1 : i64} : (tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xi64>)
  return
}

// -----

func.func @top_k_of_too_few(%a: tensor<2x3xf32>) {
  // expected-error @+1 {{asks for the 4 first of 3 elements}}
  %v, %i = tenon.top_k %a {axis = 1 : i64, k = 4 : i64} : (tensor<2x3xf32>) -> (tensor<2x4xf32>, tensor<2x4xi64>)
  return
}
