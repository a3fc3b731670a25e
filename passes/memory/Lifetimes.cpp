//===- Lifetimes.cpp - when a program uses its activations ---------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/memory/Lifetimes.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "passes/memory/Parts.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace tenon;

namespace {

/// The bytes [begin, end) of an activation that an instruction accesses.
struct Access {
  int64_t time, begin, end;
  Value holder; ///< what lies there: the activation itself, or one that it lends them to
};

/// What is known of an activation on the way.
struct Usage {
  std::vector<Access> accesses;
  bool isPlain = true; ///< of a known size, and used at the top level alone, in parts that are known
  std::vector<std::pair<int64_t, int64_t>> idle; ///< [from, to), in which it holds nothing
};

class LifetimeWalk {
public:
  void visit(Block &block);
  void extendOverLoops();
  void findPieces();
  std::vector<Activation> activations;
  LaunchTimes times;

private:
  void add(plan::AllocOp alloc);
  void use(Value buffer);
  void overwrite(Value buffer);
  void useOperands(Operation &op);
  void visitBranches(plan::IfOp branch);

  /// The second one of two branches.
  struct Otherwise {
    int64_t branch, start; ///< when the first one begins, and this one does
  };

  std::vector<std::pair<int64_t, int64_t>> loops; // first and last time of each, inner ones first
  std::vector<Usage> usages;                      // of each activation
  llvm::DenseMap<Value, size_t> index;            // of allocations
  std::vector<Otherwise> otherwise;               // those that are visited now
  int64_t time = 0, depth = 0, loopDepth = 0;
  int64_t straightFrom = 0; // since when instructions run one after the other, with no branch or loop between
};

} // namespace

void LifetimeWalk::add(plan::AllocOp alloc) {
  index[alloc.getBuffer()] = activations.size();
  activations.push_back({alloc, -1, -1});
  usages.emplace_back();
}

void LifetimeWalk::use(Value buffer) {
  Part part = getPart(buffer);
  auto it = index.find(part.whole);
  if (it == index.end())
    return;
  Activation &activation = activations[it->second];
  Usage &usage = usages[it->second];
  // Bytes that the first branch writes are for the code after both branches; when the second branch runs, they hold
  // nothing.
  for (const Otherwise &other : otherwise)
    if (loopDepth == 0 && activation.first > other.branch && activation.last < other.start)
      usage.idle.push_back({other.start, time});
  usage.isPlain &= depth == 0 && part.begin && part.end;
  if (usage.isPlain)
    usage.accesses.push_back({time, *part.begin, *part.end, part.holder});
  if (activation.first < 0)
    activation.first = time;
  activation.last = time;
}

/// True if a buffer is a whole activation of constant size.
static bool isWhole(Value buffer, plan::AllocOp alloc) {
  if (alloc.getBound() || buffer == alloc.getBuffer())
    return !alloc.getBound();
  auto alias = buffer.getDefiningOp<plan::AliasOp>();
  return alias && alias.getSource() == alloc.getBuffer() && isConstantIntValue(alias.getOffset(), 0) &&
         alias.getSize() == alloc.getSize();
}

/// Bytes that are overwritten without being read are dead since their last use: for a value that a loop carries, from
/// its last read in an iteration to the write for the next iteration.
void LifetimeWalk::overwrite(Value buffer) {
  auto it = index.find(getPart(buffer).whole);
  if (it == index.end() || !isWhole(buffer, activations[it->second].alloc))
    return;
  int64_t from = std::max(activations[it->second].last + 1, straightFrom);
  if (activations[it->second].first >= 0 && from < time)
    usages[it->second].idle.push_back({from, time});
}

/// Extends live ranges of values that are used both inside and outside of a loop to the whole loop.
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

/// The time without what is idle.
static std::vector<LiveRange> cutTime(const Activation &activation, const Usage &usage) {
  std::vector<LiveRange> ranges;
  int64_t first = activation.first;
  for (auto [from, to] : usage.idle) {
    // Among ranges with the same end, the first one begins earlier.
    if (from == to || to <= first)
      continue;
    ranges.push_back({first, from - 1});
    first = to;
  }
  ranges.push_back({first, activation.last});
  return ranges;
}

