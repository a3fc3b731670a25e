// RUN: tenon-opt %s "--tenon-specialize=programs=N=128,N=1..512@128,N=1..4096@1000;M=1..9@2" | FileCheck %s

// What a range is best for, its copy knows; the function itself goes by the first that says.
// CHECK: func.func @"main.N=128"
// CHECK-NOT: tenon.size_hints
// CHECK-SAME: {
// CHECK: func.func @"main.N=1..512"({{.*}}tenon.size_hints = {N = 128 : i64}
// CHECK: func.func @"main.N=1..4096;M=1..9"({{.*}}tenon.program = "N=1..4096;M=1..9"{{.*}}tenon.size_hints = {M = 2 : i64, N = 1000 : i64}
// CHECK: func.func @main({{.*}}tenon.size_hints = {M = 2 : i64, N = 128 : i64}
func.func @main(%a: tensor<?x?xf32, #tenon.shape<N, M>>) -> tensor<?x?xf32, #tenon.shape<N, M>> {
  return %a : tensor<?x?xf32, #tenon.shape<N, M>>
}
