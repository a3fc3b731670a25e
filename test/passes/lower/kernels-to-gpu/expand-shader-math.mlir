// RUN: tenon-opt %s -split-input-file -verify-diagnostics -tenon-expand-shader-math | FileCheck %s

// CHECK-LABEL: @functions_that_shaders_lack
// CHECK-NOT: math.erf
// CHECK-NOT: math.log1p
// CHECK-NOT: math.tanh
// CHECK-NOT: math.sin
func.func @functions_that_shaders_lack(%x: f32) -> (f32, f32, f32, f32) {
  %0 = math.erf %x : f32
  %1 = math.log1p %x : f32
  %2 = math.tanh %x : f32
  %3 = math.sin %x : f32
  return %0, %1, %2, %3 : f32, f32, f32, f32
}

// -----

// CHECK-LABEL: @functions_that_shaders_have
// CHECK: math.exp
// CHECK: math.sqrt
func.func @functions_that_shaders_have(%x: f32) -> (f32, f32) {
  %0 = math.exp %x : f32
  %1 = math.sqrt %x : f32
  return %0, %1 : f32, f32
}

// -----

// CHECK-LABEL: @anything_to_the_power_of_zero_is_one
// CHECK-SAME: (%[[X:.*]]: f32, %[[Y:.*]]: f32)
// CHECK: %[[P:.*]] = math.powf %[[X]], %[[Y]] : f32
// CHECK: %[[ZERO:.*]] = arith.cmpf oeq, %[[Y]]
// CHECK: arith.select %[[ZERO]], %{{.*}}, %[[P]]
func.func @anything_to_the_power_of_zero_is_one(%x: f32, %y: f32) -> f32 {
  %0 = math.powf %x, %y : f32
  return %0 : f32
}

// -----

// CHECK-LABEL: @square_roots_of_doubles
// CHECK: math.sqrt %{{.*}} : f64
func.func @square_roots_of_doubles(%x: f64) -> f64 {
  %0 = math.sqrt %x : f64
  return %0 : f64
}

// -----

func.func @no_exponentials_of_doubles(%x: f64) -> f64 {
  // expected-error @+1 {{computes exp of 64-bit floats, which Vulkan has not: convert it to f32}}
  %0 = math.exp %x : f64
  return %0 : f64
}
