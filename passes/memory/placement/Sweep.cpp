//===- Sweep.cpp - places for buffers, in the order of time ---------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/memory/placement/Sweep.h"
#include <algorithm>
#include <cassert>
#include <iterator>
#include <limits>
#include <map>
#include <queue>

using namespace tenon::placement;

namespace {

/// The free ranges of an unbounded arena.
class FreeSpace {
public:
  int64_t take(int64_t size, int64_t alignment) {
    auto gap = std::find_if(gaps.begin(), gaps.end(), [&](const std::pair<const int64_t, int64_t> &entry) {
      return entry.second - size >= alignTo(entry.first, alignment);
    });
    assert(gap != gaps.end() && "the last gap has no end");
    auto [begin, end] = *gap;
    int64_t offset = alignTo(begin, alignment);
    gaps.erase(gap);
    if (offset > begin)
      gaps[begin] = offset;
    if (offset + size < end)
      gaps[offset + size] = end;
    return offset;
  }

  void give(int64_t offset, int64_t size) {
    assert(size > 0 && !gaps.contains(offset) && "bytes are given back that were taken");
    auto gap = gaps.insert({offset, offset + size}).first;
    auto after = std::next(gap);
    if (after->first == gap->second) {
      gap->second = after->second;
      gaps.erase(after);
    }
    if (gap != gaps.begin() && std::prev(gap)->second == offset) {
      std::prev(gap)->second = gap->second;
      gaps.erase(gap);
    }
  }

private:
  std::map<int64_t, int64_t> gaps{{0, std::numeric_limits<int64_t>::max()}}; // begin and end
};

} // namespace

Placement tenon::placement::placeBySweep(const Instance &instance) {
  std::vector<size_t> order;
  for (size_t i = 0; i < instance.size(); ++i)
    if (instance[i].takesPlace())
      order.push_back(i);
  std::sort(order.begin(), order.end(),
            [&](size_t a, size_t b) { return std::pair(instance[a].lower, a) < std::pair(instance[b].lower, b); });
  Placement placement;
  placement.offsets.assign(instance.size(), 0);
  FreeSpace free;
  using End = std::pair<int64_t, size_t>;
  std::priority_queue<End, std::vector<End>, std::greater<>> ends;
  for (size_t i : order) {
    for (; !ends.empty() && ends.top().first <= instance[i].lower; ends.pop())
      free.give(placement.offsets[ends.top().second], instance[ends.top().second].size);
    placement.offsets[i] = free.take(instance[i].size, instance[i].alignment);
    placement.peak = std::max(placement.peak, placement.offsets[i] + instance[i].size);
    ends.push({instance[i].upper, i});
  }
  return placement;
}
