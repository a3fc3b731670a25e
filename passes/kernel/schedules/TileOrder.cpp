//===- TileOrder.cpp - the order of tiles ---------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/kernel/schedules/ScheduleSource.h"

#include <cassert>

using namespace mlir;
using namespace tenon;

namespace {
class TileOrder : public ScheduleSource {
public:
  explicit TileOrder(const SchedulePolicy &policy) : policy(policy) {}
  StringRef getName() const override { return "tile order"; }
  std::vector<ScheduleProposal> propose(const ScheduleProblem &problem, const ScheduleDraft &own) const override;

private:
  const SchedulePolicy policy;
};
} // namespace

/// One thread computes neighbouring tiles; tiles of the same columns read the same panels.
std::vector<ScheduleProposal> TileOrder::propose(const ScheduleProblem &problem, const ScheduleDraft &own) const {
  assert(own.tile.size() == problem.tiles.hints.size() && problem.tiles.column < own.tile.size() &&
         "a dimension has a size and a hint");
  auto isDivided = [&](unsigned dim) { return problem.tiles.hints[dim].value_or(own.tile[dim] + 1) > own.tile[dim]; };
  bool dividesOthers = false;
  for (unsigned dim = 0; dim < own.tile.size(); ++dim)
    dividesOthers |= dim != problem.tiles.column && isDivided(dim);
  if (!dividesOthers || !isDivided(problem.tiles.column))
    return {};
  ScheduleProposal proposal{own, policy.orderCost};
  proposal.draft.columnsSlowest = true;
  return {std::move(proposal)};
}

std::unique_ptr<ScheduleSource> tenon::createTileOrder(const SchedulePolicy &policy) {
  return std::make_unique<TileOrder>(policy);
}
