//===- PlaceForSamples.cpp - one orientation for sizes that are not known -===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/memory/placement/PlaceForSamples.h"
#include "passes/memory/placement/FixedOffsetGroups.h"
#include "passes/memory/placement/Greedy.h"
#include "passes/memory/placement/Place.h"
#include <cassert>
#include <numeric>

using namespace tenon::placement;

namespace {

/// Collects the best of orientations.
class Candidates {
public:
  Candidates(const std::vector<Instance> &samples, const std::vector<LiveRange> &liveRanges)
      : samples(samples), liveRanges(liveRanges) {
    for (const Instance &sample : samples)
      bounds.push_back(getLowerBound(splitLiveRanges(sample)));
  }

  /// Tries the orientation of a placement of these buffers. Returns the number of the sample with the worst ratio for
  /// the better one.
  size_t tryPlacementOf(const Instance &instance, const Budget &budget);

  /// Combines the samples, each scaled to the same lower bound and by its weight, by taking the largest or the mean
  /// sizes.
  Instance mix(const std::vector<double> &weights, bool isLargest) const;

  /// Moves single buffers in the order of the best orientation, and keeps the result if it is not worse.
  void improveOrder(Budget budget);

  bool isOptimal() const { return best.worstRatio == 1; }

  SampledPlacement best{{}, std::numeric_limits<double>::infinity(), {}, {}};

private:
  struct Tried {
    size_t worst; ///< sample
    double ratio, sum;

    bool isNoWorseThan(const Tried &other) const { return std::pair(ratio, sum) <= std::pair(other.ratio, other.sum); }
  };
  Tried tryPlacement(const Instance &instance, const Placement &placement);

  /// Creates a buffer for each live range, if live ranges are given.
  Instance splitLiveRanges(const Instance &instance) const;
  std::vector<FixedOffsetGroup> groupLiveRanges(const Instance &instance) const;
  Placement joinLiveRanges(const Instance &instance, Placement split) const;
  Placement placeLives(const Instance &instance, const Budget &budget) const;

  const std::vector<Instance> &samples;
  const std::vector<LiveRange> &liveRanges;
  std::vector<int64_t> bounds;
  Tried triedBest{0, std::numeric_limits<double>::infinity(), 0};
};

} // namespace

Instance Candidates::splitLiveRanges(const Instance &instance) const {
  if (liveRanges.empty())
    return instance;
  Instance split;
  for (const LiveRange &range : liveRanges) {
    assert(range.buffer < instance.size() && range.lower <= range.upper && "a live range is one of a buffer");
    split.push_back({range.lower, range.upper, instance[range.buffer].size, instance[range.buffer].alignment});
  }
  return split;
}

/// What belongs together of `splitLiveRanges`.
std::vector<FixedOffsetGroup> Candidates::groupLiveRanges(const Instance &instance) const {
  std::vector<FixedOffsetGroup> groups(liveRanges.empty() ? 0 : instance.size());
  for (uint32_t i = 0; i < liveRanges.size(); ++i) {
    FixedOffsetGroup &group = groups[liveRanges[i].buffer];
    group.members.push_back(i);
    group.distances.push_back(0);
    group.alignment = instance[liveRanges[i].buffer].alignment;
  }
  std::erase_if(groups, [](const FixedOffsetGroup &group) { return group.members.size() < 2; });
  return groups;
}

/// Returns the placement of the buffers that follows from that of their live ranges.
Placement Candidates::joinLiveRanges(const Instance &instance, Placement split) const {
  if (liveRanges.empty())
    return split;
  assert(split.offsets.size() == liveRanges.size() && "each live range has an offset");
  Placement placement{std::vector<int64_t>(instance.size()), split.peak};
  for (size_t i = 0; i < liveRanges.size(); ++i)
    placement.offsets[liveRanges[i].buffer] = split.offsets[i];
  return placement;
}

Placement Candidates::placeLives(const Instance &instance, const Budget &budget) const {
  return joinLiveRanges(instance, placeGroups(splitLiveRanges(instance), groupLiveRanges(instance), budget));
}

size_t Candidates::tryPlacementOf(const Instance &instance, const Budget &budget) {
  Tried tried = tryPlacement(instance, place(instance, budget).placement);
  if (liveRanges.empty() || isOptimal())
    return tried.worst;
  // The placement that ignores gaps may be the better one, because it was searched for by stronger means.
  Tried split = tryPlacement(instance, placeLives(instance, budget));
  return tried.isNoWorseThan(split) ? tried.worst : split.worst;
}

