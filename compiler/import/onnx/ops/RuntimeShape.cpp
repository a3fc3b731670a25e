//===- RuntimeShape.cpp - reshapes and slices that data decides -----------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/import/onnx/ops/RuntimeShape.h"
#include "compiler/graph/Elements.h"
#include "compiler/import/onnx/ops/RuntimeOperands.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::onnx_import;

/// Returns a vector operand and the number of its elements; null if that is not static.
static Value vectorOfKnownSize(Node &n, size_t i, int64_t &count) {
  Value vector = n.vectorOperand(i);
  std::optional<int64_t> size = getConstant(n.dim(vector, 0));
  if (vector && !size) {
    (void)n.unsupported("how many elements '" + n.inputName(i) + "' has is not known, so neither is the result's rank");
    return {};
  }
  count = size.value_or(0);
  return vector;
}

//===----------------------------------------------------------------------===//
// Reshapes
//===----------------------------------------------------------------------===//

/// 0 copies an extent of the input, -1 is inferred from the others.
LogicalResult onnx_import::importRuntimeReshape(Node &n) {
  Value x = n.input(0);
  int64_t count = 0;
  Value wanted = vectorOfKnownSize(n, 1, count);
  if (!wanted)
    return failure();
  if (count > ImportLimits::kMaxRank)
    return n.exceedsLimit("rank", ImportLimits::kMaxRank, "makes a tensor of " + Twine(count) + " dimensions");
  Value zero = intScalar(n, 0), one = intScalar(n, 1);
  if (!n.getBool("allowzero", false)) {
    // The input's extents, truncated or padded to the rank of the result.
    Dims extents = n.dims(x);
    extents.resize(count, n.constantDim(0));
    wanted = n.select(n.equal(wanted, zero), n.sizes(extents, n.i64()), wanted);
  }
  Value isOpen = n.less(wanted, zero);
  requireAll(n, n.greaterOrEqual(wanted, intScalar(n, -1)), "asks for a dimension below -1");
  Value openOnes = n.reduceSum(toInt(n, isOpen), 0);
  requireAll(n, n.lessOrEqual(openOnes, one), "leaves two dimensions to infer, but one at most can be");
  Value others = n.reduceProd(n.select(isOpen, one, wanted), 0);
  Value total = n.size(getElementCount(n.getContext(), n.dims(x)), n.i64());
  Value rest = n.div(total, n.max(others, one));
  return n.setResult(n.reshape(x, n.bindSizes(n.select(isOpen, rest, wanted))));
}

LogicalResult onnx_import::importRuntimeSqueeze(Node &n) {
  Value x = n.input(0);
  int64_t count = 0;
  if (!vectorOfKnownSize(n, 1, count))
    return failure();
  Value axes = axesOperand(n, 1, n.rank(x));
  return n.setResult(n.reshape(x, dropAxes(n, extentsOf(n, x), maskOfAxes(n, axes, n.rank(x)), count)));
}

LogicalResult onnx_import::importRuntimeUnsqueeze(Node &n) {
  Value x = n.input(0);
  int64_t count = 0;
  if (!vectorOfKnownSize(n, 1, count))
    return failure();
  Value axes = axesOperand(n, 1, n.rank(x) + count);
  return n.setResult(n.reshape(x, insertAxes(n, extentsOf(n, x), axes, count)));
}

//===----------------------------------------------------------------------===//
// Slice
//===----------------------------------------------------------------------===//

namespace {
/// The bounds of a slice: element i of each vector is for dimension `axes[i]`.
struct RuntimeBounds {
  Ints axes;
  Value starts, ends, steps; ///< steps are null where all are 1
};
} // namespace

/// Reads the bounds of the sliced axes, or of all dimensions if the axes are unknown.
static std::optional<RuntimeBounds> readBounds(Node &n, Value x) {
  RuntimeBounds b{{}, n.vectorOperand(1), n.vectorOperand(2), {}};
  int64_t rank = n.rank(x);
  for (size_t i = 2; i < n.getNumInputs(); ++i)
    if (n.hasInput(i))
      n.requireEqual(getElementCount(n.getContext(), getDims(n.inputType(i))), n.dim(b.starts, 0),
                     "'" + n.inputName(i) + "' has not as many numbers as '" + n.inputName(1) + "'");
  bool areAxesKnown = !n.hasInput(3) || n.isConstantOperand(3);
  if (n.hasInput(4)) {
    bool isPlain = n.isConstantOperand(4) && llvm::all_of(*n.intsOperand(4, "steps"), [](int64_t s) { return s == 1; });
    b.steps = isPlain ? Value() : n.vectorOperand(4);
  }
  if (areAxesKnown) {
    std::optional<int64_t> count = getConstant(n.dim(b.starts, 0));
    if (!count) {
      (void)n.unsupported("how many dimensions '" + n.inputName(1) + "' cuts is not known; name them by 'axes'");
      return std::nullopt;
    }
    std::optional<Ints> known =
        n.normalizeAxesInOrder(n.hasInput(3) ? *n.intsOperand(3, "axes") : rangeOf(0, *count), rank);
    if (!known)
      return std::nullopt;
    b.axes = *known;
    return b;
  }
  Value axes = axesOperand(n, 3, rank);
  b.axes = rangeOf(0, rank);
  b.starts = placeAtAxes(n, b.starts, axes, fillVector(n, 0, rank));
  b.ends = placeAtAxes(n, b.ends, axes, extentsOf(n, x));
  if (b.steps)
    b.steps = placeAtAxes(n, b.steps, axes, fillVector(n, 1, rank));
  return b;
}

