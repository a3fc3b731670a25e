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

/// The first and the last instruction at which a buffer holds data that is still needed.
struct LiveRange {
  uint32_t first = UINT32_MAX, last = 0;

  bool isAny() const { return first <= last; }
  void add(uint32_t instruction) {
    first = instruction < first ? instruction : first;
    last = instruction > last ? instruction : last;
  }
};

/// The bytes [begin, end) of the arena that a buffer occupies: its own if they are known, otherwise its room, otherwise
/// the whole arena. `exprs` and `exprKnown` are results of evaluate().
struct Extent {
  uint64_t begin, end;
};
Extent extentOf(const Plan &plan, const Buffer &buffer, const int64_t *exprs, const uint8_t *exprKnown);

/// The liveness of the arena's bytes for one set of sizes. A byte is live from its write to its last read, over all
/// control flow paths. If a buffer is a part of another, or if a kernel updates one in place, bytes are live without
/// being written again: such buffers form a group, in which each byte counts once.
struct Liveness {
  std::vector<LiveRange> ranges;   // one for each buffer; of those in the arena that have bytes and are used
  std::vector<uint32_t> groups;    // one for each buffer: the least one of its group
  std::vector<uint64_t> liveBytes; // at each instruction

  /// Returns the peak, a lower bound for the size of the arena with this order of instructions.
  uint64_t peak() const;
  /// Returns the first instruction at which the peak occurs.
  uint32_t peakInstruction() const;
};

/// `exprs` and `exprKnown` are results of evaluate(). If it is unknown which buffers a kernel writes, a launch counts
/// as reading and writing all of them. Returns false if the plan is too large: the time is proportional to the product
/// of its instructions and its buffers.
bool findLiveness(const Plan &plan, const int64_t *exprs, const uint8_t *exprKnown, Liveness *result);

} // namespace tenon::rt

#endif // TENON_RUNTIME_PLAN_LIVENESS_H
