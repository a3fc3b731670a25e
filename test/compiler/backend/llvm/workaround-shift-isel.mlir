// Columns that are copied for a depthwise convolution of 512 channels: a tile begins at line `index / 8 * 4` there, and `index / 8` is used,
// too. LLVM's instruction selection for x86 crashes where the first is written as a mask (WorkaroundShiftIsel).
// RUN: tenon compile %s --target x86-64-v3 --emit llvm -o %t.ll
// RUN: FileCheck %s < %t.ll
// RUN: tenon compile %s --target x86-64-v3 --emit obj -o %t.o

// CHECK-LABEL: define {{.*}}convolve
// CHECK-NOT: and i64 {{.*}}, 9223372036854775804
// CHECK: %[[INDEX:.*]] = lshr i64 %{{.*}}, 3
// CHECK-NEXT: shl i64 %[[INDEX]], 2
// CHECK-NOT: and i64 {{.*}}, 9223372036854775804
// CHECK: ret i32
func.func @main(%x: tensor<1x512x64x64xf32> {tenon.name = "x"}) -> (tensor<1x512x64x64xf32> {tenon.name = "y"}) {
  %f = tenon.weight dense<0.5> : tensor<512x1x3x3xf32>
  %0 = tenon.convolve %x, %f {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, groups = 512 : i64}
    : (tensor<1x512x64x64xf32>, tensor<512x1x3x3xf32>) -> tensor<1x512x64x64xf32>
  return %0 : tensor<1x512x64x64xf32>
}
