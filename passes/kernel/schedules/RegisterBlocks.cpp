//===- RegisterBlocks.cpp - rows and vectors of a register block ----------===//
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
class RegisterBlocks : public ScheduleSource {
public:
  explicit RegisterBlocks(const SchedulePolicy &policy) : policy(policy) {}
  StringRef getName() const override { return "register block"; }
  std::vector<ScheduleProposal> propose(const ScheduleProblem &problem, const ScheduleDraft &own) const override;

private:
  const SchedulePolicy policy;
};
} // namespace

/// Proposes the blocks that the cost model ranks next to the best one. The emitter, which knows more of the kernel,
/// rejects those that it cannot use.
std::vector<ScheduleProposal> RegisterBlocks::propose(const ScheduleProblem &problem, const ScheduleDraft &own) const {
  const Contraction &contraction = problem.contraction;
  auto type = dyn_cast<FloatType>(problem.type);
  if (!type || !contraction.rowLoop || contraction.terms || contraction.dequantization || !problem.tiles.row)
    return {};
  // With a single row, blocks of groups of integers are whole panels.
  if (contraction.integerGroups && own.tile[*problem.tiles.row] == 1)
    return {};
  int64_t lanes = problem.machine.vectorBytes * 8 / type.getWidth();
  assert(lanes > 0 && "a vector has room for an element");
  BlockProblem blocks{own.tile[*problem.tiles.row], own.tile[problem.tiles.column], lanes,
                      problem.machine.vectorRegisters};
  blocks.isColumnwise = contraction.isColumnwise;
  // Groups of integers have integer sums beside those of floats, as many of each.
  if (contraction.integerGroups)
    blocks.registers /= 2;
  if (contraction.panel && blocks.registers <= kFewRegisters)
    blocks.panelVectors = contraction.panel / lanes;
  std::vector<ScheduleProposal> proposals;
  for (auto [block, cost] : rankBlocks(blocks, policy.maxBlocks + 1)) {
    ScheduleProposal proposal{own, cost};
    proposal.draft.block = block;
    proposals.push_back(std::move(proposal));
  }
  return proposals;
}

std::unique_ptr<ScheduleSource> tenon::createRegisterBlocks(const SchedulePolicy &policy) {
  return std::make_unique<RegisterBlocks>(policy);
}
