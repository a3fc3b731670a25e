//===- Packer.cpp - places for buffers in one arena -----------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//


#include "passes/memory/Packer.h"
#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <set>

using namespace tenon;

static int64_t alignTo(int64_t value, int64_t alignment) { return (value + alignment - 1) / alignment * alignment; }

static bool overlapInTime(const PackerBuffer &a, const PackerBuffer &b) { return a.lower < b.upper && b.lower < a.upper; }

/// Places buffers in this order, each into the smallest gap that it fits in (or the lowest, for first fit)
/// between those placed before that live at the same time.
static Packing packInOrder(const std::vector<PackerBuffer> &buffers, const std::vector<size_t> &order,
                           int64_t alignment, bool bestFit) {
  Packing packing;
  packing.offsets.assign(buffers.size(), 0);
  std::vector<size_t> byOffset; // placed, by offset
  for (size_t index : order) {
    const PackerBuffer &buffer = buffers[index];
    if (buffer.size == 0)
      continue;
    int64_t size = alignTo(buffer.size, alignment), end = 0, best = -1;
    int64_t bestGap = std::numeric_limits<int64_t>::max();
    for (size_t other : byOffset) {
      if (!overlapInTime(buffer, buffers[other]))
        continue;
      int64_t gap = packing.offsets[other] - end;
      if (gap >= size && gap < bestGap) {
        best = end;
        bestGap = gap;
        if (!bestFit)
          break;
      }
      end = std::max(end, packing.offsets[other] + alignTo(buffers[other].size, alignment));
    }
    packing.offsets[index] = best >= 0 ? best : end;
    packing.peak = std::max(packing.peak, packing.offsets[index] + size);
    auto place = std::upper_bound(byOffset.begin(), byOffset.end(), index, [&](size_t a, size_t b) {
      return packing.offsets[a] < packing.offsets[b];
    });
    byOffset.insert(place, index);
  }
  return packing;
}

Packing tenon::packBuffers(const std::vector<PackerBuffer> &buffers, int64_t alignment) {
  using Before = std::function<bool(const PackerBuffer &, const PackerBuffer &)>;
  auto length = [](const PackerBuffer &b) { return b.upper - b.lower; };
  const Before orders[] = {
      [](auto &a, auto &b) { return a.size > b.size; },
      [&](auto &a, auto &b) { return length(a) > length(b); },
      [&](auto &a, auto &b) { return static_cast<double>(length(a)) * a.size > static_cast<double>(length(b)) * b.size; },
      [](auto &a, auto &b) { return a.lower < b.lower; },
  };
  int64_t bound = getPackingLowerBound(buffers, alignment);
  std::optional<Packing> best;
  for (const Before &before : orders)
    for (bool bestFit : {true, false}) {
      std::vector<size_t> order(buffers.size());
      std::iota(order.begin(), order.end(), 0);
      std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return before(buffers[a], buffers[b]); });
      Packing packing = packInOrder(buffers, order, alignment, bestFit);
      if (!best || packing.peak < best->peak)
        best = std::move(packing);
      if (best->peak == bound)
        return *best;
    }
  return *best;
}

int64_t tenon::getPackingLowerBound(const std::vector<PackerBuffer> &buffers, int64_t alignment) {
  std::map<int64_t, int64_t> changes;
  for (const PackerBuffer &buffer : buffers) {
    if (buffer.lower >= buffer.upper)
      continue;
    changes[buffer.lower] += alignTo(buffer.size, alignment);
    changes[buffer.upper] -= alignTo(buffer.size, alignment);
  }
  int64_t live = 0, peak = 0;
  for (auto &[time, change] : changes)
    peak = std::max(peak, live += change);
  return peak;
}

std::optional<std::pair<size_t, size_t>> tenon::findPackingFault(const std::vector<PackerBuffer> &buffers,
                                                                 const Packing &packing, int64_t alignment) {
  // A sweep over time that keeps the buffers in use by offset: only neighbours can collide.
  struct Event {
    int64_t time;
    bool isStart;
    size_t index;
  };
  std::vector<Event> events;
  for (size_t i = 0; i < buffers.size(); ++i) {
    int64_t offset = packing.offsets[i];
    if (offset < 0 || offset % alignment != 0 || offset + buffers[i].size > packing.peak)
      return std::pair(i, i);
    if (buffers[i].size == 0 || buffers[i].lower >= buffers[i].upper)
      continue;
    events.push_back({buffers[i].lower, true, i});
    events.push_back({buffers[i].upper, false, i});
  }
  std::sort(events.begin(), events.end(), [](const Event &a, const Event &b) {
    return a.time != b.time ? a.time < b.time : a.isStart < b.isStart; // ends first
  });
  std::set<std::pair<int64_t, size_t>> live;
  for (const Event &event : events) {
    std::pair<int64_t, size_t> entry(packing.offsets[event.index], event.index);
    if (!event.isStart) {
      live.erase(entry);
      continue;
    }
    auto after = live.lower_bound(entry);
    if (after != live.end() && entry.first + buffers[event.index].size > after->first)
      return std::pair(event.index, after->second);
    if (after != live.begin()) {
      auto before = std::prev(after);
      if (before->first + buffers[before->second].size > entry.first)
        return std::pair(before->second, event.index);
    }
    live.insert(entry);
  }
  return std::nullopt;
}
