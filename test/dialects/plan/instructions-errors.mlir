// RUN: tenon-opt %s -split-input-file -verify-diagnostics

plan.program @no_block_but_one symbols [] inputs [] outputs [] {
  %one = arith.constant 1 : index
  // expected-error @+1 {{'plan.launch' op requires attribute 'name'}}
  plan.launch @k() -> () sizes() tiles %one
}

// -----

func.func @tensors_are_no_buffers(%x: tensor<4xf32>, %n: index) {
  // expected-note @-1 {{prior use here}}
  // expected-error @+1 {{expects different type than prior uses: '!plan.buffer' vs 'tensor<4xf32>'}}
  plan.copy %x to %x size %n {name = "copy"}
  return
}
