//===- MemoryFigures.h - the memory that an artifact needs -----------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_REPORT_MEMORYFIGURES_H
#define TENON_COMPILER_REPORT_MEMORYFIGURES_H

#include "runtime/plan/Intervals.h"
#include <optional>
#include <string>
#include <vector>

namespace tenon {

struct PlanSizes;

/// One kind of memory on a device. Bounds hold for all sizes in the symbols' ranges; an upper bound of UINT64_MAX means
/// that there is none.
struct MemoryFigure {
  const char *key;               ///< "arena_bytes"
  const char *title;             ///< "activations"
  std::optional<uint64_t> bytes; ///< where the sizes are known
  uint64_t least, most;
  std::string note; ///< what else there is to say
};

/// Returns weights, state, activations, heap, scratch, outputs, their total, and inputs, which are not part of it.
/// `sizes` is null if none are given.
std::vector<MemoryFigure> listMemory(const rt::Plan &plan, uint64_t weightBytes, const PlanSizes *sizes);

/// The same for symbols that lie in these ranges.
std::vector<MemoryFigure> listMemory(const rt::Plan &plan, uint64_t weightBytes,
                                     const std::vector<rt::Interval> &symbols);

} // namespace tenon

#endif // TENON_COMPILER_REPORT_MEMORYFIGURES_H
