// RUN: tenon-opt %s -split-input-file -verify-diagnostics -tenon-math-to-calls | FileCheck %s
// RUN: tenon-opt %s -split-input-file -verify-diagnostics -tenon-math-to-calls=prefix=__nv_ | FileCheck %s --check-prefix=PREFIX

// CHECK-DAG: func.func private @expf(f32) -> f32 attributes {llvm.readnone, llvm.willreturn}
// CHECK-DAG: func.func private @tanh(f64) -> f64
// CHECK-LABEL: @functions
// CHECK: call @expf(
// CHECK: call @expf(
// CHECK: call @tanh(
// CHECK: call @fmodf(
// PREFIX-LABEL: @functions
// PREFIX: call @__nv_expf(
// PREFIX: call @__nv_tanh(
func.func @functions(%x: f32, %y: f64) -> (f32, f32, f64, f32) {
  %0 = math.exp %x : f32
  %1 = math.exp %0 : f32
  %2 = math.tanh %y : f64
  %3 = arith.remf %x, %0 : f32
  return %0, %1, %2, %3 : f32, f32, f64, f32
}

// -----

// Weights of a softmax have a function of their own on the CPU.
// CHECK-LABEL: @normal
// CHECK: call @expnormalf(
// CHECK: call @exp(
// PREFIX-LABEL: @normal
// PREFIX: call @__nv_expf(
func.func @normal(%x: f32, %y: f64) -> (f32, f64) {
  %0 = math.exp %x {tenon.normal} : f32
  %1 = math.exp %y {tenon.normal} : f64
  return %0, %1 : f32, f64
}

// -----

// CHECK-LABEL: @instructions
// CHECK-NOT: call
// CHECK: llvm.intr.sqrt
// CHECK: llvm.intr.fabs
// CHECK: llvm.intr.roundeven
// CHECK: llvm.intr.fma
// CHECK: llvm.intr.maximum
// CHECK: llvm.intr.minimum
func.func @instructions(%x: f32) -> (f32, f32, f32, f32, f32) {
  %0 = math.sqrt %x : f32
  %1 = math.absf %x : f32
  %2 = math.roundeven %x : f32
  %3 = math.fma %x, %x, %x : f32
  %4 = arith.maximumf %x, %3 : f32
  %5 = arith.minimumf %x, %4 : f32
  return %0, %1, %2, %3, %5 : f32, f32, f32, f32, f32
}

// -----

func.func @no_function_of_that_name(%x: f32) -> f32 {
  // expected-error @+1 {{has neither an instruction nor a function on this target}}
  %0 = math.cbrt %x : f32
  return %0 : f32
}

// -----

func.func @no_function_of_half_precision(%x: f16) -> f16 {
  // expected-error @+1 {{has neither an instruction nor a function on this target}}
  %0 = math.exp %x : f16
  return %0 : f16
}
