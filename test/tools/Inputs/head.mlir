// A convolution of 20 filters, and one of 2 with a bias and an activation, as heads of images have.
func.func @main(%x: tensor<?x3x24x40xf32, #tenon.shape<N, 3, 24, 40>> {tenon.name = "x"}) -> (tensor<?x2x24x40xf32, #tenon.shape<N, 2, 24, 40>> {tenon.name = "y"}) {
  %scale = tenon.weight dense<0.01> : tensor<f32>
  %i = tenon.iota {axis = 0 : i64} : () -> tensor<20x3x3x3xf32>
  %j = tenon.iota {axis = 1 : i64} : () -> tensor<20x3x3x3xf32>
  %k = tenon.iota {axis = 3 : i64} : () -> tensor<20x3x3x3xf32>
  %ij = tenon.sub %i, %j : (tensor<20x3x3x3xf32>, tensor<20x3x3x3xf32>) -> tensor<20x3x3x3xf32>
  %ijk = tenon.sub %ij, %k : (tensor<20x3x3x3xf32>, tensor<20x3x3x3xf32>) -> tensor<20x3x3x3xf32>
  %f = tenon.mul %ijk, %scale : (tensor<20x3x3x3xf32>, tensor<f32>) -> tensor<20x3x3x3xf32>
  %l = tenon.iota {axis = 1 : i64} : () -> tensor<2x20x3x3xf32>
  %m = tenon.iota {axis = 2 : i64} : () -> tensor<2x20x3x3xf32>
  %lm = tenon.sub %l, %m : (tensor<2x20x3x3xf32>, tensor<2x20x3x3xf32>) -> tensor<2x20x3x3xf32>
  %g = tenon.mul %lm, %scale : (tensor<2x20x3x3xf32>, tensor<f32>) -> tensor<2x20x3x3xf32>
  %b = tenon.weight dense<[[[0.5]], [[-0.5]]]> : tensor<2x1x1xf32>
  %0 = tenon.convolve %x, %f {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, groups = 1 : i64}
    : (tensor<?x3x24x40xf32, #tenon.shape<N, 3, 24, 40>>, tensor<20x3x3x3xf32>) -> tensor<?x20x24x40xf32, #tenon.shape<N, 20, 24, 40>> loc("body")
  %1 = tenon.tanh %0 : (tensor<?x20x24x40xf32, #tenon.shape<N, 20, 24, 40>>) -> tensor<?x20x24x40xf32, #tenon.shape<N, 20, 24, 40>>
  %2 = tenon.convolve %1, %g {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, groups = 1 : i64}
    : (tensor<?x20x24x40xf32, #tenon.shape<N, 20, 24, 40>>, tensor<2x20x3x3xf32>) -> tensor<?x2x24x40xf32, #tenon.shape<N, 2, 24, 40>> loc("head")
  %3 = tenon.add %2, %b : (tensor<?x2x24x40xf32, #tenon.shape<N, 2, 24, 40>>, tensor<2x1x1xf32>) -> tensor<?x2x24x40xf32, #tenon.shape<N, 2, 24, 40>>
  %4 = tenon.sigmoid %3 : (tensor<?x2x24x40xf32, #tenon.shape<N, 2, 24, 40>>) -> tensor<?x2x24x40xf32, #tenon.shape<N, 2, 24, 40>>
  return %4 : tensor<?x2x24x40xf32, #tenon.shape<N, 2, 24, 40>>
}
