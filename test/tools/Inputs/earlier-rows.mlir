// A row plus the sine of 1000 times the sum of all earlier rows: what f32 makes of that is off, as soon as there are any.
tenon.state @rows : tensor<128x4xf32> live "past"
func.func @main(%x: tensor<?x4xf32, #tenon.shape<m, 4>> {tenon.name = "x"}) -> (tensor<?x4xf32, #tenon.shape<m, 4>> {tenon.name = "y"}) {
  %earlier = tenon.state.read @rows : tensor<?x4xf32, #tenon.shape<past, 4>>
  tenon.state.update @rows at #tenon.shape<past> extends, %x : tensor<?x4xf32, #tenon.shape<m, 4>>
  %sum = tenon.reduce sum, %earlier {axes = array<i64: 0>} : (tensor<?x4xf32, #tenon.shape<past, 4>>) -> tensor<4xf32>
  %factor = tenon.weight dense<1000.0> : tensor<f32>
  %angle = tenon.mul %sum, %factor : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %sine = tenon.sin %angle : (tensor<4xf32>) -> tensor<4xf32>
  %y = tenon.add %x, %sine : (tensor<?x4xf32, #tenon.shape<m, 4>>, tensor<4xf32>) -> tensor<?x4xf32, #tenon.shape<m, 4>>
  return %y : tensor<?x4xf32, #tenon.shape<m, 4>>
}
