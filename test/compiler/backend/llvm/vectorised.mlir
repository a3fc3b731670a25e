// What LLVM's vectoriser is to make of kernels: vectors along memory, and no single elements.
// RUN: tenon compile %s --target x86-64-v4 --emit llvm -o %t.ll
// RUN: FileCheck %s < %t.ll
// RUN: FileCheck %s --check-prefix=REDUCE < %t.ll

// Rows of 64 columns, which lie apart from each other, are filled along the columns.
// CHECK-NOT: llvm.masked.scatter
// REDUCE: @llvm.vector.reduce.fmaximum.v16f32
// REDUCE: @llvm.vector.reduce.fadd.v16f32
func.func @main(%x: tensor<?x96xf32, #tenon.shape<N, 96>> {tenon.name = "x"}, %w: tensor<96x64xf32> {tenon.name = "w"})
    -> (tensor<?x64xf32, #tenon.shape<N, 64>> {tenon.name = "y"}) {
  %0 = tenon.contract %x, %w {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 2, 1>, result_dims = array<i64: 0, 1>}
    : (tensor<?x96xf32, #tenon.shape<N, 96>>, tensor<96x64xf32>) -> tensor<?x64xf32, #tenon.shape<N, 64>>
  %1 = tenon.softmax %0 {axis = 1 : i64} : (tensor<?x64xf32, #tenon.shape<N, 64>>) -> tensor<?x64xf32, #tenon.shape<N, 64>>
  return %1 : tensor<?x64xf32, #tenon.shape<N, 64>>
}
