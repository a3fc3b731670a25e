// RUN: tenon-opt %s --split-input-file --verify-diagnostics "--tenon-specialize=programs=N=128"

// expected-error @below {{has no sizes within N=128: its own ranges exclude them}}
func.func @main(%a: tensor<?xf32, #tenon.shape<N>>) attributes {tenon.ranges = {N = array<i64: 1, 100>}} {
  return
}

// -----

// expected-error @below {{has no symbol 'N' in the dimensions of its inputs}}
func.func @main(%a: tensor<?xf32, #tenon.shape<M>>) {
  return
}

// -----

// expected-warning @below {{gets no program for N=128, which it cannot run: N + -200 must not be negative}}
func.func @main(%a: tensor<?xf32, #tenon.shape<N>>) attributes {tenon.requires = #tenon.shape<N + -200>} {
  return
}
