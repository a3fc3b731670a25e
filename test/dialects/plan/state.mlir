// RUN: tenon-opt %s -split-input-file -verify-diagnostics | FileCheck %s

// CHECK: plan.state "keys" : tensor<16x4xf32> live 0 next %arg0
// CHECK: plan.state "window" : tensor<8x4xf32> live 0 ring 1 next %{{.*}}
// CHECK: plan.state "hidden" : tensor<1x4xf32> {initial = dense<1.000000e+00> : tensor<1x4xf32>}
plan.program @main symbols ["n", "slot"] inputs [] outputs [] {
^bb0(%n: index, %slot: index):
  %one = arith.constant 1 : index
  %0 = plan.state "keys" : tensor<16x4xf32> live 0 next %n
  %1 = plan.state "window" : tensor<8x4xf32> live 0 ring 1 next %one
  %2 = plan.state "hidden" : tensor<1x4xf32> {initial = dense<1.0> : tensor<1x4xf32>}
}

// -----

plan.program @main symbols ["n"] inputs [] outputs [] {
^bb0(%n: index):
  // expected-error @+1 {{has type 'tensor<?xf32>', expected a tensor of constant size}}
  %0 = plan.state "keys" : tensor<?xf32>
}

// -----

// expected-note @+1 {{the program is here}}
plan.program @main symbols ["n"] inputs [] outputs [] {
^bb0(%n: index):
  // expected-error @+1 {{names symbol 1 of a program with 1}}
  %0 = plan.state "keys" : tensor<4xf32> live 1
}

// -----

plan.program @main symbols ["n"] inputs [] outputs [] {
^bb0(%n: index):
  // expected-error @+1 {{counts rows without a symbol for those that are live}}
  %0 = plan.state "keys" : tensor<4xf32> next %n
}

// -----

plan.program @main symbols ["n"] inputs [] outputs [] {
^bb0(%n: index):
  // expected-error @+1 {{has live rows, and no memory for any or an initial value}}
  %0 = plan.state "keys" : tensor<0xf32> live 0
}

// -----

plan.program @main symbols ["n"] inputs [] outputs [] {
^bb0(%n: index):
  // expected-error @+1 {{has an initial value of type 'tensor<5xf32>', expected 'tensor<4xf32>'}}
  %0 = plan.state "keys" : tensor<4xf32> {initial = dense<1.0> : tensor<5xf32>}
}
