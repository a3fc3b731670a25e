// RUN: tenon-opt %s -split-input-file -verify-diagnostics

// expected-error @+1 {{'row' is -2 and 'panel' 0, expected a loop or -1, and 0 or more}}
func.func private @no_loop(f32 {a.a = #kernel.contraction<kind = product, row = -2>})

// -----

// expected-error @+1 {{groups need a 'panel', each of which is of one group}}
func.func private @no_panel(f32 {a.a = #kernel.contraction<kind = product, grouped = true>})

// -----

// expected-error @+1 {{'inner' is 1 and 'step' 4, expected neither for product}}
func.func private @no_groups(f32 {a.a = #kernel.contraction<kind = product, inner = 1, step = 4>})

// -----

// expected-error @+1 {{'block' is 32, expected none for product}}
func.func private @no_block(f32 {a.a = #kernel.contraction<kind = product, block = 32>})

// -----

// expected-error @+1 {{'inner' is -1 and 'step' 0, expected a loop and the steps of it for i8_dot4}}
func.func private @no_inner(f32 {a.a = #kernel.contraction<kind = i8_dot4, panel = 32>})

// -----

// expected-error @+1 {{'block' is 0, expected 1 or more for dequantized}}
func.func private @no_scale(f32 {a.a = #kernel.contraction<kind = dequantized, panel = 32>})

// -----

#rows = affine_map<(m, n, k) -> (m, k)>
#columns = affine_map<(m, n, k) -> (k, n)>
#sums = affine_map<(m, n, k) -> (m, n)>
func.func @summed_last(%a: memref<4x16xf32>, %b: memref<16x8xf32>, %c: memref<4x8xf32>) {
  // expected-error @+1 {{has 3 loops, expected summed ones and the columns of the result as last}}
  kernel.contract <kind = product, row = 0>
      ins(%a, %b : memref<4x16xf32>, memref<16x8xf32>) init(%c : memref<4x8xf32>)
      attributes {indexing_maps = [#rows, #columns, #sums]} {
  ^bb0(%x: f32, %w: f32, %old: f32):
    %p = arith.mulf %x, %w : f32
    %added = arith.addf %old, %p : f32
    %sum = kernel.sum %added : f32 lhs(%x : f32) rhs(%w : f32)
    linalg.yield %sum : f32
  }
  return
}

// -----

#rows = affine_map<(m, k, n) -> (m, k)>
#columns = affine_map<(m, k, n) -> (k, n)>
#sums = affine_map<(m, k, n) -> (m, m + n)>
func.func @other_result(%a: memref<4x16xf32>, %b: memref<16x8xf32>, %c: memref<4x11xf32>) {
  // expected-error @+1 {{has indices affine_map<(d0, d1, d2) -> (d0, d0 + d2)> of its result, expected loops}}
  kernel.contract <kind = product, row = 0>
      ins(%a, %b : memref<4x16xf32>, memref<16x8xf32>) init(%c : memref<4x11xf32>)
      attributes {indexing_maps = [#rows, #columns, #sums]} {
  ^bb0(%x: f32, %w: f32, %old: f32):
    %p = arith.mulf %x, %w : f32
    %added = arith.addf %old, %p : f32
    %sum = kernel.sum %added : f32 lhs(%x : f32) rhs(%w : f32)
    linalg.yield %sum : f32
  }
  return
}

// -----

#rows = affine_map<(m, k, n) -> (m, k)>
#columns = affine_map<(m, k, n) -> (k, n)>
#sums = affine_map<(m, k, n) -> (m, n)>
func.func @no_panels(%a: memref<4x16xf32>, %b: memref<16x8xf32>, %c: memref<4x8xf32>) {
  // expected-error @+1 {{has panels of 32 columns, but indices affine_map<(d0, d1, d2) -> (d1, d2)> of its RHS}}
  kernel.contract <kind = product, row = 0, panel = 32>
      ins(%a, %b : memref<4x16xf32>, memref<16x8xf32>) init(%c : memref<4x8xf32>)
      attributes {indexing_maps = [#rows, #columns, #sums]} {
  ^bb0(%x: f32, %w: f32, %old: f32):
    %p = arith.mulf %x, %w : f32
    %added = arith.addf %old, %p : f32
    %sum = kernel.sum %added : f32 lhs(%x : f32) rhs(%w : f32)
    linalg.yield %sum : f32
  }
  return
}

// -----

#rows = affine_map<(m, k, n) -> (m, k)>
#columns = affine_map<(m, k, n) -> (k, n)>
#sums = affine_map<(m, k, n) -> (m, n)>
func.func @rows_of_both(%a: memref<4x16xf32>, %b: memref<16x8xf32>, %c: memref<4x8xf32>) {
  // expected-error @+1 {{has loop 0 as rows, but indices affine_map<(d0, d1, d2) -> (d0, d1)> of its RHS}}
  kernel.contract <kind = product, row = 0>
      ins(%a, %b : memref<4x16xf32>, memref<16x8xf32>) init(%c : memref<4x8xf32>)
      attributes {indexing_maps = [#rows, #columns, #sums]} {
  ^bb0(%x: f32, %w: f32, %old: f32):
    %p = arith.mulf %x, %w : f32
    %added = arith.addf %old, %p : f32
    %sum = kernel.sum %added : f32 lhs(%w : f32) rhs(%x : f32)
    linalg.yield %sum : f32
  }
  return
}

// -----

#rows = affine_map<(m, k, n) -> (m, k)>
#columns = affine_map<(m, k, n) -> (k, n)>
#sums = affine_map<(m, k, n) -> (m, n)>
func.func @rows_are_summed(%a: memref<4x16xf32>, %b: memref<16x8xf32>, %c: memref<4x8xf32>) {
  // expected-error @+1 {{has loop 1 as rows, expected a parallel one before the columns}}
  kernel.contract <kind = product, row = 1>
      ins(%a, %b : memref<4x16xf32>, memref<16x8xf32>) init(%c : memref<4x8xf32>)
      attributes {indexing_maps = [#rows, #columns, #sums]} {
  ^bb0(%x: f32, %w: f32, %old: f32):
    %p = arith.mulf %x, %w : f32
    %added = arith.addf %old, %p : f32
    %sum = kernel.sum %added : f32 lhs(%x : f32) rhs(%w : f32)
    linalg.yield %sum : f32
  }
  return
}

// -----

#rows = affine_map<(m, k, n) -> (m, k)>
#columns = affine_map<(m, k, n) -> (k, n)>
#sums = affine_map<(m, k, n) -> (m, n)>
func.func @rows_are_columns(%a: memref<4x16xf32>, %b: memref<16x8xf32>, %c: memref<4x8xf32>) {
  // expected-error @+1 {{has loop 2 as rows, expected a parallel one before the columns}}
  kernel.contract <kind = product, row = 2>
      ins(%a, %b : memref<4x16xf32>, memref<16x8xf32>) init(%c : memref<4x8xf32>)
      attributes {indexing_maps = [#rows, #columns, #sums]} {
  ^bb0(%x: f32, %w: f32, %old: f32):
    %p = arith.mulf %x, %w : f32
    %added = arith.addf %old, %p : f32
    %sum = kernel.sum %added : f32 lhs(%x : f32) rhs(%w : f32)
    linalg.yield %sum : f32
  }
  return
}

// -----

#rows = affine_map<(m, k, n) -> (m, k)>
#columns = affine_map<(m, k, n) -> (k, n)>
#sums = affine_map<(m, k, n) -> (m, n)>
func.func @inner_is_parallel(%a: memref<4x16xf32>, %b: memref<16x8xf32>, %c: memref<4x8xf32>) {
  // expected-error @+1 {{has loop 0 as 'inner', expected a summed one}}
  kernel.contract <kind = bf16_terms, inner = 0, step = 32>
      ins(%a, %b : memref<4x16xf32>, memref<16x8xf32>) init(%c : memref<4x8xf32>)
      attributes {indexing_maps = [#rows, #columns, #sums]} {
  ^bb0(%x: f32, %w: f32, %old: f32):
    %p = arith.mulf %x, %w : f32
    %added = arith.addf %old, %p : f32
    %sum = kernel.sum %added : f32 lhs(%x : f32) rhs(%w : f32)
    linalg.yield %sum : f32
  }
  return
}

// -----

#rows = affine_map<(m, k, n) -> (m, k)>
#columns = affine_map<(m, k, n) -> (k, n)>
#sums = affine_map<(m, k, n) -> (m, n)>
func.func @other_tile(%a: memref<4x16xf32>, %b: memref<16x8xf32>, %c: memref<4x8xf32>) {
  // expected-error @+1 {{has 3 loops, but the tile of its schedule 2}}
  kernel.contract <kind = product, row = 0>
      ins(%a, %b : memref<4x16xf32>, memref<16x8xf32>) init(%c : memref<4x8xf32>)
      attributes {indexing_maps = [#rows, #columns, #sums], schedule = #kernel.schedule<tile = [4, 8]>} {
  ^bb0(%x: f32, %w: f32, %old: f32):
    %p = arith.mulf %x, %w : f32
    %added = arith.addf %old, %p : f32
    %sum = kernel.sum %added : f32 lhs(%x : f32) rhs(%w : f32)
    linalg.yield %sum : f32
  }
  return
}

// -----

#rows = affine_map<(m, k, n) -> (m, k)>
#columns = affine_map<(m, k, n) -> (k, n)>
#sums = affine_map<(m, k, n) -> (m, n)>
func.func @many_elements(%a: memref<4x16xf32>, %b: memref<16x8xf32>, %c: memref<4x8xf32>) {
  // expected-error @+1 {{has 2 elements of a factor, expected 1 for product}}
  kernel.contract <kind = product, row = 0>
      ins(%a, %b : memref<4x16xf32>, memref<16x8xf32>) init(%c : memref<4x8xf32>)
      attributes {indexing_maps = [#rows, #columns, #sums]} {
  ^bb0(%x: f32, %w: f32, %old: f32):
    %p = arith.mulf %x, %w : f32
    %added = arith.addf %old, %p : f32
    %sum = kernel.sum %added : f32 lhs(%x, %x : f32, f32) rhs(%w : f32)
    linalg.yield %sum : f32
  }
  return
}

// -----

#rows = affine_map<(m, k, n) -> (m, k)>
#columns = affine_map<(m, k, n) -> (k, n)>
#sums = affine_map<(m, k, n) -> (m, n)>
func.func @many_terms(%a: memref<4x16xf32>, %b: memref<16x8xf32>, %c: memref<4x8xf32>) {
  // expected-error @+1 {{has 4 elements of a factor, expected 1 to 3 for bf16_terms}}
  kernel.contract <kind = bf16_terms, inner = 1, step = 32>
      ins(%a, %b : memref<4x16xf32>, memref<16x8xf32>) init(%c : memref<4x8xf32>)
      attributes {indexing_maps = [#rows, #columns, #sums]} {
  ^bb0(%x: f32, %w: f32, %old: f32):
    %p = arith.mulf %x, %w : f32
    %added = arith.addf %old, %p : f32
    %sum = kernel.sum %added : f32 lhs(%x, %x, %x, %x : f32, f32, f32, f32) rhs(%w : f32)
    linalg.yield %sum : f32
  }
  return
}

// -----

#rows = affine_map<(m, k, n) -> (m, k)>
#columns = affine_map<(m, k, n) -> (k, n)>
#sums = affine_map<(m, k, n) -> (m, n)>
func.func @unequal_terms(%a: memref<4x16xf32>, %b: memref<16x8xf32>, %c: memref<4x8xf32>) {
  // expected-error @+1 {{has 2 terms of its LHS and 1 of its RHS, expected as many for i8_terms}}
  kernel.contract <kind = i8_terms, inner = 1, step = 32>
      ins(%a, %b : memref<4x16xf32>, memref<16x8xf32>) init(%c : memref<4x8xf32>)
      attributes {indexing_maps = [#rows, #columns, #sums]} {
  ^bb0(%x: f32, %w: f32, %old: f32):
    %p = arith.mulf %x, %w : f32
    %added = arith.addf %old, %p : f32
    %sum = kernel.sum %added : f32 lhs(%x, %x : f32, f32) rhs(%w : f32)
    linalg.yield %sum : f32
  }
  return
}

// -----

#rows = affine_map<(m, k, n) -> (m, k)>
#columns = affine_map<(m, k, n) -> (k, n)>
#sums = affine_map<(m, k, n) -> (m, n)>
func.func @a_number(%a: memref<4x16xf32>, %b: memref<16x8xf32>, %c: memref<4x8xf32>) {
  // expected-error @+1 {{has a number or a scale of a dequantized factor, but is of kind product}}
  kernel.contract <kind = product, row = 0>
      ins(%a, %b : memref<4x16xf32>, memref<16x8xf32>) init(%c : memref<4x8xf32>)
      attributes {indexing_maps = [#rows, #columns, #sums]} {
  ^bb0(%x: f32, %w: f32, %old: f32):
    %p = arith.mulf %x, %w : f32
    %added = arith.addf %old, %p : f32
    %sum = kernel.sum %added : f32 lhs(%x : f32) rhs(%w : f32) number(%w : f32)
    linalg.yield %sum : f32
  }
  return
}

// -----

#rows = affine_map<(m, k, n) -> (m, k)>
#columns = affine_map<(m, k, n) -> (k, n)>
#sums = affine_map<(m, k, n) -> (m, n)>
func.func @no_number(%a: memref<4x16xf32>, %b: memref<16x8xf32>, %c: memref<4x8xf32>) {
  // expected-error @+1 {{has no number of a dequantized factor, but is of kind dequantized}}
  kernel.contract <kind = dequantized, row = 0, panel = 32, block = 4>
      ins(%a, %b : memref<4x16xf32>, memref<16x8xf32>) init(%c : memref<4x8xf32>)
      attributes {indexing_maps = [#rows, #columns, #sums]} {
  ^bb0(%x: f32, %w: f32, %old: f32):
    %p = arith.mulf %x, %w : f32
    %added = arith.addf %old, %p : f32
    %sum = kernel.sum %added : f32 lhs(%x : f32) rhs(%w : f32)
    linalg.yield %sum : f32
  }
  return
}

// -----

#rows = affine_map<(m, k, n) -> (m, k)>
#columns = affine_map<(m, k, n) -> (k, n)>
#sums = affine_map<(m, k, n) -> (m, n)>
func.func @float_sums(%a: memref<4x16xf32>, %b: memref<16x8xf32>, %c: memref<4x8xf32>) {
  // expected-error @+1 {{sums 'f32', which contractions of kind i8_columnwise do not}}
  kernel.contract <kind = i8_columnwise>
      ins(%a, %b : memref<4x16xf32>, memref<16x8xf32>) init(%c : memref<4x8xf32>)
      attributes {indexing_maps = [#rows, #columns, #sums]} {
  ^bb0(%x: f32, %w: f32, %old: f32):
    %p = arith.mulf %x, %w : f32
    %added = arith.addf %old, %p : f32
    %sum = kernel.sum %added : f32 lhs(%x : f32) rhs(%w : f32)
    linalg.yield %sum : f32
  }
  return
}

// -----

#rows = affine_map<(m, k, n) -> (m, k)>
#columns = affine_map<(m, k, n) -> (k, n)>
#sums = affine_map<(m, k, n) -> (m, n)>
func.func @other_end(%a: memref<4x16xf32>, %b: memref<16x8xf32>, %c: memref<4x8xf32>) {
  // expected-error @+1 {{does not yield a kernel.sum of its body}}
  kernel.contract <kind = product, row = 0>
      ins(%a, %b : memref<4x16xf32>, memref<16x8xf32>) init(%c : memref<4x8xf32>)
      attributes {indexing_maps = [#rows, #columns, #sums]} {
  ^bb0(%x: f32, %w: f32, %old: f32):
    %p = arith.mulf %x, %w : f32
    %sum = arith.addf %old, %p : f32
    linalg.yield %sum : f32
  }
  return
}

// -----

#rows = affine_map<(m, k, n) -> (m, k)>
#columns = affine_map<(m, k, n) -> (k, n)>
#sums = affine_map<(m, k, n) -> (m, n)>
func.func @few_maps(%a: memref<4x16xf32>, %b: memref<16x8xf32>, %c: memref<4x8xf32>) {
  // expected-error @+1 {{expected the number of indexing_map (2) to be equal to the number of input/output operands (3)}}
  kernel.contract <kind = product, row = 0>
      ins(%a, %b : memref<4x16xf32>, memref<16x8xf32>) init(%c : memref<4x8xf32>)
      attributes {indexing_maps = [#rows, #sums]} {
  ^bb0(%x: f32, %w: f32, %old: f32):
    %p = arith.mulf %x, %w : f32
    %added = arith.addf %old, %p : f32
    %sum = kernel.sum %added : f32 lhs(%x : f32) rhs(%w : f32)
    linalg.yield %sum : f32
  }
  return
}

// -----

// expected-error @+1 {{'block' is 36 and 'step' 8, expected whole i32 of 2, 4 or 8 integers for integer_groups}}
func.func private @part_of_a_word(f32 {a.a = #kernel.contraction<kind = integer_groups, panel = 32, inner = 1, step = 8, block = 36>})

// -----

#rows = affine_map<(m, k, n) -> (m, k)>
#columns = affine_map<(m, k, n) -> (k, n)>
#sums = affine_map<(m, k, n) -> (m, n)>
func.func @no_scale_of_rows(%a: memref<4x16xf32>, %b: memref<16x8xf32>, %c: memref<4x8xf32>) {
  // expected-error @+1 {{has 1 elements of its LHS, expected a number and its scale for integer_groups}}
  kernel.contract <kind = integer_groups, row = 0, panel = 32, inner = 1, step = 4, block = 16>
      ins(%a, %b : memref<4x16xf32>, memref<16x8xf32>) init(%c : memref<4x8xf32>)
      attributes {indexing_maps = [#rows, #columns, #sums]} {
  ^bb0(%x: f32, %w: f32, %old: f32):
    %p = arith.mulf %x, %w : f32
    %added = arith.addf %old, %p : f32
    %sum = kernel.sum %added : f32 lhs(%x : f32) rhs(%w : f32) number(%w : f32) scale(%w : f32)
    linalg.yield %sum : f32
  }
  return
}

// -----

#rows = affine_map<(m, k, n) -> (m, k)>
#columns = affine_map<(m, k, n) -> (k, n)>
#sums = affine_map<(m, k, n) -> (m, n)>
func.func @no_scale_of_columns(%a: memref<4x16xf32>, %b: memref<16x8xf32>, %c: memref<4x8xf32>) {
  // expected-error @+1 {{has no scale of its RHS, as contractions of kind integer_groups have}}
  kernel.contract <kind = integer_groups, row = 0, panel = 32, inner = 1, step = 4, block = 16>
      ins(%a, %b : memref<4x16xf32>, memref<16x8xf32>) init(%c : memref<4x8xf32>)
      attributes {indexing_maps = [#rows, #columns, #sums]} {
  ^bb0(%x: f32, %w: f32, %old: f32):
    %p = arith.mulf %x, %w : f32
    %added = arith.addf %old, %p : f32
    %sum = kernel.sum %added : f32 lhs(%x, %x : f32, f32) rhs(%w : f32) number(%w : f32)
    linalg.yield %sum : f32
  }
  return
}
