//===- ExactSearch.cpp - places within a capacity, if there are any -------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/memory/placement/ExactSearch.h"
#include "passes/memory/placement/Skyline.h"
#include <cassert>
#include <limits>

using namespace tenon::placement;

static constexpr int64_t kNoWall = std::numeric_limits<int64_t>::max(); // format: stands for no wall

namespace {

/// A branching decision: which item comes next on `column`.
struct Choice {
  Segment valley{0, 0};
  uint32_t column = 0;
  int64_t raised = 0; ///< how high the column gets where no item comes directly on the valley
  int64_t height = 0, slack = 0;
  double options = 0; ///< 0: nothing is left to choose
};

/// How the next column is chosen: by the fewest options, optionally divided by how often a column failed, or multiplied
/// by its slack; or the lowest valley.
enum class Rule { weights, options, slack, lowest };

/// Hashes of states in which nothing fits: a direct-mapped table, which overwrites entries on collisions. It begins
/// small, because most of hundreds of searches are short, and doubles when it is half full.
class FailedStates {
public:
  bool contains(uint64_t hash) const { return entries[hash % entries.size()] == hash; }
  void insert(uint64_t hash) {
    if (2 * ++count > entries.size() && entries.size() < kMaxSize)
      grow();
    entries[hash % entries.size()] = hash;
  }

private:
  void grow() {
    std::vector<uint64_t> old(2 * entries.size());
    old.swap(entries);
    for (uint64_t hash : old)
      if (hash != 0)
        entries[hash % entries.size()] = hash;
  }

  static constexpr size_t kMinSize = size_t(1) << 8, kMaxSize = size_t(1) << 18; // limit: memory of the search

  std::vector<uint64_t> entries = std::vector<uint64_t>(kMinSize);
  size_t count = 0; ///< of insertions
};

class Search {
public:
  Search(const Instance &instance, int64_t capacity)
      : skyline(instance), capacity(capacity), weights(skyline.getColumnCount(), 1) {}

  SearchEnd run(const std::vector<double> &preferences, Rule rule, Budget &budget, int64_t limit);
  const std::vector<int64_t> &getOffsets() const { return skyline.getOffsets(); }

private:
  bool solve(Segment segment);
  bool solveConnected(Segment segment);
  bool tryChoice(Segment segment, const Choice &choice);
  bool settle(Segment segment, Choice &best);
  bool settleValley(Segment valley, int64_t wall, bool &isRaised, Choice &best);
  bool isBetter(const Choice &a, const Choice &b) const;
  std::vector<uint32_t> getCandidates(const Choice &choice) const;

  /// Of recursion, for the stack's sake.
  static constexpr int64_t kMaxDepth = 5000; // limit: stack of the search

  Skyline skyline;
  int64_t capacity;
  std::vector<double> weights; // of columns: how often nothing fitted there
  FailedStates failed;
  Rule rule = Rule::weights;
  int64_t steps = 0, limit = 0, depth = 0;
  bool isOver = false;

  struct Inside {
    int32_t count = 0;
    int64_t size = 0;
  };
  std::vector<Inside> inside; // scratch of settleValley
};

} // namespace

bool Search::isBetter(const Choice &a, const Choice &b) const {
  assert(a.options > 0 && "a choice that is compared has options");
  if (b.options == 0)
    return true;
  if (rule == Rule::lowest && a.height != b.height)
    return a.height < b.height;
  double x = a.options, y = b.options;
  if (rule == Rule::weights) {
    x /= weights[a.column];
    y /= weights[b.column];
  } else if (rule == Rule::slack) {
    double unit = static_cast<double>(capacity) / 128;
    x *= static_cast<double>(a.slack) + unit;
    y *= static_cast<double>(b.slack) + unit;
  }
  if (x != y)
    return x < y;
  return a.slack != b.slack ? a.slack < b.slack : a.height < b.height;
}

