func.func @main(%x: tensor<100xf32>) -> tensor<100xf32> {
  %0 = tenon.sqrt %x : (tensor<100xf32>) -> tensor<100xf32>
  return %0 : tensor<100xf32>
}
