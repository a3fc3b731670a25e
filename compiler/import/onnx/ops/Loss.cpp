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

#include "compiler/import/onnx/Node.h"
#include "compiler/import/onnx/OpTable.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::onnx_import;

namespace {

Ints allAxes(Node &n, Value x) { return llvm::to_vector(llvm::seq<int64_t>(0, n.rank(x))); }

/// The loss of each label, and its weight, null where all weigh 1.
struct LabelLosses {
  Value losses, weights;
};

/// -scores[i, label, ...] * weights[label] for scores [N, C, ...] and labels [N, ...]; 0 where a label is ignored.
LabelLosses takeLosses(Node &n, Value scores, Value labels, Value classWeights) {
  labels = n.cast(labels, n.i64());
  Value isCounted, zero = n.scalarLike(0, scores);
  if (n.hasAttr("ignore_index")) {
    isCounted = n.notEqual(labels, n.scalar(n.getInt("ignore_index", 0), n.i64()));
    labels = n.select(isCounted, labels, n.scalar(0, n.i64()));
  }
  labels = n.checkRange(labels, n.constantDim(0), subDims(n.dim(scores, 1), n.constantDim(1)));
  Value picked = n.gatherElements(scores, n.unsqueeze(labels, 1), 1);
  LabelLosses result{n.neg(n.squeeze(picked, 1)), {}};
  if (classWeights)
    result.weights = n.gather(classWeights, labels, 0);
  else if (isCounted)
    result.weights = n.cast(isCounted, n.elementType(scores));
  if (isCounted) {
    result.losses = n.select(isCounted, result.losses, zero);
    if (classWeights)
      result.weights = n.select(isCounted, result.weights, zero);
  }
  if (classWeights)
    result.losses = n.mul(result.losses, result.weights);
  return result;
}

/// The loss of log-probabilities, as the node's attributes have it.
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
  std::string reduction = n.getString("reduction", "mean");
  if (reduction != "none" && reduction != "sum" && reduction != "mean")
    return n.invalid("'reduction' has to be none, sum or mean, not '" + reduction + "'");
  auto [losses, counts] = takeLosses(n, scores, labels, weights);
  if (reduction == "none")
    return n.setOutput(0, losses);
  Ints axes = allAxes(n, losses);
  if (reduction == "sum")
    return n.setOutput(0, n.reduceSum(losses, axes, false));
  if (!counts)
    return n.setOutput(0, n.reduceMean(losses, axes, false));
  return n.setOutput(0, n.div(n.reduceSum(losses, axes, false), n.reduceSum(counts, axes, false)));
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
