// RUN: tenon-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(tenon-choose-forms{late budget=2.5e-3}))' | FileCheck %s
// RUN: tenon-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(tenon-choose-forms{late budget=1e-3}))' \
// RUN:   | FileCheck %s --check-prefix=EXACT
// RUN: tenon-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(tenon-choose-forms{late budget=2.5e-3 exclude=fused_attention_bf16}))' \
// RUN:   | FileCheck %s --check-prefix=EXACT
// RUN: tenon-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(tenon-choose-forms{late budget=2.5e-3 total-budget=4e-3}))' \
// RUN:   | FileCheck %s --check-prefix=ONE
// RUN: tenon-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(tenon-repeat-forms{late forms=fused_attention_bf16}))' \
// RUN:   | FileCheck %s --check-prefix=REPEATED

// Factors are rounded to bf16 where the target multiplies pairs of them, the tolerance allows an error of each product, and enough is saved.
// Each attention adds the errors of two products, 3.3e-3: of a total of 4e-3 there is one, the longer one, which saves more.
module attributes {tenon.machine = #tenon.machine<vector_bytes = 64, vector_registers = 32, bf16_pairs = 1>} {
// EXACT-NOT: bf16_products
// CHECK-LABEL: @two
// CHECK: tenon.attention
// CHECK: bf16_products
// CHECK: tenon.attention
// CHECK: bf16_products
// ONE-LABEL: @two
// ONE: tenon.attention
// ONE-NOT: bf16_products
// ONE: tenon.attention
// ONE: bf16_products
// A copy on another machine repeats it.
// REPEATED: bf16_products
func.func @two(%q: tensor<12x128x64xf32>, %r: tensor<12x512x64xf32>) -> (tensor<12x128x64xf32>, tensor<12x512x64xf32>) {
  %0 = tenon.contract %q, %q {lhs_dims = array<i64: 0, 1, 3>, rhs_dims = array<i64: 0, 2, 3>, result_dims = array<i64: 0, 1, 2>}
    : (tensor<12x128x64xf32>, tensor<12x128x64xf32>) -> tensor<12x128x128xf32>
  %1 = tenon.softmax %0 {axis = 2 : i64} : (tensor<12x128x128xf32>) -> tensor<12x128x128xf32>
  %2 = tenon.contract %1, %q {lhs_dims = array<i64: 0, 1, 3>, rhs_dims = array<i64: 0, 3, 2>, result_dims = array<i64: 0, 1, 2>}
    : (tensor<12x128x128xf32>, tensor<12x128x64xf32>) -> tensor<12x128x64xf32>
  %3 = tenon.contract %r, %r {lhs_dims = array<i64: 0, 1, 3>, rhs_dims = array<i64: 0, 2, 3>, result_dims = array<i64: 0, 1, 2>}
    : (tensor<12x512x64xf32>, tensor<12x512x64xf32>) -> tensor<12x512x512xf32>
  %4 = tenon.softmax %3 {axis = 2 : i64} : (tensor<12x512x512xf32>) -> tensor<12x512x512xf32>
  %5 = tenon.contract %4, %r {lhs_dims = array<i64: 0, 1, 3>, rhs_dims = array<i64: 0, 3, 2>, result_dims = array<i64: 0, 1, 2>}
    : (tensor<12x512x512xf32>, tensor<12x512x64xf32>) -> tensor<12x512x64xf32>
  return %2, %5 : tensor<12x128x64xf32>, tensor<12x512x64xf32>
}
}

// -----

// Without the instruction there is no such form, whatever the tolerance.
module attributes {tenon.machine = #tenon.machine<vector_bytes = 64, vector_registers = 32>} {
// CHECK-LABEL: @no_instruction
// CHECK: tenon.attention
// CHECK-NOT: bf16_products
func.func @no_instruction(%q: tensor<12x128x64xf32>) -> tensor<12x128x64xf32> {
  %0 = tenon.contract %q, %q {lhs_dims = array<i64: 0, 1, 3>, rhs_dims = array<i64: 0, 2, 3>, result_dims = array<i64: 0, 1, 2>}
    : (tensor<12x128x64xf32>, tensor<12x128x64xf32>) -> tensor<12x128x128xf32>
  %1 = tenon.softmax %0 {axis = 2 : i64} : (tensor<12x128x128xf32>) -> tensor<12x128x128xf32>
  %2 = tenon.contract %1, %q {lhs_dims = array<i64: 0, 1, 3>, rhs_dims = array<i64: 0, 3, 2>, result_dims = array<i64: 0, 1, 2>}
    : (tensor<12x128x128xf32>, tensor<12x128x64xf32>) -> tensor<12x128x64xf32>
  return %2 : tensor<12x128x64xf32>
}
}

// -----

