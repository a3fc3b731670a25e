// RUN: tenon-opt %s | tenon-opt | FileCheck %s
// RUN: tenon-opt %s -cse -canonicalize | FileCheck %s --check-prefix=OPT

// CHECK: tenon.state @keys : tensor<16x2x4xf32> live "past"
// CHECK: tenon.state @window : tensor<8x4xf32> live "kept" ring "slot"
// CHECK: tenon.state @hidden : tensor<1x4xf32> {initial = dense<1.000000e+00> : tensor<1x4xf32>}
// CHECK: tenon.state @count : tensor<i64>
// CHECK: tenon.state @keys.1 : tensor<16x2x4xf32> live "past.1" sequence 1 of @keys
tenon.state @keys : tensor<16x2x4xf32> live "past"
tenon.state @window : tensor<8x4xf32> live "kept" ring "slot"
tenon.state @hidden : tensor<1x4xf32> {initial = dense<1.0> : tensor<1x4xf32>}
tenon.state @count : tensor<i64>
tenon.state @keys.1 : tensor<16x2x4xf32> live "past.1" sequence 1 of @keys

// CHECK-LABEL: func.func @several(
func.func @several() -> tensor<?x2x4xf32, #tenon.shape<"past.1", 2, 4>> attributes {tenon.sequences = 2 : i64} {
  // CHECK: tenon.state.read @keys.1
  %0 = tenon.state.read @keys.1 : tensor<?x2x4xf32, #tenon.shape<"past.1", 2, 4>>
  return %0 : tensor<?x2x4xf32, #tenon.shape<"past.1", 2, 4>>
}

// CHECK-LABEL: func.func @forms(
func.func @forms(%k: tensor<?x2x4xf32, #tenon.shape<m, 2, 4>>, %w: tensor<2x4xf32>, %c: tensor<i64>) {
  // CHECK: tenon.state.update @keys at #tenon.shape<past> extends, %{{.*}} : tensor<?x2x4xf32, #tenon.shape<m, 2, 4>>
  tenon.state.update @keys at #tenon.shape<past> extends, %k : tensor<?x2x4xf32, #tenon.shape<m, 2, 4>>
  // CHECK: tenon.state.read @keys : tensor<?x2x4xf32, #tenon.shape<m + past, 2, 4>>
  %0 = tenon.state.read @keys : tensor<?x2x4xf32, #tenon.shape<past + m, 2, 4>>
  // CHECK: tenon.state.update @window at #tenon.shape<slot> extends, %{{.*}} : tensor<2x4xf32>
  tenon.state.update @window at #tenon.shape<slot> extends, %w : tensor<2x4xf32>
  // CHECK: tenon.state.update @count at #tenon.shape<0>, %{{.*}} : tensor<i64>
  tenon.state.update @count at #tenon.shape<0>, %c : tensor<i64>
  return
}

// Two reads with nothing between them are one, an update separates them, and stays although nothing reads it.
// OPT-LABEL: func.func @effects(
func.func @effects(%x: tensor<1x4xf32>) -> (tensor<1x4xf32>, tensor<1x4xf32>, tensor<1x4xf32>) {
  // OPT-NEXT: %[[BEFORE:.*]] = tenon.state.read @hidden
  %0 = tenon.state.read @hidden : tensor<1x4xf32>
  %1 = tenon.state.read @hidden : tensor<1x4xf32>
  // OPT-NEXT: tenon.state.update @hidden
  tenon.state.update @hidden at #tenon.shape<0>, %x : tensor<1x4xf32>
  // OPT-NEXT: %[[AFTER:.*]] = tenon.state.read @hidden
  %2 = tenon.state.read @hidden : tensor<1x4xf32>
  // OPT-NEXT: return %[[BEFORE]], %[[BEFORE]], %[[AFTER]]
  return %0, %1, %2 : tensor<1x4xf32>, tensor<1x4xf32>, tensor<1x4xf32>
}

// OPT-LABEL: func.func @unused(
// OPT-NEXT: return
func.func @unused() {
  %0 = tenon.state.read @hidden : tensor<1x4xf32>
  return
}
