// The Gram matrix of 16 channels of an image of 224 x 448.
func.func @main(%x: tensor<16x100352xf32> {tenon.name = "x"}) -> (tensor<16x16xf32> {tenon.name = "y"}) {
  %0 = tenon.contract %x, %x {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 1, 2>, result_dims = array<i64: 0, 1>}
    : (tensor<16x100352xf32>, tensor<16x100352xf32>) -> tensor<16x16xf32>
  return %0 : tensor<16x16xf32>
}
