// Bytes of text in upper case, by a kernel of the library.
func.func @main(%x: tensor<?xui8, #tenon.shape<N>> {tenon.name = "x"})
    -> (tensor<?xui8, #tenon.shape<N>> {tenon.name = "y"}) {
  %0 = tenon.call "tenon_upper_case"(%x) : (tensor<?xui8, #tenon.shape<N>>) -> tensor<?xui8, #tenon.shape<N>>
  return %0 : tensor<?xui8, #tenon.shape<N>>
}
