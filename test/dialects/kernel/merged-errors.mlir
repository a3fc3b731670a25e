// RUN: tenon-opt %s -split-input-file -verify-diagnostics

func.func private @k(tensor<4xf32>, tensor<4xf32>, index, index)
// expected-error @below {{'kernel.merged' op has no parts}}
kernel.merged @merged buffers 2 sizes 0 scratch 0 slots [] []

// -----

func.func private @k(tensor<4xf32>, tensor<4xf32>, index, index)
// expected-error @below {{has a part #kernel.part<@k, tiles, buffers = [0, 2], sizes = []> with a buffer that is none of 2 and 0 slots}}
kernel.merged @merged buffers 2 sizes 0 scratch 0 slots [] [#kernel.part<@k, tiles, buffers = [0, 2], sizes = []>]

// -----

func.func private @k(tensor<4xf32>, tensor<4xf32>, index, index, index)
// expected-error @below {{with a size that is none of 1}}
kernel.merged @merged buffers 2 sizes 1 scratch 0 slots [] [#kernel.part<@k, tiles, buffers = [0, 1], sizes = [1]>]

// -----

func.func private @k(tensor<4xf32>, tensor<4xf32>, index, index)
// expected-error @below {{has slots of array<i64: 16, 0> bytes, expected numbers above 0}}
kernel.merged @merged buffers 2 sizes 0 scratch 0 slots [16, 0] [#kernel.part<@k, tiles, buffers = [0, 2], sizes = []>]

// -----

func.func private @k(tensor<4xf32>, tensor<4xf32>, index, index)
// expected-error @below {{before any with 'tiles'}}
kernel.merged @merged buffers 2 sizes 0 scratch 0 slots [] [#kernel.part<@k, along, buffers = [0, 1], sizes = []>]

// -----

func.func private @k(tensor<4xf32>, tensor<4xf32>, index, index)
// expected-error @below {{behind one with 'tiles'}}
kernel.merged @merged buffers 3 sizes 0 scratch 0 slots [] [
    #kernel.part<@k, tiles, buffers = [0, 1], sizes = []>,
    #kernel.part<@k, whole, buffers = [0, 2], sizes = []>]

// -----

// expected-error @below {{has a part @k, but there is no such function}}
kernel.merged @merged buffers 2 sizes 0 scratch 0 slots [] [#kernel.part<@k, tiles, buffers = [0, 1], sizes = []>]

// -----

func.func private @k(tensor<4xf32>, tensor<4xf32>, index, index)
// expected-error @below {{that does not fit the arguments of its kernel}}
kernel.merged @merged buffers 2 sizes 0 scratch 0 slots [] [#kernel.part<@k, tiles, buffers = [0], sizes = []>]
