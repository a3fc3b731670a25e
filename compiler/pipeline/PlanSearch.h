//===- PlanSearch.h - plans that need less and less memory ----------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_PIPELINE_PLANSEARCH_H
#define TENON_COMPILER_PIPELINE_PLANSEARCH_H

#include "compiler/pipeline/Pipeline.h"
#include <optional>

namespace tenon {

/// Searches for a plan within a memory limit, trying the cheapest measures first. Reordering launches costs nothing;
/// rematerializing cheap activations costs a little, and their number doubles in each attempt; releasing weights after
/// their last use costs reading them again.
class PlanSearch {
public:
  explicit PlanSearch(uint64_t limit) : limit(limit) {}

  /// Returns the options of the next plan; none if there is none left.
  std::optional<PlanOptions> getNext();
  /// Reports the memory bound of that plan, including all weights; UINT64_MAX if there is no bound. Returns true if it
  /// is the best one so far.
  bool report(uint64_t bytes, uint64_t weightBytes);

  size_t getCount() const { return count; }

private:
  enum class Step { order, recompute, stream, none };

  uint64_t limit;
  Step step = Step::order;
  PlanOptions current, best; ///< `best` is where streaming begins
  std::optional<uint64_t> bestBytes;
  uint64_t bestWeightBytes = 0;
  size_t count = 0, sinceBest = 0; ///< plans; those after the best one
};

} // namespace tenon

#endif // TENON_COMPILER_PIPELINE_PLANSEARCH_H
