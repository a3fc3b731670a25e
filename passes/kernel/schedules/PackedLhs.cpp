//===- PackedLhs.cpp - how the LHS is packed ------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/kernel/schedules/ScheduleSource.h"

using namespace mlir;
using namespace tenon;

namespace {
class PackedLhs : public ScheduleSource {
public:
  explicit PackedLhs(const SchedulePolicy &policy) : policy(policy) {}
  StringRef getName() const override { return "packing"; }
  std::vector<ScheduleProposal> propose(const ScheduleProblem &problem, const ScheduleDraft &own) const override;

private:
  const SchedulePolicy policy;
};
} // namespace

/// Terms, and int8 products whose instruction requires packed operands, have no alternative.
std::vector<ScheduleProposal> PackedLhs::propose(const ScheduleProblem &problem, const ScheduleDraft &own) const {
  if (problem.contraction.terms || problem.contraction.integerGroups || problem.contraction.dot4Loop)
    return {};
  std::vector<ScheduleProposal> proposals;
  // If packing is impossible, or is what the policy chooses, the schedule is a duplicate of another one.
  for (kernel::Packing packing : {kernel::Packing::none, kernel::Packing::rows, kernel::Packing::tile}) {
    ScheduleProposal proposal{own, policy.packingCost};
    proposal.draft.packing = packing;
    proposals.push_back(std::move(proposal));
  }
  return proposals;
}

std::unique_ptr<ScheduleSource> tenon::createPackedLhs(const SchedulePolicy &policy) {
  return std::make_unique<PackedLhs>(policy);
}
