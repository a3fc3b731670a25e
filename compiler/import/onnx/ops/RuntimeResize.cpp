//===- RuntimeResize.cpp - resizing by what is known when the model runs --===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/import/onnx/ops/RuntimeResize.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::onnx_import;

namespace {

/// Arithmetic on one axis, in double precision like computeTaps.
class AxisMath {
public:
  AxisMath(Node &n, const RuntimeResize &r) : n(n), r(r), in(n.size(r.in, n.f64())), out(n.size(r.out, n.f64())) {}

  Value number(double value) { return n.scalar(value, n.f64()); }
  Value last() { return n.sub(in, number(1)); }
  Value centres();
  Value weights(Value x);
  Value toIndices(Value v) { return n.cast(n.min(n.max(v, number(0)), last()), n.i64()); }
  Value isInside(Value v) { return n.bitAnd(n.greaterOrEqual(v, number(0)), n.lessOrEqual(v, last())); }

  Node &n;
  const RuntimeResize &r;
  Value in, out;
};

} // namespace

/// Returns the position of the centre of each output on the input axis.
Value AxisMath::centres() {
  Value i = n.iota(r.out, 0, n.f64()), length = n.mul(r.scale, in), half = number(0.5), one = number(1);
  Value halfPixel = n.sub(n.div(n.add(i, half), r.scale), half), zero = number(0);
  Value isOne = n.equal(length, one);
  // Where the length is 1 the quotient is not used.
  Value steps = n.select(isOne, one, n.sub(length, one));
  switch (r.modes.coordinates) {
  case CoordinateMode::halfPixel:
    return halfPixel;
  case CoordinateMode::halfPixelSymmetric:
    return n.add(n.mul(n.div(in, number(2)), n.sub(one, n.div(out, length))), halfPixel);
  case CoordinateMode::pytorchHalfPixel:
    return n.select(n.greater(length, one), halfPixel, zero);
  case CoordinateMode::alignCorners:
    return n.select(isOne, zero, n.div(n.mul(i, last()), steps));
  case CoordinateMode::asymmetric:
    return n.div(i, r.scale);
  case CoordinateMode::cropAndResize: {
    Value extent = n.mul(n.sub(r.cropEnd, r.cropStart), last());
    Value offset = n.select(isOne, n.div(extent, number(2)), n.div(n.mul(i, extent), steps));
    return n.add(n.mul(r.cropStart, last()), offset);
  }
  }
  return zero;
}

/// The kernel at the distances `x` from the centre.
Value AxisMath::weights(Value x) {
  Value distance = n.abs(x), one = number(1);
  if (r.modes.mode == ResizeMode::linear)
    return n.max(n.sub(one, distance), number(0));
  double a = r.modes.cubicCoefficient;
  auto polynomial = [&](double c3, double c2, double c1, double c0) {
    Value sum = n.add(n.mul(number(c3), distance), number(c2));
    sum = n.add(n.mul(sum, distance), number(c1));
    return n.add(n.mul(sum, distance), number(c0));
  };
  Value near = polynomial(a + 2, -(a + 3), 0, 1), far = polynomial(a, -5 * a, 8 * a, -4 * a);
  return n.select(n.lessOrEqual(distance, one), near, n.select(n.less(distance, number(2)), far, number(0)));
}

/// Divides weights by their sum, if it is not 0.
static Value divideBySum(AxisMath &m, Value weights, Value sum) {
  return m.n.div(weights, m.n.select(m.n.equal(sum, m.number(0)), m.number(1), sum));
}

static Value gatherNearest(AxisMath &m, Value x, int64_t axis, Value left, Value ratio) {
  Node &n = m.n;
  Value isRight = n.equal(ratio, m.number(1));
  switch (m.r.modes.nearest) {
  case NearestMode::floor:
    break;
  case NearestMode::ceil:
    return n.gather(x, m.toIndices(n.add(left, m.number(1))), axis);
  case NearestMode::roundPreferFloor:
    isRight = n.greater(ratio, m.number(0.5));
    break;
  case NearestMode::roundPreferCeil:
    isRight = n.greaterOrEqual(ratio, m.number(0.5));
    break;
  }
  return n.gather(x, m.toIndices(n.add(left, n.cast(isRight, n.f64()))), axis);
}

