//===- KernelRegion.h - what a kernel computes, as text -------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_KERNEL_SCHEDULES_KERNELREGION_H
#define TENON_PASSES_KERNEL_SCHEDULES_KERNELREGION_H

#include "mlir/IR/BuiltinOps.h"

namespace tenon {

/// Notes on each outlined kernel of a target's module what it computes (kKernelRegionAttr), for `tenon-tile-kernels`,
/// which removes the note. The text is canonical: the operations, types, size hints and attributes, with the paths that
/// were chosen, without names, locations, estimates and the elements of constants. Kernels that write over an operand
/// have the region of the kernel that does not.
void markKernelRegions(mlir::ModuleOp target);

} // namespace tenon

#endif // TENON_PASSES_KERNEL_SCHEDULES_KERNELREGION_H
