//===- Losses.cpp - how far results of a graph are from what is wanted ----===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/graph/Apply.h"
#include "compiler/graph/LabelLosses.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::graph;

static std::string describeShape(const Tensor &x) { return dimsToString(GraphBuilder::dims(x.getValue())); }

/// True if there is one label for each vector of scores.
static bool fitsLabels(const Tensor &scores, const Tensor &labels) {
  Shape wanted = scores.shape();
  if (wanted.size() < 2)
    return false;
  wanted.erase(wanted.begin() + 1);
  return wanted == labels.shape();
}

Tensor graph::crossEntropyLoss(const Tensor &logits, const Tensor &labels, Reduction reduction,
                               std::optional<int64_t> ignoredIndex) {
  return apply({logits, labels}, [&](GraphBuilder &b) -> Value {
    if (!b.isFloat(logits.getValue()) || !b.isInteger(labels.getValue()) || !fitsLabels(logits, labels)) {
      b.fail("needs floats [batch, classes, ...] and integers [batch, ...] for a cross entropy, found " +
             describeShape(logits) + " and " + describeShape(labels));
      return {};
    }
    Value scores = b.softmax(logits.getValue(), 1, /*log=*/true);
    return reduceLosses(b, takeLabelLosses(b, scores, labels.getValue(), {}, ignoredIndex), reduction);
  });
}

Tensor graph::mseLoss(const Tensor &x, const Tensor &target, Reduction reduction) {
  return apply({x, target}, [&](GraphBuilder &b) -> Value {
    if (!b.isFloat(x.getValue()) || x.shape() != target.shape()) {
      b.fail("needs floats and targets of one shape for a mean squared error, found " + describeShape(x) + " and " +
             describeShape(target));
      return {};
    }
    Value difference = b.sub(x.getValue(), target.getValue());
    return reduceLosses(b, {b.mul(difference, difference), {}}, reduction);
  });
}
