//===- Flops.cpp - how much arithmetic an operation is ----------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/cost/Flops.h"
#include "dialects/tenon/Tenon.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tenon;

static std::optional<int64_t> countElements(Value value) {
  return getConstant(getElementCount(value.getContext(), getDims(value)));
}

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
  std::optional<int64_t> all = countElements(filter), filters = getConstant(getDims(result)[channelDim]);
  return all && filters && *filters > 0 ? std::optional(*all / *filters) : std::nullopt;
}

std::optional<int64_t> tenon::countFlops(Operation *op) {
  if (op->getNumResults() == 0)
    return 0;
  Value result = op->getResult(0);
  return llvm::TypeSwitch<Operation *, std::optional<int64_t>>(op)
      .Case<ContractOp>([&](ContractOp contract) {
        std::optional<int64_t> products =
            multiply(countElements(contract.getLhs()),
                     countWithout(contract.getRhs(), contract.getRhsDims(), contract.getLhsDims()));
        return multiply(2, products);
      })
      .Case<ConvolveOp>([&](ConvolveOp convolve) {
        return multiply(
            2, multiply(countElements(result), countTaps(convolve.getFilter(), result, convolve.getChannelDim())));
      })
      .Case<WinogradOp>([&](WinogradOp winograd) {
        // 3 x 3 pixels of each channel; channels are last.
        return multiply(18, multiply(countElements(result), getConstant(getDims(winograd.getInput()).back())));
      })
      .Case<AttentionOp>([&](AttentionOp attention) {
        std::optional<int64_t> scores = countElements(attention.getScores());
        std::optional<int64_t> sizes =
            countWithout(attention.getQueries(), attention.getQueryDims(), attention.getScoreDims());
        std::optional<int64_t> values =
            countWithout(attention.getValues(), attention.getValueDims(), attention.getScoreDims());
        return multiply(scores, sizes && values ? std::optional(2 * (*sizes + *values)) : std::nullopt);
      })
      .Case<PoolOp, ReduceOp, SoftmaxOp, LayerNormOp, RmsNormOp, ScanOp>(
          [&](Operation *reduction) { return countElements(reduction->getOperand(0)); })
      .Default([&](Operation *other) -> std::optional<int64_t> {
        return other->hasTrait<Elementwise>() && !isa<CastOp>(other) ? countElements(result) : 0;
      });
}