/// Raises columns of a valley on which no item within the valley fits. Returns false if some item cannot fit any more;
/// otherwise may set `best` to a choice about this valley.
bool Search::settleValley(Segment valley, int64_t wall, bool &isRaised, Choice &best) {
  assert(valley.begin < valley.end && "a valley has a column");
  auto [begin, end] = skyline.getItems(valley);
  steps += valley.end - valley.begin + end - begin;
  inside.assign(valley.end - valley.begin + 1, {});
  int64_t smallest = kNoWall;
  int32_t count = 0;
  for (uint32_t i = begin; i < end; ++i) {
    const Skyline::Item &item = skyline.getItem(i);
    if (item.isPlaced || item.end > valley.end)
      continue;
    Inside &first = inside[item.begin - valley.begin], &last = inside[item.end - valley.begin];
    ++first.count;
    --last.count;
    first.size += item.size;
    last.size -= item.size;
    smallest = std::min(smallest, item.size);
    ++count;
  }
  int64_t height = skyline.getHeight(valley.begin);
  Inside here;
  for (uint32_t c = valley.begin; c < valley.end; ++c) {
    here.count += inside[c - valley.begin].count;
    here.size += inside[c - valley.begin].size;
    int64_t rest = skyline.getRest(c);
    if (rest == 0 && wall == kNoWall)
      continue;
    // An item that is not within the valley must be above its lower wall.
    if (rest > here.size && (wall == kNoWall || std::max(height + here.size, wall) > capacity - (rest - here.size))) {
      weights[c] += 1;
      return false;
    }
    if (here.count == 0) {
      skyline.raise(c, wall);
      isRaised = true;
      continue;
    }
    int64_t slack = capacity - height - rest;
    // The next item on this column rests on the wall, or on an item within the valley beside this column.
    int64_t raised = here.count < count && smallest < wall - height ? height + smallest : wall;
    bool mayRaise = raised - height <= slack;
    Choice choice{valley, c, raised, height, slack, static_cast<double>(here.count + mayRaise)};
    if (isBetter(choice, best))
      best = choice;
  }
  return true;
}

/// Raises columns as far as necessary, and selects the next choice.
bool Search::settle(Segment segment, Choice &best) {
  best = {};
  uint32_t begin = segment.begin;
  while (begin < segment.end) {
    int64_t height = skyline.getHeight(begin);
    uint32_t end = begin + 1;
    while (end < segment.end && skyline.getHeight(end) == height)
      ++end;
    int64_t left = begin > segment.begin ? skyline.getHeight(begin - 1) : kNoWall;
    int64_t right = end < segment.end ? skyline.getHeight(end) : kNoWall;
    steps += end - begin;
    bool isRaised = false;
    if (left > height && right > height) {
      Choice choice;
      if (!settleValley({begin, end}, std::min(left, right), isRaised, choice))
        return false;
      if (!isRaised && choice.options > 0 && isBetter(choice, best))
        best = choice;
    }
    if (!isRaised) {
      begin = end;
      continue;
    }
    // Raised columns form another valley, perhaps together with their left wall.
    while (begin > segment.begin && skyline.getHeight(begin - 1) == left)
      --begin;
  }
  return true;
}

/// Returns the items that can come next on the column, without duplicates of an earlier one.
std::vector<uint32_t> Search::getCandidates(const Choice &choice) const {
  std::vector<uint32_t> candidates;
  auto [begin, end] = skyline.getItems({choice.valley.begin, choice.column + 1});
  for (uint32_t i = begin; i < end; ++i) {
    const Skyline::Item &item = skyline.getItem(i);
    if (item.isPlaced || item.end > choice.valley.end || item.end <= choice.column)
      continue;
    bool isKnown = std::any_of(candidates.begin(), candidates.end(), [&](uint32_t other) {
      const Skyline::Item &known = skyline.getItem(other);
      return known.begin == item.begin && known.end == item.end && known.size == item.size;
    });
    if (!isKnown)
      candidates.push_back(i);
  }
  std::sort(candidates.begin(), candidates.end(), [&](uint32_t a, uint32_t b) {
    double x = skyline.getItem(a).preference, y = skyline.getItem(b).preference;
    return x != y ? x > y : a < b;
  });
  return candidates;
}

bool Search::tryChoice(Segment segment, const Choice &choice) {
  assert(choice.column >= choice.valley.begin && choice.column < choice.valley.end &&
         "a choice is about a column of its valley");
  size_t mark = skyline.getMark();
  for (uint32_t item : getCandidates(choice)) {
    skyline.place(item);
    if (solve(segment))
      return true;
    skyline.undoTo(mark);
    if (isOver)
      return false;
  }
  if (choice.raised - choice.height > choice.slack)
    return false;
  skyline.raise(choice.column, choice.raised);
  return solve(segment);
}

