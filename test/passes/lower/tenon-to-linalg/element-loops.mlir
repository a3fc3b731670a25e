// RUN: tenon-opt %s -tenon-to-linalg | FileCheck %s

// An element with a loop of its own is still an element: what reads it may stand in the same body.
// CHECK-LABEL: func.func private @search
// CHECK: linalg.generic
// CHECK: scf.while
// CHECK: scf.condition
// CHECK: tensor.extract
// CHECK: arith.addi
// CHECK: linalg.yield
func.func private @search(%x: tensor<4xf32>, %keys: tensor<10xf32>, %o: tensor<4xi64>) -> tensor<4xi64> attributes {tenon.kernel} {
  %0 = tenon.searchsorted %x, %keys : (tensor<4xf32>, tensor<10xf32>) -> tensor<4xi64>
  %1 = tenon.add %0, %o : (tensor<4xi64>, tensor<4xi64>) -> tensor<4xi64>
  return %1 : tensor<4xi64>
}

// One mode for all nodes is a constant in the loop.
// CHECK-LABEL: func.func private @tree_ensemble
// CHECK: scf.while
// CHECK: arith.cmpi sge
// CHECK: scf.condition
// CHECK: arith.cmpf ole
func.func private @tree_ensemble(%x: tensor<5x3xf32>, %r: tensor<2xi64>, %f: tensor<7xi64>, %t: tensor<7xf32>, %c: tensor<7xi64>)
    -> tensor<5x2xi64> attributes {tenon.kernel} {
  %m = tenon.weight dense<0> : tensor<7xi64>
  %0 = tenon.tree_ensemble %x, %r, %f, %t, %m, %c, %c
    : (tensor<5x3xf32>, tensor<2xi64>, tensor<7xi64>, tensor<7xf32>, tensor<7xi64>, tensor<7xi64>, tensor<7xi64>) -> tensor<5x2xi64>
  return %0 : tensor<5x2xi64>
}

// CHECK-LABEL: func.func private @roi_align
// CHECK: scf.while
// CHECK: scf.if
func.func private @roi_align(%x: tensor<1x3x10x10xf32>, %r: tensor<2x4xf32>, %b: tensor<2xi64>) -> tensor<2x3x5x5xf32> attributes {tenon.kernel} {
  %0 = tenon.roi_align max, %x, %r, %b {scale = 1.0 : f64, shift = 0.5 : f64, samples = 0 : i64}
    : (tensor<1x3x10x10xf32>, tensor<2x4xf32>, tensor<2xi64>) -> tensor<2x3x5x5xf32>
  return %0 : tensor<2x3x5x5xf32>
}

// Ten rounds of Philox: the multipliers 0xD2511F53 and 0xCD9E8D57.
// CHECK-LABEL: func.func private @random_bits
// CHECK-DAG: arith.constant 3528531795 : i64
// CHECK-DAG: arith.constant 3449720151 : i64
// CHECK-COUNT-19: arith.muli
// CHECK-NOT: arith.muli
// CHECK: linalg.yield
func.func private @random_bits(%k: tensor<i64>) -> tensor<6xui32> attributes {tenon.kernel} {
  %0 = tenon.random_bits %k {stream = 7 : i64} : (tensor<i64>) -> tensor<6xui32>
  return %0 : tensor<6xui32>
}
