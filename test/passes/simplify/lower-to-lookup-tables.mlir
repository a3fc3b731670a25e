// RUN: tenon-opt %s --tenon-lower-to-lookup-tables | FileCheck %s
// Bytes that a costly function makes of bytes are looked up in a table of its 256 results.

// CHECK-LABEL: @of_one_tensor_of_bytes
// CHECK: %[[ALL:.*]] = tenon.iota {axis = 0 : i64} : () -> tensor<256xi32>
// CHECK: %[[BYTES:.*]] = tenon.cast %[[ALL]] : (tensor<256xi32>) -> tensor<256xi8>
// CHECK: tenon.erf {{.*}} : (tensor<256xf32>) -> tensor<256xf32>
// CHECK: %[[TABLE:.*]] = tenon.cast {{.*}} : (tensor<256xf32>) -> tensor<256xui8>
// The index of a signed byte is the unsigned one of the same bits.
// CHECK: %[[U:.*]] = tenon.cast %arg0 : (tensor<4x8xi8>) -> tensor<4x8xui8>
// CHECK: %[[I:.*]] = tenon.cast %[[U]] : (tensor<4x8xui8>) -> tensor<4x8xi32>
// CHECK: %[[R:.*]] = tenon.gather %[[TABLE]], %[[I]] {axis = 0 : i64}
// CHECK: return %[[R]]
func.func @of_one_tensor_of_bytes(%x: tensor<4x8xi8>) -> tensor<4x8xui8> {
  %s = tenon.weight dense<0.5> : tensor<1x1xf32>
  %0 = tenon.cast %x : (tensor<4x8xi8>) -> tensor<4x8xf32>
  %1 = tenon.erf %0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %2 = tenon.mul %1, %0 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %3 = tenon.mul %2, %s : (tensor<4x8xf32>, tensor<1x1xf32>) -> tensor<4x8xf32>
  %4 = tenon.cast %3 : (tensor<4x8xf32>) -> tensor<4x8xui8>
  return %4 : tensor<4x8xui8>
}

// Bytes on the way are no end of it.
// CHECK-LABEL: @a_function_of_a_function
// CHECK-COUNT-1: tenon.gather
// CHECK-NOT: tenon.gather
func.func @a_function_of_a_function(%x: tensor<8xui8>) -> tensor<8xui8> {
  %0 = tenon.cast %x : (tensor<8xui8>) -> tensor<8xf32>
  %1 = tenon.tanh %0 : (tensor<8xf32>) -> tensor<8xf32>
  %2 = tenon.cast %1 : (tensor<8xf32>) -> tensor<8xui8>
  %3 = tenon.cast %2 : (tensor<8xui8>) -> tensor<8xf32>
  %4 = tenon.erf %3 : (tensor<8xf32>) -> tensor<8xf32>
  %5 = tenon.cast %4 : (tensor<8xf32>) -> tensor<8xui8>
  return %5 : tensor<8xui8>
}

// Two tensors, a number for each column, something else that reads a step, and mere arithmetic.
// CHECK-LABEL: @left_alone
// CHECK-NOT: tenon.gather
func.func @left_alone(%x: tensor<4x8xui8>, %y: tensor<4x8xui8>) -> (tensor<4x8xui8>, tensor<4x8xui8>, tensor<4x8xf32>, tensor<4x8xui8>, tensor<4x8xui8>) {
  %c = tenon.weight dense_resource<c> : tensor<8xf32>
  %0 = tenon.cast %x : (tensor<4x8xui8>) -> tensor<4x8xf32>
  %1 = tenon.cast %y : (tensor<4x8xui8>) -> tensor<4x8xf32>
  %2 = tenon.add %0, %1 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %3 = tenon.erf %2 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %4 = tenon.cast %3 : (tensor<4x8xf32>) -> tensor<4x8xui8>
  %5 = tenon.mul %0, %c : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  %6 = tenon.erf %5 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %7 = tenon.cast %6 : (tensor<4x8xf32>) -> tensor<4x8xui8>
  %8 = tenon.erf %1 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %9 = tenon.cast %8 : (tensor<4x8xf32>) -> tensor<4x8xui8>
  %10 = tenon.add %0, %0 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %11 = tenon.cast %10 : (tensor<4x8xf32>) -> tensor<4x8xui8>
  return %4, %7, %8, %9, %11 : tensor<4x8xui8>, tensor<4x8xui8>, tensor<4x8xf32>, tensor<4x8xui8>, tensor<4x8xui8>
}

{-#
  dialect_resources: {
    builtin: {
      c: "0x040000000000803F000000400000404000008040000000A0000000410000003F000000BF"
    }
  }
#-}
