// RUN: tenon-opt %s -split-input-file -verify-diagnostics -tenon-verify-plan | FileCheck %s

func.func private @k(%x: tensor<4xf32> {tenon.dims = #tenon.shape<4>},
                     %y: tensor<4xf32> {tenon.dims = #tenon.shape<4>, tenon.output})
    attributes {tenon.kernel, tenon.tiles = #tenon.shape<1>, tenon.scratch = 64} {
  return
}
// CHECK-LABEL: plan.program @fitting
plan.program @fitting symbols [] inputs [] outputs [] attributes {scratch = 64} {
  %c = arith.constant 16 : index
  %a = plan.alloc %c
  %b = plan.alloc %c
  // CHECK: plan.launch @k
  plan.launch @k(%a) -> (%b) sizes() tiles %c {name = ""}
  // A kernel of the library is no function of the module.
  plan.launch @tenon_upper_case(%a) -> (%b) sizes(%c) tiles %c {name = ""}
}

// -----

// expected-error @+1 {{internal compiler error: 'func.func' op was not lowered to a program}}
func.func @main() {
  return
}

// -----

plan.program @other_dialect symbols [] inputs [] outputs [] {
  // expected-error @+1 {{internal compiler error: 'tensor.empty' op is no instruction and no arithmetic on sizes}}
  %0 = tensor.empty() : tensor<4xf32>
}

// -----

// expected-note @+1 {{the kernel is here}}
func.func private @untiled() attributes {tenon.kernel}
plan.program @no_tiles symbols [] inputs [] outputs [] {
  %c = arith.constant 16 : index
  // expected-error @+1 {{op launches a function without 'tenon.kernel' or 'tenon.tiles'}}
  plan.launch @untiled() -> () sizes() tiles %c {name = ""}
}

// -----

// expected-note @+1 {{the kernel is here}}
func.func private @sized() attributes {tenon.kernel, tenon.tiles = #tenon.shape<1>, tenon.symbols = ["s0"]}
plan.program @sizes symbols [] inputs [] outputs [] {
  %c = arith.constant 16 : index
  // expected-error @+1 {{op has 0 sizes for a kernel with 1 symbols}}
  plan.launch @sized() -> () sizes() tiles %c {name = ""}
}

// -----

// expected-note @+1 {{the kernel is here}}
func.func private @with_scratch() attributes {tenon.kernel, tenon.tiles = #tenon.shape<1>, tenon.scratch = 128}
plan.program @scratch symbols [] inputs [] outputs [] attributes {scratch = 64} {
  %c = arith.constant 16 : index
  // expected-error @+1 {{op launches a kernel that needs 128 bytes of scratch, of which there are 64}}
  plan.launch @with_scratch() -> () sizes() tiles %c {name = ""}
}

// -----

// expected-note @+1 {{the kernel is here}}
func.func private @two(tensor<4xf32> {tenon.dims = #tenon.shape<4>}, tensor<4xf32> {tenon.dims = #tenon.shape<4>, tenon.output})
    attributes {tenon.kernel, tenon.tiles = #tenon.shape<1>}
plan.program @buffers symbols [] inputs [] outputs [] {
  %c = arith.constant 16 : index
  %a = plan.alloc %c
  // expected-error @+1 {{op passes 0 inputs and 1 outputs to a kernel with 1 and 1}}
  plan.launch @two() -> (%a) sizes() tiles %c {name = ""}
}

// -----

// expected-note @+1 {{the kernel is here}}
func.func private @in_place(tensor<4xf32> {tenon.dims = #tenon.shape<4>, tenon.reused = 0},
                            tensor<4xf32> {tenon.dims = #tenon.shape<4>, tenon.output})
    attributes {tenon.kernel, tenon.tiles = #tenon.shape<1>}
plan.program @reuse symbols [] inputs [] outputs [] {
  %c = arith.constant 16 : index
  %a = plan.alloc %c
  %b = plan.alloc %c
  // expected-error @+1 {{op passes different buffers for input 0 and for output 0, which the kernel writes over it}}
  plan.launch @in_place(%a) -> (%b) sizes() tiles %c {name = ""}
}

// -----

// expected-note @+1 {{the kernel is here}}
func.func private @over_nothing(tensor<4xf32> {tenon.dims = #tenon.shape<4>, tenon.reused = 1},
                                tensor<4xf32> {tenon.dims = #tenon.shape<4>, tenon.output})
    attributes {tenon.kernel, tenon.tiles = #tenon.shape<1>}
plan.program @no_such_output symbols [] inputs [] outputs [] {
  %c = arith.constant 16 : index
  %a = plan.alloc %c
  // expected-error @+1 {{op passes 1 outputs to a kernel that writes output 1 over input 0}}
  plan.launch @over_nothing(%a) -> (%a) sizes() tiles %c {name = ""}
}
