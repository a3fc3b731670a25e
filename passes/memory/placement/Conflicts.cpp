//===- Conflicts.cpp - which buffers are in use at one time ---------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/memory/placement/Conflicts.h"
#include <algorithm>
#include <cassert>
#include <numeric>

using namespace tenon::placement;

/// Calls `visit` for each pair of conflicting buffers, in a sweep over columns.
template <typename Visit>
static void forEachPair(const Columns &columns, const std::vector<uint32_t> &byBegin, Visit visit) {
  std::vector<uint32_t> live;
  for (uint32_t buffer : byBegin) {
    std::erase_if(live, [&](uint32_t other) { return columns.ranges[other].end <= columns.ranges[buffer].begin; });
    for (uint32_t other : live)
      visit(buffer, other);
    live.push_back(buffer);
  }
}

int64_t tenon::placement::countConflicts(const Instance &instance) {
  Columns columns = getColumns(instance);
  std::vector<int64_t> begins(columns.count + 1), ends(columns.count + 1);
  for (const Columns::Range &range : columns.ranges)
    if (range.begin < range.end) {
      ++begins[range.begin];
      ++ends[range.end];
    }
  assert(columns.ranges.size() == instance.size() && "each buffer has a range of columns");
  int64_t pairs = 0, live = 0;
  for (uint32_t c = 0; c < columns.count; ++c) {
    live -= ends[c];
    pairs += live * begins[c] + begins[c] * (begins[c] - 1) / 2;
    live += begins[c];
  }
  return pairs;
}

Conflicts::Conflicts(const Instance &instance) {
  // With more pairs, traversing a list takes longer than traversing all buffers, which need no sorting then.
  constexpr int64_t kMaxPairs = int64_t(1) << 22; // limit: memory of the list
  if (countConflicts(instance) > kMaxPairs)
    return;
  starts.resize(instance.size() + 1);
  Columns columns = getColumns(instance);
  std::vector<uint32_t> byBegin;
  for (uint32_t i = 0; i < instance.size(); ++i)
    if (instance[i].takesPlace())
      byBegin.push_back(i);
  std::sort(byBegin.begin(), byBegin.end(), [&](uint32_t a, uint32_t b) {
    return std::pair(columns.ranges[a].begin, a) < std::pair(columns.ranges[b].begin, b);
  });
  forEachPair(columns, byBegin, [&](uint32_t a, uint32_t b) {
    ++starts[a + 1];
    ++starts[b + 1];
  });
  std::partial_sum(starts.begin(), starts.end(), starts.begin());
  assert(starts.back() % 2 == 0 && "a conflict is one of both buffers");
  others.resize(starts.back());
  std::vector<size_t> next(starts.begin(), starts.end() - 1);
  forEachPair(columns, byBegin, [&](uint32_t a, uint32_t b) {
    others[next[a]++] = b;
    others[next[b]++] = a;
  });
  for (size_t i = 0; i < instance.size(); ++i)
    std::sort(others.begin() + starts[i], others.begin() + starts[i + 1]);
}
