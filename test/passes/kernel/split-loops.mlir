// A loop that asks for each element which of some tensors it is of becomes one for each of them.
// RUN: tenon-opt %s -tenon-split-loops -canonicalize | FileCheck %s

// Three parts, along the innermost loop.
// CHECK-LABEL: func.func private @join(
// CHECK-SAME: %[[A:.*]]: memref<4x8xf32>, %[[B:.*]]: memref<4x3xf32>, %[[C:.*]]: memref<4x5xf32>, %[[OUT:.*]]: memref<4x16xf32>)
// CHECK: scf.for %[[ROW:.*]] = %{{.*}} to %c4
// CHECK: scf.for %[[I:.*]] = %c0 to %c8 step
// CHECK-NOT: scf.if
// CHECK: memref.load %[[A]][%[[ROW]], %[[I]]]
// CHECK: memref.store
// CHECK: scf.for %[[J:.*]] = %c8 to %c11 step
// CHECK: memref.load %[[B]]
// CHECK: memref.store
// CHECK: scf.for %[[K:.*]] = %c11 to %c16 step
// CHECK: memref.load %[[C]]
// CHECK: math.exp
// CHECK: memref.store %{{.*}}, %[[OUT]][%[[ROW]], %[[K]]]
// CHECK-NOT: scf.if
// CHECK: return
func.func private @join(%a: memref<4x8xf32>, %b: memref<4x3xf32>, %c: memref<4x5xf32>, %out: memref<4x16xf32>) attributes {tenon.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %c11 = arith.constant 11 : index
  %c16 = arith.constant 16 : index
  scf.for %row = %c0 to %c4 step %c1 {
    scf.for %i = %c0 to %c16 step %c1 {
      %first = arith.cmpi ult, %i, %c8 : index
      %v = scf.if %first -> (f32) {
        %x = memref.load %a[%row, %i] : memref<4x8xf32>
        scf.yield %x : f32
      } else {
        %second = arith.cmpi ult, %i, %c11 : index
        %y = scf.if %second -> (f32) {
          %j = arith.subi %i, %c8 : index
          %x = memref.load %b[%row, %j] : memref<4x3xf32>
          scf.yield %x : f32
        } else {
          %j = arith.subi %i, %c11 : index
          %x = memref.load %c[%row, %j] : memref<4x5xf32>
          %e = math.exp %x : f32
          scf.yield %e : f32
        }
        scf.yield %y : f32
      }
      memref.store %v, %out[%row, %i] : memref<4x16xf32>
    }
  }
  return
}

// A branch that has one way only.
// CHECK-LABEL: func.func private @one_way(
// CHECK: scf.for %{{.*}} = %c0 to %c3 step
// CHECK: memref.store
// CHECK-NOT: memref.store
func.func private @one_way(%out: memref<8xf32>) attributes {tenon.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0.0 : f32
  scf.for %i = %c0 to %c8 step %c1 {
    %first = arith.cmpi ult, %i, %c3 : index
    scf.if %first {
      memref.store %zero, %out[%i] : memref<8xf32>
    }
  }
  return
}

// What stays: open bounds, steps of two, an open place, a loop around another, what is no kernel. What all steps do alike is not asked.
// CHECK-LABEL: func.func private @others(
// CHECK-COUNT-4: scf.if
// CHECK-NOT: scf.if
// CHECK-LABEL: func.func private @no_kernel(
// CHECK: scf.if
func.func private @others(%out: memref<8xf32>, %n: index) attributes {tenon.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0.0 : f32
  scf.for %i = %c0 to %n step %c1 {
    %first = arith.cmpi ult, %i, %c3 : index
    scf.if %first {
      memref.store %zero, %out[%i] : memref<8xf32>
    }
  }
  scf.for %i = %c0 to %c8 step %c2 {
    %first = arith.cmpi ult, %i, %c3 : index
    scf.if %first {
      memref.store %zero, %out[%i] : memref<8xf32>
    }
  }
  scf.for %i = %c0 to %c8 step %c1 {
    %first = arith.cmpi ult, %i, %c8 : index
    scf.if %first {
      memref.store %zero, %out[%i] : memref<8xf32>
    }
  }
  scf.for %i = %c0 to %c8 step %c1 {
    %first = arith.cmpi ult, %i, %n : index
    scf.if %first {
      memref.store %zero, %out[%i] : memref<8xf32>
    }
  }
  scf.for %i = %c0 to %c8 step %c1 {
    %first = arith.cmpi ult, %i, %c3 : index
    scf.if %first {
      scf.for %j = %c0 to %n step %c1 {
        memref.store %zero, %out[%j] : memref<8xf32>
      }
    }
  }
  return
}

func.func private @no_kernel(%out: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0.0 : f32
  scf.for %i = %c0 to %c8 step %c1 {
    %first = arith.cmpi ult, %i, %c3 : index
    scf.if %first {
      memref.store %zero, %out[%i] : memref<8xf32>
    }
  }
  return
}

// A border before and after: its loops read nothing.
// CHECK-LABEL: func.func private @border(
// CHECK: scf.for %{{.*}} = %c0 to %c2 step
// CHECK-NOT: memref.load
// CHECK: scf.for %{{.*}} = %c2 to %c7 step
// CHECK-NOT: scf.if
// CHECK: memref.load
// CHECK-NOT: memref.load
// CHECK: memref.store %cst, %{{.*}}[%c7]
// CHECK: return
func.func private @border(%in: memref<5xf32>, %out: memref<8xf32>) attributes {tenon.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %less = arith.constant -2 : index
  %c5 = arith.constant 5 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0.0 : f32
  scf.for %i = %c0 to %c8 step %c1 {
    %j = arith.addi %i, %less : index
    %inside = arith.cmpi ult, %j, %c5 : index
    %v = scf.if %inside -> (f32) {
      %x = memref.load %in[%j] : memref<5xf32>
      scf.yield %x : f32
    } else {
      scf.yield %zero : f32
    }
    memref.store %v, %out[%i] : memref<8xf32>
  }
  return
}
