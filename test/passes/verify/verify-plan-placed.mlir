// RUN: tenon-opt %s -split-input-file -verify-diagnostics -tenon-verify-plan=placed | FileCheck %s

// CHECK-LABEL: plan.program @placed
plan.program @placed symbols [] inputs [] outputs [] {
  %c = arith.constant 16 : index
  // CHECK: plan.arena
  %arena = plan.arena %c
}

// -----

plan.program @not_placed symbols [] inputs [] outputs [] {
  %c = arith.constant 16 : index
  // expected-error @+1 {{internal compiler error: 'plan.alloc' op was given no memory}}
  %a = plan.alloc %c
}
