//===- RegisterBlock.cpp - how much of a result stays in registers --------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/cost/RegisterBlock.h"
#include <algorithm>
#include <cassert>
#include <functional>
#include <set>

using namespace tenon;

/// The largest number of vectors in a block: wider blocks leave registers for too few rows to reuse the vectors.
static constexpr int64_t kMaxBlockVectors = 6; // limit: of the search

/// How many places a block of rows reads for a tap.
static double getPlaces(const BlockProblem &problem, int64_t rows) {
  std::set<int64_t> places;
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t tap = 0; tap < problem.taps; ++tap)
      places.insert(row * problem.stride + tap * problem.dilation);
  return static_cast<double>(places.size()) / problem.taps;
}

static double getCycles(const BlockProblem &problem, double places, RegisterBlock block) {
  assert(block.rows > 0 && block.vectors > 0 && "a block has a register");
  double products = block.rows * block.vectors;
  double loads = problem.isColumnwise ? block.vectors * (places + 1) : places + block.vectors;
  // Among blocks of equal time, the one with fewer loads wins, because other work competes for the load ports; then the
  // one with fewer distinct addresses, because adjacent lines are prefetched together.
  double others = problem.isColumnwise ? loads + places : loads;
  // In a columnwise contraction, the multiply-add has one of its operands in memory.
  double instructions = problem.isColumnwise ? products : products + loads;
  return std::max({products / 2, loads / 2, instructions / 4, block.vectors * problem.vectorCycles, 4.0}) +
         0.05 * others;
}

RowBlocks tenon::splitRows(int64_t rows, int64_t most) {
  assert(most > 0 && "a block has a row");
  if (rows <= 0)
    return {0, 0, 0};
  int64_t count = (rows + most - 1) / most;
  return {count, rows / count, rows % count};
}

/// True if the registers hold the sums, one operand of a step, and what the code generator needs besides: elements of
/// the other operand and, on targets with many registers, operands of the next step, which it loads early. LLVM spills
/// if all 32 registers but two are taken (docs/performance/register-blocks.md).
static bool fitsRegisters(const BlockProblem &problem, RegisterBlock block) {
  int64_t shared = block.vectors * problem.taps;
  // If there is a single block of rows, the elements may stay in registers instead of the vectors. With more blocks of
  // rows, each block would load all vectors again.
  if (problem.rows == block.rows && problem.taps == 1 && !problem.isColumnwise)
    shared = std::min(shared, block.rows);
  int64_t spare = problem.registers > 16 ? 3 : 1;
  return block.rows * block.vectors + shared + spare <= problem.registers;
}

/// Returns the time of the whole result: full blocks, then a remainder block for the columns, and one for the rows.
static double getResultCycles(const BlockProblem &problem, RegisterBlock block) {
  RowBlocks split = splitRows(problem.rows, block.rows);
  double places = getPlaces(problem, split.rows), placesOfLarger = getPlaces(problem, split.rows + 1);
  auto getRowCycles = [&](int64_t width) {
    if (width == 0)
      return 0.0;
    return split.larger * getCycles(problem, placesOfLarger, {split.rows + 1, width}) +
           (split.count - split.larger) * getCycles(problem, places, {split.rows, width});
  };
  int64_t blocks = problem.columns / (block.vectors * problem.lanes),
          rest = problem.columns - blocks * block.vectors * problem.lanes;
  return blocks * getRowCycles(block.vectors) + getRowCycles((rest + problem.lanes - 1) / problem.lanes);
}

/// Calls `use` with each block that fits the registers, and its time, in ascending order of rows and then of vectors.
static void forEachBlock(const BlockProblem &problem, const std::function<void(RegisterBlock, double)> &use) {
  assert(problem.lanes > 0 && problem.taps > 0 && "a vector has lanes, and a window taps");
  for (int64_t r = 1; r + problem.taps < problem.registers && r <= problem.maxRows; ++r)
    for (int64_t v = 1; v <= kMaxBlockVectors && fitsRegisters(problem, {r, v}); ++v)
      if (!problem.panelVectors || problem.panelVectors % v == 0 || v % problem.panelVectors == 0)
        use({r, v}, getResultCycles(problem, {r, v}));
}

bool tenon::allowsBlock(const BlockProblem &problem, RegisterBlock block) {
  auto [rows, vectors] = block;
  bool dividesPanels =
      !problem.panelVectors || problem.panelVectors % vectors == 0 || vectors % problem.panelVectors == 0;
  return rows > 0 && vectors > 0 && vectors <= kMaxBlockVectors && rows <= problem.rows && rows <= problem.maxRows &&
         rows + problem.taps < problem.registers && (vectors - 1) * problem.lanes < problem.columns && dividesPanels &&
         fitsRegisters(problem, block);
}

RegisterBlock tenon::chooseBlock(const BlockProblem &problem) {
  RegisterBlock best{1, 1};
  double bestCycles = -1;
  forEachBlock(problem, [&](RegisterBlock block, double cycles) {
    bool isFirst = bestCycles < 0 || cycles < bestCycles;
    // Among blocks of equal time, the narrowest wins, then the one with fewest rows.
    if (isFirst || (cycles == bestCycles && block.vectors < best.vectors)) {
      bestCycles = cycles;
      best = block;
    }
  });
  return best;
}

std::vector<std::pair<RegisterBlock, double>> tenon::rankBlocks(const BlockProblem &problem, size_t count) {
  std::vector<std::pair<RegisterBlock, double>> ranked;
  forEachBlock(problem, [&](RegisterBlock block, double cycles) {
    if (allowsBlock(problem, block))
      ranked.emplace_back(block, cycles);
  });
  std::stable_sort(ranked.begin(), ranked.end(), [](const auto &a, const auto &b) {
    return std::pair(a.second, a.first.vectors) < std::pair(b.second, b.first.vectors);
  });
  // Blocks that differ in rows but lead to the same splitting of the rows generate the same code.
  std::set<std::pair<int64_t, int64_t>> known;
  std::erase_if(ranked, [&](const auto &entry) {
    RowBlocks split = splitRows(problem.rows, entry.first.rows);
    return !known.insert({split.count, entry.first.vectors}).second;
  });
  if (ranked.size() > count)
    ranked.resize(count);
  double first = ranked.empty() ? 1 : ranked.front().second;
  for (auto &[block, cycles] : ranked)
    cycles = first > 0 ? cycles / first : 1;
  return ranked;
}
