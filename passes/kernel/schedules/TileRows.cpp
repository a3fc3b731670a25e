//===- TileRows.cpp - tiles of more and fewer rows ------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/kernel/schedules/TileSource.h"

using namespace mlir;
using namespace tenon;

namespace {
class TileRows : public ScheduleSource {
public:
  explicit TileRows(const SchedulePolicy &policy) : policy(policy) {}
  StringRef getName() const override { return "tile rows"; }
  std::vector<ScheduleProposal> propose(const ScheduleProblem &problem, const ScheduleDraft &own) const override;

private:
  const SchedulePolicy policy;
};
} // namespace

std::vector<ScheduleProposal> TileRows::propose(const ScheduleProblem &problem, const ScheduleDraft &own) const {
  std::vector<ScheduleProposal> proposals;
  if (problem.tiles.row)
    proposeTiles(problem, own, *problem.tiles.row, /*step=*/1, policy, proposals);
  return proposals;
}

std::unique_ptr<ScheduleSource> tenon::createTileRows(const SchedulePolicy &policy) {
  return std::make_unique<TileRows>(policy);
}
