//===- ConcurrentGroups.cpp - launches that run side by side -----------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/memory/ConcurrentGroups.h"
#include "passes/memory/Lifetimes.h"
#include "passes/memory/Parts.h"
#include "passes/memory/SizeSamples.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "plan-assign-offsets"

using namespace mlir;
using namespace tenon;

//===----------------------------------------------------------------------===//
// Which launches depend on each other
//===----------------------------------------------------------------------===//

namespace {
/// What launches of a group read and write.
class GroupUses {
public:
  void add(plan::LaunchOp launch) {
    for (Value input : launch.getInputs())
      add(read, input);
    for (Value output : launch.getOutputs())
      add(written, output);
  }
  void clear() {
    read.clear();
    written.clear();
  }
  /// True if a launch accesses nothing that a launch of the group writes, and writes nothing that one of them reads.
  bool areIndependentOf(plan::LaunchOp launch) const {
    return llvm::none_of(launch.getInputs(), [&](Value input) { return has(written, input); }) &&
           llvm::none_of(launch.getOutputs(), [&](Value output) { return has(written, output) || has(read, output); });
  }

private:
  using Parts = llvm::DenseMap<Value, SmallVector<Part>>; // of each whole buffer

  static void add(Parts &parts, Value buffer) {
    Part part = getPart(buffer);
    parts[part.whole].push_back(part);
  }
  static bool has(const Parts &parts, Value buffer) {
    Part part = getPart(buffer);
    auto it = parts.find(part.whole);
    return it != parts.end() && llvm::any_of(it->second, [&](const Part &other) { return overlap(part, other); });
  }

  Parts read, written;
};

/// The bytes that are live at each instruction, and those whose live range begins there, for one sample of the sizes.
struct LiveBytes {
  std::vector<int64_t> live, begun;
  int64_t peak = 0;
};
} // namespace

//===----------------------------------------------------------------------===//
// What is live at one time
//===----------------------------------------------------------------------===//

static LiveBytes getLiveBytes(ArrayRef<Activation> activations, SizeSamples &samples, size_t sample, int64_t count) {
  LiveBytes bytes{std::vector<int64_t>(count), std::vector<int64_t>(count)};
  std::vector<int64_t> ended(count + 1);
  for (Activation activation : activations) {
    int64_t size = samples.evaluate(activation.getRoom(), sample).value_or(0);
    if (activation.first < 0 || size > (int64_t(1) << 45))
      continue;
    if (activation.liveRanges.empty())
      activation.liveRanges.push_back({activation.first, activation.last});
    for (const LiveRange &range : activation.liveRanges) {
      assert(range.first >= 0 && range.last < count && "a range is live during instructions of the program");
      int64_t part = std::min(range.end, size) - range.begin;
      bytes.begun[range.first] += part;
      ended[range.last + 1] += part;
    }
  }
  int64_t live = 0;
  for (int64_t time = 0; time < count; ++time) {
    live += bytes.begun[time] - ended[time];
    bytes.live[time] = live;
    bytes.peak = std::max(bytes.peak, live);
  }
  return bytes;
}

//===----------------------------------------------------------------------===//
// Which launches run side by side
//===----------------------------------------------------------------------===//

namespace {
/// Consecutive launches of a block that may become a group.
class Grouping {
public:
  Grouping(plan::ProgramOp program) : samples(program) {
    std::vector<Activation> activations = computeLifetimes(program, &times);
    int64_t count = 0;
    for (const Activation &activation : activations)
      count = std::max(count, activation.last + 1);
    for (auto [op, time] : times)
      count = std::max(count, time + 1);
    for (size_t sample = 0; sample < samples.count(); ++sample)
      bytes.push_back(getLiveBytes(activations, samples, sample, count));
  }

  void visit(Block &block) {
    uses.clear();
    bool hasGroup = false;
    for (Operation &op : block) {
      auto launch = dyn_cast<plan::LaunchOp>(op);
      if (!launch) {
        // Any other instruction ends the group; pure operations and allocations do not.
        hasGroup &= isPure(&op) || isa<plan::AllocOp>(op);
        continue;
      }
      assert(times.contains(launch) && "each launch of the program has a time");
      int64_t time = times.lookup(launch);
      bool joins = hasGroup && uses.areIndependentOf(launch) && hasRoomAt(time);
      LDBG() << launch.getName() << (joins ? " runs beside" : " waits for") << " the launches before it";
      launch.setBeside(joins);
      if (!joins)
        begin(time);
      else
        extend(time);
      uses.add(launch);
      hasGroup = true;
    }
  }

private:
  void begin(int64_t time) {
    uses.clear();
    live.clear();
    for (const LiveBytes &sample : bytes) {
      assert(time < static_cast<int64_t>(sample.live.size()) && "each launch has a time of the program");
      live.push_back(sample.live[time]);
    }
  }

  void extend(int64_t time) {
    assert(live.size() == bytes.size() && "a group has begun");
    for (auto [bytesOfGroup, sample] : llvm::zip(live, bytes))
      bytesOfGroup += sample.begun[time];
  }

  /// All buffers of a group are live during the whole group. Their bytes must not exceed the peak of the program.
  bool hasRoomAt(int64_t time) const {
    return llvm::all_of(llvm::zip(live, bytes), [&](auto pair) {
      auto [bytesOfGroup, sample] = pair;
      return bytesOfGroup + sample.begun[time] <= sample.peak;
    });
  }

  SizeSamples samples;
  LaunchTimes times;
  std::vector<LiveBytes> bytes; // at each sample
  GroupUses uses;
  std::vector<int64_t> live; // during the group, at each sample
};
} // namespace

void tenon::formConcurrentGroups(plan::ProgramOp program) {
  Grouping grouping(program);
  program.walk([&](Block *block) { grouping.visit(*block); });
}
