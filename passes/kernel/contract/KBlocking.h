//===- KBlocking.h - contractions that are summed in K-blocks -------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_KERNEL_CONTRACT_KBLOCKING_H
#define TENON_PASSES_KERNEL_CONTRACT_KBLOCKING_H

#include "passes/kernel/contract/EmitterPart.h"

namespace tenon {

/// Splits the summed loop into K-blocks, so that the TLB covers the pages of a panel and of a block of rows that are
/// read during one. Sums are stored in memory of the kernel between K-blocks.
class KBlocking : EmitterPart {
public:
  KBlocking(LoopBuilder &nest, const ContractionProblem &problem) : EmitterPart(nest, problem) {}
  /// Chooses the K-blocks of vector code with register blocks of `blockRows` rows; `hasStaticRows` is true if the
  /// number of rows is static.
  void chooseForVectors(int64_t blockRows, bool hasStaticRows);
  /// Uses the K-blocks of the schedule for terms in AMX tiles; the terms of a K-block's rows stay in L2
  /// (TileKernels).
  void chooseForAmx();
  /// Sums without K-blocks.
  void clear() { state.reset(); }
  /// True if there is more than one K-block. The functions below must be called only then.
  explicit operator bool() const { return state.has_value(); }
  /// The versions of the code for different numbers of rows share the memory of the sums, which is allocated before
  /// `branch`.
  void setVersions(mlir::Operation *branch) { versions = branch; }

  /// Zeroes the sums and runs `body` for each K-block; the code is emitted twice, for all blocks but the last one and
  /// for the last one.
  void forBlocks(llvm::function_ref<void()> body);
  unsigned getLoop() const { return getState().loop; }
  int64_t getSize() const { return getState().size; }
  mlir::Value getSums() const { return getState().sums; }
  /// Of the K-block that is emitted now: its first iteration, how many there are, and whether it is the last block.
  mlir::Value getBegin() const { return getState().begin; }
  int64_t getLength() const { return getState().length; }
  bool isLast() const { return getState().isLast; }

  /// Loads the stored sum of a vector of columns, at `row` and `vector` within a block that begins at `firstRow`.
  mlir::Value loadSum(mlir::Value firstRow, int64_t row, int64_t vector);
  /// Stores the sums of a block of `vectors` vectors per row.
  void storeSums(mlir::Value firstRow, mlir::ValueRange sums, int64_t vectors);

private:
  struct State {
    unsigned loop;
    int64_t count, size; ///< blocks, and iterations of each but the last one, which may have fewer
    mlir::Value sums;
    mlir::Value begin = {};
    int64_t length = 0;
    bool isLast = false;
  };
  const State &getState() const {
    assert(state && "a sum that is done at once has no K-blocks");
    return *state;
  }
  llvm::SmallVector<mlir::Value> getPlaceOfSum(mlir::Value firstRow, int64_t row, int64_t vector);

  std::optional<State> state;
  mlir::Operation *versions = nullptr;
  mlir::Value versionedSums; ///< the memory that versions share
};

} // namespace tenon

#endif // TENON_PASSES_KERNEL_CONTRACT_KBLOCKING_H
