//===- Lifetimes.cpp - when a program uses its activations ---------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/memory/Lifetimes.h"

using namespace mlir;
using namespace tenon;

namespace {

class LifetimeWalk {
public:
  void visit(Block &block);
  void extendOverLoops();
  std::vector<Activation> activations;

private:
  void use(Value buffer);

  std::vector<std::pair<int64_t, int64_t>> loops; // first and last time of each, inner ones first
  llvm::DenseMap<Value, size_t> index; // also of aliases
  int64_t time = 0;
};

} // namespace

void LifetimeWalk::use(Value buffer) {
  auto it = index.find(buffer);
  if (it == index.end())
    return;
  Activation &activation = activations[it->second];
  if (activation.first < 0)
    activation.first = time;
  activation.last = time;
}

/// What is used in a loop and around it must outlive every time that the loop comes around.
void LifetimeWalk::extendOverLoops() {
  for (auto [begin, end] : loops)
    for (Activation &activation : activations) {
      bool isUsedInside = activation.first >= 0 && activation.first <= end && activation.last >= begin;
      bool isUsedOutside = activation.first < begin || activation.last > end;
      if (isUsedInside && isUsedOutside) {
        activation.first = std::min(activation.first, begin);
        activation.last = std::max(activation.last, end);
      }
    }
}

void LifetimeWalk::visit(Block &block) {
  for (Operation &op : block) {
    if (auto alloc = dyn_cast<plan::AllocOp>(op)) {
      index[alloc.getBuffer()] = activations.size();
      activations.push_back({alloc, -1, -1});
    } else if (auto alias = dyn_cast<plan::AliasOp>(op)) {
      if (auto it = index.find(alias.getSource()); it != index.end())
        index[alias.getBuffer()] = size_t(it->second);
    } else if (auto launch = dyn_cast<plan::LaunchOp>(op); launch && launch.getBeside()) {
      // At the time of the launch before.
      --time;
      for (Value operand : op.getOperands())
        use(operand);
      ++time;
    } else if (isa<plan::LaunchOp, plan::CopyOp, plan::RunSeedOp, plan::BindOp, plan::ReserveOp, plan::IfOp>(op)) {
      for (Value operand : op.getOperands())
        use(operand);
      ++time;
      for (Region &region : op.getRegions())
        visit(region.front());
    } else if (auto loop = dyn_cast<plan::LoopOp>(op)) {
      int64_t begin = time;
      use(loop.getCondition());
      ++time;
      visit(loop.getBody().front());
      // The condition is read again.
      use(loop.getCondition());
      loops.push_back({begin, time++});
    }
  }
}

std::vector<Activation> tenon::computeLifetimes(plan::ProgramOp program) {
  LifetimeWalk walk;
  walk.visit(program.getBody().front());
  walk.extendOverLoops();
  return std::move(walk.activations);
}
