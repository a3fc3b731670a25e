func.func @main(%q: tensor<4x70x64xf32> {tenon.name = "q"}, %k: tensor<4x99x64xf32> {tenon.name = "k"}, %v: tensor<4x99x64xf32> {tenon.name = "v"})
    -> (tensor<4x70x64xf32> {tenon.name = "y"}) {
  %f = tenon.weight dense<0.125> : tensor<f32>
  %0 = tenon.contract %q, %k {lhs_dims = array<i64: 0, 1, 3>, rhs_dims = array<i64: 0, 2, 3>, result_dims = array<i64: 0, 1, 2>}
    : (tensor<4x70x64xf32>, tensor<4x99x64xf32>) -> tensor<4x70x99xf32>
  %1 = tenon.mul %0, %f : (tensor<4x70x99xf32>, tensor<f32>) -> tensor<4x70x99xf32>
  %2 = tenon.softmax %1 {axis = 2 : i64} : (tensor<4x70x99xf32>) -> tensor<4x70x99xf32>
  %3 = tenon.contract %2, %v {lhs_dims = array<i64: 0, 1, 3>, rhs_dims = array<i64: 0, 3, 2>, result_dims = array<i64: 0, 1, 2>}
    : (tensor<4x70x99xf32>, tensor<4x99x64xf32>) -> tensor<4x70x64xf32>
  return %3 : tensor<4x70x64xf32>
}
