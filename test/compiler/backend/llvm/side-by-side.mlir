// What is to be computed side by side (LoopHints), on vectors of 8: four chains of a function, and sums of four vectors.
// RUN: tenon compile %s --target x86-64-v3 --emit llvm -o %t.ll
// RUN: FileCheck %s --check-prefix=CHAINS < %t.ll
// RUN: FileCheck %s --check-prefix=SUMS < %t.ll

// Four vectors are read, then four quotients are computed, before the loop goes on.
// CHAINS-LABEL: define {{.*}}sigmoid
// CHAINS: vector.body:
// CHAINS-COUNT-4: load <8 x float>
// CHAINS-COUNT-4: fdiv {{.*}}<8 x float>
// CHAINS: br i1
// SUMS-LABEL: define {{.*}}reduce
// SUMS: vector.body:
// SUMS-COUNT-4: phi <8 x float>
// SUMS-COUNT-4: fadd {{.*}}<8 x float>
// SUMS: br i1
func.func @main(%x: tensor<512x512xf32> {tenon.name = "x"}) -> (tensor<512x512xf32> {tenon.name = "y"}, tensor<512xf32> {tenon.name = "z"}) {
  %0 = tenon.sigmoid %x : (tensor<512x512xf32>) -> tensor<512x512xf32>
  %1 = tenon.reduce sum, %x {axes = array<i64: 1>} : (tensor<512x512xf32>) -> tensor<512xf32>
  return %0, %1 : tensor<512x512xf32>, tensor<512xf32>
}
