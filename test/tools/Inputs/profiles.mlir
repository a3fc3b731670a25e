// Rows that are joined with a weight and averaged over a symbol.
func.func @main(%x: tensor<?x6xf32, #tenon.shape<N, 6>> {tenon.name = "x"},
                %y: tensor<?x?xf32, #tenon.shape<N, M>> {tenon.name = "y"})
    -> (tensor<?x?xf32, #tenon.shape<N, M>> {tenon.name = "z"}) {
  %w = tenon.weight dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0], [1.5, 2.5, 3.5], [4.5, 5.5, 6.5], [7.5, 8.5, 9.5]]> : tensor<6x3xf32>
  %0 = tenon.contract %x, %w {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 2, 1>, result_dims = array<i64: 0, 1>} : (tensor<?x6xf32, #tenon.shape<N, 6>>, tensor<6x3xf32>) -> tensor<?x3xf32, #tenon.shape<N, 3>>
  %1 = tenon.reduce sum, %0 {axes = array<i64: 1>, keepdims = true} : (tensor<?x3xf32, #tenon.shape<N, 3>>) -> tensor<?x1xf32, #tenon.shape<N, 1>>
  %2 = tenon.add %1, %y : (tensor<?x1xf32, #tenon.shape<N, 1>>, tensor<?x?xf32, #tenon.shape<N, M>>) -> tensor<?x?xf32, #tenon.shape<N, M>>
  return %2 : tensor<?x?xf32, #tenon.shape<N, M>>
}
