// RUN: tenon-opt %s -pass-pipeline='builtin.module(func.func(tenon-transpose-masks))' | FileCheck %s

// Nine queries have room for sixteen; keys come before them. Both reads of a mask share one.
// CHECK-LABEL: @bias
// CHECK: %[[T:.*]] = tenon.weight dense_resource<{{mask.*}}> : tensor<2x2x16xf32> {name = "bias (transposed)"}
// CHECK-NOT: tensor<2x9x2xf32>)
// CHECK: tenon.attention
// CHECK-NEXT: ^bb0
// CHECK-NEXT: %[[W:.*]] = tenon.transpose %[[T]] {permutation = array<i64: 0, 2, 1>} : (tensor<2x2x16xf32>) -> tensor<2x16x2xf32>
// CHECK-NEXT: %[[B:.*]] = tenon.slice %[[W]] {starts = #tenon.shape<0, 0, 0>, {{.*}} -> tensor<2x9x2xf32>
// CHECK-NEXT: %[[S:.*]] = tenon.add %{{.*}}, %[[B]]
// CHECK-NEXT: tenon.mul %[[S]], %[[B]]
func.func @bias(%q: tensor<1x2x9x4xf32>, %k: tensor<1x2x2x4xf32>) -> tensor<1x2x9x4xf32> {
  %bias = tenon.weight dense_resource<bias> : tensor<2x9x2xf32> {name = "bias"}
  %0 = tenon.attention %q, %k, %k {
  ^bb0(%s: tensor<1x2x9x2xf32>):
    %1 = tenon.add %s, %bias : (tensor<1x2x9x2xf32>, tensor<2x9x2xf32>) -> tensor<1x2x9x2xf32>
    %2 = tenon.mul %1, %bias : (tensor<1x2x9x2xf32>, tensor<2x9x2xf32>) -> tensor<1x2x9x2xf32>
    tenon.yield %2 : tensor<1x2x9x2xf32>
  } {query_dims = array<i64: 0, 1, 2, 4>, key_dims = array<i64: 0, 1, 3, 4>, score_dims = array<i64: 0, 1, 2, 3>, value_dims = array<i64: 0, 1, 3, 5>, result_dims = array<i64: 0, 1, 2, 5>}
    : (tensor<1x2x9x4xf32>, tensor<1x2x2x4xf32>, tensor<1x2x2x4xf32>) -> tensor<1x2x9x4xf32>
  return %0 : tensor<1x2x9x4xf32>
}

// Few queries read a mask as it lies.
// CHECK-LABEL: @few_queries
// CHECK: tenon.weight {{.*}} : tensor<2x3x2xf32>
// CHECK-NOT: tenon.transpose
func.func @few_queries(%q: tensor<1x2x3x4xf32>, %k: tensor<1x2x2x4xf32>) -> tensor<1x2x3x4xf32> {
  %bias = tenon.weight dense_resource<few> : tensor<2x3x2xf32>
  %0 = tenon.attention %q, %k, %k {
  ^bb0(%s: tensor<1x2x3x2xf32>):
    %1 = tenon.add %s, %bias : (tensor<1x2x3x2xf32>, tensor<2x3x2xf32>) -> tensor<1x2x3x2xf32>
    tenon.yield %1 : tensor<1x2x3x2xf32>
  } {query_dims = array<i64: 0, 1, 2, 4>, key_dims = array<i64: 0, 1, 3, 4>, score_dims = array<i64: 0, 1, 2, 3>,
     value_dims = array<i64: 0, 1, 3, 5>, result_dims = array<i64: 0, 1, 2, 5>}
    : (tensor<1x2x3x4xf32>, tensor<1x2x2x4xf32>, tensor<1x2x2x4xf32>) -> tensor<1x2x3x4xf32>
  return %0 : tensor<1x2x3x4xf32>
}

// One number for all queries, and one that is computed, stay as they are.
// CHECK-LABEL: @others
// CHECK-NOT: tenon.transpose
// CHECK: return
func.func @others(%q: tensor<1x2x9x4xf32>, %k: tensor<1x2x2x4xf32>, %mask: tensor<9x2xf32>) -> tensor<1x2x9x4xf32> {
  %keys = tenon.weight dense<[[1.0, 2.0]]> : tensor<1x2xf32>
  %0 = tenon.attention %q, %k, %k {
  ^bb0(%s: tensor<1x2x9x2xf32>):
    %1 = tenon.add %s, %keys : (tensor<1x2x9x2xf32>, tensor<1x2xf32>) -> tensor<1x2x9x2xf32>
    %2 = tenon.add %1, %mask : (tensor<1x2x9x2xf32>, tensor<9x2xf32>) -> tensor<1x2x9x2xf32>
    tenon.yield %2 : tensor<1x2x9x2xf32>
  } {query_dims = array<i64: 0, 1, 2, 4>, key_dims = array<i64: 0, 1, 3, 4>, score_dims = array<i64: 0, 1, 2, 3>, value_dims = array<i64: 0, 1, 3, 5>, result_dims = array<i64: 0, 1, 2, 5>}
    : (tensor<1x2x9x4xf32>, tensor<1x2x2x4xf32>, tensor<1x2x2x4xf32>) -> tensor<1x2x9x4xf32>
  return %0 : tensor<1x2x9x4xf32>
}

{-#
  dialect_resources: {
    builtin: {
      few: "0x040000000000803F0000004000004040000080400000A0400000C0400000E0400000004100001041000020410000304100004041",
      bias: "0x040000000000803F0000004000004040000080400000A0400000C0400000E0400000004100001041000020410000304100004041000050410000604100007041000080410000884100009041000098410000A0410000A8410000B0410000B8410000C0410000C8410000D0410000D8410000E0410000E8410000F0410000F84100000042000004420000084200000C4200001042"
    }
  }
#-}