/// Returns a live range for each run of bytes that are always used together, and for each of their holders, from the
/// first use to the last.
static std::vector<LiveRange> cutBytes(const Usage &usage) {
  // Limits compile time; activations with more accesses are treated as a whole.
  constexpr size_t kMaxEnds = 256, kMaxAccesses = 4096; // limit: compile time
  llvm::SmallSetVector<int64_t, 8> ends;
  for (const Access &access : usage.accesses) {
    ends.insert(access.begin);
    ends.insert(access.end);
  }
  if (ends.size() > kMaxEnds || usage.accesses.size() > kMaxAccesses)
    return {};
  SmallVector<int64_t> sorted = ends.takeVector();
  llvm::sort(sorted);
  std::vector<LiveRange> ranges;
  for (auto [begin, end] : llvm::zip(sorted, llvm::drop_begin(sorted))) {
    llvm::MapVector<Value, LiveRange> byHolder;
    for (const Access &access : usage.accesses) {
      if (access.end <= begin || end <= access.begin)
        continue;
      LiveRange &range =
          byHolder.try_emplace(access.holder, LiveRange{access.time, access.time, begin, end}).first->second;
      range.first = std::min(range.first, access.time);
      range.last = std::max(range.last, access.time);
    }
    for (auto &[holder, range] : byHolder)
      ranges.push_back(range);
  }
  return ranges;
}

void LifetimeWalk::findPieces() {
  for (auto [activation, usage] : llvm::zip(activations, usages)) {
    if (activation.first < 0)
      continue;
    activation.liveRanges = usage.isPlain ? cutBytes(usage) : cutTime(activation, usage);
    if (activation.liveRanges.size() < 2)
      activation.liveRanges.clear();
  }
}

/// Instructions of all branches are numbered consecutively, so a value that only one branch uses has a range of its
/// own.
void LifetimeWalk::visitBranches(plan::IfOp branch) {
  int64_t begin = time - 1;
  ++depth;
  for (auto [i, region] : llvm::enumerate(branch->getRegions())) {
    if (i > 0)
      otherwise.push_back({begin, time});
    visit(region.front());
    if (i > 0)
      otherwise.pop_back();
  }
  --depth;
}

void LifetimeWalk::useOperands(Operation &op) {
  times[&op] = time;
  if (auto launch = dyn_cast<plan::LaunchOp>(op)) {
    for (Value output : launch.getOutputs())
      if (llvm::none_of(launch.getInputs(), [&](Value input) { return getPart(input).whole == getPart(output).whole; }))
        overwrite(output);
  } else if (auto call = dyn_cast<plan::HostCallOp>(op)) {
    for (Value output : call.getOutputs())
      overwrite(output);
  } else if (auto copy = dyn_cast<plan::CopyOp>(op)) {
    overwrite(copy.getTarget());
  } else if (auto reserve = dyn_cast<plan::ReserveOp>(op); reserve && !reserve.getKeep()) {
    overwrite(reserve.getBuffer());
  }
  for (Value operand : op.getOperands())
    use(operand);
}

void LifetimeWalk::visit(Block &block) {
  straightFrom = time;
  for (Operation &op : block) {
    if (auto alloc = dyn_cast<plan::AllocOp>(op)) {
      add(alloc);
    } else if (auto launch = dyn_cast<plan::LaunchOp>(op); launch && launch.getBeside()) {
      // At the time of the launch before.
      --time;
      useOperands(op);
      ++time;
    } else if (isa<plan::LaunchOp, plan::HostCallOp, plan::CopyOp, plan::RunSeedOp, plan::BindOp, plan::ReserveOp,
                   plan::IfOp>(op)) {
      useOperands(op);
      ++time;
      if (auto branch = dyn_cast<plan::IfOp>(op)) {
        visitBranches(branch);
        straightFrom = time;
      }
    } else if (auto loop = dyn_cast<plan::LoopOp>(op)) {
      int64_t begin = time;
      use(loop.getCondition());
      ++time;
      ++depth;
      ++loopDepth;
      visit(loop.getBody().front());
      --loopDepth;
      --depth;
      // The condition is read again.
      use(loop.getCondition());
      loops.push_back({begin, time++});
      straightFrom = time;
    }
  }
}

std::vector<Activation> tenon::computeLifetimes(plan::ProgramOp program, LaunchTimes *times) {
  LifetimeWalk walk;
  walk.visit(program.getBody().front());
  walk.extendOverLoops();
  walk.findPieces();
  if (times)
    *times = std::move(walk.times);
  return std::move(walk.activations);
}
