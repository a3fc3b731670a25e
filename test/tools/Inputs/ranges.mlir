module attributes {tenon.ranges = {N = array<i64: 2, 7>}} {
  func.func @main(%x: tensor<?xf32, #tenon.shape<N>> {tenon.name = "x"}) -> (tensor<?xf32, #tenon.shape<N>> {tenon.name = "y"}) {
    %0 = tenon.neg %x : (tensor<?xf32, #tenon.shape<N>>) -> tensor<?xf32, #tenon.shape<N>>
    return %0 : tensor<?xf32, #tenon.shape<N>>
  }
}
