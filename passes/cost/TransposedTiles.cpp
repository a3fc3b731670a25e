//===- TransposedTiles.cpp - how the result of a transpose is tiled -------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/cost/TransposedTiles.h"
#include "passes/cost/CacheLines.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>

using namespace tenon;
using llvm::ArrayRef;
using llvm::SmallVector;

/// Returns a part of `extent` of about `limit` elements, in whole cache lines of `line` elements, so that the last part
/// is not much smaller; the whole extent if that is not much more.
static int64_t choosePartOfTransposed(int64_t extent, int64_t limit, int64_t line) {
  if (extent <= 2 * limit)
    return std::max<int64_t>(extent, 1);
  for (int64_t size = limit / line * line; size >= line && 2 * size > limit; size -= line)
    if (extent % size == 0 || extent % size >= 2 * line)
      return size;
  return llvm::divideCeil(extent, llvm::divideCeil(extent, limit));
}

SmallVector<int64_t> tenon::chooseTransposedTile(ArrayRef<Extent> hints, const TransposedDims &transposed,
                                                 int64_t target, int64_t elementBits, const TransposePolicy &policy) {
  constexpr int64_t kWordBits = 32;
  int64_t wordElements = std::max<int64_t>(kWordBits / std::max<int64_t>(elementBits, 8), 1);
  int64_t columns = policy.columns * std::min<int64_t>(wordElements, 2);
  int64_t line = 8 * kCacheLineBytes / kWordBits * wordElements;
  target *= wordElements;
  SmallVector<int64_t> sizes(hints.size(), 0);
  int64_t elements = 1;
  for (unsigned dim : transposed.units)
    elements *= sizes[dim] = std::max<int64_t>(hints[dim].value_or(1), 1);
  int64_t minRows = elements == 1 ? policy.rows : columns;
  auto choose = [&](ArrayRef<unsigned> order, std::optional<unsigned> excluded, int64_t wanted) {
    int64_t run = 1;
    for (unsigned dim : order) {
      if (2 * run > wanted || sizes[dim] != 0 || dim == excluded)
        return;
      Extent extent = hints[dim];
      sizes[dim] = extent ? choosePartOfTransposed(*extent, wanted / run, line) : std::min(wanted / run, minRows);
      // A dynamic extent may be 1, or fill the tile.
      if (!extent) {
        elements *= std::max<int64_t>(sizes[dim] / policy.dynamicShare, 1);
        continue;
      }
      run *= sizes[dim];
      elements *= sizes[dim];
      if (sizes[dim] < *extent)
        return;
    }
  };
  choose(transposed.operand, transposed.result.front(), columns);
  choose(transposed.result, std::nullopt, std::max(target / elements, minRows));
  for (unsigned i = hints.size(); i-- > 0;)
    if (sizes[i] == 0)
      elements *= sizes[i] =
          std::clamp<int64_t>(target / elements, 1, std::max<int64_t>(hints[i].value_or(columns), 1));
  return sizes;
}
