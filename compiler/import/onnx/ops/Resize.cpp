//===- Resize.cpp - Resize and Upsample, one axis after the other ---------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/import/onnx/Node.h"
#include "compiler/import/onnx/OpTable.h"
#include "compiler/import/onnx/ops/ResizeTaps.h"
#include <cmath>

using namespace mlir;
using namespace tenon;
using namespace tenon::onnx_import;

namespace {

/// More elements than this in each window: then a matrix product is cheaper than as many gathers.
constexpr size_t kMaxGathers = 4;

/// Axes longer than this are computed when the model runs: what we write out must not grow with a number in
/// the file.
constexpr int64_t kMaxConstantAxis = 65536, kMaxMatrix = int64_t(1) << 22;

/// The extents after resizing; scales are what the operand says, or the quotient of the extents where known.
struct ResizePlan {
  Ints axes;
  Dims out;
  SmallVector<std::optional<double>> scales;
};

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

std::optional<ResizeAxis> readModes(Node &n) {
  ResizeAxis a;
  bool isOld = n.getOpset() < 11;
  std::string mode = n.getString("mode", "nearest");
  std::string coordinates =
      n.getString("coordinate_transformation_mode", isOld ? "asymmetric" : "half_pixel");
  std::string nearest = n.getString("nearest_mode", isOld ? "floor" : "round_prefer_floor");
  std::optional<ResizeMode> m = parseResizeMode(mode);
  std::optional<CoordinateMode> c = parseCoordinateMode(coordinates);
  std::optional<NearestMode> r = parseNearestMode(nearest);
  if (!m || !c || !r) {
    (void)n.invalid("has " +
                    Twine(!m   ? "mode '" + mode
                          : !c ? "coordinate_transformation_mode '" + coordinates
                               : "nearest_mode '" + nearest) +
                    "', which is none of the operator's");
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

std::optional<ResizePlan> planByScales(Node &n, Value x, Ints axes, size_t operand) {
  std::optional<SmallVector<double>> scales;
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
      // As a quotient of which the divisor is a power of two, which scales of symbolic extents are.
      double numerator = scale * 65536;
      if (numerator != std::floor(numerator)) {
        (void)n.unsupported("resizes " + dimsToString(in) + " elements by " + std::to_string(scale) +
                            "; fix the dimension with --shape");
        return std::nullopt;
      }
      plan.out.push_back(
          divDims(mulDims(in, n.constantDim(static_cast<int64_t>(numerator))), n.constantDim(65536)));
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

/// Makes all axes grow by one factor, so that the result fits into the sizes, or covers them.
LogicalResult keepAspectRatio(Node &n, Value x, ResizePlan &plan) {
  std::string policy = n.getString("keep_aspect_ratio_policy", "stretch");
  if (policy == "stretch")
    return success();
  if (policy != "not_larger" && policy != "not_smaller")
    return n.invalid("'keep_aspect_ratio_policy' has to be stretch, not_larger or not_smaller, not '" +
                     policy + "'");
  std::optional<double> factor;
  for (std::optional<double> scale : plan.scales) {
    if (!scale)
      return n.unsupported(
          "keeps the aspect ratio of dimensions that are not constant; fix them with --shape");
    factor = !factor                  ? *scale
             : policy == "not_larger" ? std::min(*factor, *scale)
                                      : std::max(*factor, *scale);
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
    axes.clear();
    for (int64_t axis : *given) {
      std::optional<int64_t> normalized = n.normalizeAxis(axis, n.rank(x));
      if (!normalized)
        return std::nullopt;
      axes.push_back(*normalized);
    }
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

/// Whole weights of nearest resizing: one index each.
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
    Value part =
        n.mul(n.gather(x, n.constantInts(taps.indices[k]), axis), alongAxis(n, taps.weights[k], axis, x));
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
  return n.contract(x, n.constantFloats(matrix, {out, in}, n.elementType(x)), xDims, {n.rank(x), axis},
                    result);
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

/// The centres on an axis whose extents are known when sizes are bound, in f32.
Value computeCentres(Node &n, const ResizeAxis &a, AffineExpr in, AffineExpr out,
                     std::optional<double> scale) {
  Value i = n.iota(out, 0, n.f32()), half = n.scalar(0.5, n.f32()), one = n.scalar(1, n.f32());
  Value inverse = scale ? n.scalar(1 / *scale, n.f32()) : n.div(n.size(in, n.f32()), n.size(out, n.f32()));
  if (a.coordinates == CoordinateMode::Asymmetric)
    return n.mul(i, inverse);
  if (a.coordinates == CoordinateMode::AlignCorners) {
    // With one output the numerator is 0 as well.
    Value last = n.max(n.sub(n.size(out, n.f32()), one), one);
    return n.div(n.mul(i, n.sub(n.size(in, n.f32()), one)), last);
  }
  return n.sub(n.mul(n.add(i, half), inverse), half);
}

Value resizeSymbolicAxis(Node &n, Value x, int64_t axis, const ResizeAxis &a, AffineExpr out,
                         std::optional<double> scale) {
  AffineExpr in = n.dim(x, axis);
  if (a.mode == ResizeMode::Cubic || a.antialias || a.excludeOutside ||
      a.coordinates == CoordinateMode::CropAndResize || a.coordinates == CoordinateMode::HalfPixelSymmetric) {
    (void)n.unsupported("resizes dimension " + Twine(axis) +
                        ", which is not constant, in a mode that needs it to be; "
                        "or is too long; "
                        "fix it with --shape");
    return {};
  }
  Value centres = computeCentres(n, a, in, out, scale), half = n.scalar(0.5, n.f32()),
        zero = n.scalar(0, n.f32());
  Value last = n.sub(n.size(in, n.f32()), n.scalar(1, n.f32()));
  auto toIndices = [&](Value v) { return n.cast(n.min(n.max(v, zero), last), n.i64()); };
  if (a.mode == ResizeMode::Nearest) {
    Value rounded = a.nearest == NearestMode::Floor              ? n.floor(centres)
                    : a.nearest == NearestMode::Ceil             ? n.ceil(centres)
                    : a.nearest == NearestMode::RoundPreferFloor ? n.ceil(n.sub(centres, half))
                                                                 : n.floor(n.add(centres, half));
    return n.gather(x, toIndices(rounded), axis);
  }
  Value left = n.floor(centres), ratio = n.cast(n.sub(centres, left), n.elementType(x));
  Value weight = n.alongAxis(ratio, axis, n.rank(x));
  Value low = n.gather(x, toIndices(left), axis);
  Value high = n.gather(x, toIndices(n.add(left, n.scalar(1, n.f32()))), axis);
  return n.add(low, n.mul(n.sub(high, low), weight));
}

LogicalResult importResize(Node &n) {
  Value x = n.input(0);
  Type type = n.elementType(x);
  std::optional<ResizeAxis> modes = readModes(n);
  std::optional<ResizePlan> plan = modes ? readPlan(n, x) : std::nullopt;
  if (!plan)
    return failure();
  std::optional<SmallVector<double>> roi;
  if (modes->coordinates == CoordinateMode::CropAndResize) {
    roi = n.floatsOperand(1, "roi");
    if (!roi || roi->size() != 2 * plan->axes.size())
      return n.invalid("needs a region of interest with a start and an end for each axis");
  }
  // Integers are interpolated as floats.
  Value y = modes->mode == ResizeMode::Nearest || n.isFloat(x) ? x : n.cast(x, n.f32());
  for (auto [i, axis] : llvm::enumerate(plan->axes)) {
    ResizeAxis a = *modes;
    AffineExpr in = n.dim(y, axis), out = plan->out[i];
    a.scale = plan->scales[i].value_or(1);
    if (roi) {
      a.cropStart = (*roi)[i];
      a.cropEnd = (*roi)[i + plan->axes.size()];
    } else if (in == out && plan->scales[i] == 1) {
      continue;
    }
    std::optional<int64_t> from = getConstant(in), to = getConstant(out);
    if (plan->scales[i] && isRepetition(a) &&
        mulDims(in, n.constantDim(static_cast<int64_t>(a.scale))) == out)
      y = n.repeat(y, axis, n.constantDim(static_cast<int64_t>(a.scale)));
    else if (from && to && *to <= kMaxConstantAxis && *from <= kMaxConstantAxis &&
             (!a.antialias || *from * *to <= kMaxMatrix))
      y = resizeConstantAxis(n, y, axis, a, *from, *to);
    else
      y = resizeSymbolicAxis(n, y, axis, a, out, plan->scales[i]);
  }
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
