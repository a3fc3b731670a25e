//===- Resize.cpp - Resize and Upsample, one axis after the other ---------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/import/onnx/Node.h"
#include "compiler/import/onnx/OpTable.h"
#include "compiler/import/onnx/ops/ResizeTaps.h"
#include "compiler/import/onnx/ops/RuntimeOperands.h"
#include "compiler/import/onnx/ops/RuntimeResize.h"
#include <cmath>

using namespace mlir;
using namespace tenon;
using namespace tenon::onnx_import;

namespace {

/// With more elements in each window, a matmul is cheaper than that many gathers.
constexpr size_t kMaxGathers = 4;

/// Longer axes are computed at run time, so that the size of the emitted code does not grow with a number in the file.
constexpr int64_t kMaxConstantAxis = 65536, kMaxMatrix = int64_t(1) << 22;

/// The extents after resizing; scales are those of the operand, or the quotient of known extents. Unknown scales are in
/// `factors`, an f64 vector, or follow from the extents at run time.
struct ResizePlan {
  Ints axes;
  Dims out;
  SmallVector<std::optional<double>> scales;
  Value factors = {};
};

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

std::optional<ResizeAxis> readModes(Node &n) {
  ResizeAxis a;
  bool isOld = n.getOpset() < 11;
  std::string mode = n.getString("mode", "nearest");
  std::string coordinates = n.getString("coordinate_transformation_mode", isOld ? "asymmetric" : "half_pixel");
  std::string nearest = n.getString("nearest_mode", isOld ? "floor" : "round_prefer_floor");
  std::optional<ResizeMode> m = parseResizeMode(mode);
  std::optional<CoordinateMode> c = parseCoordinateMode(coordinates);
  std::optional<NearestMode> r = parseNearestMode(nearest);
  if (!m || !c || !r) {
    (void)n.invalid("has " +
                    Twine(!m   ? "mode '" + mode
                          : !c ? "coordinate_transformation_mode '" + coordinates
                               : "nearest_mode '" + nearest) +
                    "', which the operator does not define");
    return std::nullopt;
  }
  a.mode = *m;
  a.coordinates = *c;
  a.nearest = *r;
  a.cubicCoefficient = n.getFloat("cubic_coeff_a", -0.75);
  a.excludeOutside = n.getBool("exclude_outside", false);
  a.antialias = n.getBool("antialias", false);
  return a;
}

/// Returns the extents multiplied by factors, plus `rounding`, rounded down.
Dims growExtents(Node &n, Value x, IntsRef axes, Value factors, double rounding) {
  Dims extents;
  for (int64_t axis : axes)
    extents.push_back(n.dim(x, axis));
  Value grown = n.add(n.mul(n.sizes(extents, n.f64()), factors), n.scalar(rounding, n.f64()));
  return n.bindSizes(n.cast(n.floor(grown), n.i64()));
}

/// Scales that are an input of the model.
std::optional<ResizePlan> planByRuntimeScales(Node &n, Value x, const Ints &axes, size_t operand) {
  Value factors = n.cast(n.input(operand), n.f64());
  if (n.rank(factors) != 1 || getConstant(n.dim(factors, 0)) != static_cast<int64_t>(axes.size())) {
    (void)n.invalid("has scales of " + dimsToString(n.dims(factors)) + " for " + Twine(axes.size()) + " axes");
    return std::nullopt;
  }
  SmallVector<std::optional<double>> unknown(axes.size());
  return ResizePlan{axes, growExtents(n, x, axes, factors, 0), unknown, factors};
}

std::optional<ResizePlan> planByScales(Node &n, Value x, Ints axes, size_t operand) {
  std::optional<SmallVector<double>> scales;
  const ShapeValue *known = n.known(operand);
  if (n.hasInput(operand) && !(known && known->getNumbers()))
    return planByRuntimeScales(n, x, axes, operand);
  if (n.hasInput(operand))
    scales = n.floatsOperand(operand, "scales");
  else
    scales = n.getFloats("scales");
  if (!scales)
    return std::nullopt;
  ResizePlan plan{axes, {}, {}};
  if (scales->size() != axes.size()) {
    (void)n.invalid("has " + Twine(scales->size()) + " scales for " + Twine(axes.size()) + " axes");
    return std::nullopt;
  }
  for (auto [axis, scale] : llvm::zip(axes, *scales)) {
    AffineExpr in = n.dim(x, axis);
    if (!(scale > 0) || scale > 1e6) {
      (void)n.invalid("has a scale of " + std::to_string(scale) + ", which has to be above 0");
      return std::nullopt;
    }
    if (std::optional<int64_t> size = getConstant(in)) {
      plan.out.push_back(n.constantDim(static_cast<int64_t>(std::floor(static_cast<double>(*size) * scale))));
    } else {
      // The scale is written as a quotient with a power of two as divisor, which is exact for symbolic extents.
      double numerator = scale * 65536;
      if (numerator == std::floor(numerator))
        plan.out.push_back(divDims(mulDims(in, n.constantDim(static_cast<int64_t>(numerator))), n.constantDim(65536)));
      else
        plan.out.push_back(growExtents(n, x, axis, n.scalar(scale, n.f64()), 0).front());
    }
    plan.scales.push_back(scale);
  }
  return plan;
}

std::optional<ResizePlan> planBySizes(Node &n, Value x, Ints axes, size_t operand) {
  std::optional<Dims> sizes = n.sizesOperand(operand, "sizes");
  if (!sizes)
    return std::nullopt;
  if (sizes->size() != axes.size()) {
    (void)n.invalid("has " + Twine(sizes->size()) + " sizes for " + Twine(axes.size()) + " axes");
    return std::nullopt;
  }
  ResizePlan plan{axes, *sizes, {}};
  for (auto [axis, size] : llvm::zip(axes, *sizes)) {
    n.require(size, "resizes axis " + Twine(axis) + " to a negative size");
    std::optional<int64_t> in = getConstant(n.dim(x, axis)), out = getConstant(size);
    std::optional<double> scale;
    if (in && out && *in > 0)
      scale = static_cast<double>(*out) / static_cast<double>(*in);
    else if (getConstant(modDims(size, n.dim(x, axis))) == 0)
      if (std::optional<int64_t> factor = getConstant(divDims(size, n.dim(x, axis))))
        scale = static_cast<double>(*factor);
    plan.scales.push_back(scale);
  }
  return plan;
}

/// Scales all axes by one factor, so that the result fits into the sizes, or covers them.
LogicalResult keepAspectRatio(Node &n, Value x, ResizePlan &plan) {
  std::string policy = n.getString("keep_aspect_ratio_policy", "stretch");
  if (policy == "stretch")
    return success();
  if (policy != "not_larger" && policy != "not_smaller")
    return n.invalid("'keep_aspect_ratio_policy' has to be stretch, not_larger or not_smaller, not '" + policy + "'");
  std::optional<double> factor;
  if (llvm::is_contained(plan.scales, std::nullopt)) {
    Dims extents;
    for (int64_t axis : plan.axes)
      extents.push_back(n.dim(x, axis));
    Value factors = n.div(n.sizes(plan.out, n.f64()), n.sizes(extents, n.f64()));
    Value common = policy == "not_larger" ? n.reduceMin(factors, 0) : n.reduceMax(factors, 0);
    plan.factors = n.broadcast(common, n.constantDim(static_cast<int64_t>(plan.axes.size())));
    plan.out = growExtents(n, x, plan.axes, plan.factors, 0.5);
    llvm::fill(plan.scales, std::nullopt);
    return success(!n.hasFailed());
  }
  for (std::optional<double> scale : plan.scales) {
    factor = !factor ? *scale : policy == "not_larger" ? std::min(*factor, *scale) : std::max(*factor, *scale);
  }
  for (size_t i = 0; i < plan.axes.size(); ++i) {
    double in = static_cast<double>(getConstant(n.dim(x, plan.axes[i])).value_or(0));
    plan.scales[i] = factor;
    plan.out[i] = n.constantDim(static_cast<int64_t>(std::floor(*factor * in + 0.5)));
  }
  return success();
}

std::optional<ResizePlan> readPlan(Node &n, Value x) {
  Ints axes = rangeOf(0, n.rank(x));
  if (std::optional<Ints> given = n.getInts("axes")) {
    std::optional<Ints> normalized = n.normalizeAxesInOrder(*given, n.rank(x));
    if (!normalized)
      return std::nullopt;
    axes = *normalized;
  }
  if (n.getOpset() < 11)
    return planByScales(n, x, axes, 1);
  bool hasSizes = n.hasInput(3), hasScales = n.hasInput(2) && getConstant(getDims(n.inputType(2))[0]) != 0;
  if (hasSizes == hasScales) {
    (void)n.invalid("needs either scales or sizes");
    return std::nullopt;
  }
  if (hasScales)
    return planByScales(n, x, axes, 2);
  std::optional<ResizePlan> plan = planBySizes(n, x, axes, 3);
  return plan && succeeded(keepAspectRatio(n, x, *plan)) ? plan : std::nullopt;
}

//===----------------------------------------------------------------------===//
// One axis
//===----------------------------------------------------------------------===//

/// True if all weights are 1, as in nearest resizing: each output selects one index.
bool isSelection(const ResizeTaps &taps) {
  for (const std::vector<double> &weights : taps.weights)
    for (double weight : weights)
      if (weight != 0 && weight != 1)
        return false;
  return true;
}

Value alongAxis(Node &n, ArrayRef<double> values, int64_t axis, Value like) {
  Value vector = n.constantFloats(values, static_cast<int64_t>(values.size()), n.elementType(like));
  return n.alongAxis(vector, axis, n.rank(like));
}

Value gatherNearest(Node &n, Value x, int64_t axis, const ResizeTaps &taps) {
  Ints indices(taps.outside.size());
  for (size_t k = 0; k < taps.weights.size(); ++k)
    for (size_t i = 0; i < indices.size(); ++i)
      if (taps.weights[k][i] == 1)
        indices[i] = taps.indices[k][i];
  return n.gather(x, n.constantInts(indices), axis);
}

Value gatherWeighted(Node &n, Value x, int64_t axis, const ResizeTaps &taps) {
  Value sum;
  for (size_t k = 0; k < taps.indices.size(); ++k) {
    Value part = n.mul(n.gather(x, n.constantInts(taps.indices[k]), axis), alongAxis(n, taps.weights[k], axis, x));
    sum = sum ? n.add(sum, part) : part;
  }
  return sum;
}

Value multiplyByMatrix(Node &n, Value x, int64_t axis, const ResizeTaps &taps, int64_t in) {
  int64_t out = static_cast<int64_t>(taps.outside.size());
  SmallVector<double> matrix(out * in, 0);
  for (size_t k = 0; k < taps.indices.size(); ++k)
    for (int64_t i = 0; i < out; ++i)
      matrix[i * in + taps.indices[k][i]] += taps.weights[k][i];
  Ints xDims = rangeOf(0, n.rank(x)), result = xDims;
  result[axis] = n.rank(x);
  return n.contract(x, n.constantFloats(matrix, {out, in}, n.elementType(x)), xDims, {n.rank(x), axis}, result);
}

Value resizeConstantAxis(Node &n, Value x, int64_t axis, const ResizeAxis &a, int64_t in, int64_t out) {
  ResizeTaps taps = computeTaps(a, in, out);
  Value result;
  if (isSelection(taps))
    result = gatherNearest(n, x, axis, taps);
  else if (taps.indices.size() <= kMaxGathers)
    result = gatherWeighted(n, x, axis, taps);
  else
    result = multiplyByMatrix(n, x, axis, taps, in);
  if (!llvm::is_contained(taps.outside, true))
    return result;
  SmallVector<double> outside(taps.outside.begin(), taps.outside.end());
  Value isOutside = n.cast(alongAxis(n, outside, axis, x), n.i1());
  return n.select(isOutside, n.scalarLike(n.getFloat("extrapolation_value", 0), x), result);
}

LogicalResult importResize(Node &n) {
  Value x = n.input(0);
  Type type = n.elementType(x);
  std::optional<ResizeAxis> modes = readModes(n);
  std::optional<ResizePlan> plan = modes ? readPlan(n, x) : std::nullopt;
  if (!plan)
    return failure();
  std::optional<SmallVector<double>> roi;
  Value runtimeRoi;
  if (modes->coordinates == CoordinateMode::cropAndResize) {
    const ShapeValue *known = n.known(1);
    roi = known ? known->getNumbers() : std::nullopt;
    Dims count = getDims(n.inputType(1));
    if (count.size() != 1 || getConstant(count[0]) != 2 * static_cast<int64_t>(plan->axes.size()))
      return n.invalid("needs a region of interest with a start and an end for each axis");
    if (!roi)
      runtimeRoi = n.cast(n.input(1), n.f64());
  }
  auto describe = [&](size_t i, const ResizeAxis &a, AffineExpr in, AffineExpr out) {
    RuntimeResize r{a, in, out, {}, {}, {}, {}};
    r.scale = plan->scales[i] ? n.scalar(*plan->scales[i], n.f64())
              : plan->factors ? elementOf(n, plan->factors, static_cast<int64_t>(i))
                              : n.div(n.size(out, n.f64()), n.size(in, n.f64()));
    if (a.coordinates == CoordinateMode::cropAndResize) {
      size_t end = i + plan->axes.size();
      r.cropStart = roi ? n.scalar((*roi)[i], n.f64()) : elementOf(n, runtimeRoi, static_cast<int64_t>(i));
      r.cropEnd = roi ? n.scalar((*roi)[end], n.f64()) : elementOf(n, runtimeRoi, static_cast<int64_t>(end));
      r.extrapolation = n.scalarLike(n.getFloat("extrapolation_value", 0), x);
    }
    return r;
  };
  // Integers are interpolated as floats.
  Value y = modes->mode == ResizeMode::nearest || n.isFloat(x) ? x : n.cast(x, n.f32());
  Dims repeats(n.rank(x), n.constantDim(1));
  for (auto [i, axis] : llvm::enumerate(plan->axes)) {
    ResizeAxis a = *modes;
    AffineExpr in = n.dim(y, axis), out = plan->out[i];
    a.scale = plan->scales[i].value_or(1);
    if (roi) {
      a.cropStart = (*roi)[i];
      a.cropEnd = (*roi)[i + plan->axes.size()];
    } else if (!runtimeRoi && in == out && plan->scales[i] == 1) {
      continue;
    }
    std::optional<int64_t> from = getConstant(in), to = getConstant(out);
    // A dimension without elements can be neither interpolated nor repeated.
    if (to.value_or(0) > 0)
      n.require(subDims(in, n.constantDim(1)),
                "resizes axis " + Twine(axis) + ", which is empty, to " + Twine(*to) + " elements");
    if (n.hasFault())
      return failure();
    bool isConstant = plan->scales[i] && !runtimeRoi;
    if (isConstant && isRepetition(a) && mulDims(in, n.constantDim(static_cast<int64_t>(a.scale))) == out)
      repeats[axis] = n.constantDim(static_cast<int64_t>(a.scale));
    else if (isConstant && from && to && *to <= kMaxConstantAxis && *from <= kMaxConstantAxis &&
             (!a.antialias || *from * *to <= kMaxMatrix))
      y = resizeConstantAxis(n, y, axis, a, *from, *to);
    else
      y = resizeWhenRun(n, y, axis, describe(i, a, in, out));
  }
  bool isRepeated = llvm::any_of(repeats, [](AffineExpr times) { return getConstant(times) != 1; });
  if (y && isRepeated)
    y = n.repeat(y, repeats);
  if (y && y != x && n.elementType(y) != type)
    y = n.cast(n.round(y), type);
  return n.setResult(y);
}

} // namespace

ArrayRef<OpEntry> onnx_import::getResizeOps() {
  static const OpEntry ops[] = {
      {"Resize", importResize, 10},
      {"Upsample", importResize, 7, 9},
  };
  return ops;
}
