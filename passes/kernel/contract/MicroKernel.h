//===- MicroKernel.h - instructions that contractions are computed with ---===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// A micro-kernel is a file of its own in this folder, a line in MicroKernels.cpp, a name in
// dialects/kernel/KernelAttrs.td, and a line in test/dialects/kernel/micro-kernels.mlir.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_KERNEL_CONTRACT_MICROKERNEL_H
#define TENON_PASSES_KERNEL_CONTRACT_MICROKERNEL_H

#include "passes/kernel/contract/Prefetch.h"
#include "passes/kernel/contract/ResultWriter.h"
#include <memory>

namespace tenon {

/// The parts of the emitter of one contraction, which its micro-kernels use.
struct EmitterParts {
  LoopBuilder &nest;
  const ContractionProblem &problem;
  Operands &operands;
  KBlocking &kBlocking;
  Border &border;
  RowLoops &rowLoops;
  ColumnLoops &columnLoops;
  Prefetch &prefetch;
  ResultWriter &results;
};

/// Emits one contraction with one kind of instruction.
class MicroKernel : protected EmitterPart {
public:
  explicit MicroKernel(const EmitterParts &parts) : EmitterPart(parts.nest, parts.problem), parts(parts) {}
  virtual ~MicroKernel() = default;
  /// Emits all loops at the insertion point. The extents must have been emitted.
  virtual void emit() = 0;

protected:
  const EmitterParts parts;
};

/// A registered micro-kernel.
struct MicroKernelEntry {
  kernel::MicroKernel name;
  /// True if the micro-kernel can compute a contraction whose schedule names it or, unless only a schedule can choose
  /// it, names no micro-kernel.
  bool (*fits)(const ContractionProblem &problem);
  std::unique_ptr<MicroKernel> (*create)(const EmitterParts &parts);
  /// Returns the largest number of rows for which it is faster than the next entry that fits; none if it always is.
  /// Null means none.
  std::optional<int64_t> (*getMaxRows)(const ContractionProblem &problem) = nullptr;
  /// True if it implements the path `path` of an operation that became `contraction`. Null means no path.
  bool (*implements)(llvm::StringRef path, const Contraction &contraction) = nullptr;
  /// Tiles of many rows have a multiple of this number of rows; 0 means the policy's number.
  int64_t rowStep = 0;
};

/// All micro-kernels, in order of preference.
llvm::ArrayRef<const MicroKernelEntry *> getMicroKernels();

/// Returns the registered micro-kernel of a name; null for `automatic`.
const MicroKernelEntry *findMicroKernel(kernel::MicroKernel name);

/// Returns the micro-kernel for an operation that has the path `path` and became `contraction`; null if the path names
/// none.
const MicroKernelEntry *findMicroKernelOfPath(llvm::StringRef path, const Contraction &contraction);

/// Returns the micro-kernels for a problem: all but the last one are for tiles of at most `getMaxRows` rows. Empty if
/// none fits. The one that the schedule names comes first.
llvm::SmallVector<const MicroKernelEntry *> selectMicroKernels(const ContractionProblem &problem);

} // namespace tenon

#endif // TENON_PASSES_KERNEL_CONTRACT_MICROKERNEL_H
