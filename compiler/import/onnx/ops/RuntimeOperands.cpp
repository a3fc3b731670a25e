//===- RuntimeOperands.cpp - axes, shapes and bounds that data decides ----===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/import/onnx/ops/RuntimeOperands.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::onnx_import;

Value onnx_import::intScalar(Node &n, int64_t value) { return n.constantInts(value, {}, n.i64()); }

Value onnx_import::elementOf(Node &n, Value vector, int64_t i) {
  return n.reshape(n.sliceAxis(vector, 0, n.constantDim(i), n.constantDim(1)), IntsRef());
}

Value onnx_import::fillVector(Node &n, int64_t value, int64_t size) { return n.constantInts(Ints(size, value)); }

Value onnx_import::extentsOf(Node &n, Value x) { return n.sizes(n.dims(x), n.i64()); }

Value onnx_import::toInt(Node &n, Value condition) { return n.cast(condition, n.i64()); }

/// Axes counted from the front.
static Value fromFront(Node &n, Value axes, int64_t rank) {
  Value zero = n.constantInts(0, {}, n.i64()), size = n.constantInts(rank, {}, n.i64());
  return n.select(n.less(axes, zero), n.add(axes, size), axes);
}

/// 1 at [d, i] where axis i is d: (rank, k).
static Value matchAxes(Node &n, Value axes, int64_t rank) {
  Value positions = n.reshape(n.iota(n.constantDims(rank), 0, n.i64()), {rank, 1});
  return toInt(n, n.equal(positions, n.unsqueeze(axes, 0)));
}

void onnx_import::requireAll(Node &n, Value holds, StringRef text) {
  Value faults = n.neg(n.reduceSum(toInt(n, n.bitNot(holds)), 0));
  Dims bound = n.bindSizes(faults, std::numeric_limits<int64_t>::min());
  if (!n.hasFailed())
    n.requireWhenRun(bound.front(), text);
}

Value onnx_import::axesOperand(Node &n, size_t i, int64_t rank) {
  Value axes = fromFront(n, n.vectorOperand(i), rank), zero = intScalar(n, 0);
  Value isInside = n.bitAnd(n.greaterOrEqual(axes, zero), n.less(axes, intScalar(n, rank)));
  requireAll(
      n, isInside,
      ("an axis of '" + n.inputName(i) + "' is outside of [" + Twine(-rank) + ", " + Twine(rank - 1) + "]").str());
  Value times = n.reduceSum(matchAxes(n, axes, rank), 1, false);
  requireAll(n, n.lessOrEqual(times, intScalar(n, 1)), ("an axis is named twice by '" + n.inputName(i) + "'").str());
  return axes;
}

Value onnx_import::maskOfAxes(Node &n, Value axes, int64_t rank) {
  return n.min(n.reduceSum(matchAxes(n, axes, rank), 1, false), n.constantInts(1, {}, n.i64()));
}

Value onnx_import::placeAtAxes(Node &n, Value values, Value axes, Value otherwise) {
  int64_t rank = getConstant(n.dim(otherwise, 0)).value_or(0);
  Value match = matchAxes(n, axes, rank);
  Value placed = n.reduceSum(n.mul(match, n.unsqueeze(values, 0)), 1, false);
  Value isPlaced = n.greater(n.reduceSum(match, 1, false), n.constantInts(0, {}, n.i64()));
  return n.select(isPlaced, placed, otherwise);
}

SplitByAxes onnx_import::splitByAxes(Node &n, Value x, Value axes, bool noneAreAll) {
  int64_t rank = n.rank(x);
  SplitByAxes result;
  result.mask = maskOfAxes(n, axes, rank);
  if (noneAreAll && !getConstant(n.dim(axes, 0)))
    result.mask = n.max(result.mask, toInt(n, n.equal(n.size(n.dim(axes, 0), n.i64()), intScalar(n, 0))));
  Value isReduced = n.greater(result.mask, n.constantInts(0, {}, n.i64()));
  Value extents = extentsOf(n, x), ones = fillVector(n, 1, rank);
  Dims kept = n.bindSizes(n.select(isReduced, ones, extents));
  Dims reduced = n.bindSizes(n.select(isReduced, extents, ones));
  Dims shape;
  for (auto [i, pair] : llvm::enumerate(llvm::zip(kept, reduced))) {
    shape.push_back(std::get<0>(pair));
    shape.push_back(std::get<1>(pair));
    result.reduced.push_back(2 * static_cast<int64_t>(i) + 1);
  }
  result.kept = kept;
  result.value = n.reshape(x, shape);
  return result;
}

/// out[j] = sum over d of values[d] where place[d] is j: (count). A negative `place` is dropped.
static Value moveToPlaces(Node &n, Value values, Value place, int64_t count) {
  Value positions = n.reshape(n.iota(n.constantDims(count), 0, n.i64()), {count, 1});
  Value match = toInt(n, n.equal(positions, n.unsqueeze(place, 0)));
  return n.reduceSum(n.mul(match, n.unsqueeze(values, 0)), 1, false);
}

Dims onnx_import::dropAxes(Node &n, Value extents, Value mask, int64_t count) {
  int64_t rank = getConstant(n.dim(extents, 0)).value_or(0);
  Value one = n.constantInts(1, {}, n.i64()), kept = n.sub(one, mask);
  Value rankOfKept = n.cumulativeSum(kept, 0, /*exclusive=*/true);
  Value place = n.select(n.greater(kept, n.constantInts(0, {}, n.i64())), rankOfKept, n.constantInts(-1, {}, n.i64()));
  return n.bindSizes(moveToPlaces(n, extents, place, std::max<int64_t>(rank - count, 0)));
}

Dims onnx_import::insertAxes(Node &n, Value extents, Value axes, int64_t count) {
  int64_t rank = getConstant(n.dim(extents, 0)).value_or(0);
  Value mask = maskOfAxes(n, axes, rank + count), one = n.constantInts(1, {}, n.i64());
  if (rank == 0)
    return n.constantDims(Ints(count, 1));
  // Dimension p of the result is dimension (p - number of new ones before p) of the input.
  Value source = n.cumulativeSum(n.sub(one, mask), 0, /*exclusive=*/true);
  source = n.min(source, n.constantInts(rank - 1, {}, n.i64()));
  Value moved = n.gather(extents, source, 0);
  return n.bindSizes(n.select(n.greater(mask, n.constantInts(0, {}, n.i64())), one, moved));
}

Value onnx_import::aroundAxis(Node &n, Value x, Value axis) {
  int64_t rank = n.rank(x);
  Value at = axis, positions = n.iota(n.constantDims(rank), 0, n.i64()), extents = extentsOf(n, x);
  Value one = n.constantInts(1, {}, n.i64());
  auto product = [&](Value condition) { return n.reduceProd(n.select(condition, extents, one), 0); };
  Value parts =
      n.concat({product(n.less(positions, at)), product(n.equal(positions, at)), product(n.greater(positions, at))}, 0);
  return n.reshape(x, n.bindSizes(parts));
}
