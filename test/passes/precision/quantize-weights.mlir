// RUN: tenon-opt %s -split-input-file -pass-pipeline='builtin.module(tenon-quantize-weights{rules=*=int4:group=8})' | FileCheck %s --check-prefixes=CHECK,INT4
// RUN: tenon-opt %s -split-input-file -pass-pipeline='builtin.module(tenon-quantize-weights{rules=*=int8})' | FileCheck %s --check-prefixes=CHECK,INT8
// RUN: tenon-opt %s -split-input-file -pass-pipeline='builtin.module(tenon-quantize-weights{rules=*=int4:asymmetric})' | FileCheck %s --check-prefixes=CHECK,ZEROS
// RUN: tenon-opt %s -split-input-file -pass-pipeline='builtin.module(tenon-quantize-weights{rules=*=bf16})' | FileCheck %s --check-prefixes=CHECK,BF16
// RUN: tenon-opt %s -split-input-file -pass-pipeline='builtin.module(tenon-quantize-weights{rules=*=int8,*=f32})' | FileCheck %s --check-prefixes=CHECK,F32
// RUN: tenon-opt %s -split-input-file -pass-pipeline='builtin.module(tenon-quantize-weights{rules=int4})' | FileCheck %s --check-prefixes=CHECK,SMALL

// Rows of a matrix that is summed along its last dimension have groups there: -8, -7... are 0, 1... less 8.
// CHECK-LABEL: func.func @linear
// INT4: %[[W:.*]] = tenon.weight dense_resource<int4_[[NUMBERS:[0-9a-f]*]]> : tensor<2x8xui4> {name = "w (int4)"}
// INT4: %[[S:.*]] = tenon.weight dense_resource<scales_{{.*}}> : tensor<2x1xf16> {name = "w (scales)"}
// INT4: %[[Z:.*]] = tenon.weight dense<8> : tensor<1x1xui8>
// INT4: %[[D:.*]] = tenon.dequantize %[[W]], %[[S]], %[[Z]] {axis = 1 : i64, block = 8 : i64, result_type = f32} : {{.*}} -> tensor<2x8xf32>
// INT4: tenon.contract %arg0, %[[D]]
// INT4: int4_[[NUMBERS]]: "0x4000000000010203040506070102030405060708"
// INT8: %[[W:.*]] = tenon.weight dense_resource<int8_{{.*}}> : tensor<2x8xi8> {name = "w (int8)"}
// INT8: %[[S:.*]] = tenon.weight dense_resource<scales_{{.*}}> : tensor<2x1xf16>
// INT8: tenon.dequantize %[[W]], %[[S]] {axis = 1 : i64, block = 8 : i64, result_type = f32}
// ZEROS: tenon.weight dense_resource<zeros_{{.*}}> : tensor<2x1xui4> {name = "w (zeros)"}
// ZEROS: tenon.dequantize {{.*}} {axis = 1 : i64, block = 8 : i64, result_type = f32} : (tensor<2x8xui4>, tensor<2x1xf16>, tensor<2x1xui4>)
// BF16: %[[W:.*]] = tenon.weight dense_resource<bf16_{{.*}}> : tensor<2x8xbf16> {name = "w (bf16)"}
// BF16: %[[C:.*]] = tenon.cast %[[W]] : (tensor<2x8xbf16>) -> tensor<2x8xf32>
// BF16: tenon.contract %arg0, %[[C]]
// F32: tenon.weight dense<{{.*}}> : tensor<2x8xf32> {name = "w"}
// A matrix of few elements has to be named.
// SMALL: tenon.weight dense<{{.*}}> : tensor<2x8xf32> {name = "w"}
func.func @linear(%x: tensor<4x8xf32>) -> tensor<4x2xf32> {
  %w = tenon.weight dense<[[-8.0, -7.0, -6.0, -5.0, -4.0, -3.0, -2.0, -1.0], [-3.5, -3.0, -2.5, -2.0, -1.5, -1.0, -0.5, 0.0]]>
    : tensor<2x8xf32> {name = "w"}
  %y = tenon.contract %x, %w {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 1, 2>, result_dims = array<i64: 0, 1>}
    : (tensor<4x8xf32>, tensor<2x8xf32>) -> tensor<4x2xf32>
  return %y : tensor<4x2xf32>
}

// -----

// The other way round groups run along the first dimension. A transpose is looked through, and a cast of the weight is
// made of what is stored.
// CHECK-LABEL: func.func @transposed
// INT4: %[[D:.*]] = tenon.dequantize {{.*}} {axis = 0 : i64, block = 8 : i64, result_type = f32} : (tensor<16x2xui4>, tensor<2x2xf16>, tensor<1x1xui8>) -> tensor<16x2xf32>
// INT4-NEXT: %[[T:.*]] = tenon.transpose %[[D]]
// INT4-NEXT: tenon.contract %arg0, %[[T]]
// BF16: %[[C:.*]] = tenon.cast %{{.*}} : (tensor<16x2xbf16>) -> tensor<16x2xf32>
// BF16-NEXT: %[[T:.*]] = tenon.transpose %[[C]]
// F32: %[[W:.*]] = tenon.weight dense_resource<f32_{{.*}}> : tensor<16x2xf32> {name = "w (f32)"}
// F32-NEXT: %[[T:.*]] = tenon.transpose %[[W]]
func.func @transposed(%x: tensor<4x16xf32>) -> tensor<4x2xf32> {
  %w = tenon.weight dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0], [1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0],
                           [1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0], [1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0]]>
    : tensor<16x2xf16> {name = "w"}
  %wide = tenon.cast %w : (tensor<16x2xf16>) -> tensor<16x2xf32>
  %t = tenon.transpose %wide {permutation = array<i64: 1, 0>} : (tensor<16x2xf32>) -> tensor<2x16xf32>
  %y = tenon.contract %x, %t {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 1, 2>, result_dims = array<i64: 0, 1>}
    : (tensor<4x16xf32>, tensor<2x16xf32>) -> tensor<4x2xf32>
  return %y : tensor<4x2xf32>
}

