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

/// Attaches to each outlined kernel of a target's module a text of what it computes (kKernelRegionAttr), for
/// `tenon-tile-kernels`, which removes the attribute. The text is canonical: the operations, types, size hints,
/// attributes and chosen paths, without names, locations, estimates and the elements of constants. A kernel that
/// overwrites an operand has the same region as the kernel that does not.
void markKernelRegions(mlir::ModuleOp target);

} // namespace tenon

#endif // TENON_PASSES_KERNEL_SCHEDULES_KERNELREGION_H
