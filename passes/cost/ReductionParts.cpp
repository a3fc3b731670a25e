//===- ReductionParts.cpp - parts of long sums ----------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/cost/ReductionParts.h"
#include <algorithm>
#include <cassert>
#include <cmath>

using namespace tenon;

double tenon::countReductionTiles(double rows, double columns, const TilePolicy &policy) {
  return std::max(std::ceil(rows / static_cast<double>(policy.plainRows)), 1.0) *
         std::max(std::ceil(columns / static_cast<double>(policy.lastDimStep)), 1.0);
}

int64_t tenon::chooseReductionParts(const LongSums &sums, double numTiles, const TilePolicy &policy) {
  assert(sums.depth >= 0 && sums.rows >= 0 && sums.columns >= 0 && "extents are not negative");
  if (numTiles >= static_cast<double>(policy.someTiles))
    return 1;
  double depth = static_cast<double>(sums.depth), elements = sums.rows * sums.columns,
         most = std::min({static_cast<double>(policy.maxReductionParts),
                          depth * sums.products / static_cast<double>(policy.minPartProducts),
                          depth * (sums.rows + sums.columns) / (policy.minReadsPerPartial * std::max(elements, 1.0))});
  for (auto parts = static_cast<int64_t>(most); parts > 1 && 2 * parts > static_cast<int64_t>(most); --parts)
    if (sums.depth % parts == 0)
      return parts;
  return 1;
}
