// RUN: tenon-opt %s | tenon-opt | FileCheck %s

// Attributes of modules, functions, arguments and results, each where it belongs.

// CHECK: module attributes {tenon.machine = #tenon.machine<vector_bytes = 32>, tenon.model = "m", tenon.ranges = {N = array<i64: 1, 8>}
module attributes {tenon.machine = #tenon.machine<vector_bytes = 32>, tenon.model = "m", tenon.ranges = {N = array<i64: 1, 8>},
                   tenon.requires = #tenon.shape<N + -1>, tenon.requires_text = ["needs one"]} {
  // CHECK: func.func @main(%{{.*}}: tensor<?xf32, #tenon.shape<N>> {tenon.name = "x", tenon.role = #tenon.role<elements>})
  func.func @main(%x: tensor<?xf32, #tenon.shape<N>> {tenon.name = "x", tenon.role = #tenon.role<elements>})
      -> (tensor<?xf32, #tenon.shape<N>> {tenon.name = "y"}) attributes {tenon.program = "N=1..8", tenon.size_hints = {N = 4}} {
    // CHECK: tenon.exp {{.*}} {tenon.path = "fast", tenon.paths = {fast = 10 : i64, slow = 20 : i64}}
    %0 = tenon.exp %x {tenon.path = "fast", tenon.paths = {fast = 10, slow = 20}}
      : (tensor<?xf32, #tenon.shape<N>>) -> tensor<?xf32, #tenon.shape<N>>
    return %0 : tensor<?xf32, #tenon.shape<N>>
  }
  // CHECK: func.func private @kernel
  // CHECK-SAME: tenon.bytes = #tenon.shape<s0 * 8>, tenon.flops = #tenon.shape<4>, tenon.kernel, tenon.kernel_region = "a copy", tenon.symbols = ["s0"]
  func.func private @kernel(%x: tensor<?xf32, #tenon.shape<s0>> {tenon.reused = 0})
      -> tensor<?xf32, #tenon.shape<s0>> attributes {tenon.kernel, tenon.kernel_region = "a copy", tenon.symbols = ["s0"], tenon.flops = #tenon.shape<4>, tenon.bytes = #tenon.shape<8 * s0>} {
    return %x : tensor<?xf32, #tenon.shape<s0>>
  }
}
