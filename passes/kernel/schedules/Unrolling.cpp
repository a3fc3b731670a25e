//===- Unrolling.cpp - steps of the innermost loop ------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/kernel/schedules/ScheduleSource.h"

using namespace mlir;
using namespace tenon;

namespace {
class Unrolling : public ScheduleSource {
public:
  explicit Unrolling(const SchedulePolicy &policy) : policy(policy) {}
  StringRef getName() const override { return "unrolling"; }
  std::vector<ScheduleProposal> propose(const ScheduleProblem &problem, const ScheduleDraft &own) const override;

private:
  const SchedulePolicy policy;
};
} // namespace

std::vector<ScheduleProposal> Unrolling::propose(const ScheduleProblem &problem, const ScheduleDraft &own) const {
  const Contraction &contraction = problem.contraction;
  // Other micro-kernels emit their innermost loops themselves.
  if (contraction.terms || contraction.integerGroups || contraction.dequantization || contraction.dot4Loop ||
      contraction.isColumnwise)
    return {};
  std::vector<ScheduleProposal> proposals;
  for (int64_t steps : policy.unrolledSteps) {
    ScheduleProposal proposal{own, policy.unrollCost};
    proposal.draft.unroll = steps;
    proposals.push_back(std::move(proposal));
  }
  return proposals;
}

std::unique_ptr<ScheduleSource> tenon::createUnrolling(const SchedulePolicy &policy) {
  return std::make_unique<Unrolling>(policy);
}
