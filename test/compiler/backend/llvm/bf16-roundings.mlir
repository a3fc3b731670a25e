// Loops that round to bf16 have vectors of 512 bits where there is an instruction for these. LLVM's cost model would take 128 bits where pairs
// are stored, as attention stores them.
// RUN: tenon compile %s --target znver4 --force '*=fused_attention_bf16' --no-measure-error --emit llvm -o %t.ll
// RUN: FileCheck %s < %t.ll

// CHECK-NOT: fptrunc <{{[48]}} x float>
// CHECK: fptrunc <16 x float> %{{.*}} to <16 x bfloat>
// CHECK-NOT: fptrunc <{{[48]}} x float>
func.func @main(%q: tensor<64x64xf32> {tenon.name = "q"}, %k: tensor<64x64xf32> {tenon.name = "k"}) -> (tensor<64x64xf32> {tenon.name = "y"}) {
  %0 = tenon.contract %q, %k {lhs_dims = array<i64: 1, 3>, rhs_dims = array<i64: 2, 3>, result_dims = array<i64: 1, 2>}
    : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %1 = tenon.softmax %0 {axis = 1 : i64} : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %2 = tenon.contract %1, %k {lhs_dims = array<i64: 1, 3>, rhs_dims = array<i64: 3, 2>, result_dims = array<i64: 1, 2>}
    : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  return %2 : tensor<64x64xf32>
}