LogicalResult onnx_import::importRuntimeSlice(Node &n) {
  Value x = n.input(0);
  std::optional<RuntimeBounds> b = readBounds(n, x);
  if (!b || n.hasFault())
    return failure();
  Value zero = intScalar(n, 0), one = intScalar(n, 1), minusOne = intScalar(n, -1);
  Dims cut;
  for (int64_t axis : b->axes)
    cut.push_back(n.dim(x, axis));
  Value extents = n.sizes(cut, n.i64()), last = n.sub(extents, one);
  if (b->steps)
    requireAll(n, n.notEqual(b->steps, zero), "has a step of 0");
  Value isForward = b->steps ? n.greater(b->steps, zero) : Value();
  // Converts a position to a non-negative one, and clamps it to the range of a forward or backward slice.
  auto clamp = [&](Value position) {
    position = n.select(n.less(position, zero), n.add(position, extents), position);
    Value forward = n.min(n.max(position, zero), extents);
    return isForward ? n.select(isForward, forward, n.min(n.max(position, minusOne), last)) : forward;
  };
  Value start = clamp(b->starts), end = clamp(b->ends), size = n.sub(end, start);
  if (b->steps) {
    // The smallest integer has no absolute value. A sum with the stride may overflow, so the quotient is computed from
    // the distance.
    Value stride = n.max(n.abs(n.max(b->steps, intScalar(n, -std::numeric_limits<int64_t>::max()))), one);
    Value distance = n.max(n.select(isForward, size, n.sub(start, end)), zero);
    size = n.add(n.div(n.sub(distance, one), stride), one);
    size = n.select(n.greater(distance, zero), size, zero);
  } else {
    size = n.max(size, zero);
  }
  Dims sizes = n.bindSizes(size, 0, cut);
  if (n.hasFailed())
    return failure();
  if (!b->steps) {
    Dims offsets(n.rank(x), n.constantDim(0)), shape = n.dims(x), bound = n.bindSizes(start, 0, cut);
    for (auto [axis, offset, extent] : llvm::zip(b->axes, bound, sizes)) {
      offsets[axis] = offset;
      shape[axis] = extent;
    }
    return n.setResult(n.slice(x, offsets, Ints(n.rank(x), 1), shape));
  }
  for (auto [i, axis] : llvm::enumerate(b->axes)) {
    Value steps = n.mul(n.iota(sizes[i], 0, n.i64()), elementOf(n, b->steps, static_cast<int64_t>(i)));
    x = n.gather(x, n.add(steps, elementOf(n, start, static_cast<int64_t>(i))), axis);
  }
  return n.setResult(x);
}

//===----------------------------------------------------------------------===//
// Pad and Expand
//===----------------------------------------------------------------------===//

LogicalResult onnx_import::importRuntimePad(Node &n, StringRef mode, Value fill) {
  Value x = n.input(0);
  int64_t rank = n.rank(x), count = 0;
  Value pads = vectorOfKnownSize(n, 1, count);
  if (!pads)
    return failure();
  Value most = intScalar(n, kMaxElements), least = intScalar(n, -kMaxElements);
  requireAll(n, n.bitAnd(n.lessOrEqual(pads, most), n.greaterOrEqual(pads, least)),
             "pads a dimension by more than 2^40, which no tensor has");
  AffineExpr half = n.constantDim(count / 2);
  Value low = n.sliceAxis(pads, 0, n.constantDim(0), half), high = n.sliceAxis(pads, 0, half, half);
  if (n.hasInput(3)) {
    Value axes = axesOperand(n, 3, rank), none = fillVector(n, 0, rank);
    low = placeAtAxes(n, low, axes, none);
    high = placeAtAxes(n, high, axes, none);
  } else if (count != 2 * rank) {
    return n.invalid("has " + Twine(count) + " pads for " + Twine(rank) + " dimensions, but needs two for each");
  }
  Dims shape = n.bindSizes(n.add(extentsOf(n, x), n.add(low, high)));
  // A cut counts below 0.
  Dims before = n.bindSizes(low, std::numeric_limits<int64_t>::min());
  return n.setResult(n.pad(mode, x, fill, before, Ints(rank, 0), shape));
}

/// Each extent becomes [1, extent], and the 1 is broadcast to the factor that the data specifies.
LogicalResult onnx_import::importRuntimeExpand(Node &n) {
  Value x = n.input(0);
  int64_t count = 0;
  Value wanted = vectorOfKnownSize(n, 1, count);
  if (!wanted)
    return failure();
  Dims extents = n.dims(x);
  while (static_cast<int64_t>(extents.size()) < count)
    extents.insert(extents.begin(), n.constantDim(1));
  int64_t rank = extents.size();
  Value own = n.sizes(extents, n.i64()), one = intScalar(n, 1);
  if (count < rank)
    wanted = n.concat({fillVector(n, 1, rank - count), wanted}, 0);
  // An extent is kept if 1 is requested, and broadcast if it is 1 itself. Otherwise both must be equal.
  Value times = n.select(n.equal(own, one), wanted, fillVector(n, 1, rank));
  Dims repeats = n.bindSizes(times), split, wide, shape;
  Value isRight = n.bitOr(n.equal(own, one), n.bitOr(n.equal(wanted, one), n.equal(wanted, own)));
  requireAll(n, isRight, "cannot broadcast a dimension that is neither 1 nor the requested extent");
  for (auto [extent, times] : llvm::zip(extents, repeats)) {
    std::optional<int64_t> constant = getConstant(extent);
    bool isFixed = constant && *constant != 1;
    if (!isFixed && constant != 1) {
      split.push_back(n.constantDim(1));
      wide.push_back(times);
    }
    split.push_back(extent);
    wide.push_back(constant == 1 ? times : extent);
    shape.push_back(isFixed ? extent : constant == 1 ? times : mulDims(times, extent));
  }
  return n.setResult(n.reshape(n.broadcast(n.reshape(x, split), wide), shape));
}
