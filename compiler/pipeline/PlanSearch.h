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

/// How to look for a plan that needs no more than a number of bytes: by what costs least when the model runs first.
/// Another order costs nothing; to compute cheap activations again costs a little, and twice as many of them each
/// time; to let go of weights after their last use costs reading them again.
class PlanSearch {
public:
  explicit PlanSearch(uint64_t limit) : limit(limit) {}

  /// How to make the next plan; nothing where there is none left to try.
  std::optional<PlanOptions> getNext();
  /// What the plan needs that was made so, all weights among it; UINT64_MAX where that has no bound. Whether it is
  /// the best one so far.
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
