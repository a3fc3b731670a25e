//===- Instances.cpp - random instances of placement ----------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/unit/memory/Instances.h"
#include <algorithm>
#include <limits>
#include <numeric>

using namespace tenon::placement;

static constexpr int64_t kTime = 1000;

int64_t tenon::placement::draw(std::mt19937 &random, int64_t from, int64_t to) {
  return std::uniform_int_distribution<int64_t>(from, to)(random);
}

Instance tenon::placement::makeNetwork(std::mt19937 &random, size_t count) {
  Instance instance;
  for (size_t i = 0; i < count; ++i) {
    int64_t last = static_cast<int64_t>(count), lower = draw(random, 0, last);
    int64_t length = draw(random, 0, 9) == 0 ? draw(random, 1, last) : draw(random, 1, 4);
    int64_t size = draw(random, 0, 7) == 0   ? 0
                   : draw(random, 0, 1) == 0 ? draw(random, 1, 8) * 4096
                                             : draw(random, 1, 1600) * 64;
    instance.push_back({lower, lower + length, size});
  }
  return instance;
}

Instance tenon::placement::makeCut(std::mt19937 &random, size_t count, int64_t capacity) {
  Instance cut{{0, kTime, capacity}};
  while (cut.size() < count) {
    // The largest of a few, so that none stays large.
    size_t i = 0;
    for (int k = 0; k < 3; ++k) {
      size_t other = draw(random, 0, static_cast<int64_t>(cut.size()) - 1);
      auto getArea = [](const Buffer &b) {
        return static_cast<double>(b.upper - b.lower) * static_cast<double>(b.size);
      };
      if (k == 0 || getArea(cut[other]) > getArea(cut[i]))
        i = other;
    }
    Buffer first = cut[i], second = cut[i];
    if (draw(random, 0, 1) == 0 && first.upper - first.lower > 1)
      first.upper = second.lower = draw(random, first.lower + 1, first.upper - 1);
    else if (first.size > 1)
      second.size -= first.size = draw(random, 1, first.size - 1);
    else
      continue;
    cut[i] = first;
    cut.push_back(second);
  }
  std::shuffle(cut.begin(), cut.end(), random);
  return cut;
}

void tenon::placement::trim(std::mt19937 &random, Instance &cut) {
  for (Buffer &buffer : cut) {
    if (buffer.lower <= kTime / 2 && kTime / 2 < buffer.upper)
      continue;
    buffer.size -= draw(random, 0, buffer.size / 8);
    buffer.lower += draw(random, 0, (buffer.upper - buffer.lower) / 8);
  }
}

int64_t tenon::placement::getSmallestPeak(const Instance &instance) {
  // Some order of placing at the lowest offset above all in conflict that came before gives any placement.
  std::vector<size_t> order(instance.size());
  std::iota(order.begin(), order.end(), 0);
  int64_t best = std::numeric_limits<int64_t>::max();
  do {
    std::vector<int64_t> ends(instance.size());
    for (size_t k = 0; k < order.size(); ++k) {
      int64_t offset = 0;
      for (size_t other = 0; other < k; ++other)
        if (inConflict(instance[order[k]], instance[order[other]]))
          offset = std::max(offset, ends[order[other]]);
      ends[order[k]] = offset + instance[order[k]].size;
    }
    best = std::min(best, *std::max_element(ends.begin(), ends.end()));
  } while (std::next_permutation(order.begin(), order.end()));
  return best;
}
