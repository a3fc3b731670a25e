//===- WeightUses.h - which blocks of the weights instructions read -----===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_PLAN_WEIGHTUSES_H
#define TENON_RUNTIME_PLAN_WEIGHTUSES_H

#include "runtime/format/Layout.h"
#include "runtime/plan/Plan.h"

namespace tenon::rt {

/// Weights are paged by the blocks that have a hash.
inline constexpr uint64_t kWeightBlock = fmt::kHashBlock;

inline uint64_t countBlocks(uint64_t bytes) { return bytes / kWeightBlock + (bytes % kWeightBlock != 0); }

/// From one block up to another.
struct BlockRange {
  uint64_t begin, end;

  uint64_t count() const { return end - begin; }
  bool operator==(const BlockRange &other) const { return begin == other.begin && end == other.end; }
};

/// The weights that each instruction of a plan reads, and which instruction is likely to read some next.
struct WeightUses {
  uint64_t numBlocks = 0;
  std::vector<BlockRange> ranges; ///< of all instructions, end to end; those of one ascend and are apart
  std::vector<IndexRange> of;     ///< of each instruction, in `ranges`
  std::vector<uint32_t> loops;    ///< how many loops each instruction is in
  static constexpr uint32_t kNone = UINT32_MAX;

  bool has(uint32_t instruction) const { return of[instruction].count != 0; }
  /// Of one instruction.
  uint64_t count(uint32_t instruction) const;
  /// Returns the successor of an instruction: branches fall through, loops repeat, and the end of a run continues at
  /// the start of the next one.
  uint32_t follow(const Plan &plan, uint32_t instruction) const;
  /// Returns the first instruction at or after `instruction`, in that order, that reads weights; kNone if there is
  /// none.
  uint32_t findNext(const Plan &plan, uint32_t instruction) const;
  /// The most blocks that one instruction reads.
  uint64_t largest() const;
  /// Lists all blocks that the plan reads without duplicates, in the order of their first use.
  std::vector<BlockRange> listByFirstUse() const;
};

/// A buffer whose offset in the weights depends on sizes counts as all blocks that it may extend into. Instructions
/// that release weights read none.
WeightUses listWeightUses(const Plan &plan, uint64_t weightBytes);

} // namespace tenon::rt

#endif // TENON_RUNTIME_PLAN_WEIGHTUSES_H
