// RUN: tenon-opt %s | tenon-opt | FileCheck %s

// CHECK-LABEL: @one_operand
func.func @one_operand(%x: tensor<4xf32>, %i: tensor<4xi32>) {
  // CHECK: tenon.abs %{{.*}} : (tensor<4xi32>) -> tensor<4xi32>
  tenon.abs %i : (tensor<4xi32>) -> tensor<4xi32>
  // CHECK: tenon.erf %{{.*}} : (tensor<4xf32>) -> tensor<4xf32>
  tenon.erf %x : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: tenon.not %{{.*}} : (tensor<4xi32>) -> tensor<4xi32>
  tenon.not %i : (tensor<4xi32>) -> tensor<4xi32>
  // CHECK: tenon.isnan %{{.*}} : (tensor<4xf32>) -> tensor<4xi1>
  tenon.isnan %x : (tensor<4xf32>) -> tensor<4xi1>
  return
}

// CHECK-LABEL: @shapes_broadcast
func.func @shapes_broadcast(%a: tensor<2x1x4xf32>, %b: tensor<3x1xf32>) {
  // CHECK: tenon.add {{.*}} -> tensor<2x3x4xf32>
  tenon.add %a, %b : (tensor<2x1x4xf32>, tensor<3x1xf32>) -> tensor<2x3x4xf32>
  return
}

// Of two different symbols one may be 1 at run time, which is not known now: the result takes the first.
// CHECK-LABEL: @symbols_broadcast
func.func @symbols_broadcast(%a: tensor<?x4xf32, #tenon.shape<N, 4>>, %b: tensor<1x4xf32>) {
  // CHECK: tenon.mul {{.*}} -> tensor<?x4xf32, #tenon.shape<N, 4>>
  tenon.mul %a, %b : (tensor<?x4xf32, #tenon.shape<N, 4>>, tensor<1x4xf32>) -> tensor<?x4xf32, #tenon.shape<N, 4>>
  return
}

// A type may say more than inference does, as long as it agrees.
// CHECK-LABEL: @result_knows_more
func.func @result_knows_more(%a: tensor<?x4xf32, #tenon.shape<N, 4>>) {
  // CHECK: tenon.exp {{.*}} -> tensor<8x4xf32>
  tenon.exp %a : (tensor<?x4xf32, #tenon.shape<N, 4>>) -> tensor<8x4xf32>
  return
}

// CHECK-LABEL: @comparison_and_choice
func.func @comparison_and_choice(%a: tensor<4xf16>, %b: tensor<f16>) {
  // CHECK: tenon.compare lt, %{{.*}}, %{{.*}} : (tensor<4xf16>, tensor<f16>) -> tensor<4xi1>
  %c = tenon.compare lt, %a, %b : (tensor<4xf16>, tensor<f16>) -> tensor<4xi1>
  // CHECK: tenon.select {{.*}} : (tensor<4xi1>, tensor<4xf16>, tensor<f16>) -> tensor<4xf16>
  tenon.select %c, %a, %b : (tensor<4xi1>, tensor<4xf16>, tensor<f16>) -> tensor<4xf16>
  return
}

// CHECK-LABEL: @bits_of_another_type
func.func @bits_of_another_type(%a: tensor<4xf4E2M1FN>, %b: tensor<4xi1>) {
  // CHECK: tenon.bitcast %{{.*}} : (tensor<4xf4E2M1FN>) -> tensor<4xui4>
  tenon.bitcast %a : (tensor<4xf4E2M1FN>) -> tensor<4xui4>
  // CHECK: tenon.bitcast %{{.*}} : (tensor<4xi1>) -> tensor<4xf8E8M0FNU>
  tenon.bitcast %b : (tensor<4xi1>) -> tensor<4xf8E8M0FNU>
  return
}

// CHECK-LABEL: @cast_to_small_float
func.func @cast_to_small_float(%a: tensor<4xf32>) {
  // CHECK: tenon.cast %{{.*}} {saturate = false} : (tensor<4xf32>) -> tensor<4xf8E4M3FN>
  tenon.cast %a {saturate = false} : (tensor<4xf32>) -> tensor<4xf8E4M3FN>
  // CHECK: tenon.cast %{{.*}} {rounding = #tenon<rounding up>} : (tensor<4xf32>) -> tensor<4xf8E8M0FNU>
  tenon.cast %a {rounding = #tenon<rounding up>} : (tensor<4xf32>) -> tensor<4xf8E8M0FNU>
  return
}
