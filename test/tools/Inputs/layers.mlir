// Three layers of sizes of their own; tests replace an operation of the first.
func.func @main(%x: tensor<?x64xf32, #tenon.shape<N, 64>> {tenon.name = "x"})
    -> (tensor<?x10xf32, #tenon.shape<N, 10>> {tenon.name = "y"}) {
  %w1 = tenon.iota {axis = 1 : i64} : () -> tensor<64x96xf32>
  %w2 = tenon.iota {axis = 0 : i64} : () -> tensor<96x128xf32>
  %w3 = tenon.iota {axis = 1 : i64} : () -> tensor<128x10xf32>
  %1 = tenon.contract %x, %w1 {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 2, 1>, result_dims = array<i64: 0, 1>}
    : (tensor<?x64xf32, #tenon.shape<N, 64>>, tensor<64x96xf32>) -> tensor<?x96xf32, #tenon.shape<N, 96>> loc("first")
  %2 = tenon.tanh %1 : (tensor<?x96xf32, #tenon.shape<N, 96>>) -> tensor<?x96xf32, #tenon.shape<N, 96>> loc("first")
  %3 = tenon.contract %2, %w2 {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 2, 1>, result_dims = array<i64: 0, 1>}
    : (tensor<?x96xf32, #tenon.shape<N, 96>>, tensor<96x128xf32>) -> tensor<?x128xf32, #tenon.shape<N, 128>> loc("second")
  %4 = tenon.relu %3 : (tensor<?x128xf32, #tenon.shape<N, 128>>) -> tensor<?x128xf32, #tenon.shape<N, 128>> loc("second")
  %5 = tenon.contract %4, %w3 {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 2, 1>, result_dims = array<i64: 0, 1>}
    : (tensor<?x128xf32, #tenon.shape<N, 128>>, tensor<128x10xf32>) -> tensor<?x10xf32, #tenon.shape<N, 10>> loc("third")
  return %5 : tensor<?x10xf32, #tenon.shape<N, 10>>
}