// Few queries read the keys once, which takes as long; and sums of f64 are those of f64.
module attributes {tenon.machine = #tenon.machine<vector_bytes = 64, vector_registers = 32, bf16_pairs = 1>} {
// CHECK-LABEL: @few_queries
// CHECK-NOT: bf16_products
// CHECK-LABEL: @doubles
// CHECK-NOT: bf16_products
func.func @few_queries(%q: tensor<12x4x64xf32>, %k: tensor<12x128x64xf32>) -> tensor<12x4x64xf32> {
  %0 = tenon.contract %q, %k {lhs_dims = array<i64: 0, 1, 3>, rhs_dims = array<i64: 0, 2, 3>, result_dims = array<i64: 0, 1, 2>}
    : (tensor<12x4x64xf32>, tensor<12x128x64xf32>) -> tensor<12x4x128xf32>
  %1 = tenon.softmax %0 {axis = 2 : i64} : (tensor<12x4x128xf32>) -> tensor<12x4x128xf32>
  %2 = tenon.contract %1, %k {lhs_dims = array<i64: 0, 1, 3>, rhs_dims = array<i64: 0, 3, 2>, result_dims = array<i64: 0, 1, 2>}
    : (tensor<12x4x128xf32>, tensor<12x128x64xf32>) -> tensor<12x4x64xf32>
  return %2 : tensor<12x4x64xf32>
}
func.func @doubles(%q: tensor<12x128x64xf64>) -> tensor<12x128x64xf64> {
  %0 = tenon.contract %q, %q {lhs_dims = array<i64: 0, 1, 3>, rhs_dims = array<i64: 0, 2, 3>, result_dims = array<i64: 0, 1, 2>}
    : (tensor<12x128x64xf64>, tensor<12x128x64xf64>) -> tensor<12x128x128xf64>
  %1 = tenon.softmax %0 {axis = 2 : i64} : (tensor<12x128x128xf64>) -> tensor<12x128x128xf64>
  %2 = tenon.contract %1, %q {lhs_dims = array<i64: 0, 1, 3>, rhs_dims = array<i64: 0, 3, 2>, result_dims = array<i64: 0, 1, 2>}
    : (tensor<12x128x128xf64>, tensor<12x128x64xf64>) -> tensor<12x128x64xf64>
  return %2 : tensor<12x128x64xf64>
}
}

// -----

// AMX tiles multiply pairs, too, if sizes fill them and there is more to do than to start them.
module attributes {tenon.machine = #tenon.machine<vector_bytes = 64, vector_registers = 32, amx_bf16 = 1>} {
// CHECK-LABEL: @amx_tiles
// CHECK: tenon.attention
// CHECK: bf16_products
// CHECK-LABEL: @small_sizes
// CHECK: tenon.attention
// CHECK-NOT: bf16_products
// CHECK-LABEL: @short
// CHECK: tenon.attention
// CHECK-NOT: bf16_products
func.func @amx_tiles(%q: tensor<12x128x64xf32>) -> tensor<12x128x64xf32> {
  %0 = tenon.contract %q, %q {lhs_dims = array<i64: 0, 1, 3>, rhs_dims = array<i64: 0, 2, 3>, result_dims = array<i64: 0, 1, 2>}
    : (tensor<12x128x64xf32>, tensor<12x128x64xf32>) -> tensor<12x128x128xf32>
  %1 = tenon.softmax %0 {axis = 2 : i64} : (tensor<12x128x128xf32>) -> tensor<12x128x128xf32>
  %2 = tenon.contract %1, %q {lhs_dims = array<i64: 0, 1, 3>, rhs_dims = array<i64: 0, 3, 2>, result_dims = array<i64: 0, 1, 2>}
    : (tensor<12x128x128xf32>, tensor<12x128x64xf32>) -> tensor<12x128x64xf32>
  return %2 : tensor<12x128x64xf32>
}
func.func @small_sizes(%q: tensor<12x128x16xf32>) -> tensor<12x128x16xf32> {
  %0 = tenon.contract %q, %q {lhs_dims = array<i64: 0, 1, 3>, rhs_dims = array<i64: 0, 2, 3>, result_dims = array<i64: 0, 1, 2>}
    : (tensor<12x128x16xf32>, tensor<12x128x16xf32>) -> tensor<12x128x128xf32>
  %1 = tenon.softmax %0 {axis = 2 : i64} : (tensor<12x128x128xf32>) -> tensor<12x128x128xf32>
  %2 = tenon.contract %1, %q {lhs_dims = array<i64: 0, 1, 3>, rhs_dims = array<i64: 0, 3, 2>, result_dims = array<i64: 0, 1, 2>}
    : (tensor<12x128x128xf32>, tensor<12x128x16xf32>) -> tensor<12x128x16xf32>
  return %2 : tensor<12x128x16xf32>
}
func.func @short(%q: tensor<1x16x64xf32>) -> tensor<1x16x64xf32> {
  %0 = tenon.contract %q, %q {lhs_dims = array<i64: 0, 1, 3>, rhs_dims = array<i64: 0, 2, 3>, result_dims = array<i64: 0, 1, 2>}
    : (tensor<1x16x64xf32>, tensor<1x16x64xf32>) -> tensor<1x16x16xf32>
  %1 = tenon.softmax %0 {axis = 2 : i64} : (tensor<1x16x16xf32>) -> tensor<1x16x16xf32>
  %2 = tenon.contract %1, %q {lhs_dims = array<i64: 0, 1, 3>, rhs_dims = array<i64: 0, 3, 2>, result_dims = array<i64: 0, 1, 2>}
    : (tensor<1x16x16xf32>, tensor<1x16x64xf32>) -> tensor<1x16x64xf32>
  return %2 : tensor<1x16x64xf32>
}
}
