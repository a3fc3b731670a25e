// Two products with costly epilogues, which both read what is computed of a mask; one of them adds a row that is computed for each of its rows.
func.func @main(%x: tensor<128x64xf32> {tenon.name = "x"}, %y: tensor<128x64xf32> {tenon.name = "y"}, %m: tensor<128x128xf32> {tenon.name = "m"},
                %b: tensor<128xf32> {tenon.name = "b"}, %w: tensor<64x128xf32> {tenon.name = "w"})
    -> (tensor<128x128xf32> {tenon.name = "r"}, tensor<128x128xf32> {tenon.name = "s"}) {
  %half = tenon.weight dense<0.5> : tensor<f32>
  %mask = tenon.mul %m, %half : (tensor<128x128xf32>, tensor<f32>) -> tensor<128x128xf32> loc("mask")
  %row = tenon.neg %b : (tensor<128xf32>) -> tensor<128xf32> loc("row")
  %0 = tenon.contract %x, %w {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 2, 1>, result_dims = array<i64: 0, 1>}
    : (tensor<128x64xf32>, tensor<64x128xf32>) -> tensor<128x128xf32> loc("first")
  %1 = tenon.tanh %0 : (tensor<128x128xf32>) -> tensor<128x128xf32>
  %2 = tenon.add %1, %mask : (tensor<128x128xf32>, tensor<128x128xf32>) -> tensor<128x128xf32>
  %3 = tenon.add %2, %row : (tensor<128x128xf32>, tensor<128xf32>) -> tensor<128x128xf32>
  %4 = tenon.contract %y, %w {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 2, 1>, result_dims = array<i64: 0, 1>}
    : (tensor<128x64xf32>, tensor<64x128xf32>) -> tensor<128x128xf32> loc("second")
  %5 = tenon.exp %4 : (tensor<128x128xf32>) -> tensor<128x128xf32>
  %6 = tenon.add %5, %mask : (tensor<128x128xf32>, tensor<128x128xf32>) -> tensor<128x128xf32>
  return %3, %6 : tensor<128x128xf32>, tensor<128x128xf32>
}
