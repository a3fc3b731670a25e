//===- Prefetching.cpp - panels that are prefetched -----------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/kernel/schedules/ScheduleSource.h"

using namespace mlir;
using namespace tenon;

namespace {
class Prefetching : public ScheduleSource {
public:
  explicit Prefetching(const SchedulePolicy &policy) : policy(policy) {}
  StringRef getName() const override { return "prefetch"; }
  std::vector<ScheduleProposal> propose(const ScheduleProblem &problem, const ScheduleDraft &own) const override;

private:
  const SchedulePolicy policy;
};
} // namespace

std::vector<ScheduleProposal> Prefetching::propose(const ScheduleProblem &problem, const ScheduleDraft &own) const {
  if (!problem.contraction.panel || problem.contraction.dequantization || !problem.contraction.rowLoop)
    return {};
  ScheduleProposal proposal{own, policy.noPrefetchCost};
  proposal.draft.prefetches = false;
  return {std::move(proposal)};
}

std::unique_ptr<ScheduleSource> tenon::createPrefetching(const SchedulePolicy &policy) {
  return std::make_unique<Prefetching>(policy);
}
