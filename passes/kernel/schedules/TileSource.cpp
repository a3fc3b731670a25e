//===- TileSource.cpp - tiles that are larger and smaller -----------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/kernel/schedules/TileSource.h"
#include "llvm/Support/MathExtras.h"

#include <cassert>

using namespace mlir;
using namespace tenon;

void tenon::proposeTiles(const ScheduleProblem &problem, const ScheduleDraft &own, unsigned dim, int64_t step,
                         const SchedulePolicy &policy, std::vector<ScheduleProposal> &proposals) {
  assert(dim < own.tile.size() && own.tile.size() == problem.tiles.hints.size() && "a dimension has a size and a hint");
  assert(step > 0 && "sizes are rounded to whole steps");
  int64_t size = own.tile[dim], extent = problem.tiles.hints[dim].value_or(std::numeric_limits<int64_t>::max());
  double before = estimateTileCycles(problem.tiles, own.tile, problem.machine, policy);
  auto add = [&](int64_t wanted) {
    ScheduleProposal proposal{own};
    int64_t &changed = proposal.draft.tile[dim];
    changed = std::min(wanted, extent);
    if (changed == size || changed <= 0)
      return;
    double after = estimateTileCycles(problem.tiles, proposal.draft.tile, problem.machine, policy);
    proposal.cost = before > 0 ? after / before : 1;
    proposals.push_back(std::move(proposal));
  };
  for (int64_t factor : policy.tileFactors) {
    // Parts of equal size.
    if (size < extent && size <= std::numeric_limits<int64_t>::max() / factor)
      add(llvm::alignTo(size * factor, step));
    if (size > step)
      add(llvm::alignTo(llvm::divideCeil(size, factor), step));
  }
}
