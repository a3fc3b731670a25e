//===- RegisterBlock.cpp - how much of a result stays in registers --------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/cost/RegisterBlock.h"
#include <algorithm>
#include <cassert>
#include <set>

using namespace tenon;

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
  // Of blocks that take the same time the one with fewer loads, which other things compete with, and with fewer
  // places: neighbours in memory come from afar together.
  double others = problem.isColumnwise ? loads + places : loads;
  // A multiply-add of columns with columns reads one of them itself.
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

/// True if registers hold the sums, what one operand has of a step, and what the code generator needs besides: elements
/// of the other operand, and, of many registers, operands of the next step, which it loads early. Where all 32 but two
/// were taken (14 x 2 sums and two vectors) LLVM spilled 82 times in a loop of 56 multiply-adds, which took twice the
/// time of 13 x 2.
static bool fitsRegisters(const BlockProblem &problem, RegisterBlock block) {
  int64_t shared = block.vectors * problem.taps;
  // A single block of rows may keep their elements instead. Of more such blocks each would read all vectors again.
  if (problem.rows == block.rows && problem.taps == 1 && !problem.isColumnwise)
    shared = std::min(shared, block.rows);
  int64_t spare = problem.registers > 16 ? 3 : 1;
  return block.rows * block.vectors + shared + spare <= problem.registers;
}

RegisterBlock tenon::chooseBlock(const BlockProblem &problem) {
  assert(problem.lanes > 0 && problem.taps > 0 && "a vector has lanes, and a window taps");
  auto [rows, columns] = std::pair(problem.rows, problem.columns);
  RegisterBlock best{1, 1};
  double bestCycles = -1;
  for (int64_t r = 1; r + problem.taps < problem.registers && r <= problem.maxRows; ++r) {
    RowBlocks split = splitRows(rows, r);
    double places = getPlaces(problem, split.rows), placesOfLarger = getPlaces(problem, split.rows + 1);
    for (int64_t v = 1; v <= 6 && fitsRegisters(problem, {r, v}); ++v) {
      if (problem.panelVectors && problem.panelVectors % v && v % problem.panelVectors)
        continue;
      // Whole blocks, then one for what is left of the columns, and of the rows.
      auto getRowCycles = [&](int64_t width) {
        if (width == 0)
          return 0.0;
        return split.larger * getCycles(problem, placesOfLarger, {split.rows + 1, width}) +
               (split.count - split.larger) * getCycles(problem, places, {split.rows, width});
      };
      int64_t blocks = columns / (v * problem.lanes), rest = columns - blocks * v * problem.lanes;
      double cycles = blocks * getRowCycles(v) + getRowCycles((rest + problem.lanes - 1) / problem.lanes);
      bool isFirst = bestCycles < 0 || cycles < bestCycles;
      // Of equals the narrowest, and of these the one with fewest rows.
      if (isFirst || (cycles == bestCycles && v < best.vectors)) {
        bestCycles = cycles;
        best = {r, v};
      }
    }
  }
  return best;
}
