//===- ChainCost.cpp - what it costs to compute a convolution's input beside it //
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/cost/ChainCost.h"
#include "passes/cost/FusionCost.h"

#include <algorithm>
#include <cassert>

using namespace tenon;

int64_t tenon::countLinesBetween(const ChainShape &shape, int64_t lines) {
  assert(lines > 0 && shape.stride > 0 && shape.dilation > 0 && "a tile has lines, and windows are apart");
  return std::min((lines - 1) * shape.stride + (shape.window - 1) * shape.dilation + 1, shape.lines);
}

static double getBytesBetween(const ChainShape &shape) {
  assert(shape.images > 0 && shape.lines > 0 && shape.width > 0 && shape.channels > 0 &&
         "tensors between have elements");
  return double(shape.images) * shape.lines * shape.width * shape.channels * shape.elementBytes;
}

static double getSeparateCycles(const ChainShape &shape, const Machine &machine) {
  double between = getBytesBetween(shape);
  return getKernelCycles({shape.firstCycles, shape.firstBytes + between}, machine) +
         getKernelCycles({shape.secondCycles, shape.secondBytes + between}, machine);
}

static double getTileBytes(const ChainShape &shape, int64_t lines, int64_t channels) {
  return double(countLinesBetween(shape, lines)) * shape.width * channels * shape.elementBytes;
}

/// Returns the cycles of one kernel that computes both nests with these tiles; none if the cache does not hold what a
/// tile reads, or if there are too few tiles for the threads.
static std::optional<double> getJoinedCycles(const ChainShape &shape, int64_t lines, int64_t channels,
                                             const Machine &machine, const ChainPolicy &policy) {
  assert(channels > 0 && shape.channels % channels == 0 && "tiles have whole parts of the channels");
  double bytes = getTileBytes(shape, lines, channels);
  int64_t tilesOfImage = ((shape.resultLines + lines - 1) / lines) * (shape.channels / channels);
  double tiles = double(shape.images) * double(tilesOfImage);
  if (bytes + shape.weightBytes > policy.cacheShare * machine.l2Bytes || tiles < policy.minTiles)
    return std::nullopt;
  // Neighbouring tiles both compute the lines that their windows share. The two nests alternate tile by tile, so the
  // arithmetic of one does not hide the memory traffic of the other.
  double repeated = tiles * bytes / getBytesBetween(shape);
  double near = tiles * getMoveCycles(bytes + shape.weightBytes, machine);
  double first = std::max(shape.firstCycles * repeated, getMoveCycles(shape.firstBytes, machine) + near);
  double second = std::max(shape.secondCycles, getMoveCycles(shape.secondBytes, machine) + near);
  return getKernelCycles({first + second + tiles * policy.tileCycles, 0}, machine);
}

std::optional<ChainTile> tenon::chooseChainTile(const ChainShape &shape, const Machine &machine,
                                                const ChainPolicy &policy) {
  double separate = getSeparateCycles(shape, machine);
  std::optional<ChainTile> best;
  int64_t step = shape.channelStep ? shape.channelStep : shape.channels;
  assert(step > 0 && "tiles have channels");
  for (int64_t channels = step; channels <= shape.channels; channels += step) {
    if (shape.channels % channels != 0)
      continue;
    for (int64_t lines = 1; lines <= shape.resultLines && getTileBytes(shape, lines, channels) <= policy.maxTileBytes;
         ++lines) {
      if (shape.needsEqualTiles && shape.resultLines % lines != 0)
        continue;
      std::optional<double> cycles = getJoinedCycles(shape, lines, channels, machine, policy);
      if (cycles && (!best || *cycles < best->cycles))
        best = ChainTile{lines, channels, *cycles, separate};
    }
  }
  return best;
}
