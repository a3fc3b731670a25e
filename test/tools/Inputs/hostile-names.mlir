// Names that would be markup, were they written as they are.
func.func @main(%x: tensor<4xf32, #tenon.shape<4>> {tenon.name = "<script>alert(1)</script>"})
    -> (tensor<4xf32, #tenon.shape<4>> {tenon.name = "y\"onload='&"}) {
  %0 = tenon.neg %x : (tensor<4xf32, #tenon.shape<4>>) -> tensor<4xf32, #tenon.shape<4>> loc("</title><script>alert(2)</script>")
  return %0 : tensor<4xf32, #tenon.shape<4>>
}
