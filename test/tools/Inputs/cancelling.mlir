// Rows that are nearly equal are subtracted by the first product. If the last two factors are multiplied first, their sums are
// rounded before they cancel.
func.func @main(%x: tensor<1x256xf32> {tenon.name = "x"}, %y: tensor<1x256xf32> {tenon.name = "y"}, %a: tensor<64x1xf32> {tenon.name = "a"},
                %v: tensor<256x8xf32> {tenon.name = "v"}) -> (tensor<64x8xf32> {tenon.name = "r"}) {
  %c = tenon.weight dense<256.0> : tensor<f32>
  %z = tenon.concat %x, %y {axis = 0 : i64} : (tensor<1x256xf32>, tensor<1x256xf32>) -> tensor<2x256xf32>
  %k = tenon.add %z, %c : (tensor<2x256xf32>, tensor<f32>) -> tensor<2x256xf32>
  %n = tenon.neg %a : (tensor<64x1xf32>) -> tensor<64x1xf32>
  %q = tenon.concat %a, %n {axis = 1 : i64} : (tensor<64x1xf32>, tensor<64x1xf32>) -> tensor<64x2xf32>
  %0 = tenon.contract %q, %k {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 2, 1>, result_dims = array<i64: 0, 1>}
    : (tensor<64x2xf32>, tensor<2x256xf32>) -> tensor<64x256xf32>
  %1 = tenon.contract %0, %v {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 2, 1>, result_dims = array<i64: 0, 1>}
    : (tensor<64x256xf32>, tensor<256x8xf32>) -> tensor<64x8xf32>
  return %1 : tensor<64x8xf32>
}
