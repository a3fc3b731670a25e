// RUN: tenon-opt %s -split-input-file -tenon-outline | FileCheck %s

// Two layers that differ in a weight alone share a kernel.
// CHECK-LABEL: @equal_regions_share_a_kernel
// CHECK: tenon.launch @[[K:[^(]*]](%{{.*}}, %[[W:.*]])
// CHECK: tenon.launch @[[K]](%{{.*}}, %[[V:.*]])
// CHECK: func.func private @[[K]](%{{.*}}: tensor<2xf32>, %{{.*}}: tensor<2xf32>) -> tensor<2xf32>
// CHECK-SAME: tenon.kernel
// CHECK-NOT: func.func private
func.func @equal_regions_share_a_kernel(%x: tensor<2xf32>, %w: tensor<2xf32>, %v: tensor<2xf32>) -> tensor<2xf32> {
  %0 = tenon.dispatch -> tensor<2xf32> {
    %1 = tenon.add %x, %w : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    tenon.yield %1 : tensor<2xf32>
  }
  %2 = tenon.dispatch -> tensor<2xf32> {
    %3 = tenon.add %0, %v : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    tenon.yield %3 : tensor<2xf32>
  }
  return %2 : tensor<2xf32>
}

// -----

// CHECK-LABEL: @no_sharing_of_other_operations
// CHECK: tenon.launch @[[A:[^(]*]](
// CHECK: tenon.launch @[[B:[^(]*]](
// CHECK-DAG: func.func private @[[A]](
// CHECK-DAG: func.func private @[[B]](
func.func @no_sharing_of_other_operations(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = tenon.dispatch -> tensor<2xf32> {
    %1 = tenon.exp %x : (tensor<2xf32>) -> tensor<2xf32>
    tenon.yield %1 : tensor<2xf32>
  }
  %2 = tenon.dispatch -> tensor<2xf32> {
    %3 = tenon.neg %0 : (tensor<2xf32>) -> tensor<2xf32>
    tenon.yield %3 : tensor<2xf32>
  }
  return %2 : tensor<2xf32>
}

// -----

