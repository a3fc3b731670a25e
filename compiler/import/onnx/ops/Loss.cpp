//===- Loss.cpp - losses of scores whose classes are labelled --------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// ONNX has bodies for these operators, but they count negative labels from the end and cannot infer a shape that has
// an extent of 0.
//
//===----------------------------------------------------------------------===//

#include "compiler/graph/LabelLosses.h"
#include "compiler/import/onnx/Node.h"
#include "compiler/import/onnx/OpTable.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::onnx_import;

namespace {

/// Sets the output to the loss of log-probabilities, by the node's attributes.
LogicalResult setLoss(Node &n, Value scores) {
  Value labels = n.input(1), weights = n.optionalInput(2);
  if (n.rank(scores) < 2 || n.rank(labels) != n.rank(scores) - 1)
    return n.invalid("needs scores [N, C, ...] and labels [N, ...], found " + dimsToString(n.dims(scores)) + " and " +
                     dimsToString(n.dims(labels)));
  if (weights && n.rank(weights) != 1)
    return n.invalid("needs one weight for each class, found weights of " + dimsToString(n.dims(weights)));
  if (weights)
    n.requireEqual(n.dim(weights, 0), n.dim(scores, 1), "has not as many weights as classes");
  for (int64_t axis = 0; axis < n.rank(labels); ++axis)
    n.requireEqual(n.dim(labels, axis), n.dim(scores, axis == 0 ? 0 : axis + 1),
                   "has not one label for each list of scores");
  std::string named = n.getString("reduction", "mean");
  std::optional<graph::Reduction> reduction = llvm::StringSwitch<std::optional<graph::Reduction>>(named)
                                                  .Case("none", graph::Reduction::none)
                                                  .Case("sum", graph::Reduction::sum)
                                                  .Case("mean", graph::Reduction::mean)
                                                  .Default(std::nullopt);
  if (!reduction)
    return n.invalid("'reduction' has to be none, sum or mean, not '" + named + "'");
  std::optional<int64_t> ignored;
  if (n.hasAttr("ignore_index"))
    ignored = n.getInt("ignore_index", 0);
  LabelLosses losses = takeLabelLosses(n, scores, labels, weights, ignored);
  return n.setOutput(0, reduceLosses(n, losses, *reduction));
}

LogicalResult importNegativeLogLikelihoodLoss(Node &n) { return setLoss(n, n.input(0)); }

LogicalResult importSoftmaxCrossEntropyLoss(Node &n) {
  Value x = n.input(0);
  if (n.rank(x) < 2)
    return n.invalid("needs scores [N, C, ...], found " + dimsToString(n.dims(x)));
  Value logs = n.softmax(x, 1, /*log=*/true);
  if (failed(setLoss(n, logs)))
    return failure();
  return n.wantsOutput(1) ? n.setOutput(1, logs) : success();
}

} // namespace

ArrayRef<OpEntry> onnx_import::getLossOps() {
  static const OpEntry ops[] = {
      {"NegativeLogLikelihoodLoss", importNegativeLogLikelihoodLoss},
      {"SoftmaxCrossEntropyLoss", importSoftmaxCrossEntropyLoss},
  };
  return ops;
}
