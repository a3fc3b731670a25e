//===- Skyline.cpp - the state of a search for places ---------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/memory/placement/Skyline.h"
#include <algorithm>
#include <cassert>

using namespace tenon::placement;

/// A mixing step like that of MurmurHash3's end.
static uint64_t mix(uint64_t value) {
  value = (value ^ (value >> 32)) * 0xd6e8feb86659fd93u;
  value = (value ^ (value >> 32)) * 0xd6e8feb86659fd93u;
  return value ^ (value >> 32);
}

Skyline::Skyline(const Instance &instance) : offsets(instance.size()) {
  Columns ranges = getColumns(instance);
  columns.resize(ranges.count);
  for (uint32_t i = 0; i < instance.size(); ++i)
    items.push_back({ranges.ranges[i].begin, ranges.ranges[i].end, instance[i].size, i, 0});
  for (const Item &item : items)
    for (uint32_t c = item.begin; c < item.end; ++c) {
      columns[c].rest += item.size;
      columns[c].crossing += c > item.begin;
    }
}

void Skyline::restart(const std::vector<double> &preferences) {
  assert(preferences.size() == items.size() && "each buffer has a preference");
  undoTo(0);
  for (Item &item : items)
    item.preference = preferences[item.buffer];
  std::sort(items.begin(), items.end(), [](const Item &a, const Item &b) {
    if (a.begin != b.begin)
      return a.begin < b.begin;
    return a.preference != b.preference ? a.preference > b.preference : a.buffer < b.buffer;
  });
  uint32_t item = 0;
  for (uint32_t c = 0; c < columns.size(); ++c) {
    while (item < items.size() && items[item].begin < c)
      ++item;
    columns[c].firstItem = item;
  }
}

void Skyline::undoTo(size_t mark) {
  assert(mark <= trail.size() && "a mark was passed before");
  while (trail.size() > mark) {
    Change change = trail.back();
    trail.pop_back();
    if (change.column == kPlacement)
      unplace(static_cast<uint32_t>(change.value));
    else
      columns[change.column].height = change.value;
  }
}

void Skyline::place(uint32_t number) {
  Item &item = items[number];
  assert(!item.isPlaced && "an item is placed once");
  offsets[item.buffer] = columns[item.begin].height;
  item.isPlaced = true;
  for (uint32_t c = item.begin; c < item.end; ++c) {
    columns[c].height += item.size;
    columns[c].rest -= item.size;
    columns[c].crossing -= c > item.begin;
  }
  trail.push_back({kPlacement, number});
}

void Skyline::unplace(uint32_t number) {
  Item &item = items[number];
  assert(item.isPlaced && "what is undone was done");
  item.isPlaced = false;
  for (uint32_t c = item.begin; c < item.end; ++c) {
    columns[c].height -= item.size;
    columns[c].rest += item.size;
    columns[c].crossing += c > item.begin;
  }
}

void Skyline::raise(uint32_t column, int64_t height) {
  assert(height >= columns[column].height && "a column is raised, not lowered");
  trail.push_back({column, columns[column].height});
  columns[column].height = height;
}

uint64_t Skyline::getHash(Segment segment) const {
  uint64_t hash = mix((static_cast<uint64_t>(segment.begin) << 32) + segment.end);
  for (uint32_t c = segment.begin; c < segment.end; ++c)
    hash = mix(hash + static_cast<uint64_t>(columns[c].height));
  // The hash is a sum, because the order of items differs between restarts.
  uint64_t rest = 0;
  auto [begin, end] = getItems(segment);
  for (uint32_t i = begin; i < end; ++i)
    if (!items[i].isPlaced)
      rest += mix(items[i].buffer + 1);
  return mix(hash ^ rest);
}
