// What no importer makes: a region with an operation that has no place there.
func.func @main(%q: tensor<2x8x4xf32> {tenon.name = "q"}, %k: tensor<2x9x4xf32> {tenon.name = "k"},
                %v: tensor<2x9x5xf32> {tenon.name = "v"}) -> (tensor<8x2x5xf32> {tenon.name = "y"}) {
  %0 = tenon.attention %q, %k, %v {
  ^bb0(%scores: tensor<2x8x9xf32>):
    %1 = tenon.run_seed : () -> tensor<i64>
    %2 = tenon.cast %1 : (tensor<i64>) -> tensor<f32>
    %3 = tenon.add %scores, %2 : (tensor<2x8x9xf32>, tensor<f32>) -> tensor<2x8x9xf32>
    tenon.yield %3 : tensor<2x8x9xf32>
  } {query_dims = array<i64: 0, 1, 3>, key_dims = array<i64: 0, 2, 3>, score_dims = array<i64: 0, 1, 2>,
     value_dims = array<i64: 0, 2, 4>, result_dims = array<i64: 1, 0, 4>}
    : (tensor<2x8x4xf32>, tensor<2x9x4xf32>, tensor<2x9x5xf32>) -> tensor<8x2x5xf32>
  return %0 : tensor<8x2x5xf32>
}
