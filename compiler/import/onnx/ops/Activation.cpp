//===- Activation.cpp - activation functions, as compositions of atoms ----===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/import/onnx/Node.h"
#include "compiler/import/onnx/OpTable.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::onnx_import;

namespace {

/// alpha * (exp(x) - 1)
Value scaledExpm1(Node &n, Value x, double alpha) {
  Value one = n.scalarLike(1, x);
  return n.mul(n.sub(n.exp(x), one), n.scalarLike(alpha, x));
}

/// `positive` where x is above 0, else `other`.
Value split(Node &n, Value x, Value positive, Value other) {
  return n.select(n.greater(x, n.scalarLike(0, x)), positive, other);
}

/// max(x, 0) + log(1 + exp(-|x|)), which does not overflow for large x.
Value softplus(Node &n, Value x) { return n.add(n.relu(x), n.log1p(n.exp(n.neg(n.abs(x))))); }

Value hardSigmoid(Node &n, Value x, double alpha, double beta) {
  Value y = n.add(n.mul(x, n.scalarLike(alpha, x)), n.scalarLike(beta, x));
  return n.min(n.max(y, n.scalarLike(0, x)), n.scalarLike(1, x));
}

LogicalResult importSigmoid(Node &n) { return n.setResult(n.sigmoid(n.input(0))); }
LogicalResult importRelu(Node &n) { return n.setResult(n.relu(n.input(0))); }
LogicalResult importSoftplus(Node &n) { return n.setResult(softplus(n, n.input(0))); }

LogicalResult importElu(Node &n) {
  Value x = n.input(0);
  return n.setResult(split(n, x, x, scaledExpm1(n, x, n.getFloat("alpha", 1))));
}

LogicalResult importCelu(Node &n) {
  Value x = n.input(0);
  double alpha = n.getFloat("alpha", 1);
  return n.setResult(split(n, x, x, scaledExpm1(n, n.div(x, n.scalarLike(alpha, x)), alpha)));
}

LogicalResult importSelu(Node &n) {
  Value x = n.input(0);
  double alpha = n.getFloat("alpha", 1.67326319217681884765625), gamma = n.getFloat("gamma", 1.05070102214813232421875);
  return n.setResult(n.mul(split(n, x, x, scaledExpm1(n, x, alpha)), n.scalarLike(gamma, x)));
}

LogicalResult importLeakyRelu(Node &n) {
  Value x = n.input(0);
  double alpha = n.getFloat("alpha", 0.01);
  return n.setResult(n.select(n.less(x, n.scalarLike(0, x)), n.mul(x, n.scalarLike(alpha, x)), x));
}

LogicalResult importPRelu(Node &n) {
  Value x = n.input(0), slope = n.input(1);
  // Before opset 7, a slope with one number per channel implicitly runs along dimension 1.
  if (n.getOpset() < 7 && n.rank(slope) == 1 && n.rank(x) > 1 && getConstant(n.dim(slope, 0)) != 1)
    slope = n.alongAxis(slope, 1, n.rank(x));
  return n.setResult(n.select(n.less(x, n.scalarLike(0, x)), n.mul(x, slope), x));
}

LogicalResult importThresholdedRelu(Node &n) {
  Value x = n.input(0);
  Value alpha = n.scalarLike(n.getFloat("alpha", 1), x);
  return n.setResult(n.select(n.greater(x, alpha), x, n.scalarLike(0, x)));
}

LogicalResult importHardSigmoid(Node &n) {
  return n.setResult(hardSigmoid(n, n.input(0), n.getFloat("alpha", 0.2), n.getFloat("beta", 0.5)));
}

LogicalResult importHardSwish(Node &n) {
  Value x = n.input(0);
  return n.setResult(n.mul(x, hardSigmoid(n, x, 1.0 / 6, 0.5)));
}

LogicalResult importSoftsign(Node &n) {
  Value x = n.input(0);
  return n.setResult(n.div(x, n.add(n.abs(x), n.scalarLike(1, x))));
}

LogicalResult importMish(Node &n) {
  Value x = n.input(0);
  return n.setResult(n.mul(x, n.tanh(softplus(n, x))));
}

LogicalResult importSwish(Node &n) {
  Value x = n.input(0);
  double alpha = n.getFloat("alpha", 1);
  return n.setResult(n.mul(x, n.sigmoid(alpha == 1 ? x : n.mul(x, n.scalarLike(alpha, x)))));
}

LogicalResult importShrink(Node &n) {
  Value x = n.input(0), zero = n.scalarLike(0, x);
  double lambda = n.getFloat("lambd", 0.5);
  Value bias = n.scalarLike(n.getFloat("bias", 0), x);
  Value inner = n.select(n.greater(x, n.scalarLike(lambda, x)), n.sub(x, bias), zero);
  return n.setResult(n.select(n.less(x, n.scalarLike(-lambda, x)), n.add(x, bias), inner));
}

LogicalResult importGelu(Node &n) {
  std::string kind = n.getString("approximate", "none");
  if (kind != "none" && kind != "tanh")
    return n.invalid("'approximate' has to be none or tanh, not '" + kind + "'");
  return n.setResult(n.gelu(n.input(0), kind == "tanh"));
}

/// The axis of a softmax: before opset 13, all dimensions from the axis on are flattened.
struct SoftmaxAxis {
  Value input;
  int64_t axis;
  Dims shape;
};
std::optional<SoftmaxAxis> prepareSoftmax(Node &n) {
  Value x = n.input(0);
  bool flattens = n.getOpset() < 13;
  std::optional<int64_t> axis = n.normalizeAxis(n.getInt("axis", flattens ? 1 : -1), std::max<int64_t>(n.rank(x), 1));
  if (!axis)
    return std::nullopt;
  Dims shape = n.dims(x), flat = shape;
  if (flattens && *axis + 1 < n.rank(x)) {
    flat.truncate(*axis);
    flat.push_back(getElementCount(n.getContext(), ArrayRef(shape).drop_front(*axis)));
  }
  if (flat.empty())
    flat.push_back(n.constantDim(1));
  return SoftmaxAxis{n.reshape(x, flat), *axis, shape};
}

template <bool isLog> LogicalResult importSoftmax(Node &n) {
  std::optional<SoftmaxAxis> s = prepareSoftmax(n);
  if (!s)
    return failure();
  return n.setResult(n.reshape(n.softmax(s->input, s->axis, isLog), s->shape));
}

/// 1 at the first largest element, 0 elsewhere.
LogicalResult importHardmax(Node &n) {
  std::optional<SoftmaxAxis> s = prepareSoftmax(n);
  if (!s)
    return failure();
  Value largest = n.argMax(s->input, s->axis);
  Value isLargest = n.equal(n.iota(n.dims(s->input), s->axis, n.i64()), largest);
  return n.setResult(n.reshape(n.cast(isLargest, n.elementType(s->input)), s->shape));
}

} // namespace

ArrayRef<OpEntry> onnx_import::getActivationOps() {
  static const OpEntry ops[] = {
      {"Celu", importCelu},
      {"Elu", importElu},
      {"Gelu", importGelu},
      {"HardSigmoid", importHardSigmoid},
      {"HardSwish", importHardSwish},
      {"Hardmax", importHardmax},
      {"LeakyRelu", importLeakyRelu},
      {"LogSoftmax", importSoftmax<true>},
      {"Mish", importMish},
      {"PRelu", importPRelu},
      {"Relu", importRelu},
      {"Selu", importSelu},
      {"Shrink", importShrink},
      {"Sigmoid", importSigmoid},
      {"Softmax", importSoftmax<false>},
      {"Softplus", importSoftplus},
      {"Softsign", importSoftsign},
      {"Swish", importSwish},
      {"ThresholdedRelu", importThresholdedRelu},
  };
  return ops;
}
