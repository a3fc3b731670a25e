//===- Schedule.cpp - how a Winograd convolution is cut into tiles --------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/paths/winograd/Schedule.h"
#include <algorithm>
#include <cassert>

using namespace tenon;

static int64_t divideCeil(int64_t x, int64_t y) { return (x + y - 1) / y; }

/// Returns the number of panels for which the transformed input is read at a time.
static int64_t countPanelsAtATime(const WinogradProblem &p, const WinogradTile &s) {
  return std::min(divideCeil(kWinogradFilters, p.panel), s.panels);
}

/// Returns the number of 32-bit elements in a sum, each of one channel or of two.
static int64_t countSteps(const WinogradProblem &p) {
  return p.factors == WinogradFactors::f32 ? p.channels : divideCeil(p.channels, 2);
}

/// Returns the bytes of the transformed input and of the products of some panels.
static int64_t getTileBytes(const WinogradProblem &p, const WinogradTile &s) {
  int64_t side = p.outputs + p.window - 1, filters = p.panel * countPanelsAtATime(p, s);
  // Before it is rounded to i16 it is f32.
  int64_t elements = p.factors == WinogradFactors::scaledI16 ? p.channels : countSteps(p);
  return side * side * s.rows * s.columns * (elements + filters) * int64_t(sizeof(float));
}

static bool fitsL2(const WinogradProblem &p, const WinogradTile &s, const Machine &machine,
                   const WinogradPolicy &policy) {
  return getTileBytes(p, s) <= policy.cacheShare * machine.l2Bytes;
}

namespace {
/// Cycles of one tile that is whole.
struct TileCycles {
  double input; ///< to transform it
  double rest;
};
} // namespace

/// Returns the cycles to multiply the squares of a tile with a panel at one point in AMX tiles. A block has two tiles
/// of rows and one for each panel, or one of rows at the end: with few tiles a product waits for the one before.
static double getAmxProductCycles(const WinogradProblem &p, const WinogradTile &s, const WinogradPolicy &policy) {
  constexpr int64_t kRows = 16; // format: of an AMX tile
  const PathPolicy &amx = policy.products;
  int64_t rowTiles = divideCeil(s.rows * s.columns, kRows), panels = countPanelsAtATime(p, s);
  auto getStepCycles = [&](int64_t tiles) {
    return std::max(double(tiles) * amx.getAmxStepCycles(1, 1, 1), policy.amxLatency);
  };
  double step = double(rowTiles / 2) * getStepCycles(2 * panels) + double(rowTiles % 2) * getStepCycles(panels);
  auto steps = static_cast<double>(divideCeil(p.channels, chooseStep(p.channels)));
  return steps * step / double(panels) + double(rowTiles) * amx.amxBf16SumCycles;
}

/// Returns the cycles to multiply the squares of a tile with a panel at one point.
static double getProductCycles(const WinogradProblem &p, const WinogradTile &s, const Machine &machine,
                               const WinogradPolicy &policy) {
  if (multipliesInAmxTiles(p.factors, machine))
    return getAmxProductCycles(p, s, policy);
  int64_t squares = s.rows * s.columns;
  // The height of a register block of two vectors (RegisterBlock.h).
  int64_t blockRows = machine.vectorRegisters > 16 ? 13 : machine.vectorRegisters / 2 - 2;
  double vectors = double(p.panel * sizeof(float)) / double(machine.vectorBytes);
  bool isPmaddWd = p.factors == WinogradFactors::i16 && machine.int8Dot == Int8Dot::pmaddWd;
  double rows = std::max(double(squares), policy.minRows * double(divideCeil(squares, blockRows)));
  double perCycle = double(machine.multiplyAdds) / (isPmaddWd ? policy.pmaddWdFactor : 1);
  return double(countSteps(p)) * rows * vectors / perCycle / policy.share;
}

static TileCycles getTileCycles(const WinogradProblem &p, const WinogradTile &s, const Machine &machine,
                                const WinogradPolicy &policy) {
  int64_t side = p.outputs + p.window - 1, points = side * side, squares = s.rows * s.columns;
  double lanes = double(machine.vectorBytes) / sizeof(float), vectors = p.panel / lanes;
  bool isInt8 = p.factors == WinogradFactors::i16;
  // The transform of floats is computed in f32, however they are stored.
  bool isScaled = p.factors == WinogradFactors::scaledI16;
  double input = (policy.inputCycles + (isScaled ? policy.roundCycles : 0)) * points * squares *
                 divideCeil(isInt8 ? countSteps(p) : p.channels, int64_t(lanes));
  double farElements = p.panel + (fitsL2(p, s, machine, policy) ? 0 : double(squares) / countPanelsAtATime(p, s));
  double product = getProductCycles(p, s, machine, policy),
         reading = double(countSteps(p)) * farElements * sizeof(float) / machine.llcBytesPerCycle;
  double point = std::max(product, reading) + policy.exposedShare * std::min(product, reading);
  double output = (isInt8 || isScaled ? policy.int8OutputCycles : policy.outputCycles) * points * squares * vectors;
  return {input, s.panels * (points * point + output)};
}

double tenon::estimateWinogradTile(const WinogradProblem &p, const WinogradTile &s, const Machine &machine,
                                   const WinogradPolicy &policy) {
  assert(s.rows > 0 && s.columns > 0 && s.panels > 0 && "a tile has a square and a panel");
  TileCycles tile = getTileCycles(p, s, machine, policy);
  int64_t parts = p.images * divideCeil(divideCeil(p.height, p.outputs), s.rows) *
                  divideCeil(divideCeil(p.width, p.outputs), s.columns);
  int64_t tiles = parts * divideCeil(divideCeil(p.filters, p.panel), s.panels);
  double cycles = 0;
  for (int64_t cores : {1, 2, 4, 8}) {
    // Tiles of the same part of the input share its transform if one core computes them consecutively.
    int64_t most = divideCeil(tiles, cores), inputs = parts == 1 ? 1 : most;
    cycles += cores * (most * tile.rest + inputs * tile.input) / 4;
  }
  return cycles;
}

WinogradSchedule tenon::chooseWinogradSchedule(const WinogradProblem &p, const Machine &machine,
                                               const WinogradPolicy &policy) {
  assert(p.outputs > 0 && p.panel > 0 && "a square has outputs, and a panel columns");
  int64_t squareRows = divideCeil(p.height, p.outputs), squareColumns = divideCeil(p.width, p.outputs);
  int64_t panels = divideCeil(p.filters, p.panel);
  WinogradSchedule best{{1, 1, 1}, -1};
  for (int64_t rows = 1; rows <= squareRows; ++rows)
    for (int64_t columns = 1; columns <= squareColumns; ++columns) {
      int64_t most = fitsL2(p, {rows, columns, 1}, machine, policy) ? policy.maxSquares
                     : multipliesInAmxTiles(p.factors, machine)     ? policy.maxAmxSquaresBeyondL2
                                                                    : policy.maxSquaresBeyondL2;
      if (rows * columns > most)
        break;
      // Only cuts into parts of about equal size.
      if (divideCeil(squareRows, divideCeil(squareRows, rows)) != rows ||
          divideCeil(squareColumns, divideCeil(squareColumns, columns)) != columns)
        continue;
      for (int64_t width = 1; width <= panels; ++width) {
        if (divideCeil(panels, divideCeil(panels, width)) != width)
          continue;
        WinogradTile tile{rows, columns, width};
        double cycles = estimateWinogradTile(p, tile, machine, policy);
        if (best.cycles < 0 || cycles < best.cycles)
          best = {tile, cycles};
      }
    }
  return best;
}
