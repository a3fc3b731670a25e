//===- BoundedSizes.cpp - late activations that the arena has room for ----===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/memory/BoundedSizes.h"
#include "passes/memory/SizeSamples.h"

using namespace mlir;
using namespace tenon;

/// What a sum of sizes ends at.
static constexpr int64_t kMaxBytes = int64_t(1) << 50; // limit: sums of sizes stay in 64 bits

namespace {

/// The bytes that are live at each instruction for each sample of sizes, and their limits.
class LiveBytes {
public:
  LiveBytes(plan::ProgramOp program, size_t numInstructions)
      : samples(program), live(samples.count(), std::vector<int64_t>(numInstructions)), most(samples.count()) {}

  void add(Activation &activation) {
    for (size_t sample = 0; sample < live.size(); ++sample)
      for (int64_t &bytes : getLiveRange(activation, sample))
        bytes = std::min(bytes + getBytes(activation, sample).value_or(0), kMaxBytes);
  }

  /// Sets the limit to 5/4 of the live bytes, and at least to `smallArena`.
  void setLimits(int64_t smallArena) {
    for (auto [bytes, limit] : llvm::zip(live, most)) {
      int64_t peak = bytes.empty() ? 0 : *llvm::max_element(bytes);
      limit = std::max(peak + peak / 4, smallArena);
    }
  }

  bool hasRoomFor(Activation &activation) {
    for (size_t sample = 0; sample < live.size(); ++sample) {
      std::optional<int64_t> bytes = getBytes(activation, sample);
      if (!bytes ||
          llvm::any_of(getLiveRange(activation, sample), [&](int64_t other) { return other + *bytes > most[sample]; }))
        return false;
    }
    return true;
  }

  /// At the first sample, to compare by.
  int64_t getTypicalBytes(Activation &activation) { return getBytes(activation, 0).value_or(kMaxBytes); }

private:
  MutableArrayRef<int64_t> getLiveRange(const Activation &activation, size_t sample) {
    if (activation.first < 0)
      return {};
    assert(activation.first <= activation.last && activation.last < static_cast<int64_t>(live[sample].size()) &&
           "an activation is live during instructions of the program");
    return MutableArrayRef(live[sample]).slice(activation.first, activation.last + 1 - activation.first);
  }

  std::optional<int64_t> getBytes(Activation &activation, size_t sample) {
    std::optional<int64_t> bytes = samples.evaluate(activation.getRoom(), sample);
    return bytes ? std::optional(std::clamp<int64_t>(*bytes, 0, kMaxBytes)) : std::nullopt;
  }

  SizeSamples samples;
  std::vector<std::vector<int64_t>> live;
  std::vector<int64_t> most;
};

/// Finds index arithmetic that depends on values which instructions read from memory.
class DataDependence {
public:
  explicit DataDependence(plan::ProgramOp program) {
    auto getSymbol = [&](int64_t number) { return program.getBody().getArgument(number); };
    program.walk([&](plan::BindOp bind) { symbols.insert(getSymbol(bind.getSymbol())); });
    // A symbol that is set to an expression depends on the data that the expression depends on.
    size_t count;
    do {
      count = symbols.size();
      program.walk([&](plan::SetOp set) {
        if (has(set.getValue()))
          symbols.insert(getSymbol(set.getSymbol()));
      });
    } while (symbols.size() > count);
  }

  bool has(Value value) const {
    if (isa<BlockArgument>(value))
      return symbols.contains(value);
    assert(value.getDefiningOp() && "what is no argument is computed");
    return llvm::any_of(value.getDefiningOp()->getOperands(), [&](Value operand) { return has(operand); });
  }

private:
  llvm::DenseSet<Value> symbols;
};

} // namespace

void tenon::moveBounded(plan::ProgramOp program, std::vector<Activation> &inBlocks, std::vector<Activation> &inArena,
                        const MemoryPolicy &policy) {
  int64_t end = 0;
  for (const std::vector<Activation> *list : {&inBlocks, &inArena})
    for (const Activation &activation : *list)
      end = std::max(end, activation.last + 1);
  LiveBytes live(program, end);
  DataDependence data(program);
  for (Activation &activation : inBlocks)
    if (activation.alloc.getBound() && !data.has(activation.alloc.getSize()))
      inArena.push_back(activation);
  for (Activation &activation : inArena)
    live.add(activation);
  live.setLimits(policy.smallArena);
  SmallVector<std::pair<int64_t, size_t>> order;
  for (auto [i, activation] : llvm::enumerate(inBlocks))
    if (activation.alloc.getBound() && data.has(activation.alloc.getSize()))
      order.push_back({live.getTypicalBytes(activation), i});
  llvm::sort(order);
  for (auto [bytes, i] : order)
    if (live.hasRoomFor(inBlocks[i])) {
      live.add(inBlocks[i]);
      inArena.push_back(inBlocks[i]);
    }
  llvm::DenseSet<Operation *> moved;
  for (const Activation &activation : inArena)
    moved.insert(activation.alloc);
  llvm::erase_if(inBlocks, [&](const Activation &activation) { return moved.contains(activation.alloc); });
}
