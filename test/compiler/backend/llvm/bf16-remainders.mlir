// What is left of a loop that rounds to bf16 beyond whole vectors is a vector with a mask, however long the loop is: one by one, the elements of
// an activation behind a product took a third of its kernel.
// RUN: tenon compile %s --target sapphirerapids --no-measure-error --emit llvm -o %t.ll
// RUN: FileCheck %s < %t.ll

// CHECK-NOT: fptrunc float
// CHECK: fptrunc <16 x float> %{{.*}} to <16 x bfloat>
// CHECK: call void @llvm.masked.store.v16bf16
// CHECK-NOT: fptrunc float
func.func @main(%x: tensor<?xf32> {tenon.name = "x", tenon.dims = #tenon.shape<N>}) -> (tensor<?xbf16> {tenon.name = "y"}) {
  %0 = tenon.erf %x : (tensor<?xf32>) -> tensor<?xf32>
  %1 = tenon.cast %0 : (tensor<?xf32>) -> tensor<?xbf16>
  return %1 : tensor<?xbf16>
}
