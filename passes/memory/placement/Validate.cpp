//===- Validate.cpp - whether a placement holds ---------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/memory/placement/Validate.h"
#include <algorithm>
#include <cassert>
#include <set>

using namespace tenon::placement;

namespace {

struct Change {
  int64_t time;
  bool isStart;
  size_t buffer;
};

} // namespace

static bool needsBytes(const Buffer &buffer) { return buffer.size != 0 && buffer.lower < buffer.upper; }

static bool liesInArena(const Buffer &buffer, int64_t offset, int64_t peak) {
  assert(buffer.alignment > 0 && "a buffer has an alignment");
  return offset >= 0 && offset % buffer.alignment == 0 && buffer.size <= peak && offset <= peak - buffer.size;
}

/// Returns the starts and ends of nonempty buffers, ordered by time, ends first.
static std::vector<Change> getChanges(const Instance &instance) {
  std::vector<Change> changes;
  for (size_t i = 0; i < instance.size(); ++i) {
    if (!needsBytes(instance[i]))
      continue;
    changes.push_back({instance[i].lower, true, i});
    changes.push_back({instance[i].upper, false, i});
  }
  std::sort(changes.begin(), changes.end(), [](const Change &a, const Change &b) {
    return a.time != b.time ? a.time < b.time : a.isStart < b.isStart;
  });
  return changes;
}

std::optional<std::pair<size_t, size_t>> tenon::placement::findPlacementFault(const Instance &instance,
                                                                              const Placement &placement) {
  assert(placement.offsets.size() == instance.size() && "each buffer has an offset");
  for (size_t i = 0; i < instance.size(); ++i)
    if (needsBytes(instance[i]) && !liesInArena(instance[i], placement.offsets[i], placement.peak))
      return std::pair(i, i);
  // A sweep over time that keeps the buffers in use by offset; only neighbours can collide.
  std::set<std::pair<int64_t, size_t>> live;
  for (const Change &change : getChanges(instance)) {
    std::pair<int64_t, size_t> entry(placement.offsets[change.buffer], change.buffer);
    if (!change.isStart) {
      live.erase(entry);
      continue;
    }
    auto after = live.lower_bound(entry);
    if (after != live.end() && entry.first + instance[change.buffer].size > after->first)
      return std::pair(change.buffer, after->second);
    if (after != live.begin()) {
      auto before = std::prev(after);
      if (before->first + instance[before->second].size > entry.first)
        return std::pair(before->second, change.buffer);
    }
    live.insert(entry);
  }
  return std::nullopt;
}
