//===- Training.cpp - the steps of optimizers, of domain ai.onnx.preview.training ---===//
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

/// The tensors that a step updates: the inputs after rate and count are `parts` groups of them.
struct Parameters {
  size_t count, parts;

  Value input(Node &n, size_t part, size_t i) const { return n.input(2 + part * count + i); }
};

std::optional<Parameters> readParameters(Node &n, size_t parts) {
  size_t tensors = n.getNumInputs() - std::min<size_t>(n.getNumInputs(), 2);
  if (tensors && tensors % parts == 0)
    return Parameters{tensors / parts, parts};
  (void)n.invalid("has " + Twine(tensors) + " tensors after the rate and the count, which has to be a multiple of " +
                  Twine(parts));
  return std::nullopt;
}

/// Reads the rate or the count of updates as a scalar of a parameter's type.
Value readScalar(Node &n, size_t i, Value like) {
  return n.reshape(n.cast(n.input(i), n.elementType(like)), IntsRef());
}

/// Returns the gradient plus that of the regularization.
Value regularize(Node &n, Value x, Value gradient) {
  return n.add(n.mul(n.scalarLike(n.getFloat("norm_coefficient", 0), x), x), gradient);
}

/// a * x + b * y
Value blend(Node &n, double a, Value x, double b, Value y) {
  return n.add(n.mul(n.scalarLike(a, x), x), n.mul(n.scalarLike(b, y), y));
}

LogicalResult setState(Node &n, const Parameters &p, size_t part, size_t i, Value value) {
  return n.setOutput(part * p.count + i, value);
}

LogicalResult importAdagrad(Node &n) {
  std::optional<Parameters> p = readParameters(n, 3);
  for (size_t i = 0; p && i < p->count; ++i) {
    Value x = p->input(n, 0, i), gradient = regularize(n, x, p->input(n, 1, i)), one = n.scalarLike(1, x);
    Value decay = n.add(one, n.mul(readScalar(n, 1, x), n.scalarLike(n.getFloat("decay_factor", 0), x)));
    Value rate = n.div(readScalar(n, 0, x), decay);
    Value squares = n.add(p->input(n, 2, i), n.mul(gradient, gradient));
    Value root = n.add(n.sqrt(squares), n.scalarLike(n.getFloat("epsilon", 1e-6), x));
    Value moved = n.sub(x, n.div(n.mul(rate, gradient), root));
    if (failed(setState(n, *p, 0, i, moved)) || failed(setState(n, *p, 1, i, squares)))
      return failure();
  }
  return success(p.has_value());
}

LogicalResult importAdam(Node &n) {
  std::optional<Parameters> p = readParameters(n, 4);
  double alpha = n.getFloat("alpha", 0.9), beta = n.getFloat("beta", 0.999);
  for (size_t i = 0; p && i < p->count; ++i) {
    Value x = p->input(n, 0, i), gradient = regularize(n, x, p->input(n, 1, i));
    Value rate = readScalar(n, 0, x), count = readScalar(n, 1, x), one = n.scalarLike(1, x);
    Value mean = blend(n, alpha, p->input(n, 2, i), 1 - alpha, gradient);
    Value squares = blend(n, beta, p->input(n, 3, i), 1 - beta, n.mul(gradient, gradient));
    // Bias correction: the first estimates are biased towards their initial value of 0.
    Value corrected = n.div(n.mul(rate, n.sqrt(n.sub(one, n.pow(n.scalarLike(beta, x), count)))),
                            n.sub(one, n.pow(n.scalarLike(alpha, x), count)));
    rate = n.select(n.greater(count, n.scalarLike(0, x)), corrected, rate);
    Value root = n.add(n.sqrt(squares), n.scalarLike(n.getFloat("epsilon", 1e-6), x));
    Value moved = n.sub(x, n.div(n.mul(rate, mean), root));
    moved = n.mul(moved, n.scalarLike(1 - n.getFloat("norm_coefficient_post", 0), x));
    if (failed(setState(n, *p, 0, i, moved)) || failed(setState(n, *p, 1, i, mean)) ||
        failed(setState(n, *p, 2, i, squares)))
      return failure();
  }
  return success(p.has_value());
}

LogicalResult importMomentum(Node &n) {
  std::optional<Parameters> p = readParameters(n, 3);
  double alpha = n.getFloat("alpha", 0), beta = n.getFloat("beta", 0);
  std::string mode = n.getString("mode", "standard");
  if (mode != "standard" && mode != "nesterov")
    return n.invalid("'mode' has to be standard or nesterov, not '" + mode + "'");
  for (size_t i = 0; p && i < p->count; ++i) {
    Value x = p->input(n, 0, i), gradient = regularize(n, x, p->input(n, 1, i));
    Value count = readScalar(n, 1, x);
    // The first gradient counts whole.
    Value weight = n.select(n.greater(count, n.scalarLike(0, x)), n.scalarLike(beta, x), n.scalarLike(1, x));
    Value momentum = n.add(n.mul(n.scalarLike(alpha, x), p->input(n, 2, i)), n.mul(weight, gradient));
    Value step = mode == "standard" ? momentum : n.add(gradient, n.mul(n.scalarLike(alpha, x), momentum));
    Value moved = n.sub(x, n.mul(readScalar(n, 0, x), step));
    if (failed(setState(n, *p, 0, i, moved)) || failed(setState(n, *p, 1, i, momentum)))
      return failure();
  }
  return success(p.has_value());
}

} // namespace

ArrayRef<OpEntry> onnx_import::getTrainingOps() {
  static const OpEntry ops[] = {
      {"Adagrad", importAdagrad},
      {"Adam", importAdam},
      {"Momentum", importMomentum},
  };
  return ops;
}
