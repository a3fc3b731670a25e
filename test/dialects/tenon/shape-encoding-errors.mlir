// RUN: tenon-opt %s -split-input-file -verify-diagnostics

// What an encoding says of a tensor's dimensions agrees with its type.

// expected-error @+1 {{has 1 dimensions in #tenon.shape<N> for a tensor of rank 2}}
func.func private @fewer_dimensions(tensor<?x4xf32, #tenon.shape<N>>)

// -----

// expected-error @+1 {{has 2 dimensions in #tenon.shape<N, 1> for a tensor of rank 1}}
func.func private @more_dimensions(tensor<?xf32, #tenon.shape<N, 1>>)

// -----

// expected-error @+1 {{has an extent of 4 in dimension 1, which is 5 in its #tenon.shape}}
func.func private @another_constant(tensor<?x4xf32, #tenon.shape<N, 5>>)

// -----

// expected-error @+1 {{has an extent of 4 in dimension 0, which is N in its #tenon.shape}}
func.func private @symbol_of_a_constant(tensor<4xf32, #tenon.shape<N>>)

// -----

// expected-error @+1 {{has an extent of '?' in dimension 0, which is 8 in its #tenon.shape}}
func.func private @constant_of_a_dynamic_extent(tensor<?xf32, #tenon.shape<8>>)

// -----

// Expressions without symbols are constants.
// expected-error @+1 {{has an extent of '?' in dimension 0, which is 8 in its #tenon.shape}}
func.func private @folded(tensor<?xf32, #tenon.shape<4 * 2>>)

// -----

// What agrees is accepted, and so are extents of which nothing is known.
func.func private @agrees(tensor<?x4x?xf32, #tenon.shape<N * 2, 4, ?>>, tensor<?xf32>, tensor<3xf32, #tenon.shape<3>>)
