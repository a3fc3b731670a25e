// RUN: tenon-opt %s --tenon-form-contractions --tenon-vectorize-contractions | FileCheck %s
// RUN: tenon-opt %s --tenon-form-contractions --tenon-vectorize-contractions='vector-bytes=32 registers=16' | FileCheck %s --check-prefix=AVX2
// RUN: tenon-opt %s --tenon-form-contractions --tenon-vectorize-contractions | FileCheck %s --check-prefix=PLACES
// RUN: tenon-opt %s --tenon-form-contractions --tenon-vectorize-contractions='l1-ways=16' | FileCheck %s --check-prefix=WAYS

// AVX2-DAG: #[[KIB4:.*]] = affine_map<(d0) -> (d0 + 1024)>

#lhs = affine_map<(m, k, n) -> (m, k)>
#rhs = affine_map<(m, k, n) -> (k, n)>
#out = affine_map<(m, k, n) -> (m, n)>
#panels = affine_map<(m, k, n) -> (n floordiv 32, k, n mod 32)>
#narrow = affine_map<(m, k, n) -> (n floordiv 16, k, n mod 16)>
#window = affine_map<(p, w, c) -> (p + w, c)>
#filter = affine_map<(p, w, c) -> (w, c)>
#pixel = affine_map<(p, w, c) -> (p, c)>
#taps = affine_map<(p, w, k, c) -> (w, k, c)>
#pixels = affine_map<(p, w, k, c) -> (p, c)>
#transposed = affine_map<(m, k, n) -> (n, k)>