// -----

// An embedding that is the output's matrix, too, is one weight.
// CHECK-LABEL: func.func @tied
// INT8: %[[D:.*]] = tenon.dequantize {{.*}} {axis = 1 : i64, block = 4 : i64, result_type = f32}
// INT8: tenon.gather %[[D]], %arg0
// INT8: tenon.contract %{{.*}}, %[[D]]
// BF16: %[[W:.*]] = tenon.weight dense_resource<bf16_{{.*}}> : tensor<3x4xbf16>
// BF16: %[[C:.*]] = tenon.cast %[[W]] : (tensor<3x4xbf16>) -> tensor<3x4xf32>
// BF16: %[[G:.*]] = tenon.gather %[[W]], %arg0 {axis = 0 : i64} : (tensor<3x4xbf16>, tensor<5xi64>) -> tensor<5x4xbf16>
// BF16: tenon.cast %[[G]] : (tensor<5x4xbf16>) -> tensor<5x4xf32>
// BF16: tenon.contract %{{.*}}, %[[C]]
func.func @tied(%ids: tensor<5xi64>) -> tensor<5x3xf32> {
  %w = tenon.weight dense<[[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0], [9.0, 8.0, 7.0, 6.0]]> : tensor<3x4xf32> {name = "words"}
  %x = tenon.gather %w, %ids {axis = 0 : i64} : (tensor<3x4xf32>, tensor<5xi64>) -> tensor<5x4xf32>
  %y = tenon.contract %x, %w {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 1, 2>, result_dims = array<i64: 0, 1>}
    : (tensor<5x4xf32>, tensor<3x4xf32>) -> tensor<5x3xf32>
  return %y : tensor<5x3xf32>
}

// -----

// What anything else reads stays: elements that are added, a matrix that products sum along both dimensions of, a
// batch of matrices, a square that is looked up along its columns, integers.
// CHECK-LABEL: func.func @left
// CHECK-NOT: name = "{{added|both|batch|columns|numbers}} (
// CHECK: return
func.func @left(%x: tensor<2x2xf32>, %b: tensor<1x2x2xf32>, %i: tensor<1xi64>, %n: tensor<2x2xi32>)
    -> (tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<1x2x2xf32>, tensor<2x1xf32>, tensor<2x2xi32>, tensor<2x2xf32>) {
  %added = tenon.weight dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32> {name = "added"}
  %0 = tenon.add %x, %added : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %1 = tenon.contract %x, %added {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 1, 2>, result_dims = array<i64: 0, 1>}
    : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %both = tenon.weight dense<[[1.0, 2.0], [3.0, 5.0]]> : tensor<2x2xf32> {name = "both"}
  %2 = tenon.contract %x, %both {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 1, 2>, result_dims = array<i64: 0, 1>}
    : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %3 = tenon.contract %x, %both {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 2, 1>, result_dims = array<i64: 0, 1>}
    : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %batch = tenon.weight dense<[[[1.0, 2.0], [3.0, 6.0]]]> : tensor<1x2x2xf32> {name = "batch"}
  %4 = tenon.contract %b, %batch {lhs_dims = array<i64: 0, 1, 3>, rhs_dims = array<i64: 0, 2, 3>, result_dims = array<i64: 0, 1, 2>}
    : (tensor<1x2x2xf32>, tensor<1x2x2xf32>) -> tensor<1x2x2xf32>
  %columns = tenon.weight dense<[[1.0, 2.0], [3.0, 7.0]]> : tensor<2x2xf32> {name = "columns"}
  %5 = tenon.gather %columns, %i {axis = 1 : i64} : (tensor<2x2xf32>, tensor<1xi64>) -> tensor<2x1xf32>
  %numbers = tenon.weight dense<[[1, 2], [3, 8]]> : tensor<2x2xi32> {name = "numbers"}
  %6 = tenon.contract %n, %numbers {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 1, 2>, result_dims = array<i64: 0, 1>}
    : (tensor<2x2xi32>, tensor<2x2xi32>) -> tensor<2x2xi32>
  %stored = tenon.weight dense<[[1.0, 2.0], [3.0, 9.0]]> : tensor<2x2xf32> {name = "stored"}
  %7 = tenon.contract %x, %stored {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 1, 2>, result_dims = array<i64: 0, 1>}
    : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return %0, %1, %2, %3, %4, %5, %6, %7
    : tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<1x2x2xf32>, tensor<2x1xf32>, tensor<2x2xi32>, tensor<2x2xf32>
}
