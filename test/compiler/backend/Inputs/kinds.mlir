// One kernel of each kind, for the tests of GPU backends.

#row = #tenon.shape<N, 40>

func.func @main(%x: tensor<4x100xf32>, %row: tensor<100xf32>, %logits: tensor<?x40xf32, #row>, %a: tensor<16x64xf32>,
                %b: tensor<64x32xf32>, %bias: tensor<32xf32>, %image: tensor<1x3x8x8xf32>, %filter: tensor<4x3x3x3xf32>,
                %table: tensor<10x4xf32>, %index: tensor<2x3xi64>)
    -> (tensor<4x100xf32>, tensor<?x40xf32, #row>, tensor<16x32xf32>, tensor<1x4x4x4xf32>, tensor<1x3x4x4xf32>,
        tensor<2x3x4xf32>, tensor<4x10xf32>, tensor<16xf32>) {
  // Functions that no GPU has an instruction for, on one element each.
  %exp = tenon.exp %x : (tensor<4x100xf32>) -> tensor<4x100xf32>
  %tanh = tenon.tanh %exp : (tensor<4x100xf32>) -> tensor<4x100xf32>
  %erf = tenon.erf %tanh : (tensor<4x100xf32>) -> tensor<4x100xf32>
  %elementwise = tenon.add %erf, %row : (tensor<4x100xf32>, tensor<100xf32>) -> tensor<4x100xf32>
  // As many tiles as there are rows, which is not known before the run.
  %softmax = tenon.softmax %logits {axis = 1 : i64} : (tensor<?x40xf32, #row>) -> tensor<?x40xf32, #row>
  %product = tenon.contract %a, %b {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 2, 1>, result_dims = array<i64: 0, 1>}
    : (tensor<16x64xf32>, tensor<64x32xf32>) -> tensor<16x32xf32>
  %sum = tenon.add %product, %bias : (tensor<16x32xf32>, tensor<32xf32>) -> tensor<16x32xf32>
  %dense = tenon.relu %sum : (tensor<16x32xf32>) -> tensor<16x32xf32>
  %convolved = tenon.convolve %image, %filter {strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>,
      low = array<i64: 1, 1>, high = array<i64: 1, 1>, groups = 1 : i64}
    : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x4x4xf32>
  %pooled = tenon.pool average, %image {window = array<i64: 3, 3>, strides = array<i64: 2, 2>,
      dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>}
    : (tensor<1x3x8x8xf32>) -> tensor<1x3x4x4xf32>
  %gathered = tenon.gather %table, %index {axis = 0 : i64} : (tensor<10x4xf32>, tensor<2x3xi64>) -> tensor<2x3x4xf32>
  %transposed = tenon.transpose %table {permutation = array<i64: 1, 0>} : (tensor<10x4xf32>) -> tensor<4x10xf32>
  %largest = tenon.reduce max, %a {axes = array<i64: 1>} : (tensor<16x64xf32>) -> tensor<16xf32>
  return %elementwise, %softmax, %dense, %convolved, %pooled, %gathered, %transposed, %largest
    : tensor<4x100xf32>, tensor<?x40xf32, #row>, tensor<16x32xf32>, tensor<1x4x4x4xf32>, tensor<1x3x4x4xf32>,
      tensor<2x3x4xf32>, tensor<4x10xf32>, tensor<16xf32>
}
