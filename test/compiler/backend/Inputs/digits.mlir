// The network of models/digits, its weights as arguments.

func.func @main(%image: tensor<1x1x8x8xf32>, %w1: tensor<16x1x3x3xf32>, %n1: tensor<16xf32>, %w2: tensor<32x16x3x3xf32>,
                %n2: tensor<32xf32>, %w3: tensor<10x128xf32>, %b3: tensor<10xf32>) -> tensor<1x10xf32> {
  %0 = tenon.convolve %image, %w1 {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>,
      high = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x1x8x8xf32>, tensor<16x1x3x3xf32>) -> tensor<1x16x8x8xf32>
  %1 = tenon.batch_norm %0, %n1, %n1, %n1, %n1 {epsilon = 1.0e-5 : f64}
    : (tensor<1x16x8x8xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>) -> tensor<1x16x8x8xf32>
  %2 = tenon.relu %1 : (tensor<1x16x8x8xf32>) -> tensor<1x16x8x8xf32>
  %3 = tenon.pool max, %2 {window = array<i64: 2, 2>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>,
      low = array<i64: 0, 0>, high = array<i64: 0, 0>} : (tensor<1x16x8x8xf32>) -> tensor<1x16x4x4xf32>
  %4 = tenon.convolve %3, %w2 {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>,
      high = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x16x4x4xf32>, tensor<32x16x3x3xf32>) -> tensor<1x32x4x4xf32>
  %5 = tenon.batch_norm %4, %n2, %n2, %n2, %n2 {epsilon = 1.0e-5 : f64}
    : (tensor<1x32x4x4xf32>, tensor<32xf32>, tensor<32xf32>, tensor<32xf32>, tensor<32xf32>) -> tensor<1x32x4x4xf32>
  %6 = tenon.relu %5 : (tensor<1x32x4x4xf32>) -> tensor<1x32x4x4xf32>
  %7 = tenon.pool max, %6 {window = array<i64: 2, 2>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>,
      low = array<i64: 0, 0>, high = array<i64: 0, 0>} : (tensor<1x32x4x4xf32>) -> tensor<1x32x2x2xf32>
  %8 = tenon.reshape %7 : (tensor<1x32x2x2xf32>) -> tensor<1x128xf32>
  %9 = tenon.contract %8, %w3 {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 1, 2>, result_dims = array<i64: 0, 1>}
    : (tensor<1x128xf32>, tensor<10x128xf32>) -> tensor<1x10xf32>
  %10 = tenon.add %9, %b3 : (tensor<1x10xf32>, tensor<10xf32>) -> tensor<1x10xf32>
  %11 = tenon.softmax %10 {axis = 1 : i64} : (tensor<1x10xf32>) -> tensor<1x10xf32>
  return %11 : tensor<1x10xf32>
}
