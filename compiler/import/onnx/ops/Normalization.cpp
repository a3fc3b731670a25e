//===- Normalization.cpp - normalisations ---------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/graph/EmitOp.h"
#include "compiler/import/onnx/Node.h"
#include "compiler/import/onnx/OpTable.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::onnx_import;

namespace {

/// Mean and 1 / sqrt(variance + epsilon) over dimensions, each kept as 1.
struct Statistics {
  Value mean, inverseDeviation, variance;
};

Statistics computeStatistics(Node &n, Value x, IntsRef axes, double epsilon) {
  Value mean = n.reduceMean(x, axes), centred = n.sub(x, mean);
  Value variance = n.reduceMean(n.mul(centred, centred), axes);
  return {mean, n.rsqrt(n.add(variance, n.scalarLike(epsilon, x))), variance};
}

Value normalize(Node &n, Value x, const Statistics &s) { return n.mul(n.sub(x, s.mean), s.inverseDeviation); }

/// Computes x * scale + bias, with one number for each channel, which is dimension 1.
Value scaleChannels(Node &n, Value x, Value scale, Value bias) {
  auto along = [&](Value v) { return n.cast(n.alongAxis(v, 1, n.rank(x)), n.elementType(x)); };
  return n.add(n.mul(x, along(scale)), along(bias));
}

/// Returns the type of the statistics: at least f32, unless the model allows x's own type.
Type getStashType(Node &n, Value x) {
  bool isNarrow = n.elementType(x).getIntOrFloatBitWidth() < 32;
  return isNarrow && n.getInt("stash_type", 1) == 1 ? n.f32() : n.elementType(x);
}

//===----------------------------------------------------------------------===//
// Batch normalisation
//===----------------------------------------------------------------------===//

/// Uses the statistics of this batch; further outputs are the running ones.
LogicalResult importTrainingBatchNorm(Node &n, Value x, double epsilon) {
  Ints axes;
  for (int64_t d = 0; d < n.rank(x); ++d)
    if (d != 1)
      axes.push_back(d);
  Statistics s = computeStatistics(n, x, axes, epsilon);
  double momentum = n.getFloat("momentum", 0.9);
  auto running = [&](Value before, Value now) {
    Value flat = n.cast(n.reshape(now, n.dim(x, 1)), n.elementType(before));
    return n.add(n.mul(before, n.scalarLike(momentum, before)), n.mul(flat, n.scalarLike(1 - momentum, before)));
  };
  if (n.wantsOutput(1) && failed(n.setOutput(1, running(n.input(3), s.mean))))
    return failure();
  if (n.wantsOutput(2) && failed(n.setOutput(2, running(n.input(4), s.variance))))
    return failure();
  return n.setResult(scaleChannels(n, normalize(n, x, s), n.input(1), n.input(2)));
}

LogicalResult importBatchNorm(Node &n) {
  Value x = n.input(0);
  double epsilon = n.getFloat("epsilon", 1e-5);
  if (n.rank(x) < 2)
    return n.invalid("needs an input with a channel dimension, found " + dimsToString(n.dims(x)));
  if (n.getInt("spatial", 1) != 1)
    return n.unsupported("'spatial' is 0: statistics for each element are not supported");
  if (n.getOpset() >= 14 && n.getBool("training_mode", false))
    return importTrainingBatchNorm(n, x, epsilon);
  Value scale = n.input(1), bias = n.input(2), mean = n.input(3), variance = n.input(4);
  return n.setResult(resultOf(
      n.emit<BatchNormOp>({}, {x, scale, bias, mean, variance}, x, scale, bias, mean, variance, APFloat(epsilon))));
}

//===----------------------------------------------------------------------===//
// Instances, groups, layers
//===----------------------------------------------------------------------===//

LogicalResult importInstanceNorm(Node &n) {
  Value x = n.input(0);
  if (n.rank(x) < 3)
    return n.invalid("needs an input [N, C, spatial...], found " + dimsToString(n.dims(x)));
  Statistics s = computeStatistics(n, x, rangeOf(2, n.rank(x)), n.getFloat("epsilon", 1e-5));
  return n.setResult(scaleChannels(n, normalize(n, x, s), n.input(1), n.input(2)));
}

LogicalResult importGroupNorm(Node &n) {
  Value x = n.input(0), scale = n.input(1), bias = n.input(2);
  Dims shape = n.dims(x);
  int64_t groups = n.getInt("num_groups", 1);
  if (shape.size() < 2 || groups < 1 || getConstant(modDims(shape[1], n.constantDim(groups))).value_or(0) != 0)
    return n.invalid("'num_groups' is " + Twine(groups) + ", which does not divide dimension 1 of " +
                     dimsToString(shape));
  AffineExpr rest = divDims(getElementCount(n.getContext(), ArrayRef(shape).drop_front(1)), n.constantDim(groups));
  Value grouped = n.cast(n.reshape(x, {shape[0], n.constantDim(groups), rest}), getStashType(n, x));
  Value normal = normalize(n, grouped, computeStatistics(n, grouped, 2, n.getFloat("epsilon", 1e-5)));
  normal = n.cast(normal, n.elementType(x));
  // Before opset 21, scale and bias have one number per group.
  if (n.getOpset() < 21)
    return n.setResult(n.reshape(scaleChannels(n, normal, scale, bias), shape));
  return n.setResult(scaleChannels(n, n.reshape(normal, shape), scale, bias));
}

LogicalResult importLayerNorm(Node &n) {
  Value x = n.input(0);
  std::optional<int64_t> axis = n.normalizeAxis(n.getInt("axis", -1), n.rank(x));
  if (!axis)
    return failure();
  double epsilon = n.getFloat("epsilon", 1e-5);
  if (n.wantsOutput(1) || n.wantsOutput(2)) {
    Value wide = n.cast(x, getStashType(n, x));
    Statistics s = computeStatistics(n, wide, rangeOf(*axis, n.rank(x)), epsilon);
    if (failed(n.setOutput(1, s.mean)) || failed(n.setOutput(2, s.inverseDeviation)))
      return failure();
  }
  return n.setResult(n.layerNorm(x, n.input(1), n.optionalInput(2), *axis, epsilon));
}

LogicalResult importRmsNorm(Node &n) {
  Value x = n.input(0);
  std::optional<int64_t> axis = n.normalizeAxis(n.getInt("axis", -1), n.rank(x));
  return axis ? n.setResult(n.rmsNorm(x, n.input(1), *axis, n.getFloat("epsilon", 1e-5))) : failure();
}

/// Imports RMSNormalization under its name in ONNX Runtime, with an additional output.
LogicalResult importSimplifiedLayerNorm(Node &n) {
  Value x = n.input(0);
  std::optional<int64_t> axis = n.normalizeAxis(n.getInt("axis", -1), n.rank(x));
  double epsilon = n.getFloat("epsilon", 1e-5);
  if (!axis)
    return failure();
  if (n.wantsOutput(1)) {
    Value wide = n.cast(x, getStashType(n, x)), mean = n.reduceMean(n.mul(wide, wide), rangeOf(*axis, n.rank(x)));
    if (failed(n.setOutput(1, n.rsqrt(n.add(mean, n.scalarLike(epsilon, mean))))))
      return failure();
  }
  return n.setResult(n.rmsNorm(x, n.input(1), *axis, epsilon));
}

//===----------------------------------------------------------------------===//
// Others
//===----------------------------------------------------------------------===//

/// Computes x / (bias + alpha / size * sum)^beta, where the sum is over the squares of neighbouring channels.
LogicalResult importLRN(Node &n) {
  Value x = n.input(0);
  Dims shape = n.dims(x);
  int64_t size = n.getInt("size", 1);
  if (shape.size() < 2 || size < 1 || size > INT16_MAX)
    return n.invalid("needs an input [N, C, ...] and a 'size' of at least 1, found " + dimsToString(shape) + " and " +
                     Twine(size));
  AffineExpr rest = getElementCount(n.getContext(), ArrayRef(shape).drop_front(2));
  Value squares = n.reshape(n.mul(x, x), {shape[0], n.constantDim(1), shape[1], rest});
  Window w{{size, 1}, {1, 1}, {1, 1}, {(size - 1) / 2, 0}, {size / 2, 0}};
  Value sum = n.reshape(n.poolSum(squares, w), shape);
  double alpha = n.getFloat("alpha", 1e-4) / static_cast<double>(size);
  Value base = n.add(n.mul(sum, n.scalarLike(alpha, x)), n.scalarLike(n.getFloat("bias", 1), x));
  return n.setResult(n.div(x, n.pow(base, n.scalarLike(n.getFloat("beta", 0.75), x))));
}

LogicalResult importMeanVarianceNorm(Node &n) {
  Value x = n.input(0);
  std::optional<Ints> axes = n.normalizeAxes(n.getInts("axes").value_or(Ints{0, 2, 3}), n.rank(x));
  if (!axes)
    return failure();
  Value centred = n.sub(x, n.reduceMean(x, *axes));
  Value deviation = n.sqrt(n.reduceMean(n.mul(centred, centred), *axes));
  return n.setResult(n.div(centred, n.add(deviation, n.scalarLike(1e-9, x))));
}

LogicalResult importLpNorm(Node &n) {
  Value x = n.input(0);
  std::optional<int64_t> axis = n.normalizeAxis(n.getInt("axis", -1), n.rank(x));
  int64_t p = n.getInt("p", 2);
  if (!axis)
    return failure();
  if (p != 1 && p != 2)
    return n.invalid("'p' has to be 1 or 2, not " + Twine(p));
  Value norm = p == 1 ? n.reduceSum(n.abs(x), *axis) : n.sqrt(n.reduceSum(n.mul(x, x), *axis));
  // Of zeros alone nothing is left to divide.
  Value zero = n.scalarLike(0, x);
  return n.setResult(n.select(n.equal(norm, zero), zero, n.div(x, norm)));
}

} // namespace

ArrayRef<OpEntry> onnx_import::getNormalizationOps() {
  static const OpEntry ops[] = {
      {"BatchNormalization", importBatchNorm},
      {"GroupNormalization", importGroupNorm},
      {"InstanceNormalization", importInstanceNorm},
      {"LRN", importLRN},
      {"LayerNormalization", importLayerNorm},
      {"LpNormalization", importLpNorm},
      {"MeanVarianceNormalization", importMeanVarianceNorm, 9},
      {"RMSNormalization", importRmsNorm},
      {"SimplifiedLayerNormalization", importSimplifiedLayerNorm},
  };
  return ops;
}