/// The two or four elements around each centre.
static Value gatherWeighted(AxisMath &m, Value x, int64_t axis, Value left, Value ratio) {
  Node &n = m.n;
  bool isLinear = m.r.modes.mode == ResizeMode::linear;
  SmallVector<Value> places, weights;
  Value sum;
  for (int64_t k = isLinear ? 0 : -1; k < (isLinear ? 2 : 3); ++k) {
    Value place = n.add(left, m.number(static_cast<double>(k)));
    Value weight = m.weights(n.sub(m.number(static_cast<double>(k)), ratio));
    if (m.r.modes.excludeOutside)
      weight = n.select(m.isInside(place), weight, m.number(0));
    places.push_back(place);
    weights.push_back(weight);
    sum = sum ? n.add(sum, weight) : weight;
  }
  Value result;
  for (auto [place, weight] : llvm::zip(places, weights)) {
    if (m.r.modes.excludeOutside)
      weight = divideBySum(m, weight, sum);
    Value part =
        n.mul(n.gather(x, m.toIndices(place), axis), n.alongAxis(n.cast(weight, n.elementType(x)), axis, n.rank(x)));
    result = result ? n.add(result, part) : part;
  }
  return result;
}

/// Downsampling with antialiasing widens the kernel by the scale factor, so the weights form a matrix.
static Value multiplyByMatrix(AxisMath &m, Value x, int64_t axis, Value centres) {
  Node &n = m.n;
  Value narrowing = n.min(m.r.scale, m.number(1));
  Value reach = n.ceil(n.div(m.number(m.r.modes.mode == ResizeMode::linear ? 1 : 2), narrowing));
  // The input is padded with as many elements on each side. If the input and the output are empty, nothing is padded,
  // since no element can be read.
  Value hasElements = n.min(n.size(addDims(m.r.in, m.r.out), n.i64()), n.constantInts(1, {}, n.i64()));
  AffineExpr border = n.bindSizes(n.reshape(n.mul(n.cast(reach, n.i64()), hasElements), IntsRef(1))).front();
  AffineExpr wide = addDims(m.r.in, mulDims(border, n.constantDim(2)));
  Value places = n.sub(n.iota(wide, 0, n.f64()), reach);
  Value distances = n.mul(n.sub(n.unsqueeze(places, 0), n.unsqueeze(centres, 1)), narrowing);
  Value weights = m.weights(distances);
  if (m.r.modes.excludeOutside)
    weights = n.select(m.isInside(places), weights, m.number(0));
  weights = n.cast(divideBySum(m, weights, n.reduceSum(weights, 1)), n.elementType(x));
  Value bordered = n.gather(x, m.toIndices(places), axis);
  Ints xDims = rangeOf(0, n.rank(x)), result = xDims;
  result[axis] = n.rank(x);
  return n.contract(bordered, weights, xDims, {n.rank(x), axis}, result);
}

Value onnx_import::resizeWhenRun(Node &n, Value x, int64_t axis, const RuntimeResize &r) {
  AxisMath m(n, r);
  Value centres = m.centres(), left = n.sub(n.ceil(centres), m.number(1)), ratio = n.sub(centres, left), result;
  if (r.modes.mode == ResizeMode::nearest)
    result = gatherNearest(m, x, axis, left, ratio);
  else if (r.modes.antialias)
    result = multiplyByMatrix(m, x, axis, centres);
  else
    result = gatherWeighted(m, x, axis, left, ratio);
  if (!r.extrapolation)
    return result;
  return n.select(n.alongAxis(m.isInside(centres), axis, n.rank(x)), result, r.extrapolation);
}
