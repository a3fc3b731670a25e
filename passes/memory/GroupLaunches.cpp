//===- GroupLaunches.cpp - launches that run side by side -----------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/memory/GroupLaunches.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "passes/memory/Lifetimes.h"
#include "passes/memory/SizeSamples.h"

using namespace mlir;
using namespace tenon;

//===----------------------------------------------------------------------===//
// Which launches depend on each other
//===----------------------------------------------------------------------===//

namespace {
/// Bytes [begin, end) of a buffer that is no part of another; of unknown ends where there are none.
struct Part {
  Value whole;
  std::optional<int64_t> begin, end;
};
} // namespace

static Part getPart(Value buffer) {
  Part part{buffer, std::nullopt, std::nullopt};
  if (auto alias = buffer.getDefiningOp<plan::AliasOp>()) {
    std::optional<int64_t> offset = getConstantIntValue(alias.getOffset()), size = getConstantIntValue(alias.getSize());
    Part source = getPart(alias.getSource());
    bool isWhole = source.whole == alias.getSource();
    part.whole = source.whole;
    // Of parts of parts no more than the part is known.
    if (isWhole && offset && size)
      part = {source.whole, *offset, *offset + *size};
    else if (!isWhole)
      part = source;
  }
  return part;
}

static bool overlap(Value a, Value b) {
  // One that has no bytes is still written by one launch and read by another.
  if (a == b)
    return true;
  Part x = getPart(a), y = getPart(b);
  if (x.whole != y.whole)
    return false;
  return !x.end || !y.end || (*x.begin < *y.end && *y.begin < *x.end);
}

static bool overlap(ValueRange written, plan::LaunchOp launch) {
  return llvm::any_of(written, [&](Value value) {
    auto overlaps = [&](Value other) { return overlap(value, other); };
    return llvm::any_of(launch.getInputs(), overlaps) || llvm::any_of(launch.getOutputs(), overlaps);
  });
}

static bool areIndependent(plan::LaunchOp a, plan::LaunchOp b) {
  return !overlap(a.getOutputs(), b) && !overlap(b.getOutputs(), a);
}

//===----------------------------------------------------------------------===//
// What is live at one time
//===----------------------------------------------------------------------===//

/// The most bytes that are live at one time, at each sample of the sizes.
static SmallVector<int64_t> getPeaks(plan::ProgramOp program, SizeSamples &samples) {
  std::vector<Activation> activations = computeLifetimes(program);
  int64_t end = 0;
  for (const Activation &activation : activations)
    end = std::max(end, activation.last + 1);
  SmallVector<int64_t> peaks;
  for (size_t sample = 0; sample < samples.count(); ++sample) {
    std::vector<int64_t> changes(end + 1);
    for (Activation &activation : activations) {
      int64_t size = samples.evaluate(activation.getRoom(), sample).value_or(0);
      if (activation.first < 0 || size > (int64_t(1) << 45))
        continue;
      std::vector<Piece> pieces = activation.pieces;
      if (pieces.empty())
        pieces.push_back({activation.first, activation.last});
      for (const Piece &piece : pieces) {
        int64_t bytes = std::min(piece.end, size) - piece.begin;
        changes[piece.first] += bytes;
        changes[piece.last + 1] -= bytes;
      }
    }
    int64_t live = 0, peak = 0;
    for (int64_t change : changes)
      peak = std::max(peak, live += change);
    peaks.push_back(peak);
  }
  return peaks;
}

//===----------------------------------------------------------------------===//
// Which launches run side by side
//===----------------------------------------------------------------------===//

void tenon::groupLaunches(plan::ProgramOp program) {
  SizeSamples samples(program);
  SmallVector<int64_t> peaks = getPeaks(program, samples);
  auto keepsPeaks = [&] {
    return llvm::all_of(llvm::zip(getPeaks(program, samples), peaks),
                        [](auto pair) { return std::get<0>(pair) <= std::get<1>(pair); });
  };
  program.walk([&](Block *block) {
    SmallVector<plan::LaunchOp> group;
    for (Operation &op : *block) {
      auto launch = dyn_cast<plan::LaunchOp>(op);
      if (!launch) {
        // Any other instruction; what is no instruction has no effects, or is an allocation.
        if (!isPure(&op) && !isa<plan::AllocOp>(op))
          group.clear();
        continue;
      }
      bool joins =
          !group.empty() && llvm::all_of(group, [&](plan::LaunchOp other) { return areIndependent(launch, other); });
      launch.setBeside(joins);
      if (joins && !keepsPeaks())
        launch.setBeside(joins = false);
      if (!joins)
        group.clear();
      group.push_back(launch);
    }
  });
}
