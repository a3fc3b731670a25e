//===- TileColumns.cpp - tiles of more and fewer columns ------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/kernel/schedules/TileSource.h"

using namespace mlir;
using namespace tenon;

namespace {
class TileColumns : public ScheduleSource {
public:
  explicit TileColumns(const SchedulePolicy &policy) : policy(policy) {}
  StringRef getName() const override { return "tile columns"; }
  std::vector<ScheduleProposal> propose(const ScheduleProblem &problem, const ScheduleDraft &own) const override;

private:
  const SchedulePolicy policy;
};
} // namespace

/// Columns change in steps of whole panels, or of whole vectors if there are no panels.
std::vector<ScheduleProposal> TileColumns::propose(const ScheduleProblem &problem, const ScheduleDraft &own) const {
  std::vector<ScheduleProposal> proposals;
  int64_t lanes = problem.machine.vectorBytes / int64_t(sizeof(float));
  int64_t step = problem.hasPackedColumns ? PackingPolicy().columns : std::max(problem.tiles.panel, lanes);
  proposeTiles(problem, own, problem.tiles.column, step, policy, proposals);
  return proposals;
}

std::unique_ptr<ScheduleSource> tenon::createTileColumns(const SchedulePolicy &policy) {
  return std::make_unique<TileColumns>(policy);
}
