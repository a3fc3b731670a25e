// One output is computed in f16, the other in f32.
func.func @main(%x: tensor<64xf16> {tenon.name = "x"}) -> (tensor<64xf16> {tenon.name = "y"}, tensor<64xf32> {tenon.name = "z"}) {
  %0 = tenon.exp %x : (tensor<64xf16>) -> tensor<64xf16>
  %1 = tenon.sin %0 : (tensor<64xf16>) -> tensor<64xf16>
  %2 = tenon.mul %1, %x : (tensor<64xf16>, tensor<64xf16>) -> tensor<64xf16>
  %3 = tenon.cast %x : (tensor<64xf16>) -> tensor<64xf32>
  %4 = tenon.exp %3 : (tensor<64xf32>) -> tensor<64xf32>
  return %2, %4 : tensor<64xf16>, tensor<64xf32>
}
