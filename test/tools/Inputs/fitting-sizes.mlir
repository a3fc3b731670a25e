// Takes what follows each position: the second input is longer than the first one.
func.func @main(%past: tensor<?xf32, #tenon.shape<P>> {tenon.name = "past"}, %mask: tensor<?xf32, #tenon.shape<M>> {tenon.name = "mask"})
    -> (tensor<?xf32, #tenon.shape<P>> {tenon.name = "y"}) {
  %place = tenon.iota {axis = 0 : i64} : () -> tensor<?xi64, #tenon.shape<P>>
  %one = tenon.weight dense<1> : tensor<1xi64>
  %next = tenon.add %place, %one : (tensor<?xi64, #tenon.shape<P>>, tensor<1xi64>) -> tensor<?xi64, #tenon.shape<P>>
  %taken = tenon.gather %mask, %next {axis = 0 : i64} : (tensor<?xf32, #tenon.shape<M>>, tensor<?xi64, #tenon.shape<P>>) -> tensor<?xf32, #tenon.shape<P>>
  %y = tenon.mul %taken, %past : (tensor<?xf32, #tenon.shape<P>>, tensor<?xf32, #tenon.shape<P>>) -> tensor<?xf32, #tenon.shape<P>>
  return %y : tensor<?xf32, #tenon.shape<P>>
}
