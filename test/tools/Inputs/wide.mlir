// 96 MB of activations between a small input and a small output.
func.func @main(%x: tensor<49152x8xf32, #tenon.shape<49152, 8>> {tenon.name = "x"})
    -> (tensor<49152x8xf32, #tenon.shape<49152, 8>> {tenon.name = "y"}) {
  %a = tenon.iota {axis = 0 : i64} : () -> tensor<8x512xf32>
  %b = tenon.iota {axis = 1 : i64} : () -> tensor<512x8xf32>
  %v = tenon.sin %a : (tensor<8x512xf32>) -> tensor<8x512xf32>
  %w = tenon.sin %b : (tensor<512x8xf32>) -> tensor<512x8xf32>
  %p = tenon.contract %x, %v {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 2, 1>, result_dims = array<i64: 0, 1>}
    : (tensor<49152x8xf32, #tenon.shape<49152, 8>>, tensor<8x512xf32>) -> tensor<49152x512xf32, #tenon.shape<49152, 512>>
  %t = tenon.tanh %p : (tensor<49152x512xf32, #tenon.shape<49152, 512>>) -> tensor<49152x512xf32, #tenon.shape<49152, 512>>
  %y = tenon.contract %t, %w {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 2, 1>, result_dims = array<i64: 0, 1>}
    : (tensor<49152x512xf32, #tenon.shape<49152, 512>>, tensor<512x8xf32>) -> tensor<49152x8xf32, #tenon.shape<49152, 8>>
  return %y : tensor<49152x8xf32, #tenon.shape<49152, 8>>
}
