//===- ScheduleCost.cpp - what the tiles of a contraction cost ------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/cost/ScheduleCost.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <cmath>

using namespace tenon;

double tenon::estimateTileCycles(const TileProblem &problem, llvm::ArrayRef<int64_t> tile, const Machine &machine,
                                 const SchedulePolicy &policy) {
  assert(tile.size() == problem.hints.size() && "a tile has a size for each dimension of the result");
  double tiles = 1, elements = 1, lines = 1, columns = 1;
  for (auto [i, size] : llvm::enumerate(tile)) {
    auto extent = double(problem.hints[i].value_or(size)), part = std::min(double(size), extent);
    if (part <= 0)
      return 0;
    tiles *= std::ceil(extent / part);
    elements *= extent;
    (i == problem.column ? columns : lines) *= part;
  }
  double products = elements * double(problem.products) / machine.getMultiplyAdds(sizeof(float));
  double bytes = (lines + columns) * double(problem.products) * sizeof(float);
  return products + tiles * (bytes / machine.llcBytesPerCycle + policy.tileCycles);
}
