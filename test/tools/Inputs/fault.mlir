// What no importer makes: a region with an operation that has no place there.
func.func @main(%x: tensor<i64> {tenon.name = "x"}) -> (tensor<i64> {tenon.name = "y"}) {
  %0 = tenon.dispatch -> tensor<i64> {
    %1 = tenon.run_seed : () -> tensor<i64>
    %2 = tenon.add %x, %1 : (tensor<i64>, tensor<i64>) -> tensor<i64>
    tenon.yield %2 : tensor<i64>
  }
  return %0 : tensor<i64>
}
