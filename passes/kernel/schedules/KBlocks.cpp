//===- KBlocks.cpp - the parts that long sums are done in -----------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/cost/EmitterChoices.h"
#include "passes/kernel/schedules/ScheduleSource.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tenon;

namespace {
class KBlockSizes : public ScheduleSource {
public:
  explicit KBlockSizes(const SchedulePolicy &policy) : policy(policy) {}
  StringRef getName() const override { return "K-block"; }
  std::vector<ScheduleProposal> propose(const ScheduleProblem &problem, const ScheduleDraft &own) const override;

private:
  const SchedulePolicy policy;
};
} // namespace

/// Only sums along one loop, of rows by panels, can be split into K-blocks (contract/KBlocking).
std::vector<ScheduleProposal> KBlockSizes::propose(const ScheduleProblem &problem, const ScheduleDraft &own) const {
  const Contraction &contraction = problem.contraction;
  const std::optional<IntegerGroups> &groups = contraction.integerGroups;
  if (!contraction.panel || contraction.isGrouped || !contraction.rowLoop || contraction.terms ||
      contraction.dequantization || contraction.dot4Loop || !problem.depth)
    return {};
  int64_t step = groups ? groups->block : 16; // format: of packed rows, and an even number of steps
  int64_t depth = *problem.depth;
  std::vector<ScheduleProposal> proposals;
  auto add = [&](int64_t size) {
    ScheduleProposal proposal{own, policy.kBlockCost};
    proposal.draft.kBlock = size;
    proposals.push_back(std::move(proposal));
  };
  for (int64_t parts : policy.kBlockParts)
    if (depth / parts >= policy.minKBlock)
      add(llvm::alignTo(llvm::divideCeil(depth, parts), step));
  // If the policy splits the sum, the unsplit sum is an alternative.
  if (!groups && chooseKBlocks(depth, sizeof(float)))
    add(depth);
  return proposals;
}

std::unique_ptr<ScheduleSource> tenon::createKBlocks(const SchedulePolicy &policy) {
  return std::make_unique<KBlockSizes>(policy);
}
