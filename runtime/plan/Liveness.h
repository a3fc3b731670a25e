//===- Liveness.h - when the bytes of the arena hold something -----------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_PLAN_LIVENESS_H
#define TENON_RUNTIME_PLAN_LIVENESS_H

#include "runtime/plan/Plan.h"

#include <cstdint>
#include <vector>

namespace tenon::rt {

/// The first and the last instruction at which a buffer holds something that is still needed.
struct LiveRange {
  uint32_t first = UINT32_MAX, last = 0;

  bool isAny() const { return first <= last; }
  void add(uint32_t instruction) {
    first = instruction < first ? instruction : first;
    last = instruction > last ? instruction : last;
  }
};

/// The bytes of the arena in which a buffer lies, [begin, end): its own where these are known, else the room that it
/// has, else all. `exprs` and `exprKnown` as evaluate() leaves them.
struct Extent {
  uint64_t begin, end;
};
Extent extentOf(const Plan &plan, const Buffer &buffer, const int64_t *exprs, const uint8_t *exprKnown);

/// What the instructions tell of the arena's bytes, for one set of sizes. A byte is live from when it is written to
/// when it is last read, over every way that jumps allow. A buffer that is a part of another, or that a kernel
/// makes in the place of another, has bytes with it that are live without having been written again: those buffers
/// are a group, of which each byte counts once.
struct Liveness {
  std::vector<LiveRange> ranges;   // one for each buffer; of those in the arena that have bytes and are used
  std::vector<uint32_t> groups;    // one for each buffer: the least one of its group
  std::vector<uint64_t> liveBytes; // at each instruction

  /// No arrangement of the arena needs fewer bytes, in this order of instructions.
  uint64_t peak() const;
  /// The first instruction at which that many are live.
  uint32_t peakInstruction() const;
};

/// `exprs` and `exprKnown` as evaluate() leaves them. A launch of a kernel that does not say what it writes counts
/// as reading and writing all of its buffers. False where the plan is so large that this would take too long: the
/// time grows with the product of its instructions and its buffers.
bool findLiveness(const Plan &plan, const int64_t *exprs, const uint8_t *exprKnown, Liveness *result);

} // namespace tenon::rt

#endif // TENON_RUNTIME_PLAN_LIVENESS_H
