// What no importer makes: a region with an operation that has no place there.
func.func @main(%x: tensor<4xf32> {tenon.name = "x"}) -> (tensor<4xf32> {tenon.name = "y"}) {
  %0 = tenon.dispatch -> tensor<4xf32> {
    %1 = math.exp %x : tensor<4xf32>
    tenon.yield %1 : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}
