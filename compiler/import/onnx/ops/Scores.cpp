//===- Scores.cpp - what classifiers and regressors of ai.onnx.ml share ---===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/import/onnx/ops/Scores.h"
#include "compiler/import/onnx/Text.h"
#include "llvm/ADT/StringSwitch.h"
#include <numbers>

using namespace mlir;
using namespace tenon;
using namespace tenon::onnx_import;

std::optional<PostTransform> onnx_import::readPostTransform(Node &n) {
  std::string text = n.getString("post_transform", "NONE");
  auto transform = llvm::StringSwitch<std::optional<PostTransform>>(text)
                       .Case("NONE", PostTransform::none)
                       .Case("SOFTMAX", PostTransform::softmax)
                       .Case("LOGISTIC", PostTransform::logistic)
                       .Case("SOFTMAX_ZERO", PostTransform::softmaxZero)
                       .Case("PROBIT", PostTransform::probit)
                       .Default(std::nullopt);
  if (!transform)
    (void)n.invalid("'post_transform' has to be NONE, SOFTMAX, LOGISTIC, SOFTMAX_ZERO or PROBIT, not '" + text + "'");
  return transform;
}

//===----------------------------------------------------------------------===//
// Transforms
//===----------------------------------------------------------------------===//

/// Winitzki's approximation of the inverse error function, as in ONNX Runtime.
static Value inverseErf(Node &n, Value x) {
  auto number = [&](double value) { return n.scalarLike(value, x); };
  Value one = number(1), log = n.log(n.mul(n.sub(one, x), n.add(one, x)));
  Value v = n.add(n.mul(number(0.5), log), number(2 / (std::numbers::pi * 0.147)));
  Value root = n.sqrt(n.sub(n.mul(v, v), n.mul(number(1 / 0.147), log)));
  Value size = n.sqrt(n.sub(root, v));
  return n.select(n.less(x, number(0)), n.neg(size), size);
}

static Value probit(Node &n, Value x) {
  Value centered = n.sub(n.mul(n.scalarLike(2, x), x), n.scalarLike(1, x));
  return n.mul(n.scalarLike(std::numbers::sqrt2, x), inverseErf(n, centered));
}

/// Computes a softmax in which scores of zero have no weight.
static Value softmaxZero(Node &n, Value x) {
  Value isZero = n.lessOrEqual(n.abs(x), n.scalarLike(1e-7, x));
  Value largest = n.reduceMax(x, 1);
  Value part = n.select(isZero, n.mul(x, n.exp(n.neg(largest))), n.exp(n.sub(x, largest)));
  Value sum = n.reduceSum(part, 1);
  return n.select(n.equal(sum, n.scalarLike(0, x)), n.scalarLike(0.5, x), n.div(part, sum));
}

Value onnx_import::transformScores(Node &n, Value scores, PostTransform transform) {
  switch (transform) {
  case PostTransform::none:
    return scores;
  case PostTransform::softmax:
    return n.softmax(scores, 1);
  case PostTransform::logistic:
    return n.sigmoid(scores);
  case PostTransform::softmaxZero:
    return softmaxZero(n, scores);
  case PostTransform::probit:
    return probit(n, scores);
  }
  llvm_unreachable("all transforms are above");
}

Value onnx_import::transformTargets(Node &n, Value scores, PostTransform transform) {
  if (getConstant(n.dim(scores, 1)) == 1 && transform != PostTransform::probit)
    return scores;
  return transformScores(n, scores, transform);
}

Value onnx_import::pairScores(Node &n, Value score, PostTransform transform, bool sumToOne) {
  if (transform == PostTransform::logistic)
    return n.concat({n.sigmoid(n.neg(score)), n.sigmoid(score)}, 1);
  if (transform == PostTransform::probit)
    return n.concat({probit(n, n.sub(n.scalarLike(1, score), score)), probit(n, score)}, 1);
  Value opposite = sumToOne ? n.sub(n.scalarLike(1, score), score) : n.neg(score);
  return n.concat({opposite, score}, 1);
}

//===----------------------------------------------------------------------===//
// Labels and features
//===----------------------------------------------------------------------===//

size_t onnx_import::countLabels(Node &n, StringRef ints, StringRef strings) {
  std::optional<Ints> numbers = n.getInts(ints);
  if (numbers && !numbers->empty())
    return numbers->size();
  return n.getStrings(strings).value_or(SmallVector<std::string>()).size();
}

LogicalResult onnx_import::setLabels(Node &n, Value classes, StringRef ints, StringRef strings) {
  std::optional<Ints> labels = n.getInts(ints);
  if (labels && !labels->empty())
    return n.setOutput(0, n.gather(n.constantInts(*labels), classes, 0));
  if (std::optional<Texts> texts = n.getStrings(strings); texts && !texts->empty())
    return setStrings(n, 0, takeStrings(n, makeStrings(n, *texts, static_cast<int64_t>(texts->size())), classes));
  return n.setOutput(0, classes);
}

std::optional<Value> onnx_import::readFeatures(Node &n) {
  Value x = n.input(0);
  if (n.rank(x) == 1)
    x = n.unsqueeze(x, 0);
  if (n.rank(x) == 2)
    return n.elementType(x).isF64() ? x : n.cast(x, n.f32());
  (void)n.invalid("needs an input [rows, features], found " + dimsToString(n.dims(x)));
  return std::nullopt;
}
