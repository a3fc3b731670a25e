func.func @main(%a: tensor<?xf32, #tenon.shape<N>> {tenon.name = "a"}, %b: tensor<?xf32, #tenon.shape<M>> {tenon.name = "b"})
    -> (tensor<?xf32, #tenon.shape<N>> {tenon.name = "c"}) {
  %0 = tenon.add %a, %b : (tensor<?xf32, #tenon.shape<N>>, tensor<?xf32, #tenon.shape<M>>) -> tensor<?xf32, #tenon.shape<N>>
  return %0 : tensor<?xf32, #tenon.shape<N>>
}
