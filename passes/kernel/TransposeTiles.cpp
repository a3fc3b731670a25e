//===- TransposeTiles.cpp - tile sizes of transposes ----------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/kernel/TransposeTiles.h"
#include "passes/cost/CacheLines.h"

using namespace mlir;
using namespace tenon;

std::optional<TransposedDims> tenon::findTransposedDims(linalg::GenericOp root, AffineMap result,
                                                        ArrayRef<AffineExpr> dims, const TransposePolicy &policy) {
  if (root.getNumReductionLoops() != 0 || result.getNumResults() < 2 || !result.isProjectedPermutation())
    return std::nullopt;
  for (OpOperand *input : root.getDpsInputOperands()) {
    AffineMap map = root.getMatchingIndexingMap(input);
    if (!map.isProjectedPermutation())
      continue;
    TransposedDims found;
    for (AffineExpr expr : llvm::reverse(map.getResults()))
      if (std::optional<unsigned> dim = result.getResultPosition(expr); dim && getConstant(dims[*dim]) != 1)
        found.operand.push_back(*dim);
    for (unsigned dim = dims.size(); dim-- > 0;)
      if (getConstant(dims[dim]) != 1)
        found.result.push_back(dim);
    int64_t elements = 1;
    while (!found.operand.empty() && !found.result.empty() && found.operand.front() == found.result.front()) {
      elements *= getConstant(dims[found.operand.front()]).value_or(policy.maxUnitElements + 1);
      if (elements > policy.maxUnitElements)
        break;
      found.units.push_back(found.operand.front());
      found.operand.erase(found.operand.begin());
      found.result.erase(found.result.begin());
    }
    if (!found.operand.empty() && !found.result.empty() && found.operand.front() != found.result.front() &&
        llvm::is_contained(found.operand, found.result.front()))
      return found;
  }
  return std::nullopt;
}

/// A part of `extent` of about `limit`, in whole cache lines of `line` elements, so that no part at the end is much
/// smaller; all of it where that is not much more.
static int64_t choosePartOfTransposed(int64_t extent, int64_t limit, int64_t line) {
  if (extent <= 2 * limit)
    return std::max<int64_t>(extent, 1);
  for (int64_t size = limit / line * line; size >= line && 2 * size > limit; size -= line)
    if (extent % size == 0 || extent % size >= 2 * line)
      return size;
  return llvm::divideCeil(extent, llvm::divideCeil(extent, limit));
}

SmallVector<int64_t> tenon::chooseTransposedSizes(ArrayRef<AffineExpr> dims, const TransposedDims &transposed,
                                                  const SizeHints &hints, int64_t target, int64_t elementBits,
                                                  const TransposePolicy &policy) {
  constexpr int64_t kWordBits = 32; // format: of the elements that the policy counts
  int64_t wordElements = std::max<int64_t>(kWordBits / std::max<int64_t>(elementBits, 8), 1);
  int64_t columns = policy.columns * std::min<int64_t>(wordElements, 2);
  int64_t line = 8 * kCacheLineBytes / kWordBits * wordElements;
  target *= wordElements;
  SmallVector<int64_t> sizes(dims.size(), 0);
  int64_t elements = 1;
  for (unsigned dim : transposed.units)
    elements *= sizes[dim] = std::max<int64_t>(getConstant(dims[dim]).value_or(1), 1);
  int64_t minRows = elements == 1 ? policy.rows : columns;
  auto choose = [&](ArrayRef<unsigned> order, std::optional<unsigned> excluded, int64_t wanted) {
    int64_t run = 1;
    for (unsigned dim : order) {
      if (2 * run > wanted || sizes[dim] != 0 || dim == excluded)
        return;
      std::optional<int64_t> extent = hints.get(dims[dim]);
      sizes[dim] = extent ? choosePartOfTransposed(*extent, wanted / run, line) : std::min(wanted / run, minRows);
      // A dynamic extent may be 1, or be as large as the tile.
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
  for (unsigned i = dims.size(); i-- > 0;)
    if (sizes[i] == 0)
      elements *= sizes[i] =
          std::clamp<int64_t>(target / elements, 1, std::max<int64_t>(hints.get(dims[i]).value_or(columns), 1));
  return sizes;
}