// Names of symbols do not matter to a kernel: it has its own, and a launch says what they are.
// CHECK-LABEL: @symbols_are_renamed
// CHECK: tenon.launch @[[K:[^(]*]](%{{.*}}) {sizes = #tenon.shape<N>}
// CHECK: tenon.launch @[[K]](%{{.*}}) {sizes = #tenon.shape<M>}
// CHECK: func.func private @[[K]](%{{.*}}: tensor<?xf32, #tenon.shape<s0>>) -> tensor<?xf32, #tenon.shape<s0>>
// CHECK-SAME: tenon.symbols = ["s0"]
func.func @symbols_are_renamed(%x: tensor<?xf32, #tenon.shape<N>>, %y: tensor<?xf32, #tenon.shape<M>>)
    -> (tensor<?xf32, #tenon.shape<N>>, tensor<?xf32, #tenon.shape<M>>) {
  %0 = tenon.dispatch -> tensor<?xf32, #tenon.shape<N>> {
    %1 = tenon.exp %x : (tensor<?xf32, #tenon.shape<N>>) -> tensor<?xf32, #tenon.shape<N>>
    tenon.yield %1 : tensor<?xf32, #tenon.shape<N>>
  }
  %2 = tenon.dispatch -> tensor<?xf32, #tenon.shape<M>> {
    %3 = tenon.exp %y : (tensor<?xf32, #tenon.shape<M>>) -> tensor<?xf32, #tenon.shape<M>>
    tenon.yield %3 : tensor<?xf32, #tenon.shape<M>>
  }
  return %0, %2 : tensor<?xf32, #tenon.shape<N>>, tensor<?xf32, #tenon.shape<M>>
}

// -----

// Which value one usually has is known under its new name; kernels for other values are others.
// CHECK-LABEL: @size_hints
// CHECK: tenon.launch @[[K:[^(]*]](%{{.*}}) {sizes = #tenon.shape<N>}
// CHECK: tenon.launch @[[L:[^(]*]](%{{.*}}) {sizes = #tenon.shape<M>}
// CHECK-DAG: func.func private @[[K]]({{.*}}tenon.size_hints = {s0 = 128 : i64}
// CHECK-DAG: func.func private @[[L]]({{.*}}tenon.symbols = ["s0"]}
func.func @size_hints(%x: tensor<?xf32, #tenon.shape<N>>, %y: tensor<?xf32, #tenon.shape<M>>)
    -> (tensor<?xf32, #tenon.shape<N>>, tensor<?xf32, #tenon.shape<M>>) attributes {tenon.size_hints = {N = 128}} {
  %0 = tenon.dispatch -> tensor<?xf32, #tenon.shape<N>> {
    %1 = tenon.exp %x : (tensor<?xf32, #tenon.shape<N>>) -> tensor<?xf32, #tenon.shape<N>>
    tenon.yield %1 : tensor<?xf32, #tenon.shape<N>>
  }
  %2 = tenon.dispatch -> tensor<?xf32, #tenon.shape<M>> {
    %3 = tenon.exp %y : (tensor<?xf32, #tenon.shape<M>>) -> tensor<?xf32, #tenon.shape<M>>
    tenon.yield %3 : tensor<?xf32, #tenon.shape<M>>
  }
  return %0, %2 : tensor<?xf32, #tenon.shape<N>>, tensor<?xf32, #tenon.shape<M>>
}

// -----

// Regions that differ in numbers alone share a kernel, which reads them; what all of them have is a part of it.
// CHECK-LABEL: @numbers_are_operands
// CHECK-DAG: %[[A:.*]] = tenon.weight dense<2.500000e-01> : tensor<f32>
// CHECK-DAG: %[[B:.*]] = tenon.weight dense<5.000000e-01> : tensor<f32>
// CHECK-DAG: %[[C:.*]] = tenon.weight dense<128> : tensor<i32>
// CHECK-DAG: %[[D:.*]] = tenon.weight dense<130> : tensor<i32>
// CHECK: tenon.launch @[[K:[^(]*]](%[[X:[^,]*]], %[[C]], %[[A]])
// CHECK: tenon.launch @[[K]](%[[X]], %[[D]], %[[B]])
// CHECK: func.func private @[[K]](
// CHECK: tenon.weight dense<3.000000e+00>
// CHECK: tenon.add
// CHECK-NOT: func.func private
func.func @numbers_are_operands(%x: tensor<4xi32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = tenon.dispatch -> tensor<4xf32> {
    %zero = tenon.weight dense<128> : tensor<i32>
    %1 = tenon.sub %x, %zero : (tensor<4xi32>, tensor<i32>) -> tensor<4xi32>
    %2 = tenon.cast %1 : (tensor<4xi32>) -> tensor<4xf32>
    %scale = tenon.weight dense<0.25> : tensor<f32>
    %3 = tenon.mul %2, %scale : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
    %three = tenon.weight dense<3.0> : tensor<f32>
    %4 = tenon.add %3, %three : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
    tenon.yield %4 : tensor<4xf32>
  }
  %5 = tenon.dispatch -> tensor<4xf32> {
    %zero = tenon.weight dense<130> : tensor<i32>
    %6 = tenon.sub %x, %zero : (tensor<4xi32>, tensor<i32>) -> tensor<4xi32>
    %7 = tenon.cast %6 : (tensor<4xi32>) -> tensor<4xf32>
    %scale = tenon.weight dense<0.5> : tensor<f32>
    %8 = tenon.mul %7, %scale : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
    %three = tenon.weight dense<3.0> : tensor<f32>
    %9 = tenon.add %8, %three : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
    tenon.yield %9 : tensor<4xf32>
  }
  return %0, %5 : tensor<4xf32>, tensor<4xf32>
}

// -----

// Where that makes no kernel less, they stay constants.
// CHECK-LABEL: @numbers_of_a_kernel
// CHECK: tenon.launch @[[K:[^(]*]](%[[X:[^,)]*]])
// CHECK: tenon.launch @[[K]](%[[X]])
// CHECK: func.func private @[[K]](
// CHECK: tenon.weight dense<2.500000e-01>
func.func @numbers_of_a_kernel(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = tenon.dispatch -> tensor<4xf32> {
    %scale = tenon.weight dense<0.25> : tensor<f32>
    %1 = tenon.mul %x, %scale : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
    tenon.yield %1 : tensor<4xf32>
  }
  %2 = tenon.dispatch -> tensor<4xf32> {
    %scale = tenon.weight dense<0.25> : tensor<f32>
    %3 = tenon.mul %x, %scale : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
    tenon.yield %3 : tensor<4xf32>
  }
  return %0, %2 : tensor<4xf32>, tensor<4xf32>
}

// -----

// Names of nodes make no kernels.
// CHECK-LABEL: func.func @alike
// CHECK: tenon.launch @[[EXP:k0_exp]](%arg0)
// CHECK: tenon.launch @[[EXP]](
// CHECK: func.func private @[[EXP]]
// CHECK-NOT: func.func private
func.func @alike(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = tenon.dispatch -> tensor<4xf32> {
    %a = tenon.exp %x : (tensor<4xf32>) -> tensor<4xf32> loc("first")
    tenon.yield %a : tensor<4xf32>
  } loc("first")
  %1 = tenon.dispatch -> tensor<4xf32> {
    %b = tenon.exp %0 : (tensor<4xf32>) -> tensor<4xf32> loc("second")
    tenon.yield %b : tensor<4xf32>
  } loc("second")
  return %1 : tensor<4xf32>
}

// -----

// A kernel of nothing but what a path needs says whose, also with what follows that; one that computes something else before does not.
// CHECK-LABEL: @served
// CHECK: func.func private @k0_reshape({{.*}} attributes {{{.*}}tenon.kernel, tenon.served_region = "a product"}
// CHECK: func.func private @k1_cast({{.*}} attributes {{{.*}}tenon.kernel}
// CHECK: func.func private @k2_exp({{.*}} attributes {{{.*}}tenon.kernel, tenon.served_region = "a product"}
func.func @served(%x: tensor<2xf32>, %y: tensor<2xf32>) -> (tensor<1x2xbf16>, tensor<2xbf16>, tensor<2xf32>) {
  %0 = tenon.dispatch -> tensor<1x2xbf16> {
    %1 = tenon.cast %x {tenon.served_region = "a product"} : (tensor<2xf32>) -> tensor<2xbf16>
    %2 = tenon.reshape %1 : (tensor<2xbf16>) -> tensor<1x2xbf16>
    tenon.yield %2 : tensor<1x2xbf16>
  }
  %3 = tenon.dispatch -> tensor<2xbf16> {
    %4 = tenon.neg %y : (tensor<2xf32>) -> tensor<2xf32>
    %5 = tenon.cast %4 {tenon.served_region = "a product"} : (tensor<2xf32>) -> tensor<2xbf16>
    tenon.yield %5 : tensor<2xbf16>
  }
  %6 = tenon.dispatch -> tensor<2xf32> {
    %7 = tenon.mul %x, %y {tenon.served_region = "a product"} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    %8 = tenon.add %7, %x : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    %9 = tenon.exp %8 : (tensor<2xf32>) -> tensor<2xf32>
    tenon.yield %9 : tensor<2xf32>
  }
  return %0, %3, %6 : tensor<1x2xbf16>, tensor<2xbf16>, tensor<2xf32>
}
