// RUN: tenon-opt %s -split-input-file -pass-pipeline='builtin.module(plan.program(plan-assign-offsets))' | FileCheck %s

// Queries and keys are computed side by side; scores need both.
// CHECK-LABEL: plan.program @independent
// CHECK: plan.launch @q{{.*}} {name = "q"}
// CHECK: plan.launch @k{{.*}} {beside, name = "k"}
// CHECK: plan.launch @scores{{.*}} {name = "scores"}
plan.program @independent symbols []
    inputs [{name = "x0", type = f32, dims = #tenon.shape<4>}]
    outputs [{name = "y0", type = f32, dims = #tenon.shape<4>}] {
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %x = plan.input 0 size %c64
  %y = plan.output 0 size %c64
  %q = plan.alloc %c64
  plan.launch @q(%x) -> (%q) sizes() tiles %c1 {name = "q"}
  %k = plan.alloc %c64
  plan.launch @k(%x) -> (%k) sizes() tiles %c1 {name = "k"}
  plan.launch @scores(%q, %k) -> (%y) sizes() tiles %c1 {name = "scores"}
}

// -----

// What is read must not be written over meanwhile; a copy ends a group.
// CHECK-LABEL: plan.program @dependent
// CHECK-NOT: beside
plan.program @dependent symbols []
    inputs [{name = "x0", type = f32, dims = #tenon.shape<4>}]
    outputs [{name = "y0", type = f32, dims = #tenon.shape<4>}] {
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %x = plan.input 0 size %c64
  %y = plan.output 0 size %c64
  %a = plan.alloc %c64
  %b = plan.alloc %c64
  plan.launch @a(%x) -> (%a) sizes() tiles %c1 {name = "a"}
  plan.launch @b(%a) -> (%b) sizes() tiles %c1 {name = "b"}
  plan.launch @a(%x) -> (%a) sizes() tiles %c1 {name = "a again"}
  plan.copy %a to %y size %c64 {name = ""}
  plan.launch @c(%x) -> (%y) sizes() tiles %c1 {name = "c"}
}

// -----

// Parts of one buffer that do not touch, as the inputs of a concat are, and such that do.
// CHECK-LABEL: plan.program @parts
// CHECK: {name = "a"}
// CHECK: {beside, name = "b"}
// CHECK: {name = "c"}
plan.program @parts symbols []
    inputs [{name = "x0", type = f32, dims = #tenon.shape<4>}]
    outputs [{name = "y0", type = f32, dims = #tenon.shape<4>}] {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %x = plan.input 0 size %c64
  %y = plan.output 0 size %c64
  %all = plan.alloc %c64
  %front = plan.alias %all[%c0] size %c32
  plan.launch @a(%x) -> (%front) sizes() tiles %c1 {name = "a"}
  %back = plan.alias %all[%c32] size %c32
  plan.launch @b(%x) -> (%back) sizes() tiles %c1 {name = "b"}
  %end = plan.alias %all[%c1] size %c32
  plan.launch @c(%x) -> (%end) sizes() tiles %c1 {name = "c"}
  plan.copy %all to %y size %c64 {name = ""}
}

// -----

// One after the other these need 192 bytes at a time: x and two more. Side by side they would need 256. So they wait.
// CHECK-LABEL: plan.program @needs_more
// CHECK: plan.arena %c192
// CHECK-NOT: beside
plan.program @needs_more symbols []
    inputs [{name = "x0", type = f32, dims = #tenon.shape<4>}]
    outputs [{name = "y0", type = f32, dims = #tenon.shape<4>}] {
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %in = plan.input 0 size %c64
  %y = plan.output 0 size %c64
  %x = plan.alloc %c64
  %a = plan.alloc %c64
  %b = plan.alloc %c64
  plan.launch @x(%in) -> (%x) sizes() tiles %c1 {name = "x"}
  plan.launch @a(%x) -> (%a) sizes() tiles %c1 {name = "a"}
  plan.launch @b(%a) -> (%b) sizes() tiles %c1 {name = "b"}
  %c = plan.alloc %c64
  plan.launch @c(%x) -> (%c) sizes() tiles %c1 {name = "c"}
  plan.launch @d(%b, %c) -> (%y) sizes() tiles %c1 {name = "d"}
}

// -----

// What a group uses is there during all of it: there is room for c beside what is wide, and none for d.
// CHECK-LABEL: plan.program @own_places
// CHECK: plan.arena %c256
// CHECK: {beside, name = "c"}
// CHECK: {name = "d"}
plan.program @own_places symbols []
    inputs [{name = "x0", type = f32, dims = #tenon.shape<4>}]
    outputs [{name = "y0", type = f32, dims = #tenon.shape<4>}, {name = "y1", type = f32, dims = #tenon.shape<4>}] {
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %c192 = arith.constant 192 : index
  %in = plan.input 0 size %c64
  %y = plan.output 0 size %c64
  %z = plan.output 1 size %c64
  %a = plan.alloc %c64
  %wide = plan.alloc %c192
  plan.launch @a(%in) -> (%a) sizes() tiles %c1 {name = "a"}
  plan.launch @wide(%a) -> (%wide) sizes() tiles %c1 {name = "wide"}
  plan.launch @wide(%wide) -> (%y) sizes() tiles %c1 {name = "narrow"}
  %c = plan.alloc %c64
  plan.launch @c(%in) -> (%c) sizes() tiles %c1 {name = "c"}
  %d = plan.alloc %c64
  plan.launch @d(%in) -> (%d) sizes() tiles %c1 {name = "d"}
  plan.launch @e(%c, %d) -> (%z) sizes() tiles %c1 {name = "e"}
}

// -----

// A launch beside the one before needs no more bytes than are live anyway, but the places of all that is live then would leave a gap.
// CHECK-LABEL: plan.program @no_gaps
// CHECK: plan.arena %c832
// CHECK-NOT: beside
plan.program @no_gaps symbols []
    inputs [{name = "x0", type = f32, dims = #tenon.shape<4>}]
    outputs [{name = "y0", type = f32, dims = #tenon.shape<4>}] {
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %c192 = arith.constant 192 : index
  %c256 = arith.constant 256 : index
  %in = plan.input 0 size %c64
  %y = plan.output 0 size %c64
  %b0 = plan.alloc %c192
  %b1 = plan.alloc %c128
  %b2 = plan.alloc %c64
  %b3 = plan.alloc %c64
  %b4 = plan.alloc %c256
  %b5 = plan.alloc %c192
  %b6 = plan.alloc %c64
  %b7 = plan.alloc %c128
  %b8 = plan.alloc %c64
  %b9 = plan.alloc %c192
  %b10 = plan.alloc %c192
  %b11 = plan.alloc %c256
  plan.launch @k0(%in) -> (%b0, %b1, %y) sizes() tiles %c1 {name = "k0"}
  plan.launch @k1(%in) -> (%b2, %b3, %y) sizes() tiles %c1 {name = "k1"}
  plan.launch @k2(%b2) -> (%y) sizes() tiles %c1 {name = "k2"}
  plan.launch @k3(%b0) -> (%b4, %b5, %y) sizes() tiles %c1 {name = "k3"}
  plan.launch @k4(%b1) -> (%b6, %b7, %y) sizes() tiles %c1 {name = "k4"}
  plan.launch @k5(%b3, %b6) -> (%b8, %y) sizes() tiles %c1 {name = "k5"}
  plan.launch @k6(%b4, %b7, %b8) -> (%b9, %y) sizes() tiles %c1 {name = "k6"}
  plan.launch @k7(%b5, %b9) -> (%y) sizes() tiles %c1 {name = "k7"}
  plan.launch @k8(%in) -> (%b10, %b11) sizes() tiles %c1 {name = "k8"}
  plan.launch @k9(%b10, %b11) -> (%y) sizes() tiles %c1 {name = "k9"}
}

// -----

// A part of no bytes counts, too, where one writes it that the other reads.
// CHECK-LABEL: plan.program @no_bytes
// CHECK: {name = "a"}
// CHECK: {name = "b"}
plan.program @no_bytes symbols []
    inputs [{name = "x0", type = f32, dims = #tenon.shape<4>}]
    outputs [{name = "y0", type = f32, dims = #tenon.shape<4>}] {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %in = plan.input 0 size %c64
  %out = plan.output 0 size %c64
  %whole = plan.alloc %c64
  %empty = plan.alias %whole[%c0] size %c0
  plan.launch @a(%in) -> (%empty) sizes() tiles %c0 {name = "a"}
  plan.launch @b(%empty) -> (%out) sizes() tiles %c1 {name = "b"}
}