Candidates::Tried Candidates::tryPlacement(const Instance &instance, const Placement &placement) {
  assert(bounds.size() == samples.size() && "each sample has a lower bound");
  SampledPlacement candidate;
  candidate.orientation = getOrientation(instance, placement, liveRanges);
  candidate.bounds = bounds;
  double sum = 0;
  size_t worst = 0;
  for (size_t k = 0; k < samples.size(); ++k) {
    candidate.peaks.push_back(evaluateOrientation(candidate.orientation, samples[k]).peak);
    double ratio = bounds[k] ? static_cast<double>(candidate.peaks[k]) / static_cast<double>(bounds[k]) : 1;
    sum += ratio;
    if (ratio > candidate.worstRatio) {
      candidate.worstRatio = ratio;
      worst = k;
    }
  }
  Tried tried{worst, candidate.worstRatio, sum};
  if (!triedBest.isNoWorseThan(tried)) {
    best = std::move(candidate);
    triedBest = tried;
  }
  return tried;
}

void Candidates::improveOrder(Budget budget) {
  size_t count = samples.front().size();
  if (isOptimal() || count < 2)
    return;
  // With the sizes for which the best one is worst.
  const Instance &sample = samples[triedBest.worst], split = splitLiveRanges(sample);
  Conflicts conflicts(split);
  if (!conflicts.isListed())
    return;
  std::vector<FixedOffsetGroup> groups = groupLiveRanges(sample);
  std::vector<uint32_t> firstLiveRange(count);
  for (uint32_t i = 0; i < split.size(); ++i)
    firstLiveRange[liveRanges.empty() ? i : liveRanges[i].buffer] = i;
  int64_t cost = static_cast<int64_t>(4 * conflicts.count() + 8 * samples.size() * count);
  std::vector<uint32_t> order = best.orientation.order;
  Tried current = triedBest;
  // The constants of Knuth's MMIX generator, which make the numbers reproducible everywhere.
  uint64_t random = 1;
  while (!isOptimal() && !budget.isSpent()) {
    budget.spend(cost);
    random = random * 6364136223846793005u + 1442695040888963407u;
    std::vector<uint32_t> changed = order, ofLiveRanges;
    moveOne(random >> 33, changed);
    for (uint32_t buffer : changed)
      ofLiveRanges.push_back(firstLiveRange[buffer]);
    Tried tried =
        tryPlacement(sample, joinLiveRanges(sample, placeInOrder(split, conflicts, ofLiveRanges, Fit::first, groups)));
    if (!tried.isNoWorseThan(current))
      continue;
    current = tried;
    order = std::move(changed);
  }
}

Instance Candidates::mix(const std::vector<double> &weights, bool isLargest) const {
  // A common scale that is large enough to distinguish sizes, and small enough to avoid overflow of sums.
  constexpr double kBound = 1 << 24; // limit: sums of sizes stay in 64 bits
  double total = std::accumulate(weights.begin(), weights.end(), 0.0);
  Instance instance;
  for (size_t i = 0; i < samples.front().size(); ++i) {
    double sum = 0, largest = 0;
    for (size_t k = 0; k < samples.size(); ++k) {
      if (bounds[k] == 0)
        continue;
      double size = weights[k] * static_cast<double>(samples[k][i].size) / static_cast<double>(bounds[k]);
      sum += size;
      largest = std::max(largest, size);
    }
    const Buffer &buffer = samples.front()[i];
    instance.push_back(
        {buffer.lower, buffer.upper, static_cast<int64_t>(kBound / total * (isLargest ? largest : sum))});
  }
  return instance;
}

SampledPlacement tenon::placement::placeForSamples(const std::vector<Instance> &samples, Budget budget,
                                                   const std::vector<LiveRange> &liveRanges) {
  constexpr int64_t kMixes = 16; // limit: compile time
  Candidates candidates(samples, liveRanges);
  Budget share = budget.part(static_cast<int64_t>(samples.size()) + kMixes);
  for (const Instance &sample : samples) {
    candidates.tryPlacementOf(sample, share);
    if (candidates.isOptimal())
      return candidates.best;
  }
  // The sample with the worst ratio gets a larger weight in the next mix.
  std::vector<double> weights(samples.size(), 1);
  for (int64_t i = 0; i < kMixes && !candidates.isOptimal(); ++i)
    weights[candidates.tryPlacementOf(candidates.mix(weights, i % 2 == 0), share)] *= 1.5;
  candidates.improveOrder(budget.part(2));
  return candidates.best;
}