// 26 rows and 32 columns: two blocks of 13 rows x 2 vectors of 16, whose 26 sums the loop over k carries.
// CHECK-LABEL: @sums_stay_in_registers
// CHECK: scf.for {{.*}} step
// CHECK-COUNT-26: vector.load {{.*}} vector<16xf32>
// CHECK: %{{.*}}:26 = scf.for
// CHECK-COUNT-2: vector.load {{.*}} vector<16xf32>
// CHECK-COUNT-26: vector.fma
// CHECK: scf.yield
// CHECK-COUNT-26: vector.store
// CHECK-NOT: {{linalg.generic|kernel.contract}}
// A block must leave room in 16 registers.
// AVX2-LABEL: @sums_stay_in_registers
// AVX2: vector<8xf32>
// AVX2-NOT: vector<16xf32>
func.func @sums_stay_in_registers(%a: memref<26x100xf32>, %b: memref<100x32xf32>, %c: memref<26x32xf32>) {
  linalg.generic {indexing_maps = [#lhs, #rhs, #out], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%a, %b : memref<26x100xf32>, memref<100x32xf32>) outs(%c : memref<26x32xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %0 = arith.mulf %x, %y : f32
    %1 = arith.addf %z, %0 : f32
    linalg.yield %1 : f32
  }
  return
}

// 20 columns: one whole vector, and a masked one with 4 elements.
// CHECK-LABEL: @a_rest_of_columns_is_masked
// CHECK: %[[MASK:.*]] = vector.create_mask %{{.*}} : vector<16xi1>
// CHECK: vector.load
// CHECK: vector.maskedload %{{.*}}, %[[MASK]]
// CHECK: %{{.*}}:2 = scf.for
// CHECK: vector.store
// CHECK: vector.maskedstore %{{.*}}, %[[MASK]]
func.func @a_rest_of_columns_is_masked(%a: memref<1x100xf32>, %b: memref<100x20xf32>, %c: memref<1x20xf32>) {
  linalg.generic {indexing_maps = [#lhs, #rhs, #out], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%a, %b : memref<1x100xf32>, memref<100x20xf32>) outs(%c : memref<1x20xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %0 = arith.mulf %x, %y : f32
    %1 = arith.addf %z, %0 : f32
    linalg.yield %1 : f32
  }
  return
}

// Two groups of 24 columns, each a panel, with elements of its own: one group after the other, whose second vector is
// masked.
// CHECK-LABEL: @groups
// CHECK: scf.for {{.*}} step %c24
// CHECK: %[[MASK:.*]] = vector.create_mask
// CHECK: %{{.*}}:26 = scf.for
// CHECK: vector.load {{.*}} memref<2x4x24xf32>
// CHECK: vector.maskedload {{.*}}, %[[MASK]]
// CHECK-COUNT-13: memref.load
func.func @groups(%a: memref<13x8xf32>, %b: memref<2x4x24xf32>, %c: memref<13x48xf32>) {
  %width = arith.constant 24 : index
  %four = arith.constant 4 : index
  linalg.generic {indexing_maps = [affine_map<(m, k, n) -> (n floordiv 24, k, n mod 24)>, #out],
      iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%b : memref<2x4x24xf32>) outs(%c : memref<13x48xf32>) {
  ^bb0(%y: f32, %z: f32):
    %m = linalg.index 0 : index
    %k = linalg.index 1 : index
    %n = linalg.index 2 : index
    %group = arith.divui %n, %width : index
    %first = arith.muli %group, %four : index
    %channel = arith.addi %k, %first : index
    %x = memref.load %a[%m, %channel] : memref<13x8xf32>
    %0 = arith.mulf %x, %y : f32
    %1 = arith.addf %z, %0 : f32
    linalg.yield %1 : f32
  }
  return
}

// Panels of 32 columns: a block of two vectors reads one panel from one end to the other; what the last one holds
// beyond the columns is zero, so that its vectors need no mask. Here blocks of three vectors do all
// columns at once: two of 8 rows, and two of 7, rather than one of 6 that would wait for its loads.
// CHECK-LABEL: @panels_are_read_in_order
// CHECK: %{{.*}}:24 = scf.for
// CHECK: vector.load %arg1[%{{.*}}, %{{.*}}, %{{.*}}] : memref<2x100x32xf32>, vector<16xf32>
// CHECK-NOT: vector.maskedload
// CHECK: scf.yield
// CHECK: vector.maskedstore
// CHECK: %{{.*}}:21 = scf.for
func.func @panels_are_read_in_order(%a: memref<30x100xf32>, %b: memref<2x100x32xf32>, %c: memref<30x40xf32>) {
  linalg.generic {indexing_maps = [#lhs, #panels, #out], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%a, %b : memref<30x100xf32>, memref<2x100x32xf32>) outs(%c : memref<30x40xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %0 = arith.mulf %x, %y : f32
    %1 = arith.addf %z, %0 : f32
    linalg.yield %1 : f32
  }
  return
}

// The zeros that the sums begin with are never stored.
// CHECK-LABEL: @zeros_stay_in_registers
// CHECK-NOT: linalg.fill
// CHECK: %[[ZEROS:.*]] = arith.constant dense<0.000000e+00> : vector<16xf32>
// CHECK: %{{.*}}:26 = scf.for {{.*}} iter_args(%{{.*}} = %[[ZEROS]],
func.func @zeros_stay_in_registers(%a: memref<26x100xf32>, %b: memref<1x100x32xf32>, %c: memref<26x32xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%c : memref<26x32xf32>)
  linalg.generic {indexing_maps = [#lhs, #panels, #out], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%a, %b : memref<26x100xf32>, memref<1x100x32xf32>) outs(%c : memref<26x32xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %0 = arith.mulf %x, %y : f32
    %1 = arith.addf %z, %0 : f32
    linalg.yield %1 : f32
  }
  return
}

// Of open rows there are as few blocks as possible, of 13 rows and then of 11. The last one ends with the last row, and does some once
// more where these do not; fewer rows than a block are done in smaller steps.
// CHECK-LABEL: @open_rows_end_with_a_whole_block
// CHECK: %[[M:.*]] = memref.dim
// CHECK: %[[FITS:.*]] = arith.cmpi sge, %[[M]], %{{.*}} : index
// CHECK: scf.if %[[FITS]]
// CHECK: arith.minsi
// CHECK: %[[END:.*]] = affine.apply
// CHECK: %[[MIDDLE:.*]] = affine.apply
// CHECK: scf.for %[[I:.*]] = %{{.*}} to %[[MIDDLE]]
// CHECK: %[[ROW:.*]] = affine.min #{{.*}}(){{\[}}%[[I]], %[[M]]]
// CHECK: %{{.*}}:26 = scf.for
// CHECK: scf.for %[[I:.*]] = %[[MIDDLE]] to %[[END]]
// CHECK: %[[ROW:.*]] = affine.min #{{.*}}(){{\[}}%[[I]], %[[M]]]
// CHECK: %{{.*}}:22 = scf.for
// CHECK: } else {
// CHECK: %{{.*}}:12 = scf.for
func.func @open_rows_end_with_a_whole_block(%a: memref<?x100xf32>, %b: memref<1x100x32xf32>, %c: memref<?x32xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%c : memref<?x32xf32>)
  linalg.generic {indexing_maps = [#lhs, #panels, #out], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%a, %b : memref<?x100xf32>, memref<1x100x32xf32>) outs(%c : memref<?x32xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %0 = arith.mulf %x, %y : f32
    %1 = arith.addf %z, %0 : f32
    linalg.yield %1 : f32
  }
  return
}

// Rows that are never few have no code for a second size.
// CHECK-LABEL: @many_open_rows
// CHECK: %{{.*}}:26 = scf.for
// CHECK-NOT: :22 = scf.for
// CHECK: } else {
func.func @many_open_rows(%a: memref<?x100xf32>, %b: memref<1x100x32xf32>, %c: memref<?x32xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%c : memref<?x32xf32>)
  linalg.generic {indexing_maps = [#lhs, #panels, #out], iterator_types = ["parallel", "reduction", "parallel"],
                  kernel.schedule = #kernel.schedule<many_rows = true>}
      ins(%a, %b : memref<?x100xf32>, memref<1x100x32xf32>) outs(%c : memref<?x32xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %0 = arith.mulf %x, %y : f32
    %1 = arith.addf %z, %0 : f32
    linalg.yield %1 : f32
  }
  return
}

// Sums that memory has from before are not added to twice: smaller steps.
// CHECK-LABEL: @open_rows_that_are_added_to
// CHECK-NOT: affine.min
// CHECK: return
func.func @open_rows_that_are_added_to(%a: memref<?x100xf32>, %b: memref<1x100x32xf32>, %c: memref<?x32xf32>) {
  linalg.generic {indexing_maps = [#lhs, #panels, #out], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%a, %b : memref<?x100xf32>, memref<1x100x32xf32>) outs(%c : memref<?x32xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %0 = arith.mulf %x, %y : f32
    %1 = arith.addf %z, %0 : f32
    linalg.yield %1 : f32
  }
  return
}

// What is made of the sums is written over what it is added to: rows done twice would have it twice.
// CHECK-LABEL: @open_rows_over_what_they_read
// CHECK-NOT: {{affine.min|linalg.generic}}
// CHECK: return
func.func @open_rows_over_what_they_read(%a: memref<?x100xf32>, %b: memref<1x100x32xf32>, %r: memref<?x32xf32>, %m: index) {
  %zero = arith.constant 0.0 : f32
  %sums = memref.alloc(%m) : memref<?x32xf32>
  linalg.fill ins(%zero : f32) outs(%sums : memref<?x32xf32>)
  linalg.generic {indexing_maps = [#lhs, #panels, #out], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%a, %b : memref<?x100xf32>, memref<1x100x32xf32>) outs(%sums : memref<?x32xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %0 = arith.mulf %x, %y : f32
    %1 = arith.addf %z, %0 : f32
    linalg.yield %1 : f32
  }
  linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>],
                  iterator_types = ["parallel", "parallel"]}
      ins(%sums, %r : memref<?x32xf32>, memref<?x32xf32>) outs(%r : memref<?x32xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %0 = arith.addf %x, %y : f32
    linalg.yield %0 : f32
  }
  return
}

// While a panel is multiplied, the next one comes from memory.
// CHECK-LABEL: @the_next_panel_is_asked_for
// CHECK: memref.prefetch %arg1[%{{.*}}], read, locality<2>, data
// Few registers have few products a step: more steps at a time, each of which stays in its place, and one request for all.
// AVX2-LABEL: @the_next_panel_is_asked_for
// AVX2: scf.for {{.*}} step %c4
// AVX2: memref.prefetch
// AVX2-NOT: memref.prefetch
// AVX2-COUNT-3: llvm.fence syncscope("singlethread") seq_cst
// AVX2-NOT: memref.prefetch
// AVX2: scf.yield
func.func @the_next_panel_is_asked_for(%a: memref<56x768xf32>, %b: memref<4x768x32xf32>, %c: memref<56x128xf32>) {
  linalg.generic {indexing_maps = [#lhs, #panels, #out], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%a, %b : memref<56x768xf32>, memref<4x768x32xf32>) outs(%c : memref<56x128xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %0 = arith.mulf %x, %y : f32
    %1 = arith.addf %z, %0 : f32
    linalg.yield %1 : f32
  }
  return
}

// A matrix that a single block of rows reads is prefetched to L1 some lines before it is read.
// AVX2-LABEL: @a_matrix_that_is_read_once
// AVX2: %{{.*}}:8 = scf.for
// AVX2: %[[AHEAD:.*]] = affine.apply #[[KIB4]](
// AVX2: memref.prefetch %arg1[%{{.*}}, %{{.*}}, %[[AHEAD]]], read, locality<3>, data
// AVX2-NOT: locality<2>
// AVX2: return
func.func @a_matrix_that_is_read_once(%a: memref<4x768xf32>, %b: memref<8x768x16xf32>, %c: memref<4x128xf32>) {
  linalg.generic {indexing_maps = [#lhs, #narrow, #out], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%a, %b : memref<4x768xf32>, memref<8x768x16xf32>) outs(%c : memref<4x128xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %0 = arith.mulf %x, %y : f32
    %1 = arith.addf %z, %0 : f32
    linalg.yield %1 : f32
  }
  return
}

// A step of a panel of 32 columns has two lines: both are prefetched, at each of two unrolled steps.
// CHECK-LABEL: @every_line_of_a_wide_panel_is_prefetched
// CHECK: scf.for
// CHECK-COUNT-4: memref.prefetch %arg1[{{.*}}], read, locality<3>, data
// CHECK-NOT: memref.prefetch
// CHECK: scf.yield
func.func @every_line_of_a_wide_panel_is_prefetched(%a: memref<13x768xf32>, %b: memref<1x768x32xf32>, %c: memref<13x32xf32>) {
  linalg.generic {indexing_maps = [#lhs, #panels, #out], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%a, %b : memref<13x768xf32>, memref<1x768x32xf32>) outs(%c : memref<13x32xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %0 = arith.mulf %x, %y : f32
    %1 = arith.addf %z, %0 : f32
    linalg.yield %1 : f32
  }
  return
}

// A tile has at most 64 columns, the last one fewer: a block of a row has 4 vectors, not the 6 that would never fit, and the remainder of the
// last tile is summed by 2 vectors before single ones.
// CHECK-LABEL: @blocks_are_no_wider_than_a_tile
// CHECK: %{{.*}}:4 = scf.for
// CHECK: %{{.*}}:2 = scf.for
// CHECK: vector.create_mask
// CHECK: %{{[0-9]+}} = scf.for
// CHECK-NOT: scf.for
// CHECK: return
func.func @blocks_are_no_wider_than_a_tile(%first: index, %a: memref<1x768xf32>, %b: memref<32x768x32xf32>, %c: memref<1x1000xf32>) {
  %columns = affine.min affine_map<(d0) -> (64, -d0 + 1000)>(%first)
  %panels = affine.apply affine_map<(d0) -> (d0 ceildiv 32)>(%columns)
  %panel = affine.apply affine_map<(d0) -> (d0 floordiv 32)>(%first)
  %b1 = memref.subview %b[%panel, 0, 0] [%panels, 768, 32] [1, 1, 1] : memref<32x768x32xf32> to memref<?x768x32xf32, strided<[24576, 32, 1], offset: ?>>
  %c1 = memref.subview %c[0, %first] [1, %columns] [1, 1] : memref<1x1000xf32> to memref<1x?xf32, strided<[1000, 1], offset: ?>>
  linalg.generic {indexing_maps = [#lhs, #panels, #out], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%a, %b1 : memref<1x768xf32>, memref<?x768x32xf32, strided<[24576, 32, 1], offset: ?>>) outs(%c1 : memref<1x?xf32, strided<[1000, 1], offset: ?>>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %0 = arith.mulf %x, %y : f32
    %1 = arith.addf %z, %0 : f32
    linalg.yield %1 : f32
  }
  return
}

// Lines of rows that are 4096 bytes apart share a set of L1. Of its 8 ways 6 are for rows: blocks have no more of these, and
// more vectors instead. 16 ways hold the lines of 13 rows.
// CHECK-LABEL: @rows_share_a_set
// CHECK: %{{.*}}:24 = scf.for
// CHECK: %{{.*}}:20 = scf.for
// CHECK: return
// WAYS-LABEL: @rows_share_a_set
// WAYS: %{{.*}}:26 = scf.for
// WAYS: return
func.func @rows_share_a_set(%a: memref<39x1024xf32>, %b: memref<2x1024x32xf32>, %c: memref<39x64xf32>) {
  linalg.generic {indexing_maps = [#lhs, #panels, #out], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%a, %b : memref<39x1024xf32>, memref<2x1024x32xf32>) outs(%c : memref<39x64xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %0 = arith.mulf %x, %y : f32
    %1 = arith.addf %z, %0 : f32
    linalg.yield %1 : f32
  }
  return
}

// The same of a part of longer rows; and rows a line further apart, which are in sets of their own.
// CHECK-LABEL: @a_part_of_rows_that_share_a_set
// CHECK: %{{.*}}:24 = scf.for
// CHECK: return
// CHECK-LABEL: @rows_are_in_sets_of_their_own
// CHECK: %{{.*}}:26 = scf.for
// CHECK: return
func.func @a_part_of_rows_that_share_a_set(%a: memref<39x512xf32, strided<[2048, 1], offset: 512>>, %b: memref<2x512x32xf32>, %c: memref<39x64xf32>) {
  linalg.generic {indexing_maps = [#lhs, #panels, #out], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%a, %b : memref<39x512xf32, strided<[2048, 1], offset: 512>>, memref<2x512x32xf32>) outs(%c : memref<39x64xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %0 = arith.mulf %x, %y : f32
    %1 = arith.addf %z, %0 : f32
    linalg.yield %1 : f32
  }
  return
}
func.func @rows_are_in_sets_of_their_own(%a: memref<39x1040xf32>, %b: memref<2x1040x32xf32>, %c: memref<39x64xf32>) {
  linalg.generic {indexing_maps = [#lhs, #panels, #out], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%a, %b : memref<39x1040xf32>, memref<2x1040x32xf32>) outs(%c : memref<39x64xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %0 = arith.mulf %x, %y : f32
    %1 = arith.addf %z, %0 : f32
    linalg.yield %1 : f32
  }
  return
}

// Of many dynamic rows that are added to none may be done twice: blocks of 6 and of 5 rows add up to any number of them, so that fewer rows,
// by 3 and by one, are left to small numbers.
// CHECK-LABEL: @many_rows_that_share_a_set
// CHECK: %{{.*}}:24 = scf.for
// CHECK: %{{.*}}:20 = scf.for
// CHECK: %{{.*}}:12 = scf.for
// CHECK: %{{.*}}:4 = scf.for
// CHECK: return
func.func @many_rows_that_share_a_set(%a: memref<?x1024xf32>, %b: memref<2x1024x32xf32>, %c: memref<?x64xf32>) {
  linalg.generic {indexing_maps = [#lhs, #panels, #out], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%a, %b : memref<?x1024xf32>, memref<2x1024x32xf32>) outs(%c : memref<?x64xf32>) attrs = {kernel.schedule = #kernel.schedule<many_rows = true>} {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %0 = arith.mulf %x, %y : f32
    %1 = arith.addf %z, %0 : f32
    linalg.yield %1 : f32
  }
  return
}

// Open rows that may be few have code of their own for each number that does not fill a block of 6: 3 rows by 4 vectors, a row by 6, whose
// elements stay in registers for a step while vectors are read one by one. A few more rows are done in blocks of 6, 5 or 4.
// AVX2-LABEL: @few_open_rows
// AVX2: %[[M:.*]] = memref.dim
// AVX2: scf.index_switch %[[M]]
// AVX2: case 1 {
// AVX2: %{{.*}}:6 = scf.for
// AVX2: case 2 {
// AVX2: %{{.*}}:12 = scf.for
// AVX2: case 3 {
// AVX2: %{{.*}}:12 = scf.for
// AVX2-COUNT-3: vector.broadcast
// AVX2: vector.load %arg1
// AVX2-COUNT-3: vector.fma
// AVX2-NOT: vector.fma
// AVX2: vector.load %arg1
// AVX2: case 5 {
// AVX2: %{{.*}}:10 = scf.for
// AVX2: default {
// AVX2-NOT: scf.if
// AVX2: step %c6
// AVX2: %{{.*}}:12 = scf.for
// AVX2: step %c5
// AVX2: %{{.*}}:10 = scf.for
// AVX2: step %c4
// AVX2: %{{.*}}:8 = scf.for
// AVX2-NOT: = scf.for
// AVX2: return
func.func @few_open_rows(%a: memref<?x768xf32>, %b: memref<6x768x16xf32>, %c: memref<?x96xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%c : memref<?x96xf32>)
  linalg.generic {indexing_maps = [#lhs, #narrow, #out], iterator_types = ["parallel", "reduction", "parallel"],
                  kernel.schedule = #kernel.schedule<row_versions = 5>}
      ins(%a, %b : memref<?x768xf32>, memref<6x768x16xf32>) outs(%c : memref<?x96xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %0 = arith.mulf %x, %y : f32
    %1 = arith.addf %z, %0 : f32
    linalg.yield %1 : f32
  }
  return
}

// Where a single row alone has, 2 to 5 are done two at a time, the last two of which may be done before.
// AVX2-LABEL: @a_single_open_row
// AVX2: %[[M:.*]] = memref.dim
// AVX2: scf.index_switch %[[M]]
// AVX2: case 1 {
// AVX2: %{{.*}}:6 = scf.for
// AVX2: default {
// AVX2: scf.if
// AVX2: %{{.*}}:12 = scf.for
// AVX2: %{{.*}}:10 = scf.for
// AVX2: } else {
// AVX2: scf.for %[[I:.*]] = %{{.*}} to %[[M]] step %c2
// AVX2: affine.min #{{.*}}(){{\[}}%[[I]], %[[M]]]
// AVX2: %{{.*}}:4 = scf.for
// AVX2-NOT: = scf.for
// AVX2: return
func.func @a_single_open_row(%a: memref<?x768xf32>, %b: memref<6x768x16xf32>, %c: memref<?x96xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%c : memref<?x96xf32>)
  linalg.generic {indexing_maps = [#lhs, #narrow, #out], iterator_types = ["parallel", "reduction", "parallel"],
                  kernel.schedule = #kernel.schedule<row_versions = 1>}
      ins(%a, %b : memref<?x768xf32>, memref<6x768x16xf32>) outs(%c : memref<?x96xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %0 = arith.mulf %x, %y : f32
    %1 = arith.addf %z, %0 : f32
    linalg.yield %1 : f32
  }
  return
}

// What is summed for long is summed in parts, here of 1502 steps and of the other 1500, for all rows and columns: sums wait in memory of their
// own, and only the last part's become results. What is asked for ahead is the next panel's same part, or the next part
// of the first panel.
// CHECK-LABEL: @a_long_sum_in_parts
// CHECK: %[[SUMS:.*]] = memref.alloc() : memref<64x64xf32>
// CHECK: linalg.fill {{.*}} outs(%[[SUMS]] : memref<64x64xf32>)
// CHECK: vector.load %[[SUMS]][
// CHECK: %{{.*}} = scf.for %{{.*}} = %{{.*}} to %c1502{{.*}} step %c2
// CHECK: arith.select
// CHECK: memref.prefetch %arg1[
// CHECK: vector.store %{{.*}}, %[[SUMS]][
// CHECK: vector.load %[[SUMS]][
// CHECK: %{{.*}} = scf.for %{{.*}} = %{{.*}} to %c1500{{.*}} step %c2
// CHECK-NOT: vector.store %{{.*}}, %[[SUMS]][
// CHECK: vector.store %{{.*}}, %arg2[
func.func @a_long_sum_in_parts(%a: memref<64x3002xf32>, %b: memref<2x3002x32xf32>, %c: memref<64x64xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%c : memref<64x64xf32>)
  linalg.generic {indexing_maps = [#lhs, #panels, #out], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%a, %b : memref<64x3002xf32>, memref<2x3002x32xf32>) outs(%c : memref<64x64xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %0 = arith.mulf %x, %y : f32
    %1 = arith.addf %z, %0 : f32
    linalg.yield %1 : f32
  }
  return
}

// Of open rows, of which there is a bound, sums have room for whole blocks (of 6 rows and four vectors).
// CHECK-LABEL: @a_long_sum_of_open_rows
// CHECK: memref.alloc() : memref<516x64xf32>
// CHECK: vector.store %{{.*}} : memref<516x64xf32>
func.func @a_long_sum_of_open_rows(%a: memref<?x3002xf32>, %b: memref<2x3002x32xf32>, %c: memref<?x64xf32>, %m: index) {
  %zero = arith.constant 0.0 : f32
  %rows = affine.min affine_map<(d0) -> (512, d0)>(%m)
  %x = memref.subview %a[0, 0] [%rows, 3002] [1, 1] : memref<?x3002xf32> to memref<?x3002xf32, strided<[3002, 1]>>
  %y = memref.subview %c[0, 0] [%rows, 64] [1, 1] : memref<?x64xf32> to memref<?x64xf32, strided<[64, 1]>>
  linalg.fill ins(%zero : f32) outs(%y : memref<?x64xf32, strided<[64, 1]>>)
  linalg.generic {indexing_maps = [#lhs, #panels, #out], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%x, %b : memref<?x3002xf32, strided<[3002, 1]>>, memref<2x3002x32xf32>) outs(%y : memref<?x64xf32, strided<[64, 1]>>) {
  ^bb0(%l: f32, %r: f32, %z: f32):
    %0 = arith.mulf %l, %r : f32
    %1 = arith.addf %z, %0 : f32
    linalg.yield %1 : f32
  }
  return
}

// Each column is summed by itself: both operands are read in vectors. The three taps of 7 rows read 9 places of
// two vectors, each of which is loaded once.
// CHECK-LABEL: @columns_by_themselves
// PLACES-LABEL: @columns_by_themselves
// PLACES-COUNT-18: vector.load %arg0
// PLACES-NOT: vector.load %arg0
// CHECK-NOT: vector.broadcast
// CHECK-COUNT-42: vector.fma
// CHECK-NOT: vector.fma
func.func @columns_by_themselves(%x: memref<9x32xf32>, %f: memref<3x32xf32>, %y: memref<7x32xf32>) {
  linalg.generic {indexing_maps = [#window, #filter, #pixel], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%x, %f : memref<9x32xf32>, memref<3x32xf32>) outs(%y : memref<7x32xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %c, %0 : f32
    linalg.yield %1 : f32
  }
  return
}

// A convolution that counts as zero what lies beyond the border: of the 7 rows the first does not see the first tap,
// the last not the last one.
// PLACES-LABEL: @each_tap_has_its_rows
// CHECK-LABEL: @each_tap_has_its_rows
// CHECK-NOT: scf.if
// CHECK-COUNT-6: vector.fma
// CHECK: scf.yield
// CHECK-COUNT-7: vector.fma
// CHECK: scf.yield
// CHECK-COUNT-6: vector.fma
// CHECK-NOT: vector.fma
func.func @each_tap_has_its_rows(%x: memref<7x5xf32>, %f: memref<3x5x16xf32>, %y: memref<7x16xf32>) {
  %c1 = arith.constant 1 : index
  %c7 = arith.constant 7 : index
  %zero = arith.constant 0.0 : f32
  linalg.generic {indexing_maps = [#taps, #pixels], iterator_types = ["parallel", "reduction", "reduction", "parallel"]}
      ins(%f : memref<3x5x16xf32>) outs(%y : memref<7x16xf32>) {
  ^bb0(%b: f32, %c: f32):
    %p = linalg.index 0 : index
    %w = linalg.index 1 : index
    %k = linalg.index 2 : index
    %place = arith.addi %p, %w : index
    %at = arith.subi %place, %c1 : index
    %inside = arith.cmpi ult, %at, %c7 : index
    %a = scf.if %inside -> f32 {
      %element = memref.load %x[%at, %k] : memref<7x5xf32>
      scf.yield %element : f32
    } else {
      scf.yield %zero : f32
    }
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %c, %0 : f32
    linalg.yield %1 : f32
  }
  return
}

// Of an open number of rows those of a block that all see the whole window are one block; in others, which take the
// taps that some row sees, those that do not see one read zeros.
// CHECK-LABEL: @open_rows_are_tested_by_the_block
// CHECK: %[[ZEROS:.*]] = memref.alloc() : memref<5xf32>
// CHECK: linalg.fill
// CHECK: scf.for
// CHECK: %[[WHOLE:.*]] = arith.andi
// CHECK: scf.if %[[WHOLE]]
// CHECK: %{{.*}}:26 = scf.for
// CHECK: } else {
// CHECK: %[[LAST:.*]] = affine.min
// CHECK: %[[FIRST:.*]] = affine.max
// CHECK: %{{.*}}:26 = scf.for %{{.*}} = %[[FIRST]] to %[[LAST]]
// CHECK-COUNT-13: arith.select {{.*}} : memref<5xf32, strided<[1], offset: ?>>
// CHECK: %{{.*}}:26 = scf.for
func.func @open_rows_are_tested_by_the_block(%x: memref<?x5xf32>, %f: memref<3x5x32xf32>, %y: memref<?x32xf32>, %n: index) {
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  linalg.generic {indexing_maps = [#taps, #pixels], iterator_types = ["parallel", "reduction", "reduction", "parallel"]}
      ins(%f : memref<3x5x32xf32>) outs(%y : memref<?x32xf32>) {
  ^bb0(%b: f32, %c: f32):
    %p = linalg.index 0 : index
    %w = linalg.index 1 : index
    %k = linalg.index 2 : index
    %place = arith.addi %p, %w : index
    %at = arith.subi %place, %c1 : index
    %inside = arith.cmpi ult, %at, %n : index
    %a = scf.if %inside -> f32 {
      %element = memref.load %x[%at, %k] : memref<?x5xf32>
      scf.yield %element : f32
    } else {
      scf.yield %zero : f32
    }
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %c, %0 : f32
    linalg.yield %1 : f32
  }
  return
}

// Columns by themselves read zeros by masked loads.
// CHECK-LABEL: @open_columns_by_themselves
// CHECK: scf.if
// CHECK-NOT: vector.maskedload
// CHECK: } else {
// CHECK: %[[SEEN:.*]] = vector.broadcast %{{.*}} : i1 to vector<16xi1>
// CHECK: vector.maskedload {{.*}}, %[[SEEN]]
func.func @open_columns_by_themselves(%x: memref<?x32xf32>, %f: memref<3x32xf32>, %y: memref<?x32xf32>, %n: index) {
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  linalg.generic {indexing_maps = [#filter, #pixel], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%f : memref<3x32xf32>) outs(%y : memref<?x32xf32>) {
  ^bb0(%b: f32, %c: f32):
    %p = linalg.index 0 : index
    %w = linalg.index 1 : index
    %k = linalg.index 2 : index
    %place = arith.addi %p, %w : index
    %at = arith.subi %place, %c1 : index
    %inside = arith.cmpi ult, %at, %n : index
    %a = scf.if %inside -> f32 {
      %element = memref.load %x[%at, %k] : memref<?x32xf32>
      scf.yield %element : f32
    } else {
      scf.yield %zero : f32
    }
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %c, %0 : f32
    linalg.yield %1 : f32
  }
  return
}

// Neighbours along n are not neighbours in the second operand: there is no vector to load.
// CHECK-LABEL: @a_strided_operand_is_left_alone
// CHECK: linalg.generic
// CHECK-NOT: vector.fma
func.func @a_strided_operand_is_left_alone(%a: memref<26x100xf32>, %b: memref<32x100xf32>, %c: memref<26x32xf32>) {
  linalg.generic {indexing_maps = [#lhs, #transposed, #out], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%a, %b : memref<26x100xf32>, memref<32x100xf32>) outs(%c : memref<26x32xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %0 = arith.mulf %x, %y : f32
    %1 = arith.addf %z, %0 : f32
    linalg.yield %1 : f32
  }
  return
}

// Integers wrap as the loops say; they are not blocked.
// CHECK-LABEL: @integers_are_left_alone
// CHECK: linalg.generic
func.func @integers_are_left_alone(%a: memref<26x100xi32>, %b: memref<100x32xi32>, %c: memref<26x32xi32>) {
  linalg.generic {indexing_maps = [#lhs, #rhs, #out], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%a, %b : memref<26x100xi32>, memref<100x32xi32>) outs(%c : memref<26x32xi32>) {
  ^bb0(%x: i32, %y: i32, %z: i32):
    %0 = arith.muli %x, %y : i32
    %1 = arith.addi %z, %0 : i32
    linalg.yield %1 : i32
  }
  return
}

// All of a few steps are done at a time where registers are few.
// AVX2-LABEL: @a_few_steps_are_no_loop
// AVX2: memref.load %arg0
// AVX2-COUNT-2: llvm.fence syncscope("singlethread") seq_cst
// AVX2-NOT: llvm.fence
// AVX2: vector.store
func.func @a_few_steps_are_no_loop(%a: memref<6x3xf32>, %b: memref<3x16xf32>, %c: memref<6x16xf32>) {
  linalg.generic {indexing_maps = [#lhs, #rhs, #out], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%a, %b : memref<6x3xf32>, memref<3x16xf32>) outs(%c : memref<6x16xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %0 = arith.mulf %x, %y : f32
    %1 = arith.addf %z, %0 : f32
    linalg.yield %1 : f32
  }
  return
}

// An RHS that is read on a condition is no vector: what says that it is a contraction is left to loops over elements.
// CHECK-LABEL: @a_condition_for_the_rhs
// CHECK-NOT: vector.
// CHECK: kernel.contract
// CHECK-NOT: vector.
// CHECK: return
func.func @a_condition_for_the_rhs(%a: memref<4x100xf32>, %b: memref<100x32xf32>, %c: memref<4x32xf32>) {
  %most = arith.constant 50 : index
  %zero = arith.constant 0.0 : f32
  kernel.contract <kind = product, row = 0> ins(%a : memref<4x100xf32>) init(%c : memref<4x32xf32>)
      attributes {indexing_maps = [#lhs, #out]} {
  ^bb0(%x: f32, %z: f32):
    %k = linalg.index 1 : index
    %n = linalg.index 2 : index
    %inside = arith.cmpi ult, %k, %most : index
    %y = scf.if %inside -> f32 {
      %there = memref.load %b[%k, %n] : memref<100x32xf32>
      scf.yield %there : f32
    } else {
      scf.yield %zero : f32
    }
    %0 = arith.mulf %x, %y : f32
    %1 = arith.addf %z, %0 : f32
    %2 = kernel.sum %1 : f32 lhs(%x : f32) rhs(%y : f32)
    linalg.yield %2 : f32
  }
  return
}

// Of a single row the position is folded away; the windows of its columns are those that there are.
// CHECK-LABEL: @single_row
// CHECK-NOT: kernel.contract
// CHECK: vector.
func.func @single_row(%x: memref<1x1x4xf32>, %w: memref<3x4x16xf32>, %y: memref<1x1x16xf32>) attributes {tenon.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c-1 = arith.constant -1 : index
  %cst = arith.constant 0.0 : f32
  linalg.fill ins(%cst : f32) outs(%y : memref<1x1x16xf32>)
  kernel.contract <kind = product, row = 1> ins(%w : memref<3x4x16xf32>) init(%y : memref<1x1x16xf32>)
    attributes {indexing_maps = [affine_map<(d0, d1, d2, d3, d4) -> (d2, d3, d4)>, affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d4)>]} {
  ^bb0(%in: f32, %out: f32):
    %0 = linalg.index 3 : index
    %1 = linalg.index 2 : index
    %2 = arith.addi %1, %c-1 : index
    %3 = arith.cmpi ult, %2, %c1 : index
    %4 = scf.if %3 -> (f32) {
      %8 = memref.load %x[%c0, %2, %0] : memref<1x1x4xf32>
      scf.yield %8 : f32
    } else {
      scf.yield %cst : f32
    }
    %5 = arith.mulf %4, %in fastmath<contract> : f32
    %6 = arith.addf %out, %5 fastmath<reassoc,contract> : f32
    %7 = kernel.sum %6 : f32 lhs(%4 : f32) rhs(%in : f32)
    linalg.yield %7 : f32
  }
  return
}
