//===- TransposeTiles.cpp - kernels whose result is a transpose ---------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/kernel/TransposeTiles.h"
#include "dialects/tenon/Dims.h"

using namespace mlir;
using namespace tenon;

std::optional<TransposedDims> tenon::findTransposedDims(linalg::LinalgOp root, AffineMap result,
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
