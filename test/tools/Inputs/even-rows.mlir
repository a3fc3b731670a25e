// A model that takes even numbers of rows only.
func.func @main(%x: tensor<?xf32, #tenon.shape<N>> {tenon.name = "x"}) -> (tensor<?xf32, #tenon.shape<N>> {tenon.name = "y"})
    attributes {tenon.requires = #tenon.shape<N mod 2 * -1>} {
  %0 = tenon.neg %x : (tensor<?xf32, #tenon.shape<N>>) -> tensor<?xf32, #tenon.shape<N>>
  return %0 : tensor<?xf32, #tenon.shape<N>>
}
