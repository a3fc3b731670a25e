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

static std::optional<int64_t> multiply(std::optional<int64_t> a, std::optional<int64_t> b) {
  int64_t product;
  if (!a || !b)
    return std::nullopt;
  return llvm::MulOverflow(*a, *b, product) ? INT64_MAX : product;
}

/// The elements of `value` along all dimensions but those whose index `others` has, too.
static std::optional<int64_t> countWithout(Value value, ArrayRef<int64_t> indices, ArrayRef<int64_t> others) {
  Dims rest;
  for (auto [dim, index] : llvm::zip(getDims(value), indices))
    if (!llvm::is_contained(others, index))
      rest.push_back(dim);
  return getConstant(getElementCount(value.getContext(), rest));
}

/// Products that are summed for an element of the result of a convolution: the filter's elements for a filter.
static std::optional<int64_t> countTaps(Value filter, Value result, int64_t channelDim) {
  std::optional<int64_t> all = getStaticElementCount(filter), filters = getConstant(getDims(result)[channelDim]);
  return all && filters && *filters > 0 ? std::optional(*all / *filters) : std::nullopt;
}

std::optional<int64_t> ContractOp::countFlops() {
  return multiply(2, multiply(getStaticElementCount(getLhs()), countWithout(getRhs(), getRhsDims(), getLhsDims())));
}

std::optional<int64_t> ConvolveOp::countFlops() {
  return multiply(2,
                  multiply(getStaticElementCount(getResult()), countTaps(getFilter(), getResult(), getChannelDim())));
}

std::optional<int64_t> WinogradOp::countFlops() {
  // As the convolution that it replaces: 3 x 3 pixels of each channel. Channels are last.
  return multiply(18, multiply(getStaticElementCount(getResult()), getConstant(getDims(getInput()).back())));
}

std::optional<int64_t> AttentionOp::countFlops() {
  std::optional<int64_t> sizes = countWithout(getQueries(), getQueryDims(), getScoreDims());
  std::optional<int64_t> values = countWithout(getValues(), getValueDims(), getScoreDims());
  return multiply(getStaticElementCount(getScores()),
                  sizes && values ? std::optional(2 * (*sizes + *values)) : std::nullopt);
}
