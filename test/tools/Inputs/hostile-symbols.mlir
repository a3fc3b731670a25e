// Ranges that hold no 1 or no 64, and the name of a symbol that a page and a shell must not take for anything else.
func.func @main(%x: tensor<?x?x?xf32, #tenon.shape<B, N, "<i>$(id)'s">> {tenon.name = "x"})
    -> (tensor<?x?x?xf32, #tenon.shape<B, N, "<i>$(id)'s">> {tenon.name = "y"})
    attributes {tenon.ranges = {B = array<i64: 2, 8>, "<i>$(id)'s" = array<i64: 1, 32>}} {
  %0 = tenon.neg %x : (tensor<?x?x?xf32, #tenon.shape<B, N, "<i>$(id)'s">>) -> tensor<?x?x?xf32, #tenon.shape<B, N, "<i>$(id)'s">>
  return %0 : tensor<?x?x?xf32, #tenon.shape<B, N, "<i>$(id)'s">>
}
