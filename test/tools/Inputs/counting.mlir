// Adds to itself until it is large.
func.func @main(%x: tensor<4xf32> {tenon.name = "x"}) -> (tensor<4xf32> {tenon.name = "y"}) {
  %go = tenon.weight dense<true> : tensor<i1>
  %last = tenon.weight dense<8> : tensor<i64>
  %one = tenon.weight dense<1> : tensor<i64>
  %zero = tenon.weight dense<0> : tensor<i64>
  %0, %1 = tenon.loop %go (%zero, %x) : tensor<i1>, (tensor<i64>, tensor<4xf32>) -> (tensor<i64>, tensor<4xf32>) {
  ^bb0(%i: tensor<i64>, %v: tensor<4xf32>):
    %2 = tenon.add %i, %one : (tensor<i64>, tensor<i64>) -> tensor<i64>
    %3 = tenon.sin %v : (tensor<4xf32>) -> tensor<4xf32>
    %4 = tenon.add %v, %3 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %5 = tenon.compare lt, %2, %last : (tensor<i64>, tensor<i64>) -> tensor<i1>
    tenon.yield %5, %2, %4 : tensor<i1>, tensor<i64>, tensor<4xf32>
  }
  return %1 : tensor<4xf32>
}
