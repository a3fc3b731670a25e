//===- Instance.cpp - buffers that need places in one arena ---------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/memory/placement/Instance.h"
#include <algorithm>
#include <cassert>
#include <tuple>

using namespace tenon::placement;

namespace {

struct Event {
  int64_t time;
  bool isStart;
  size_t buffer;

  /// Ends sort first: a buffer that begins when another one ends is not in conflict with it.
  bool operator<(const Event &other) const {
    return std::tuple(time, isStart, buffer) < std::tuple(other.time, other.isStart, other.buffer);
  }
};

} // namespace

static std::vector<Event> getEvents(const Instance &instance) {
  std::vector<Event> events;
  for (size_t i = 0; i < instance.size(); ++i) {
    if (!instance[i].takesPlace())
      continue;
    events.push_back({instance[i].lower, true, i});
    events.push_back({instance[i].upper, false, i});
  }
  std::sort(events.begin(), events.end());
  return events;
}

int64_t tenon::placement::alignTo(int64_t value, int64_t alignment) {
  assert(value >= 0 && alignment > 0 && "an offset is rounded up to a multiple of a number above 0");
  return (value + alignment - 1) / alignment * alignment;
}

bool tenon::placement::inConflict(const Buffer &a, const Buffer &b) {
  return a.takesPlace() && b.takesPlace() && a.lower < b.upper && b.lower < a.upper;
}

std::optional<InstanceFault> tenon::placement::findInstanceFault(const Instance &instance) {
  int64_t sum = 0;
  for (size_t i = 0; i < instance.size(); ++i) {
    const Buffer &buffer = instance[i];
    auto makeFault = [&](std::string text) { return InstanceFault{i, std::move(text)}; };
    if (buffer.lower > buffer.upper)
      return makeFault("lower is " + std::to_string(buffer.lower) + ", which is after upper, " +
                       std::to_string(buffer.upper));
    if (buffer.size < 0)
      return makeFault("size is " + std::to_string(buffer.size) + ", expected 0 or more");
    if (buffer.alignment < 1)
      return makeFault("alignment is " + std::to_string(buffer.alignment) + ", expected at least 1");
    // The most that a buffer adds to any stack, plus the largest increase by rounding its size up.
    if (__builtin_add_overflow(sum, buffer.size, &sum) || __builtin_add_overflow(sum, buffer.alignment, &sum) ||
        __builtin_add_overflow(sum, buffer.alignment, &sum))
      return makeFault("with it the sizes add up to more than 64 bits hold");
  }
  return std::nullopt;
}

int64_t tenon::placement::getLowerBound(const Instance &instance) {
  int64_t live = 0, bound = 0;
  for (const Event &event : getEvents(instance)) {
    live += event.isStart ? instance[event.buffer].size : -instance[event.buffer].size;
    assert(live >= 0 && "a buffer ends that began");
    bound = std::max(bound, live);
  }
  assert(live == 0 && "each buffer that begins ends");
  return bound;
}

int64_t tenon::placement::getPeak(const Instance &instance, const std::vector<int64_t> &offsets) {
  assert(offsets.size() == instance.size() && "each buffer has an offset");
  int64_t peak = 0;
  for (size_t i = 0; i < instance.size(); ++i)
    if (instance[i].takesPlace())
      peak = std::max(peak, offsets[i] + instance[i].size);
  return peak;
}

Columns tenon::placement::getColumns(const Instance &instance) {
  Columns columns;
  columns.ranges.resize(instance.size());
  // A time at which buffers only end has a subset of an earlier column's buffers.
  bool isGrowing = false;
  for (const Event &event : getEvents(instance)) {
    if (event.isStart) {
      columns.count += !isGrowing;
      assert(columns.count > 0 && "a buffer begins in a column");
      columns.ranges[event.buffer].begin = columns.count - 1;
    } else {
      columns.ranges[event.buffer].end = columns.count;
    }
    isGrowing = event.isStart;
  }
  return columns;
}
