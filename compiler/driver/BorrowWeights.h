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

/// Makes inputs of bytes, after those that there are, of the large weights of a program that is to run in this
/// process: bound to the bytes that are returned, in the order of the inputs, it needs no copy of them. The bytes
/// are the context's.
std::vector<llvm::ArrayRef<char>> borrowWeights(plan::ProgramOp program);

} // namespace tenon

#endif // TENON_COMPILER_DRIVER_BORROWWEIGHTS_H
