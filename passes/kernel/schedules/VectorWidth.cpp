//===- VectorWidth.cpp - vectors of half the width ------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/kernel/schedules/ScheduleSource.h"

using namespace mlir;
using namespace tenon;

namespace {
class VectorWidth : public ScheduleSource {
public:
  explicit VectorWidth(const SchedulePolicy &policy) : policy(policy) {}
  StringRef getName() const override { return "vector width"; }
  std::vector<ScheduleProposal> propose(const ScheduleProblem &problem, const ScheduleDraft &own) const override;

private:
  const SchedulePolicy policy;
};
} // namespace

/// With half of AVX-512's vector length, 16 columns of a panel take two registers; some processors run at a higher
/// frequency, and fewer lanes are wasted at the last columns.
std::vector<ScheduleProposal> VectorWidth::propose(const ScheduleProblem &problem, const ScheduleDraft &own) const {
  const Contraction &contraction = problem.contraction;
  constexpr int64_t kMinBytes = 16; // limit: of vectors with fast loads on all targets
  if (!isa<FloatType>(problem.type) || contraction.terms || contraction.integerGroups || contraction.dequantization ||
      contraction.isDepthwiseInt8 || problem.machine.vectorBytes <= kMinBytes)
    return {};
  ScheduleProposal proposal{own, policy.halfVectorCost};
  proposal.draft.vectorBits = problem.machine.vectorBytes * 8 / 2;
  return {std::move(proposal)};
}

std::unique_ptr<ScheduleSource> tenon::createVectorWidth(const SchedulePolicy &policy) {
  return std::make_unique<VectorWidth>(policy);
}
