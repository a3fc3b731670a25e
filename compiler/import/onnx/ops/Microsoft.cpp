//===- Microsoft.cpp - contributed operators of domain com.microsoft ------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/import/onnx/Node.h"
#include "compiler/import/onnx/OpTable.h"
#include "compiler/import/onnx/ops/Window.h"
#include <algorithm>

using namespace mlir;
using namespace tenon;
using namespace tenon::onnx_import;

// These operators have no schema, so attributes that a handler does not read are not checked. The handlers follow the
// descriptions in ONNX Runtime (docs/ContribOperators.md).

namespace {

//===----------------------------------------------------------------------===//
// Products and activations
//===----------------------------------------------------------------------===//

/// Swaps the last two dimensions.
Value transposeMatrix(Node &n, Value x) {
  Ints order = rangeOf(0, n.rank(x));
  if (order.size() >= 2)
    std::swap(order[order.size() - 1], order[order.size() - 2]);
  return n.transpose(x, order);
}

/// Moves the first dimension to the rows of matrices; the dimensions after it, except the last, become the batch.
Value moveRowsInside(Node &n, Value x) {
  Ints order = rangeOf(0, n.rank(x));
  if (order.size() >= 2)
    std::rotate(order.begin(), order.begin() + 1, order.end() - 1);
  return n.transpose(x, order);
}

LogicalResult importFusedMatMul(Node &n) {
  Value a = n.input(0), b = n.input(1);
  if (n.getBool("transBatchA", false))
    a = moveRowsInside(n, a);
  if (n.getBool("transBatchB", false))
    b = moveRowsInside(n, b);
  if (n.getBool("transA", false))
    a = transposeMatrix(n, a);
  if (n.getBool("transB", false))
    b = transposeMatrix(n, b);
  double alpha = n.getFloat("alpha", 1);
  Value product = n.matmul(a, b);
  return n.setResult(alpha == 1 ? product : n.mul(product, n.scalarLike(alpha, product)));
}

LogicalResult importGelu(Node &n) { return n.setResult(n.gelu(n.input(0), false)); }
LogicalResult importBiasGelu(Node &n) { return n.setResult(n.gelu(n.add(n.input(0), n.input(1)), false)); }

LogicalResult importFastGelu(Node &n) {
  Value x = n.input(0);
  return n.setResult(n.gelu(n.hasInput(1) ? n.add(x, n.input(1)) : x, true));
}

LogicalResult importQuickGelu(Node &n) {
  Value x = n.input(0);
  return n.setResult(n.mul(x, n.sigmoid(n.mul(x, n.scalarLike(n.getFloat("alpha", 1.702), x)))));
}

//===----------------------------------------------------------------------===//
// Layer normalisations
//===----------------------------------------------------------------------===//

/// Sets output 0 to the normalized sum, and another output to the sum itself.
LogicalResult normalizeSum(Node &n, Value sum, Value scale, Value bias, size_t sumOutput) {
  if (n.wantsOutput(sumOutput) && failed(n.setOutput(sumOutput, sum)))
    return failure();
  return n.setResult(n.layerNorm(sum, scale, bias, n.rank(sum) - 1, n.getFloat("epsilon", 1e-12)));
}

/// Returns the sum of input, skip and, as input number `biasInput`, a bias. Outputs 1 and 2 are training statistics; if
/// they are used, they are computed from the sum, minus its mean if `centers` is set.
FailureOr<Value> addSkip(Node &n, size_t biasInput, bool centers) {
  Value sum = n.add(n.input(0), n.input(1));
  if (n.hasInput(biasInput))
    sum = n.add(sum, n.input(biasInput));
  int64_t last = n.rank(sum) - 1;
  Value mean = n.reduceMean(n.cast(sum, n.f32()), last);
  if (n.wantsOutput(1) && failed(n.setOutput(1, mean)))
    return failure();
  if (n.wantsOutput(2)) {
    Value centered = centers ? n.sub(n.cast(sum, n.f32()), mean) : n.cast(sum, n.f32());
    Value variance = n.reduceMean(n.mul(centered, centered), last);
    if (failed(n.setOutput(2, n.rsqrt(n.add(variance, n.scalar(n.getFloat("epsilon", 1e-12), n.f32()))))))
      return failure();
  }
  return sum;
}

LogicalResult importSkipLayerNorm(Node &n) {
  FailureOr<Value> sum = addSkip(n, 4, /*centers=*/true);
  return failed(sum) ? failure() : normalizeSum(n, *sum, n.input(2), n.optionalInput(3), 3);
}

LogicalResult importSkipRmsNorm(Node &n) {
  FailureOr<Value> sum = addSkip(n, 3, /*centers=*/false);
  if (failed(sum) || (n.wantsOutput(3) && failed(n.setOutput(3, *sum))))
    return failure();
  return n.setResult(n.rmsNorm(*sum, n.input(2), n.rank(*sum) - 1, n.getFloat("epsilon", 1e-12)));
}

/// Normalizes the sum of three embeddings. Positions count from 0 if none are given.
LogicalResult importEmbedLayerNorm(Node &n) {
  Value ids = n.input(0), words = n.input(2), positions = n.input(3);
  if (n.rank(ids) != 2)
    return n.invalid("needs token ids [batch, sequence], found " + dimsToString(n.dims(ids)));
  Value at = n.hasInput(8) ? n.input(8) : n.iota(n.dim(ids, 1), 0, n.i64());
  Value sum = n.add(n.gather(words, ids, 0), n.gather(positions, at, 0));
  if (n.hasInput(4))
    sum = n.add(sum, n.gather(n.input(4), n.input(1), 0));
  if (n.wantsOutput(1)) {
    // The number of unmasked tokens in each sequence, which come first.
    Value count = n.hasInput(7) ? n.reduceSum(n.cast(n.input(7), n.i32()), 1, false)
                                : n.broadcast(n.scalar(0, n.i32()), n.dim(ids, 0));
    if (failed(n.setOutput(1, count)))
      return failure();
  }
  return normalizeSum(n, sum, n.input(5), n.optionalInput(6), 2);
}

//===----------------------------------------------------------------------===//
// Convolutions and products with an activation
//===----------------------------------------------------------------------===//

/// Applies the activation that an attribute names, with up to two parameters.
FailureOr<Value> activate(Node &n, Value x, StringRef name, ArrayRef<double> params) {
  auto number = [&](size_t i, double fallback) { return n.scalarLike(i < params.size() ? params[i] : fallback, x); };
  if (name.empty())
    return x;
  if (name == "Relu")
    return n.relu(x);
  if (name == "Tanh")
    return n.tanh(x);
  if (name == "Sigmoid")
    return n.sigmoid(x);
  if (name == "LeakyRelu")
    return n.select(n.less(x, n.scalarLike(0, x)), n.mul(number(0, 0.01), x), x);
  if (name == "Clip")
    return n.min(n.max(x, number(0, -3.4e38)), number(1, 3.4e38));
  if (name == "HardSigmoid")
    return n.min(n.max(n.add(n.mul(number(0, 0.2), x), number(1, 0.5)), n.scalarLike(0, x)), n.scalarLike(1, x));
  return n.unsupported("its activation '" + name + "' is not supported");
}

LogicalResult importFusedConv(Node &n) {
  Value x = n.input(0), filter = n.input(1);
  std::optional<ConvWindow> w = readConvWindow(n, x, filter);
  if (!w)
    return failure();
  Value y = n.convolve(x, filter, w->window, w->groups);
  if (n.hasInput(2))
    y = n.add(y, n.alongAxis(n.input(2), 1, n.rank(y)));
  if (n.hasInput(3))
    y = n.add(y, n.input(3));
  FailureOr<Value> result =
      activate(n, y, n.getString("activation", ""), n.getFloats("activation_params").value_or(SmallVector<double>()));
  return failed(result) ? failure() : n.setResult(*result);
}

LogicalResult importFusedGemm(Node &n) {
  Value a = n.input(0), b = n.input(1);
  Value y = n.matmul(n.getBool("transA", false) ? transposeMatrix(n, a) : a,
                     n.getBool("transB", false) ? transposeMatrix(n, b) : b);
  y = n.mul(y, n.scalarLike(n.getFloat("alpha", 1), y));
  if (n.hasInput(2))
    y = n.add(y, n.mul(n.input(2), n.scalarLike(n.getFloat("beta", 1), y)));
  SmallVector<double> params;
  if (n.hasAttr("activation_alpha"))
    params = {n.getFloat("activation_alpha", 0), n.getFloat("activation_beta", 0)};
  FailureOr<Value> result = activate(n, y, n.getString("activation", ""), params);
  return failed(result) ? failure() : n.setResult(*result);
}

/// Imports a convolution of [N, spatial..., C] with filters [M, window..., C / groups].
LogicalResult importNhwcConv(Node &n) {
  int64_t rank = n.rank(n.input(0));
  Ints toFront = rangeOf(0, rank), toBack = toFront;
  if (rank < 3 || n.rank(n.input(1)) != rank)
    return n.invalid("needs an input [N, spatial..., C] and filters [M, window..., C], found " +
                     dimsToString(n.dims(n.input(0))) + " and " + dimsToString(n.dims(n.input(1))));
  std::rotate(toFront.begin() + 1, toFront.end() - 1, toFront.end());
  std::rotate(toBack.begin() + 1, toBack.begin() + 2, toBack.end());
  Value x = n.transpose(n.input(0), toFront), filter = n.transpose(n.input(1), toFront);
  std::optional<ConvWindow> w = readConvWindow(n, x, filter);
  if (!w)
    return failure();
  Value y = n.convolve(x, filter, w->window, w->groups);
  if (n.hasInput(2))
    y = n.add(y, n.alongAxis(n.input(2), 1, rank));
  return n.setResult(n.transpose(y, toBack));
}

} // namespace

ArrayRef<OpEntry> onnx_import::getMicrosoftOps() {
  static const OpEntry ops[] = {
      {"BiasGelu", importBiasGelu},
      {"EmbedLayerNormalization", importEmbedLayerNorm},
      {"FastGelu", importFastGelu},
      {"FusedConv", importFusedConv},
      {"FusedGemm", importFusedGemm},
      {"FusedMatMul", importFusedMatMul},
      {"Gelu", importGelu},
      {"NhwcConv", importNhwcConv},
      {"QuickGelu", importQuickGelu},
      {"SkipLayerNormalization", importSkipLayerNorm},
      {"SkipSimplifiedLayerNormalization", importSkipRmsNorm},
  };
  return ops;
}
