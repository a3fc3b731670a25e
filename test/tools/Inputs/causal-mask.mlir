// Weights of a causal attention whose mask leaves padding out. Of a row whose scores are all masked, f32 keeps nothing of the scores:
// they are less than the last bit of -1e9.
func.func @main(%scores: tensor<64x64xf32> {tenon.name = "scores"}, %mask: tensor<64xi64> {tenon.name = "mask"})
    -> (tensor<64x64xf32> {tenon.name = "weights"}) {
  %least = tenon.weight dense<-1.0e9> : tensor<f32>
  %one = tenon.weight dense<1.0> : tensor<f32>
  %row = tenon.iota {axis = 0 : i64} : () -> tensor<64x64xi64>
  %column = tenon.iota {axis = 1 : i64} : () -> tensor<64x64xi64>
  %future = tenon.compare lt, %row, %column : (tensor<64x64xi64>, tensor<64x64xi64>) -> tensor<64x64xi1>
  %causal = tenon.select %future, %least, %scores : (tensor<64x64xi1>, tensor<f32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %float = tenon.cast %mask : (tensor<64xi64>) -> tensor<64xf32>
  %padding = tenon.sub %one, %float : (tensor<f32>, tensor<64xf32>) -> tensor<64xf32>
  %penalty = tenon.mul %padding, %least : (tensor<64xf32>, tensor<f32>) -> tensor<64xf32>
  %masked = tenon.add %causal, %penalty : (tensor<64x64xf32>, tensor<64xf32>) -> tensor<64x64xf32>
  %weights = tenon.softmax %masked {axis = 1 : i64} : (tensor<64x64xf32>) -> tensor<64x64xf32>
  return %weights : tensor<64x64xf32>
}