bool Search::solveConnected(Segment segment) {
  size_t mark = skyline.getMark();
  Choice choice;
  if (!settle(segment, choice)) {
    skyline.undoTo(mark);
    return false;
  }
  if (choice.options == 0)
    return true;
  uint64_t hash = skyline.getHash(segment);
  steps += segment.end - segment.begin;
  if (!failed.contains(hash) && tryChoice(segment, choice))
    return true;
  if (!isOver)
    failed.insert(hash);
  skyline.undoTo(mark);
  return false;
}

/// Places the remaining items of a segment, one independent part after the other. If this fails, the caller undoes the
/// changes.
bool Search::solve(Segment segment) {
  isOver = isOver || steps > limit || depth > kMaxDepth;
  if (isOver)
    return false;
  ++depth;
  bool isSolved = true;
  uint32_t begin = segment.begin;
  for (uint32_t c = segment.begin + 1; c <= segment.end && isSolved; ++c)
    if (c == segment.end || skyline.isCut(c)) {
      // A single column without remaining items is skipped.
      if (c - begin > 1 || skyline.getRest(begin) > 0)
        isSolved = solveConnected({begin, c});
      begin = c;
    }
  --depth;
  return isSolved;
}

SearchEnd Search::run(const std::vector<double> &preferences, Rule by, Budget &budget, int64_t stepLimit) {
  skyline.restart(preferences);
  rule = by;
  steps = depth = 0;
  limit = std::min(stepLimit, budget.left());
  isOver = false;
  bool isSolved = solve({0, skyline.getColumnCount()});
  budget.spend(steps + 1);
  if (isSolved)
    return SearchEnd::found;
  return isOver ? SearchEnd::gaveUp : SearchEnd::impossible;
}

/// Returns the preferences of try `number`: each measure in turn, in later rounds with noise.
static std::vector<double> getPreferences(const Instance &instance, uint32_t number, uint64_t &random) {
  std::vector<double> preferences;
  for (const Buffer &buffer : instance) {
    double size = static_cast<double>(buffer.size);
    double length = static_cast<double>(buffer.upper) - static_cast<double>(buffer.lower);
    const double measures[] = {size * length, size, length, -size, size * length * length};
    double noise = 1;
    if (number >= std::size(measures)) {
      // The constants of Knuth's MMIX generator, which make the numbers reproducible everywhere.
      random = random * 6364136223846793005u + 1442695040888963407u;
      noise = 0.5 + static_cast<double>(random >> 44) / (1 << 20);
    }
    preferences.push_back(measures[number % std::size(measures)] * noise);
  }
  return preferences;
}

SearchEnd tenon::placement::searchPlacement(const Instance &instance, int64_t capacity, Budget &budget,
                                            Placement &placement) {
  if (getLowerBound(instance) > capacity)
    return SearchEnd::impossible;
  Search search(instance, capacity);
  const Rule rules[] = {Rule::weights, Rule::options, Rule::slack, Rule::lowest};
  // The first limit is about the cost of one complete placement. The last one is about 10 ms; other tries find what a
  // longer try would.
  constexpr int64_t kFirstLimit = 1000, kLastLimit = 2'000'000; // limit: compile time
  constexpr uint32_t kTriesARound = 20;                         // math: all rules with all preferences
  uint64_t random = 1;
  int64_t count = static_cast<int64_t>(instance.size()), limit = std::clamp(count * count, kFirstLimit, kLastLimit);
  for (uint32_t number = 0; !budget.isSpent(); ++number) {
    std::vector<double> preferences = getPreferences(instance, number, random);
    SearchEnd end = search.run(preferences, rules[number % std::size(rules)], budget, limit);
    if (end == SearchEnd::found) {
      placement.offsets = search.getOffsets();
      placement.peak = getPeak(instance, placement.offsets);
      assert(placement.peak <= capacity && "the search keeps below the capacity");
    }
    if (end != SearchEnd::gaveUp)
      return end;
    if (number % kTriesARound == kTriesARound - 1)
      limit = std::min(limit + limit / 2, kLastLimit);
  }
  return SearchEnd::gaveUp;
}
