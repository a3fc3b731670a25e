//===- Transposes.h - ways to move the elements of a transpose ------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each of these either creates the loops of a copy before it and returns true, or creates nothing.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_KERNEL_TRANSPOSES_TRANSPOSES_H
#define TENON_PASSES_KERNEL_TRANSPOSES_TRANSPOSES_H

#include "passes/kernel/transposes/StridedCopy.h"

namespace tenon {

/// Handles a short innermost loop that is contiguous on both sides: moves its elements in vectors.
bool moveRuns(const StridedCopy &copy, int64_t vectorBytes);

/// Handles copies where a few vectors of the input have the same elements as a few vectors of the output: all of a
/// dense box, or some columns of two to four rows that are contiguous in the output, or the reverse.
bool permuteRegisters(const StridedCopy &copy, int64_t vectorBytes);

/// Transposes blocks in registers; their rows are contiguous in the output, and their columns in the input.
bool transposeBlocks(const StridedCopy &copy, int64_t vectorBytes);

} // namespace tenon

#endif // TENON_PASSES_KERNEL_TRANSPOSES_TRANSPOSES_H
