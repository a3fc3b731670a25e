// RUN: tenon-opt %s -split-input-file -plan-merge-launches=force=*=merged_launches | FileCheck %s
// RUN: tenon-opt %s -split-input-file -plan-merge-launches=force=*=merged_launches,k_proj=separate_launches | FileCheck %s --check-prefix=NODE
// RUN: tenon-opt %s -split-input-file -plan-merge-launches | FileCheck %s --check-prefix=DEFAULT
// RUN: tenon-opt %s -split-input-file -plan-merge-launches=exclude=merged_launches | FileCheck %s --check-prefix=NONE

// NONE-NOT: kernel.merged
// DEFAULT-NOT: kernel.merged

// Each thread computes the norm of its own, in a slot, for products that are side by side. The same products of another
// row have the same merged kernel.
// CHECK-LABEL: plan.program @products
// CHECK-SAME: scratch = 4352 : i64
// CHECK-NOT: plan.launch @norm
// CHECK: %[[TILES:.*]] = arith.addi
// CHECK: plan.launch @product_merged({{.*}}, {{.*}}) -> ({{.*}}, {{.*}}) sizes() tiles %[[TILES]] {name = "q_proj + norm + k_proj"}
// CHECK: plan.launch @product_merged({{.*}}, {{.*}}) -> ({{.*}}, {{.*}}) sizes() tiles {{.*}} {name = "q_proj + norm + k_proj"}
// CHECK-NOT: plan.launch
// CHECK: kernel.merged @product_merged buffers 4 sizes 0 scratch 200 slots [4096]
// CHECK-SAME: #kernel.part<@norm, whole, buffers = [0, 4], sizes = []>
// CHECK-SAME: #kernel.part<@product, tiles, buffers = [1, 4, 2], sizes = []>
// CHECK-SAME: #kernel.part<@product, tiles, buffers = [1, 4, 3], sizes = []>
// CHECK-NOT: kernel.merged
// NODE-LABEL: plan.program @products
// NODE-NOT: _merged
module {
  func.func private @norm(tensor<1x1024xf32> {tenon.dims = #tenon.shape<1, 1024>},
      tensor<1x1024xf32> {tenon.dims = #tenon.shape<1, 1024>, tenon.output}, index, index)
      attributes {tenon.kernel, tenon.tiles = #tenon.shape<1>}
  func.func private @product(tensor<32x1024x32xf32> {tenon.dims = #tenon.shape<32, 1024, 32>},
      tensor<1x1024xf32> {tenon.dims = #tenon.shape<1, 1024>},
      tensor<1x1024xf32> {tenon.dims = #tenon.shape<1, 1024>, tenon.output}, index, index)
      attributes {tenon.kernel, tenon.scratch = 200 : i64, tenon.tiles = #tenon.shape<8>}
  plan.program @products symbols []
      inputs [{name = "x", type = f32, dims = #tenon.shape<1, 1024>}, {name = "z", type = f32, dims = #tenon.shape<1, 1024>}]
      outputs [{name = "q0", type = f32, dims = #tenon.shape<1, 1024>}, {name = "k0", type = f32, dims = #tenon.shape<1, 1024>},
               {name = "q1", type = f32, dims = #tenon.shape<1, 1024>}, {name = "k1", type = f32, dims = #tenon.shape<1, 1024>}]
      attributes {scratch = 200 : i64} {
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %c4096 = arith.constant 4096 : index
    %x = plan.input 0 size %c4096
    %z = plan.input 1 size %c4096
    %q0 = plan.output 0 size %c4096
    %k0 = plan.output 1 size %c4096
    %q1 = plan.output 2 size %c4096
    %k1 = plan.output 3 size %c4096
    %w = plan.weight dense<0.0> : tensor<32x1024x32xf32>
    %a = plan.alloc %c4096
    plan.launch @norm(%x) -> (%a) sizes() tiles %c1 {name = "norm"}
    plan.launch @product(%w, %a) -> (%q0) sizes() tiles %c8 {name = "q_proj"}
    plan.launch @product(%w, %a) -> (%k0) sizes() tiles %c8 {name = "k_proj"}
    %b = plan.alloc %c4096
    plan.launch @norm(%z) -> (%b) sizes() tiles %c1 {name = "norm"}
    plan.launch @product(%w, %b) -> (%q1) sizes() tiles %c8 {name = "q_proj"}
    plan.launch @product(%w, %b) -> (%k1) sizes() tiles %c8 {name = "k_proj"}
  }
}

// -----

// What is read later, too, or is an output, is computed once; so is what reads what a large launch overwrites.
// CHECK-LABEL: plan.program @shared
// NODE-LABEL: plan.program @shared
// CHECK: plan.launch @norm{{.*}} {name = "output"}
// CHECK: plan.launch @product{{.*}} {name = "a"}
// CHECK: plan.launch @norm{{.*}} {name = "read later"}
// CHECK: plan.launch @product{{.*}} {name = "b"}
// CHECK: plan.launch @product{{.*}} {name = "c"}
// CHECK: plan.launch @norm{{.*}} {name = "overwritten"}
// CHECK: plan.launch @product{{.*}} {name = "d"}
// CHECK-NOT: kernel.merged
module {
  func.func private @norm(tensor<1x1024xf32> {tenon.dims = #tenon.shape<1, 1024>},
      tensor<1x1024xf32> {tenon.dims = #tenon.shape<1, 1024>, tenon.output}, index, index)
      attributes {tenon.kernel, tenon.tiles = #tenon.shape<1>}
  func.func private @product(tensor<32x1024x32xf32> {tenon.dims = #tenon.shape<32, 1024, 32>},
      tensor<1x1024xf32> {tenon.dims = #tenon.shape<1, 1024>},
      tensor<1x1024xf32> {tenon.dims = #tenon.shape<1, 1024>, tenon.output}, index, index)
      attributes {tenon.kernel, tenon.tiles = #tenon.shape<8>}
  plan.program @shared symbols []
      inputs [{name = "x", type = f32, dims = #tenon.shape<1, 1024>}]
      outputs [{name = "y0", type = f32, dims = #tenon.shape<1, 1024>}, {name = "y1", type = f32, dims = #tenon.shape<1, 1024>}] {
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %c4096 = arith.constant 4096 : index
    %x = plan.input 0 size %c4096
    %y0 = plan.output 0 size %c4096
    %y1 = plan.output 1 size %c4096
    %w = plan.weight dense<0.0> : tensor<32x1024x32xf32>
    %a = plan.alloc %c4096
    %b = plan.alloc %c4096
    %c = plan.alloc %c4096
    %d = plan.alloc %c4096
    plan.launch @norm(%x) -> (%y0) sizes() tiles %c1 {name = "output"}
    plan.launch @product(%w, %y0) -> (%a) sizes() tiles %c8 {name = "a"}
    plan.launch @norm(%a) -> (%b) sizes() tiles %c1 {name = "read later"}
    plan.launch @product(%w, %b) -> (%c) sizes() tiles %c8 {name = "b"}
    plan.launch @product(%w, %c) -> (%a) sizes() tiles %c8 {name = "c"}
    plan.copy %b to %c size %c4096 {name = ""}
    plan.launch @norm(%a) -> (%d) sizes() tiles %c1 {name = "overwritten"}
    plan.launch @product(%w, %d) -> (%a) sizes() tiles %c8 {name = "d"}
    plan.copy %a to %y1 size %c4096 {name = ""}
  }
}

// -----

// Small launches of which others read the results become one, of one tile, between large ones; nothing waits for those
// at the end.
// CHECK-LABEL: plan.program @small
// CHECK: plan.launch @product{{.*}} {name = "a"}
// CHECK: %[[ONE:.*]] = arith.constant 1
// CHECK: plan.launch @half_merged({{.*}}) -> ({{.*}}) sizes() tiles %[[ONE]] {name = "rope + append"}
// CHECK: plan.launch @product{{.*}} {name = "b"}
// CHECK: plan.launch @half{{.*}} {name = "last"}
// CHECK: plan.launch @half{{.*}} {name = "very last"}
// CHECK: kernel.merged @half_merged buffers 3 sizes 0 scratch 0 slots []
// CHECK-SAME: #kernel.part<@half, whole, buffers = [0, 1], sizes = []>
// CHECK-SAME: #kernel.part<@half, whole, buffers = [1, 2], sizes = []>
module {
  func.func private @half(tensor<1x1024xf32> {tenon.dims = #tenon.shape<1, 1024>},
      tensor<1x1024xf32> {tenon.dims = #tenon.shape<1, 1024>, tenon.output}, index, index)
      attributes {tenon.kernel, tenon.tiles = #tenon.shape<2>}
  func.func private @product(tensor<32x1024x32xf32> {tenon.dims = #tenon.shape<32, 1024, 32>},
      tensor<1x1024xf32> {tenon.dims = #tenon.shape<1, 1024>},
      tensor<1x1024xf32> {tenon.dims = #tenon.shape<1, 1024>, tenon.output}, index, index)
      attributes {tenon.kernel, tenon.tiles = #tenon.shape<8>}
  plan.program @small symbols []
      inputs [{name = "x", type = f32, dims = #tenon.shape<1, 1024>}]
      outputs [{name = "y", type = f32, dims = #tenon.shape<1, 1024>}, {name = "z", type = f32, dims = #tenon.shape<1, 1024>}] {
    %c2 = arith.constant 2 : index
    %c8 = arith.constant 8 : index
    %c4096 = arith.constant 4096 : index
    %x = plan.input 0 size %c4096
    %y = plan.output 0 size %c4096
    %z = plan.output 1 size %c4096
    %w = plan.weight dense<0.0> : tensor<32x1024x32xf32>
    %a = plan.alloc %c4096
    %b = plan.alloc %c4096
    %c = plan.alloc %c4096
    plan.launch @product(%w, %x) -> (%a) sizes() tiles %c8 {name = "a"}
    plan.launch @half(%a) -> (%b) sizes() tiles %c2 {name = "rope"}
    plan.launch @half(%b) -> (%y) sizes() tiles %c2 {name = "append"}
    plan.launch @product(%w, %y) -> (%c) sizes() tiles %c8 {name = "b"}
    plan.launch @half(%c) -> (%a) sizes() tiles %c2 {name = "last"}
    plan.launch @half(%a) -> (%z) sizes() tiles %c2 {name = "very last"}
  }
}

// -----

// A tile of the second product reads what the tile of the same number has written: an element, in @same; the whole row,
// and the tile before, it waits for.
// CHECK-LABEL: plan.program @along
// CHECK: plan.launch @first_merged({{.*}}) -> ({{.*}}) sizes() tiles {{.*}} {name = "gate + up"}
// CHECK: plan.launch @first{{.*}} {name = "gate again"}
// CHECK: plan.launch @whole{{.*}} {name = "needs all"}
// CHECK: plan.launch @first{{.*}} {name = "gate once more"}
// CHECK: plan.launch @before{{.*}} {name = "needs others"}
// CHECK: kernel.merged @first_merged buffers 5 sizes 0 scratch 0 slots []
// CHECK-SAME: #kernel.part<@first, tiles, buffers = [0, 1, 3], sizes = []>
// CHECK-SAME: #kernel.part<@same, along, buffers = [2, 3, 4], sizes = []>
module {
  func.func private @first(%w: tensor<8x128x1024xf32> {tenon.dims = #tenon.shape<8, 128, 1024>},
      %x: tensor<1x1024xf32> {tenon.dims = #tenon.shape<1, 1024>},
      %out: tensor<1x1024xf32> {tenon.dims = #tenon.shape<1, 1024>, tenon.output}, %begin: index, %end: index) -> tensor<1x1024xf32>
      attributes {tenon.kernel, tenon.tiles = #tenon.shape<8>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %0 = scf.for %i = %begin to %end step %c1 iter_args(%o = %out) -> (tensor<1x1024xf32>) {
      %x0 = tensor.extract %x[%c0, %c0] : tensor<1x1024xf32>
      %at = affine.apply affine_map<(d0) -> (d0 * 128)>(%i)
      %slice = tensor.extract_slice %o[0, %at] [1, 128] [1, 1] : tensor<1x1024xf32> to tensor<1x128xf32>
      %first = tensor.insert %x0 into %slice[%c0, %c0] : tensor<1x128xf32>
      %back = tensor.insert_slice %first into %o[0, %at] [1, 128] [1, 1] : tensor<1x128xf32> into tensor<1x1024xf32>
      scf.yield %back : tensor<1x1024xf32>
    }
    return %0 : tensor<1x1024xf32>
  }
  func.func private @same(%w: tensor<8x128x1024xf32> {tenon.dims = #tenon.shape<8, 128, 1024>},
      %x: tensor<1x1024xf32> {tenon.dims = #tenon.shape<1, 1024>},
      %out: tensor<1x1024xf32> {tenon.dims = #tenon.shape<1, 1024>, tenon.output}, %begin: index, %end: index) -> tensor<1x1024xf32>
      attributes {tenon.kernel, tenon.tiles = #tenon.shape<8>} {
    %c1 = arith.constant 1 : index
    %0 = scf.for %i = %begin to %end step %c1 iter_args(%o = %out) -> (tensor<1x1024xf32>) {
      %at = affine.apply affine_map<(d0) -> (d0 * 128)>(%i)
      %slice = tensor.extract_slice %x[0, %at] [1, 128] [1, 1] : tensor<1x1024xf32> to tensor<1x128xf32>
      %back = tensor.insert_slice %slice into %o[0, %at] [1, 128] [1, 1] : tensor<1x128xf32> into tensor<1x1024xf32>
      scf.yield %back : tensor<1x1024xf32>
    }
    return %0 : tensor<1x1024xf32>
  }
  func.func private @whole(%w: tensor<8x128x1024xf32> {tenon.dims = #tenon.shape<8, 128, 1024>},
      %x: tensor<1x1024xf32> {tenon.dims = #tenon.shape<1, 1024>},
      %out: tensor<1x1024xf32> {tenon.dims = #tenon.shape<1, 1024>, tenon.output}, %begin: index, %end: index) -> tensor<1x1024xf32>
      attributes {tenon.kernel, tenon.tiles = #tenon.shape<8>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %0 = scf.for %i = %begin to %end step %c1 iter_args(%o = %out) -> (tensor<1x1024xf32>) {
      %x0 = tensor.extract %x[%c0, %c0] : tensor<1x1024xf32>
      %at = affine.apply affine_map<(d0) -> (d0 * 128)>(%i)
      %slice = tensor.extract_slice %x[0, %at] [1, 128] [1, 1] : tensor<1x1024xf32> to tensor<1x128xf32>
      %added = tensor.insert %x0 into %slice[%c0, %c0] : tensor<1x128xf32>
      %back = tensor.insert_slice %added into %o[0, %at] [1, 128] [1, 1] : tensor<1x128xf32> into tensor<1x1024xf32>
      scf.yield %back : tensor<1x1024xf32>
    }
    return %0 : tensor<1x1024xf32>
  }
  func.func private @before(%w: tensor<8x128x1024xf32> {tenon.dims = #tenon.shape<8, 128, 1024>},
      %x: tensor<1x1024xf32> {tenon.dims = #tenon.shape<1, 1024>},
      %out: tensor<1x1024xf32> {tenon.dims = #tenon.shape<1, 1024>, tenon.output}, %begin: index, %end: index) -> tensor<1x1024xf32>
      attributes {tenon.kernel, tenon.tiles = #tenon.shape<8>} {
    %c1 = arith.constant 1 : index
    %0 = scf.for %i = %begin to %end step %c1 iter_args(%o = %out) -> (tensor<1x1024xf32>) {
      %at = affine.apply affine_map<(d0) -> (d0 * 128)>(%i)
      %other = affine.apply affine_map<(d0) -> (896 - d0 * 128)>(%i)
      %slice = tensor.extract_slice %x[0, %other] [1, 128] [1, 1] : tensor<1x1024xf32> to tensor<1x128xf32>
      %back = tensor.insert_slice %slice into %o[0, %at] [1, 128] [1, 1] : tensor<1x128xf32> into tensor<1x1024xf32>
      scf.yield %back : tensor<1x1024xf32>
    }
    return %0 : tensor<1x1024xf32>
  }
  plan.program @along symbols []
      inputs [{name = "x", type = f32, dims = #tenon.shape<1, 1024>}]
      outputs [{name = "y", type = f32, dims = #tenon.shape<1, 1024>}] {
    %c8 = arith.constant 8 : index
    %c4096 = arith.constant 4096 : index
    %x = plan.input 0 size %c4096
    %y = plan.output 0 size %c4096
    %v = plan.weight dense<1.0> : tensor<8x128x1024xf32>
    %w = plan.weight dense<0.0> : tensor<8x128x1024xf32>
    %a = plan.alloc %c4096
    %b = plan.alloc %c4096
    %c = plan.alloc %c4096
    %d = plan.alloc %c4096
    %e = plan.alloc %c4096
    plan.launch @first(%v, %x) -> (%a) sizes() tiles %c8 {name = "gate"}
    plan.launch @same(%w, %a) -> (%b) sizes() tiles %c8 {name = "up"}
    plan.launch @first(%v, %b) -> (%c) sizes() tiles %c8 {name = "gate again"}
    plan.launch @whole(%w, %c) -> (%d) sizes() tiles %c8 {name = "needs all"}
    plan.launch @first(%v, %d) -> (%e) sizes() tiles %c8 {name = "gate once more"}
    plan.launch @before(%w, %e) -> (%y) sizes() tiles %c8 {name = "needs others"}
  }
}

// -----

// A norm of many rows is no small launch, nor is one of an unknown number of rows; a few rows by their range are.
// CHECK-LABEL: plan.program @rows
// CHECK: plan.launch @norm{{.*}} {name = "many"}
// CHECK: plan.launch @product{{.*}} {name = "many rows"}
// CHECK: plan.launch @product_merged{{.*}} {name = "few rows + few"}
module {
  func.func private @norm(tensor<?x1024xf32, #tenon.shape<N, 1024>> {tenon.dims = #tenon.shape<N, 1024>},
      tensor<1x1024xf32> {tenon.dims = #tenon.shape<1, 1024>, tenon.output}, index, index, index)
      attributes {tenon.kernel, tenon.symbols = ["N"], tenon.tiles = #tenon.shape<1>}
  func.func private @product(tensor<32x1024x32xf32> {tenon.dims = #tenon.shape<32, 1024, 32>},
      tensor<1x1024xf32> {tenon.dims = #tenon.shape<1, 1024>},
      tensor<1x1024xf32> {tenon.dims = #tenon.shape<1, 1024>, tenon.output}, index, index)
      attributes {tenon.kernel, tenon.tiles = #tenon.shape<8>}
  plan.program @rows symbols ["N", "M"]
      inputs [{name = "x", type = f32, dims = #tenon.shape<N, 1024>}, {name = "z", type = f32, dims = #tenon.shape<M, 1024>}]
      outputs [{name = "y0", type = f32, dims = #tenon.shape<1, 1024>}, {name = "y1", type = f32, dims = #tenon.shape<1, 1024>}]
      attributes {ranges = {M = array<i64: 1, 4>}} {
  ^bb0(%N: index, %M: index):
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %c4096 = arith.constant 4096 : index
    %n = arith.muli %N, %c4096 : index
    %m = arith.muli %M, %c4096 : index
    %x = plan.input 0 size %n
    %z = plan.input 1 size %m
    %y0 = plan.output 0 size %c4096
    %y1 = plan.output 1 size %c4096
    %w = plan.weight dense<0.0> : tensor<32x1024x32xf32>
    %a = plan.alloc %c4096
    plan.launch @norm(%x) -> (%a) sizes(%N) tiles %c1 {name = "many"}
    plan.launch @product(%w, %a) -> (%y0) sizes() tiles %c8 {name = "many rows"}
    %b = plan.alloc %c4096
    plan.launch @norm(%z) -> (%b) sizes(%M) tiles %c1 {name = "few"}
    plan.launch @product(%w, %b) -> (%y1) sizes() tiles %c8 {name = "few rows"}
  }
}

// -----

// By default, launches of models with states are merged.
// CHECK: kernel.merged @product_merged
// DEFAULT-LABEL: plan.program @state
// DEFAULT: kernel.merged @product_merged
module {
  func.func private @norm(tensor<1x1024xf32> {tenon.dims = #tenon.shape<1, 1024>},
      tensor<1x1024xf32> {tenon.dims = #tenon.shape<1, 1024>, tenon.output}, index, index)
      attributes {tenon.kernel, tenon.tiles = #tenon.shape<1>}
  func.func private @product(tensor<32x1024x32xf32> {tenon.dims = #tenon.shape<32, 1024, 32>},
      tensor<1x1024xf32> {tenon.dims = #tenon.shape<1, 1024>},
      tensor<1x1024xf32> {tenon.dims = #tenon.shape<1, 1024>, tenon.output}, index, index)
      attributes {tenon.kernel, tenon.tiles = #tenon.shape<8>}
  plan.program @state symbols []
      inputs [{name = "x", type = f32, dims = #tenon.shape<1, 1024>}]
      outputs [{name = "y", type = f32, dims = #tenon.shape<1, 1024>}] {
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %c4096 = arith.constant 4096 : index
    %x = plan.input 0 size %c4096
    %state = plan.state "keys" : tensor<1x1024xf32>
    %y = plan.output 0 size %c4096
    %w = plan.weight dense<0.0> : tensor<32x1024x32xf32>
    %a = plan.alloc %c4096
    plan.launch @norm(%x) -> (%a) sizes() tiles %c1 {name = "norm"}
    plan.launch @product(%w, %a) -> (%y) sizes() tiles %c8 {name = "product"}
  }
}
