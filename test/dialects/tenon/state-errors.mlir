// RUN: tenon-opt %s -split-input-file -verify-diagnostics

// expected-error @+1 {{has dynamic dimensions, nx4; its memory is as large in each run}}
tenon.state @s : tensor<?x4xf32, #tenon.shape<n, 4>>

// -----

// expected-error @+1 {{has more bytes than can be addressed}}
tenon.state @s : tensor<4294967296x4294967296xf32>

// -----

// expected-error @+1 {{is a ring and needs a symbol for its live rows}}
"tenon.state"() {sym_name = "s", type = tensor<4xf32>, ring = "slot"} : () -> ()

// -----

// expected-error @+1 {{has live rows, but no memory for any}}
tenon.state @s : tensor<0x4xf32> live "n"

// -----

// expected-error @+1 {{has live rows, but no memory for any}}
tenon.state @s : tensor<f32> live "n"

// -----

// expected-error @+1 {{needs different names for its symbols}}
tenon.state @s : tensor<4xf32> live "n" ring "n"

// -----

// expected-error @+1 {{has an initial value, although no row is live at first}}
tenon.state @s : tensor<4xf32> live "n" {initial = dense<0.0> : tensor<4xf32>}

// -----

// expected-error @+1 {{has an initial value of another type, 'tensor<5xf32>'}}
tenon.state @s : tensor<4xf32> {initial = dense<0.0> : tensor<5xf32>}

// -----

// expected-error @+1 {{is a state of sequence 1 and does not name that of the first sequence}}
"tenon.state"() {sym_name = "s", type = tensor<4xf32>, sequence = 1} : () -> ()

// -----

// expected-error @+1 {{is a state of the first sequence and names another one, @s}}
"tenon.state"() {sym_name = "s", type = tensor<4xf32>, first = @s} : () -> ()

// -----

// expected-error @+1 {{is of @t, which is no state of the first sequence}}
tenon.state @s : tensor<4xf32> sequence 1 of @t

// -----

// expected-note @+1 {{the state is here}}
tenon.state @s : tensor<4xf32> live "n"
// expected-error @+1 {{differs in more than its symbols from the state of the first sequence}}
tenon.state @s.1 : tensor<5xf32> live "n.1" sequence 1 of @s

// -----

tenon.state @s : tensor<4xf32>
tenon.state @s.1 : tensor<4xf32> sequence 1 of @s
func.func @main() {
  // expected-error @+1 {{names @s.1, a state of sequence 1, in a function of 1}}
  %0 = tenon.state.read @s.1 : tensor<4xf32>
  return
}

// -----

func.func @main() {
  // expected-error @+1 {{names @s, which is no tenon.state of the module}}
  %0 = tenon.state.read @s : tensor<4xf32>
  return
}

// -----

tenon.state @s : tensor<1xf32>
func.func @main(%c: tensor<i1>, %x: tensor<1xf32>) {
  tenon.if %c : tensor<i1> {
    // expected-error @+1 {{is nested in a region, expected the top level of a function; select the value in the branch or loop and write it after}}
    tenon.state.update @s at #tenon.shape<0>, %x : tensor<1xf32>
    tenon.yield
  } else {
    tenon.yield
  }
  return
}

// -----

// expected-note @+1 {{the state is here}}
tenon.state @s : tensor<4x2xf32>
func.func @main() {
  // expected-error @+1 {{has rows of type 'tensor<4x3xf32>' for a state of type 'tensor<4x2xf32>'}}
  %0 = tenon.state.read @s : tensor<4x3xf32>
  return
}

// -----

// expected-note @+1 {{the state is here}}
tenon.state @s : tensor<4x2xf32>
func.func @main() {
  // expected-error @+1 {{has rows of type 'tensor<5x2xf32>' for a state of type 'tensor<4x2xf32>'}}
  %0 = tenon.state.read @s : tensor<5x2xf32>
  return
}

// -----

// expected-note @+1 {{the state is here}}
tenon.state @s : tensor<4x2xf32>
func.func @main() {
  // expected-error @+1 {{has rows of type 'tensor<4x2xi32>' for a state of type 'tensor<4x2xf32>'}}
  %0 = tenon.state.read @s : tensor<4x2xi32>
  return
}

// -----

tenon.state @s : tensor<4xf32>
func.func @main(%x: tensor<1xf32>) {
  // expected-error @+1 {{has 2 positions to write to, expected one}}
  tenon.state.update @s at #tenon.shape<0, 0>, %x : tensor<1xf32>
  return
}

// -----

tenon.state @s : tensor<4xf32>
func.func @main(%x: tensor<1xf32>) {
  // expected-error @+1 {{writes to row -1}}
  tenon.state.update @s at #tenon.shape<-1>, %x : tensor<1xf32>
  return
}

// -----

tenon.state @s : tensor<4xf32>
func.func @main(%x: tensor<1xf32>) {
  // expected-error @+1 {{extends a state that has no live rows to count}}
  tenon.state.update @s at #tenon.shape<0> extends, %x : tensor<1xf32>
  return
}

// -----

tenon.state @s : tensor<4xf32> live "n"
func.func @main(%x: tensor<1xf32>) {
  // expected-note @+1 {{the state is extended here}}
  tenon.state.update @s at #tenon.shape<n> extends, %x : tensor<1xf32>
  // expected-error @+1 {{follows the update that extends the state, which is the last one}}
  tenon.state.update @s at #tenon.shape<0>, %x : tensor<1xf32>
  return
}

// -----

tenon.state @s : tensor<4xf32> live "n" ring "slot"
func.func @main() {
  // expected-error @+1 {{reads a ring that is not updated before}}
  %0 = tenon.state.read @s : tensor<4xf32>
  return
}

// -----

// expected-note @+1 {{the state is here}}
tenon.state @s : tensor<4xf32> live "n" ring "slot"
func.func @main(%x: tensor<3xf32>) {
  // expected-error @+1 {{is no update of a ring, which extends it at 'slot' by a number of rows that divides 4}}
  tenon.state.update @s at #tenon.shape<slot> extends, %x : tensor<3xf32>
  return
}

// -----

// expected-note @+1 {{the state is here}}
tenon.state @s : tensor<4xf32> live "n" ring "slot"
func.func @main(%x: tensor<1xf32>) {
  // expected-error @+1 {{is no update of a ring, which extends it at 'slot' by a number of rows that divides 4}}
  tenon.state.update @s at #tenon.shape<n> extends, %x : tensor<1xf32>
  return
}
