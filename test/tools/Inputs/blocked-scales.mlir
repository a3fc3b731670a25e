// Blocks of 128 rows have scales of their own. Kernels have tiles of about 8192 elements, which 170 rows of 48 are. Something else
// reads the numbers, too, or they are the factor of a product that is computed in parts.
func.func @main(%x: tensor<16x384xf32> {tenon.name = "x"}, %q: tensor<384x48xi8> {tenon.name = "q"}, %s: tensor<3x48xf32> {tenon.name = "s"})
    -> (tensor<384x48xf32> {tenon.name = "y"}, tensor<384x48xf32> {tenon.name = "z"}, tensor<16x48xf32> {tenon.name = "p"}) {
  %0 = tenon.dequantize %q, %s {axis = 0 : i64, block = 128 : i64} : (tensor<384x48xi8>, tensor<3x48xf32>) -> tensor<384x48xf32>
  %1 = tenon.relu %0 : (tensor<384x48xf32>) -> tensor<384x48xf32>
  %2 = tenon.contract %x, %0 {lhs_dims = array<i64: 0, 3>, result_dims = array<i64: 0, 2>, rhs_dims = array<i64: 3, 2>} : (tensor<16x384xf32>, tensor<384x48xf32>) -> tensor<16x48xf32>
  return %0, %1, %2 : tensor<384x48xf32>, tensor<384x48xf32>, tensor<16x48xf32>
}
