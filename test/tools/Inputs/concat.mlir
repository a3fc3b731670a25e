// Both halves of the concatenation are written in place, and what follows reads them as one.
func.func @main(%x: tensor<8x8xf32> {tenon.name = "x"}) -> (tensor<16x8xf32> {tenon.name = "y"}) {
  %0 = tenon.softmax %x {axis = 1 : i64} : (tensor<8x8xf32>) -> tensor<8x8xf32> loc("rows")
  %1 = tenon.softmax %x {axis = 0 : i64} : (tensor<8x8xf32>) -> tensor<8x8xf32> loc("columns")
  %2 = tenon.concat %0, %1 {axis = 0 : i64} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<16x8xf32> loc("both")
  %3 = tenon.softmax %2 {axis = 0 : i64} : (tensor<16x8xf32>) -> tensor<16x8xf32> loc("all")
  return %3 : tensor<16x8xf32>
}
