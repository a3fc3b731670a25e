// Queries, keys and values of the same rows, with biases, and attention.
func.func @main(%x: tensor<?x16xf32, #tenon.shape<N, 16>> {tenon.name = "x"}) -> (tensor<?x8xf32, #tenon.shape<N, 8>> {tenon.name = "y"}) {
  %scale = tenon.weight dense<0.01> : tensor<f32>
  %i = tenon.iota {axis = 0 : i64} : () -> tensor<16x8xf32>
  %j = tenon.iota {axis = 1 : i64} : () -> tensor<16x8xf32>
  %a = tenon.mul %i, %scale : (tensor<16x8xf32>, tensor<f32>) -> tensor<16x8xf32>
  %b = tenon.mul %j, %scale : (tensor<16x8xf32>, tensor<f32>) -> tensor<16x8xf32>
  %c = tenon.sub %a, %b : (tensor<16x8xf32>, tensor<16x8xf32>) -> tensor<16x8xf32>
  %bias = tenon.iota {axis = 0 : i64} : () -> tensor<8xf32>
  %0 = tenon.contract %x, %a {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 2, 1>, result_dims = array<i64: 0, 1>}
    : (tensor<?x16xf32, #tenon.shape<N, 16>>, tensor<16x8xf32>) -> tensor<?x8xf32, #tenon.shape<N, 8>> loc("query")
  %1 = tenon.contract %x, %b {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 2, 1>, result_dims = array<i64: 0, 1>}
    : (tensor<?x16xf32, #tenon.shape<N, 16>>, tensor<16x8xf32>) -> tensor<?x8xf32, #tenon.shape<N, 8>> loc("key")
  %2 = tenon.contract %x, %c {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 2, 1>, result_dims = array<i64: 0, 1>}
    : (tensor<?x16xf32, #tenon.shape<N, 16>>, tensor<16x8xf32>) -> tensor<?x8xf32, #tenon.shape<N, 8>> loc("value")
  %3 = tenon.add %0, %bias : (tensor<?x8xf32, #tenon.shape<N, 8>>, tensor<8xf32>) -> tensor<?x8xf32, #tenon.shape<N, 8>>
  %4 = tenon.add %1, %bias : (tensor<?x8xf32, #tenon.shape<N, 8>>, tensor<8xf32>) -> tensor<?x8xf32, #tenon.shape<N, 8>>
  %5 = tenon.add %2, %bias : (tensor<?x8xf32, #tenon.shape<N, 8>>, tensor<8xf32>) -> tensor<?x8xf32, #tenon.shape<N, 8>>
  %6 = tenon.contract %3, %4 {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 1, 2>, result_dims = array<i64: 0, 1>}
    : (tensor<?x8xf32, #tenon.shape<N, 8>>, tensor<?x8xf32, #tenon.shape<N, 8>>) -> tensor<?x?xf32, #tenon.shape<N, N>> loc("scores")
  %7 = tenon.softmax %6 {axis = 1 : i64} : (tensor<?x?xf32, #tenon.shape<N, N>>) -> tensor<?x?xf32, #tenon.shape<N, N>>
  %8 = tenon.contract %7, %5 {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 2, 1>, result_dims = array<i64: 0, 1>}
    : (tensor<?x?xf32, #tenon.shape<N, N>>, tensor<?x8xf32, #tenon.shape<N, 8>>) -> tensor<?x8xf32, #tenon.shape<N, 8>> loc("mix")
  return %8 : tensor<?x8xf32, #tenon.shape<N, 8>>
}
