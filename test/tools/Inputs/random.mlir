// 32 random bits for each of four elements, twice.
func.func @main() -> (tensor<4xui32> {tenon.name = "a"}, tensor<4xui32> {tenon.name = "b"}) {
  %0 = tenon.run_seed : () -> tensor<i64>
  %1 = tenon.random_bits %0 {stream = 0 : i64} : (tensor<i64>) -> tensor<4xui32>
  %2 = tenon.random_bits %0 {stream = 1 : i64} : (tensor<i64>) -> tensor<4xui32>
  return %1, %2 : tensor<4xui32>, tensor<4xui32>
}
