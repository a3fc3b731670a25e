func.func @main(%x: tensor<1x32x56x56xf32> {tenon.name = "x"}) -> (tensor<1x32x56x56xf32> {tenon.name = "y"}) {
  %f = tenon.weight dense<0.5> : tensor<32x32x3x3xf32>
  %0 = tenon.convolve %x, %f {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, groups = 1 : i64}
    : (tensor<1x32x56x56xf32>, tensor<32x32x3x3xf32>) -> tensor<1x32x56x56xf32>
  %1 = tenon.softmax %0 {axis = 1 : i64} : (tensor<1x32x56x56xf32>) -> tensor<1x32x56x56xf32>
  return %1 : tensor<1x32x56x56xf32>
}
