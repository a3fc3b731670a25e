// RUN: tenon-opt %s -split-input-file -verify-diagnostics -tenon-pair-states='pairs=past=present'

// expected-error @+1 {{cannot pair 'past' with 'present': the model has no such input}}
func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32> {tenon.name = "present"}) {
  return %x : tensor<4xf32>
}

// -----

// expected-error @+1 {{cannot pair 'past' with 'present': the model has no such output}}
func.func @main(%x: tensor<4xf32> {tenon.name = "past"}) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

// expected-error @+1 {{cannot pair 'past' with 'present': only tensors of numbers can be states}}
func.func @main(%x: tensor<4xui8> {tenon.name = "past", tenon.role = #tenon.role<bytes>}) -> (tensor<4xui8> {tenon.name = "present"}) {
  return %x : tensor<4xui8>
}

// -----

// expected-error @+1 {{cannot pair 'past', 4, with 'present', 4: their elements are 'f32' and 'i32'}}
func.func @main(%x: tensor<4xf32> {tenon.name = "past"}, %y: tensor<4xi32>) -> (tensor<4xi32> {tenon.name = "present"}) {
  return %y : tensor<4xi32>
}

// -----

// expected-error @+1 {{cannot pair 'past', 4, with 'present', 4x1: they have different numbers of dimensions}}
func.func @main(%x: tensor<4xf32> {tenon.name = "past"}, %y: tensor<4x1xf32>) -> (tensor<4x1xf32> {tenon.name = "present"}) {
  return %y : tensor<4x1xf32>
}

// -----

// expected-error @+1 {{cannot pair 'past', 4, with 'present', 5: dimension 0 is not the same}}
func.func @main(%x: tensor<4xf32> {tenon.name = "past"}, %y: tensor<5xf32>) -> (tensor<5xf32> {tenon.name = "present"}) {
  return %y : tensor<5xf32>
}

// -----

// expected-error @+1 {{dimensions 0 and 1 are dynamic, and one can be; give the other a size with --shape}}
func.func @main(%x: tensor<?x?xf32, #tenon.shape<b, n>> {tenon.name = "past"}) -> (tensor<?x?xf32, #tenon.shape<b, n>> {tenon.name = "present"}) {
  return %x : tensor<?x?xf32, #tenon.shape<b, n>>
}

// -----

// expected-error @+1 {{dimension 0 has no symbol of its own}}
func.func @main(%x: tensor<?xf32, #tenon.shape<n + 1>> {tenon.name = "past"}) -> (tensor<?xf32, #tenon.shape<n + 1>> {tenon.name = "present"}) {
  return %x : tensor<?xf32, #tenon.shape<n + 1>>
}

// -----

// expected-error @+1 {{nothing is known of dimension 0 of the output}}
func.func @main(%x: tensor<?xf32, #tenon.shape<n>> {tenon.name = "past"}, %y: tensor<?xf32>) -> (tensor<?xf32> {tenon.name = "present"}) {
  return %y : tensor<?xf32>
}

// -----

// expected-error @+1 {{'past' grows along dimension 0 and needs a capacity: pass --state-capacity}}
func.func @main(%x: tensor<?xf32, #tenon.shape<n>> {tenon.name = "past"}) -> (tensor<?xf32, #tenon.shape<n>> {tenon.name = "present"}) {
  return %x : tensor<?xf32, #tenon.shape<n>>
}
