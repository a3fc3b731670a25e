// Each number of x becomes a row of 16 KB in a state of up to 1 GB.
tenon.state @rows : tensor<65536x4096xf32> live "n"
func.func @main(%x: tensor<?x1xf32, #tenon.shape<m, 1>> {tenon.name = "x"}) -> (tensor<4096xf32> {tenon.name = "y"}) {
  %wide = tenon.broadcast %x : (tensor<?x1xf32, #tenon.shape<m, 1>>) -> tensor<?x4096xf32, #tenon.shape<m, 4096>>
  tenon.state.update @rows at #tenon.shape<n> extends, %wide : tensor<?x4096xf32, #tenon.shape<m, 4096>>
  %all = tenon.state.read @rows : tensor<?x4096xf32, #tenon.shape<n + m, 4096>>
  %y = tenon.reduce sum, %all {axes = array<i64: 0>} : (tensor<?x4096xf32, #tenon.shape<n + m, 4096>>) -> tensor<4096xf32>
  return %y : tensor<4096xf32>
}
