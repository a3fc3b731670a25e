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

std::vector<ScheduleProposal> tenon::proposeSizes(const ScheduleDraft &own, const VariedDim &varied,
                                                  llvm::function_ref<double(llvm::ArrayRef<int64_t>)> estimate,
                                                  const SchedulePolicy &policy) {
  assert(varied.dim < own.tile.size() && "a dimension has a size");
  assert(varied.step > 0 && "sizes are rounded to whole steps");
  std::vector<ScheduleProposal> proposals;
  int64_t size = own.tile[varied.dim], extent = varied.extent.value_or(std::numeric_limits<int64_t>::max());
  double before = estimate(own.tile);
  auto add = [&](int64_t wanted) {
    ScheduleProposal proposal{own};
    int64_t &changed = proposal.draft.tile[varied.dim];
    changed = std::min(wanted, extent);
    if (changed == size || changed <= 0)
      return;
    double after = estimate(proposal.draft.tile);
    proposal.cost = before > 0 ? after / before : 1;
    proposals.push_back(std::move(proposal));
  };
  for (int64_t factor : policy.tileFactors) {
    // Parts of equal size.
    if (size < extent && size <= std::numeric_limits<int64_t>::max() / factor)
      add(llvm::alignTo(size * factor, varied.step));
    if (size > varied.step)
      add(llvm::alignTo(llvm::divideCeil(size, factor), varied.step));
  }
  return proposals;
}

void tenon::proposeTiles(const ScheduleProblem &problem, const ScheduleDraft &own, unsigned dim, int64_t step,
                         const SchedulePolicy &policy, std::vector<ScheduleProposal> &proposals) {
  assert(own.tile.size() == problem.tiles.hints.size() && "a dimension has a size and a hint");
  auto estimate = [&](ArrayRef<int64_t> tile) {
    return estimateTileCycles(problem.tiles, tile, problem.machine, policy);
  };
  llvm::append_range(proposals, proposeSizes(own, {dim, step, problem.tiles.hints[dim]}, estimate, policy));
}
