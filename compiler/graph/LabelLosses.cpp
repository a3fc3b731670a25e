//===- LabelLosses.cpp - losses of scores whose classes are labelled ------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/graph/LabelLosses.h"

using namespace mlir;
using namespace tenon;

LabelLosses tenon::takeLabelLosses(GraphBuilder &b, Value scores, Value labels, Value classWeights,
                                   std::optional<int64_t> ignoredIndex) {
  labels = b.cast(labels, b.i64());
  Value isCounted, zero = b.scalarLike(0, scores);
  if (ignoredIndex) {
    isCounted = b.notEqual(labels, b.constantInts(*ignoredIndex, {}, b.i64()));
    labels = b.select(isCounted, labels, b.constantInts(0, {}, b.i64()));
  }
  labels = b.checkRange(labels, b.constantDim(0), subDims(b.dim(scores, 1), b.constantDim(1)));
  Value picked = b.gatherElements(scores, b.unsqueeze(labels, 1), 1);
  LabelLosses result{b.neg(b.squeeze(picked, 1)), {}};
  if (classWeights)
    result.weights = b.gather(classWeights, labels, 0);
  else if (isCounted)
    result.weights = b.cast(isCounted, b.elementType(scores));
  if (isCounted) {
    result.losses = b.select(isCounted, result.losses, zero);
    if (classWeights)
      result.weights = b.select(isCounted, result.weights, zero);
  }
  if (classWeights)
    result.losses = b.mul(result.losses, result.weights);
  return result;
}

Value tenon::reduceLosses(GraphBuilder &b, const LabelLosses &losses, graph::Reduction reduction) {
  Ints axes = rangeOf(0, GraphBuilder::rank(losses.losses));
  switch (reduction) {
  case graph::Reduction::none:
    return losses.losses;
  case graph::Reduction::sum:
    return b.reduceSum(losses.losses, axes, false);
  case graph::Reduction::mean:
    if (!losses.weights)
      return b.reduceMean(losses.losses, axes, false);
    return b.div(b.reduceSum(losses.losses, axes, false), b.reduceSum(losses.weights, axes, false));
  }
  llvm_unreachable("every reduction has a case");
}
