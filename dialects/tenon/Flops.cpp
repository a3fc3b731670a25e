//===- Flops.cpp - floating-point operations of loop nests -----------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/tenon/Tenon.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tenon;

/// Counts the elements of `value` along all dimensions whose index is not in `others`.
static AffineExpr countWithout(Value value, ArrayRef<int64_t> indices, ArrayRef<int64_t> others) {
  assert(indices.size() == getDims(value).size() && "the verifier wants an index for each dimension");
  AffineExpr count = getDimConstant(value.getContext(), 1);
  for (auto [dim, index] : llvm::zip(getDims(value), indices))
    if (!llvm::is_contained(others, index))
      count = mulSaturating(count, dim);
  return count;
}

/// Counts the products that are summed for an element of a convolution's result: the elements of one filter.
static AffineExpr countTaps(Value filter, Value result, int64_t channelDim) {
  AffineExpr filters = getDims(result)[channelDim];
  return getConstant(filters) == 0 ? filters : divDims(getElementCount(filter), filters);
}

static AffineExpr times(int64_t factor, AffineExpr count) {
  return mulSaturating(getDimConstant(count.getContext(), factor), count);
}

AffineExpr ContractOp::countFlops() {
  return times(2, mulSaturating(getElementCount(getLhs()), countWithout(getRhs(), getRhsDims(), getLhsDims())));
}

AffineExpr ConvolveOp::countFlops() {
  return times(2, mulSaturating(getElementCount(getResult()), countTaps(getFilter(), getResult(), getChannelDim())));
}

AffineExpr WinogradOp::countFlops() {
  // Counted as the convolution that it replaces: 3 x 3 pixels of each channel. Channels are last.
  return times(18, mulSaturating(getElementCount(getResult()), getDims(getInput()).back()));
}

AffineExpr AttentionOp::countFlops() {
  AffineExpr sizes = countWithout(getQueries(), getQueryDims(), getScoreDims());
  AffineExpr values = countWithout(getValues(), getValueDims(), getScoreDims());
  return times(2, mulSaturating(getElementCount(getScores()), addDims(sizes, values)));
}
AffineExpr CombineSplitsOp::countFlops() { return times(2, getElementCount(getParts())); }
