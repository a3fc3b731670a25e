//===- WorkaroundShiftIsel.h - one form for values that are shifts of each other ----===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_BACKEND_LLVM_WORKAROUNDSHIFTISEL_H
#define TENON_COMPILER_BACKEND_LLVM_WORKAROUNDSHIFTISEL_H

namespace llvm {
class Function;
class PassBuilder;
} // namespace llvm

namespace tenon {

/// Writes `(x >> 4) & ~3` as `(x >> 6) << 2` where the function has `x >> 6`, too: likewise for left shifts by 1 to 3,
/// which are the scales of addresses. Returns true if anything is changed.
///
/// If both forms are in a block, the x86 instruction selection of LLVM 22.1 rewrites the first as the second while it
/// matches addresses (foldMaskAndShiftToScale). CSE then merges their users, including nodes that the matcher still
/// holds: it accesses deleted nodes, and crashes. Kernels have both of `tile / 64` and `tile / 64 * 4`.
bool workaroundShiftIsel(llvm::Function &function);

/// Makes the pipelines of `builder` end with that.
void addWorkaroundShiftIsel(llvm::PassBuilder &builder);

} // namespace tenon

#endif // TENON_COMPILER_BACKEND_LLVM_WORKAROUNDSHIFTISEL_H
