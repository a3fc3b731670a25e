// RUN: tenon-opt %s | FileCheck %s
// RUN: tenon-opt %s | tenon-opt | FileCheck %s
// RUN: not tenon-opt -split-input-file %S/Inputs/shape-attribute-errors.mlir 2>&1 | FileCheck %s --check-prefix=ERROR

// Each function's only argument carries the shape under test: what is written left of the margin's arrow.

// CHECK: @constants(tensor<2x3xf32>)
func.func private @constants(tensor<2x3xf32>)
// CHECK: @symbols(tensor<?x3x?xf32, #tenon.shape<N, 3, H>>)
func.func private @symbols(tensor<?x3x?xf32, #tenon.shape<N, 3, H>>)
// CHECK: @no_plain_word{{.*}}<"unk__7 x", "2b">
func.func private @no_plain_word(tensor<?x?xf32, #tenon.shape<"unk__7 x", "2b">>)
// CHECK: @quotes_that_need_none{{.*}}<unk__7>
func.func private @quotes_that_need_none(tensor<?xf32, #tenon.shape<"unk__7">>)
// CHECK: @nothing_known{{.*}}<?, 4>
func.func private @nothing_known(tensor<?x4xf32, #tenon.shape<?, 4>>)
// CHECK: @scalar_list{{.*}}#tenon.shape<>
func.func private @scalar_list() attributes {a = #tenon.shape<>}
// CHECK: @negative{{.*}}#tenon.shape<-2, N + -1>
func.func private @negative() attributes {a = #tenon.shape<-2, N + -1>}

// Sums and products have one form, so that equal sizes are equal types.
// CHECK: @folds_constants{{.*}}#tenon.shape<7, 12, 3, 4, 1>
func.func private @folds_constants() attributes {a = #tenon.shape<3 + 4, 3 * 4, 7 floordiv 2, 7 ceildiv 2, 7 mod 2>}
// CHECK: @order_of_terms{{.*}}#tenon.shape<[[S:.*]], [[S]]>
func.func private @order_of_terms() attributes {a = #tenon.shape<N + H, H + N>}
// CHECK: @order_of_factors{{.*}}#tenon.shape<[[P:.*]], [[P]]>
func.func private @order_of_factors() attributes {a = #tenon.shape<N * H * 2, 2 * H * N>}
// CHECK: @distributes{{.*}}#tenon.shape<[[D:.*]], [[D]]>
func.func private @distributes() attributes {a = #tenon.shape<(N + 1) * 2, N * 2 + 2>}
// CHECK: @collects{{.*}}#tenon.shape<N * 5>
func.func private @collects() attributes {a = #tenon.shape<N * 2 + N * 3>}
// CHECK: @cancels{{.*}}#tenon.shape<0, 3>
func.func private @cancels() attributes {a = #tenon.shape<N + N * -1, N + 3 + N * -1>}
// CHECK: @divides_whole{{.*}}#tenon.shape<(N * 2) + 3>
func.func private @divides_whole() attributes {a = #tenon.shape<(N * 4 + 6) floordiv 2>}
// CHECK: @keeps_remainders{{.*}}#tenon.shape<N floordiv 2, N ceildiv 3, N mod 4>
func.func private @keeps_remainders() attributes {a = #tenon.shape<N floordiv 2, N ceildiv 3, N mod 4>}
// One form of each division: what is equal is written the same.
// CHECK: @one_form{{.*}}#tenon.shape<N ceildiv 2, (N floordiv 2) + 1, N ceildiv 12, (N mod 2) * 3>
func.func private @one_form() attributes {a = #tenon.shape<(N + 1) floordiv 2, (N + 1) ceildiv 2, (N ceildiv 4) ceildiv 3, (N * 3) mod 6>}

// ERROR: expected an integer, a symbol or '('
// ERROR: unbalanced
// ERROR: expected '>'
