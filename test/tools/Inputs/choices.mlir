// Sums of some rows, the numbers of the two largest elements of the first column, and the sums rounded to integers.
func.func @main(%x: tensor<?x4xf32, #tenon.shape<N, 4>> {tenon.name = "x"}, %rows: tensor<?xi64, #tenon.shape<K>> {tenon.name = "rows"})
    -> (tensor<?xf32, #tenon.shape<K>> {tenon.name = "sums"}, tensor<2xi64> {tenon.name = "best"},
        tensor<?xf32, #tenon.shape<K>> {tenon.name = "rounded"}) {
  %0 = tenon.gather %x, %rows {axis = 0 : i64} : (tensor<?x4xf32, #tenon.shape<N, 4>>, tensor<?xi64, #tenon.shape<K>>)
    -> tensor<?x4xf32, #tenon.shape<K, 4>>
  %1 = tenon.reduce sum, %0 {axes = array<i64: 1>} : (tensor<?x4xf32, #tenon.shape<K, 4>>) -> tensor<?xf32, #tenon.shape<K>>
  %2 = tenon.slice %x {starts = #tenon.shape<0, 0>, steps = array<i64: 1, 1>}
    : (tensor<?x4xf32, #tenon.shape<N, 4>>) -> tensor<?x1xf32, #tenon.shape<N, 1>>
  %3 = tenon.reshape %2 : (tensor<?x1xf32, #tenon.shape<N, 1>>) -> tensor<?xf32, #tenon.shape<N>>
  %4, %5 = tenon.top_k %3 {axis = 0 : i64} : (tensor<?xf32, #tenon.shape<N>>) -> (tensor<2xf32>, tensor<2xi64>)
  %6 = tenon.round %1 : (tensor<?xf32, #tenon.shape<K>>) -> tensor<?xf32, #tenon.shape<K>>
  return %1, %5, %6 : tensor<?xf32, #tenon.shape<K>>, tensor<2xi64>, tensor<?xf32, #tenon.shape<K>>
}
