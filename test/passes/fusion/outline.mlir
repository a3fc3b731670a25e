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
// CHECK-LABEL: @usual_sizes
// CHECK: tenon.launch @[[K:[^(]*]](%{{.*}}) {sizes = #tenon.shape<N>}
// CHECK: tenon.launch @[[L:[^(]*]](%{{.*}}) {sizes = #tenon.shape<M>}
// CHECK-DAG: func.func private @[[K]]({{.*}}tenon.usual = {s0 = 128 : i64}
// CHECK-DAG: func.func private @[[L]]({{.*}}tenon.symbols = ["s0"]}
func.func @usual_sizes(%x: tensor<?xf32, #tenon.shape<N>>, %y: tensor<?xf32, #tenon.shape<M>>)
    -> (tensor<?xf32, #tenon.shape<N>>, tensor<?xf32, #tenon.shape<M>>) attributes {tenon.usual = {N = 128}} {
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
