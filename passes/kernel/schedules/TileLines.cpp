//===- TileLines.cpp - tiles of more and fewer lines ----------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/kernel/schedules/TileSource.h"

using namespace mlir;
using namespace tenon;

namespace {
class TileLines : public ScheduleSource {
public:
  explicit TileLines(const SchedulePolicy &policy) : policy(policy) {}
  StringRef getName() const override { return "tile lines"; }
  std::vector<ScheduleProposal> propose(const ScheduleProblem &problem, const ScheduleDraft &own) const override;

private:
  const SchedulePolicy policy;
};
} // namespace

std::vector<ScheduleProposal> TileLines::propose(const ScheduleProblem &problem, const ScheduleDraft &own) const {
  std::vector<ScheduleProposal> proposals;
  for (unsigned dim = 0; dim < own.tile.size(); ++dim)
    if (dim != problem.tiles.row && dim != problem.tiles.column && problem.tiles.hints[dim] != 1)
      proposeTiles(problem, own, dim, /*step=*/1, policy, proposals);
  return proposals;
}

std::unique_ptr<ScheduleSource> tenon::createTileLines(const SchedulePolicy &policy) {
  return std::make_unique<TileLines>(policy);
}
