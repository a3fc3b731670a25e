//===- BorrowWeights.h - weights that are read where they are -------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_DRIVER_BORROWWEIGHTS_H
#define TENON_COMPILER_DRIVER_BORROWWEIGHTS_H

#include "dialects/plan/Plan.h"
#include <vector>

namespace tenon {

/// Turns the large weights of a module's programs, which run in this process, into byte inputs after the existing ones,
/// the same ones for all programs. They are bound to the returned bytes, in order, so that weights are not copied. The
/// context owns the bytes.
std::vector<llvm::ArrayRef<char>> borrowWeights(mlir::ModuleOp module);

} // namespace tenon

#endif // TENON_COMPILER_DRIVER_BORROWWEIGHTS_H
