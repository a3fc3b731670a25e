//===- Shape.cpp - reshapes, slices, padding and the like -----------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/graph/Elements.h"
#include "compiler/import/onnx/Importer.h"
#include "compiler/import/onnx/Node.h"
#include "compiler/import/onnx/OpTable.h"
#include "compiler/import/onnx/ShapeArithmetic.h"
#include "compiler/import/onnx/ops/RuntimeShape.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::onnx_import;

namespace {

//===----------------------------------------------------------------------===//
// The same elements, another shape
//===----------------------------------------------------------------------===//

/// Returns the inferred extent: the element count divided by the other extents.
std::optional<AffineExpr> inferExtent(Node &n, ArrayRef<AffineExpr> from, ArrayRef<AffineExpr> others) {
  // Extents that occur on both sides cancel, and so do single factors: a quotient of whole products would keep them.
  Dims rest(from), wanted;
  for (AffineExpr dim : others)
    if (auto *it = llvm::find(rest, dim); it != rest.end() && !getConstant(dim))
      rest.erase(it);
    else
      wanted.push_back(dim);
  AffineExpr total = getElementCount(n.getContext(), rest), known = n.constantDim(1);
  for (AffineExpr dim : wanted)
    if (!getConstant(dim) && getConstant(modDims(total, dim)) == 0)
      total = divDims(total, dim);
    else
      known = mulDims(known, dim);
  std::optional<int64_t> t = getConstant(total), k = getConstant(known);
  if (k == 0)
    return n.constantDim(0);
  if (!t || !k || *t % *k == 0)
    return divDims(total, known);
  (void)n.invalid("cannot make " + dimsToString(others) + " and a further dimension of " + dimsToString(from) + ": " +
                  Twine(*k) + " does not divide " + Twine(*t) + " elements");
  return std::nullopt;
}

/// Replaces a requested extent by an extent of the input if both are equal for typical sizes. Exporters compute the
/// length of a convolution's result by formulas of their own.
void unifyExtents(Node &n, ArrayRef<AffineExpr> from, SmallVectorImpl<AffineExpr> &wanted) {
  Dims rest(from);
  auto take = [&](auto isWanted) {
    auto *it = llvm::find_if(rest, isWanted);
    AffineExpr found = it == rest.end() ? AffineExpr() : *it;
    if (found)
      rest.erase(it);
    return found;
  };
  SmallVector<AffineExpr *> others;
  for (AffineExpr &dim : wanted)
    if (dim && !take([&](AffineExpr own) { return own == dim; }) && !getConstant(dim))
      others.push_back(&dim);
  for (AffineExpr *dim : others)
    if (AffineExpr own =
            take([&](AffineExpr own) { return !getConstant(own) && n.importer.areUsuallyEqual(own, *dim); })) {
      std::string text = "needs " + dimsToString(own) + " and " + dimsToString(*dim) + " to be equal";
      n.require(subDims(own, *dim), text);
      n.require(subDims(*dim, own), text);
      *dim = own;
    }
}

LogicalResult importReshape(Node &n) {
  Value x = n.input(0);
  SmallVector<AffineExpr> wanted;
  if (std::optional<Ints> shape = n.getInts("shape")) {
    wanted.append(n.constantDims(*shape));
  } else if (const ShapeValue *known = n.known(1)) {
    for (const Element &element : known->elements)
      wanted.push_back(element.getInteger());
  }
  unifyExtents(n, n.dims(x), wanted);
  // A single data-dependent element is inferred from the others, like -1; if there are several, they are computed.
  auto isInferred = [](AffineExpr dim) { return !dim || getConstant(dim) == -1; };
  if ((llvm::is_contained(wanted, AffineExpr()) && llvm::count_if(wanted, isInferred) > 1) ||
      (wanted.empty() && n.hasInput(1) && !n.known(1)))
    return importRuntimeReshape(n);
  Dims shape, others;
  int64_t open = -1;
  for (auto [i, dim] : llvm::enumerate(wanted)) {
    std::optional<int64_t> constant = dim ? getConstant(dim) : -1;
    if (constant == 0 && !n.getBool("allowzero", false)) {
      if (static_cast<int64_t>(i) >= n.rank(x))
        return n.invalid("copies dimension " + Twine(i) + " of an input that has " + Twine(n.rank(x)));
      dim = n.dim(x, i);
    }
    if (constant && *constant < -1)
      return n.invalid("asks for a dimension of " + Twine(*constant));
    if (constant == -1 && open >= 0)
      return n.invalid("leaves two dimensions to infer, but one at most can be");
    if (constant == -1 && n.getBool("allowzero", false) &&
        llvm::any_of(wanted, [](AffineExpr e) { return e && getConstant(e) == 0; }))
      return n.invalid(
          "has 'allowzero' set and both a 0 and a -1 in its shape, so that what the -1 stands for is not known");
    if (constant == -1)
      open = i;
    else
      others.push_back(dim);
    shape.push_back(dim);
  }
  if (open >= 0) {
    std::optional<AffineExpr> extent = inferExtent(n, n.dims(x), others);
    if (!extent)
      return failure();
    shape[open] = *extent;
  }
  return n.setResult(n.reshape(x, shape));
}

LogicalResult importFlatten(Node &n) {
  Value x = n.input(0);
  int64_t rank = n.rank(x), axis = n.getInt("axis", 1);
  if (axis < -rank || axis > rank)
    return n.invalid("axis " + Twine(axis) + " is outside of [" + Twine(-rank) + ", " + Twine(rank) + "]");
  axis = axis < 0 ? axis + rank : axis;
  Dims dims = n.dims(x);
  return n.setResult(n.reshape(x, {getElementCount(n.getContext(), ArrayRef(dims).take_front(axis)),
                                   getElementCount(n.getContext(), ArrayRef(dims).drop_front(axis))}));
}

LogicalResult importSqueeze(Node &n) {
  Value x = n.input(0);
  Ints axes;
  if (n.hasInput(1) && !n.isConstantOperand(1))
    return importRuntimeSqueeze(n);
  if (n.hasAxes("axes", 1)) {
    std::optional<Ints> given = n.getAxes("axes", 1, n.rank(x));
    if (!given)
      return failure();
    axes = *given;
  } else {
    for (int64_t i = 0; i < n.rank(x); ++i) {
      std::optional<int64_t> size = getConstant(n.dim(x, i));
      if (size == 1)
        axes.push_back(i);
      // The result's rank must not depend on sizes.
      if (!size)
        n.require(subDims(n.dim(x, i), n.constantDim(2)),
                  "drops all dimensions of 1, among which dimension " + Twine(i) + " must not be");
    }
  }
  for (int64_t axis : axes)
    if (getConstant(n.dim(x, axis)).value_or(1) != 1)
      return n.invalid("drops dimension " + Twine(axis) + " of " + dimsToString(n.dims(x)) + ", which is not 1");
  return n.setResult(n.squeeze(x, axes));
}

LogicalResult importUnsqueeze(Node &n) {
  Value x = n.input(0);
  if (n.hasInput(1) && !n.isConstantOperand(1))
    return importRuntimeUnsqueeze(n);
  std::optional<Ints> given = n.hasInput(1) ? n.intsOperand(1, "axes") : n.getInts("axes");
  std::optional<Ints> axes = given ? n.normalizeAxes(*given, n.rank(x) + given->size()) : std::nullopt;
  return axes ? n.setResult(n.unsqueeze(x, *axes)) : failure();
}

//===----------------------------------------------------------------------===//
// Moving elements
//===----------------------------------------------------------------------===//

LogicalResult importTranspose(Node &n) {
  Value x = n.input(0);
  Ints reversed(llvm::reverse(llvm::seq<int64_t>(0, n.rank(x))));
  Ints permutation = n.getInts("perm").value_or(reversed), sorted = permutation;
  llvm::sort(sorted);
  if (!std::equal(sorted.begin(), sorted.end(), reversed.rbegin(), reversed.rend()))
    return n.invalid("'perm' is no order of the " + Twine(n.rank(x)) + " dimensions of its input");
  return n.setResult(n.transpose(x, permutation));
}

/// With a negative extent, the body of ONNX's function yields an empty tensor.
LogicalResult importCenterCropPad(Node &n) {
  std::optional<Dims> sizes = n.sizesOperand(1, "shape");
  if (!sizes)
    return failure();
  int64_t rank = n.rank(n.input(0));
  std::optional<Ints> axes = n.normalizeAxesInOrder(n.getInts("axes").value_or(rangeOf(0, rank)), rank);
  if (!axes)
    return failure();
  if (axes->size() != sizes->size())
    return n.invalid("has " + Twine(sizes->size()) + " extents for " + Twine(axes->size()) + " axes");
  for (AffineExpr size : *sizes)
    n.require(size, "crops to a negative extent");
  return n.importBody();
}

LogicalResult importConcat(Node &n) {
  SmallVector<Value> values = n.allInputs();
  std::optional<int64_t> axis = n.normalizeAxis(n.getInt("axis", 1), n.rank(n.input(0)));
  return axis ? n.setResult(n.concat(values, *axis)) : failure();
}

/// The extents of the parts that a split makes.
std::optional<Dims> getSplitSizes(Node &n, AffineExpr total) {
  int64_t count = n.getNumOutputs();
  if (n.hasInput(1))
    return n.sizesOperand(1, "split", total);
  if (std::optional<Ints> sizes = n.getInts("split"))
    return n.constantDims(*sizes);
  if (n.getInt("num_outputs", count) != count) {
    (void)n.invalid("'num_outputs' is " + Twine(n.getInt("num_outputs", count)) + ", but it has " + Twine(count) +
                    " outputs");
    return std::nullopt;
  }
  std::optional<int64_t> size = getConstant(total);
  if (!size) {
    // With num_outputs the last part may be smaller; before this attribute existed, all parts were equal.
    bool mayDiffer = n.hasAttr("num_outputs");
    AffineExpr chunk = mayDiffer ? ceilDivDims(total, n.constantDim(count)) : divDims(total, n.constantDim(count));
    Dims sizes(count, chunk);
    if (mayDiffer)
      sizes.back() = subDims(total, mulDims(chunk, n.constantDim(count - 1)));
    return sizes;
  }
  int64_t chunk = llvm::divideCeil(*size, count);
  Dims sizes;
  for (int64_t i = 0; i < count; ++i)
    sizes.push_back(n.constantDim(std::clamp<int64_t>(*size - i * chunk, 0, chunk)));
  return sizes;
}

LogicalResult importSplit(Node &n) {
  Value x = n.input(0);
  std::optional<int64_t> axis = n.normalizeAxis(n.getInt("axis", 0), n.rank(x));
  std::optional<Dims> sizes = axis ? getSplitSizes(n, n.dim(x, *axis)) : std::nullopt;
  if (!sizes)
    return failure();
  AffineExpr sum = n.constantDim(0);
  for (AffineExpr size : *sizes)
    sum = addDims(sum, size);
  std::optional<int64_t> wanted = getConstant(sum), found = getConstant(n.dim(x, *axis));
  if (sizes->size() != n.getNumOutputs() || (wanted && found && *wanted != *found))
    return n.invalid("splits " + dimsToString(n.dim(x, *axis)) + " elements into " + dimsToString(*sizes) + " for " +
                     Twine(n.getNumOutputs()) + " outputs");
  n.requireEqual(sum, n.dim(x, *axis), "splits into parts whose sum is not the extent of axis " + Twine(*axis));
  AffineExpr start = n.constantDim(0);
  for (auto [i, size] : llvm::enumerate(*sizes)) {
    n.require(size, "splits off a part of a negative size");
    if (failed(n.setOutput(i, n.sliceAxis(x, *axis, start, size))))
      return failure();
    start = addDims(start, size);
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Slice
//===----------------------------------------------------------------------===//

/// Larger than any dynamic dimension: exporters write such numbers for "to the end".
constexpr int64_t kBeyond = int64_t(1) << 24;

/// Converts a start or an end to a non-negative position, clamped to the dimension as ONNX specifies. A bound that is
/// not constant is assumed to be in range, which is checked when sizes are bound.
AffineExpr toPosition(Node &n, AffineExpr bound, AffineExpr size, bool isReverse) {
  AffineExpr zero = n.constantDim(isReverse ? -1 : 0), end = isReverse ? subDims(size, n.constantDim(1)) : size;
  std::optional<int64_t> constant = getConstant(bound), extent = getConstant(size);
  if (constant && extent) {
    int64_t from = *constant < 0 ? std::max(*constant, -*extent - 1) + *extent : *constant;
    return n.constantDim(std::clamp<int64_t>(from, *getConstant(zero), *getConstant(end)));
  }
  if (constant && *constant >= kBeyond)
    return end;
  if (constant && *constant <= -kBeyond)
    return zero;
  bool fromEnd = constant ? *constant < 0 : isNonNegative(simplifyDim(-bound));
  AffineExpr position = fromEnd ? addDims(bound, size) : bound;
  if (constant) {
    position = n.atLeast(position, zero, "starts or ends before the first element");
    return n.atMost(position, end, "starts or ends after the last element");
  }
  n.require(position, "starts or ends before the first element");
  n.require(subDims(end, position), "starts or ends after the last element");
  return position;
}

/// Returns the number of elements between two positions; 0 if the second one comes first.
AffineExpr getDistance(Node &n, AffineExpr from, AffineExpr to, bool isConstant) {
  AffineExpr distance = subDims(to, from);
  if (isConstant || getConstant(distance))
    return n.atLeast(distance, n.constantDim(0), "ends before it starts");
  n.require(distance, "ends before it starts");
  return distance;
}

struct SliceBounds {
  Dims starts, ends;
  Ints axes, steps;
};

std::optional<SliceBounds> readSliceBounds(Node &n, int64_t rank) {
  bool hasOperands = n.getOpset() >= 10;
  std::optional<Dims> starts, ends;
  if (hasOperands) {
    starts = n.sizesOperand(1, "starts");
    ends = n.sizesOperand(2, "ends");
  } else {
    starts = n.constantDims(n.getInts("starts").value_or(Ints()));
    ends = n.constantDims(n.getInts("ends").value_or(Ints()));
  }
  if (!starts || !ends)
    return std::nullopt;
  std::optional<Ints> axes = hasOperands && n.hasInput(3) ? n.intsOperand(3, "axes") : n.getInts("axes");
  if (!axes)
    axes = rangeOf(0, starts->size());
  std::optional<Ints> steps = n.hasInput(4) ? n.intsOperand(4, "steps") : Ints(starts->size(), 1);
  if (n.hasFault() || !steps)
    return std::nullopt;
  if (ends->size() != starts->size() || axes->size() != starts->size() || steps->size() != starts->size()) {
    (void)n.invalid("has " + Twine(starts->size()) + " starts, " + Twine(ends->size()) + " ends, " +
                    Twine(axes->size()) + " axes and " + Twine(steps->size()) + " steps, which must be as many");
    return std::nullopt;
  }
  axes = n.normalizeAxesInOrder(*axes, rank);
  if (!axes)
    return std::nullopt;
  return SliceBounds{*starts, *ends, *axes, *steps};
}

LogicalResult importSlice(Node &n) {
  Value x = n.input(0);
  bool isKnown = n.isKnownOperand(1) && n.isKnownOperand(2) && (!n.hasInput(3) || n.isConstantOperand(3)) &&
                 (!n.hasInput(4) || n.isConstantOperand(4));
  if (n.getOpset() >= 10 && !isKnown)
    return importRuntimeSlice(n);
  std::optional<SliceBounds> b = readSliceBounds(n, n.rank(x));
  if (!b)
    return failure();
  Dims starts(n.rank(x), n.constantDim(0)), shape = n.dims(x);
  Ints steps(n.rank(x), 1);
  for (auto [i, axis] : llvm::enumerate(b->axes)) {
    // A step larger than the dimension selects one element, whatever its value is.
    int64_t step = std::clamp<int64_t>(b->steps[i], -INT32_MAX, INT32_MAX);
    if (step == 0)
      return n.invalid("has a step of 0 for axis " + Twine(axis));
    AffineExpr size = n.dim(x, axis);
    AffineExpr start = toPosition(n, b->starts[i], size, step < 0), end = toPosition(n, b->ends[i], size, step < 0);
    bool isConstant = getConstant(b->starts[i]) && getConstant(b->ends[i]);
    AffineExpr distance = step > 0 ? getDistance(n, start, end, isConstant) : getDistance(n, end, start, isConstant);
    starts[axis] = start;
    steps[axis] = step;
    shape[axis] = ceilDivDims(distance, n.constantDim(std::abs(step)));
    if (getConstant(shape[axis]) == 0)
      starts[axis] = n.constantDim(0);
  }
  return n.setResult(n.slice(x, starts, steps, shape));
}

//===----------------------------------------------------------------------===//
// Pad
//===----------------------------------------------------------------------===//

std::optional<Dims> readPads(Node &n) {
  if (n.getOpset() >= 11)
    return n.sizesOperand(1, "pads");
  return n.constantDims(n.getInts(n.getOpset() < 2 ? "paddings" : "pads").value_or(Ints()));
}

LogicalResult importPad(Node &n) {
  Value x = n.input(0);
  std::string mode = n.getString("mode", "constant");
  if (mode != "constant" && mode != "edge" && mode != "reflect" && mode != "wrap")
    return n.invalid("'mode' has to be constant, edge, reflect or wrap, not '" + mode + "'");
  Value value = n.hasInput(2) ? n.reshape(n.input(2), IntsRef()) : n.scalarLike(n.getFloat("value", 0), x);
  value = n.cast(value, n.elementType(x));
  if (n.getOpset() >= 11 && (!n.isKnownOperand(1) || (n.hasInput(3) && !n.isConstantOperand(3))))
    return importRuntimePad(n, mode, value);
  std::optional<Dims> pads = readPads(n);
  std::optional<Ints> axes = rangeOf(0, n.rank(x));
  if (n.hasInput(3))
    axes = n.intsOperand(3, "axes");
  if (!pads || !axes)
    return failure();
  for (AffineExpr pad : *pads)
    if (std::optional<int64_t> size = getConstant(pad); size && (*size > kMaxElements || *size < -kMaxElements))
      return n.invalid("pads a dimension by " + Twine(*size) + ", but a tensor has at most 2^40 elements");
  if (pads->size() != 2 * axes->size())
    return n.invalid("has " + Twine(pads->size()) + " pads for " + Twine(axes->size()) +
                     " axes, but needs two for each");
  axes = n.normalizeAxesInOrder(*axes, n.rank(x));
  if (!axes)
    return failure();
  Dims low(n.rank(x), n.constantDim(0)), shape = n.dims(x);
  for (auto [i, axis] : llvm::enumerate(*axes)) {
    low[axis] = (*pads)[i];
    shape[axis] = addDims(shape[axis], addDims((*pads)[i], (*pads)[i + axes->size()]));
    n.require(shape[axis], "cuts more off axis " + Twine(axis) + " than there is");
  }
  if (n.hasFault())
    return failure();
  if (shape == n.dims(x) && llvm::all_of(low, [](AffineExpr e) { return getConstant(e) == 0; }))
    return n.setResult(x);
  return n.setIndexed(n.pad(mode, x, value, low, Ints(n.rank(x), 0), shape));
}

//===----------------------------------------------------------------------===//
// Repeating elements
//===----------------------------------------------------------------------===//

LogicalResult importExpand(Node &n) {
  Value x = n.input(0);
  if (!n.isKnownOperand(1))
    return importRuntimeExpand(n);
  std::optional<Dims> shape = n.sizesOperand(1, "shape");
  if (!shape)
    return failure();
  if (failed(broadcastDims({n.dims(x), *shape})))
    return n.invalid("cannot broadcast " + dimsToString(n.dims(x)) + " to " + dimsToString(*shape));
  return n.setResult(n.stretchTo(x, *shape));
}

LogicalResult importTile(Node &n) {
  Value x = n.input(0);
  std::optional<Dims> repeats = n.sizesOperand(1, "repeats");
  if (repeats && n.getOpset() < 6) {
    // The second operand is the count, the third one its axis.
    std::optional<int64_t> axis = n.intOperand(2, "axis");
    axis = axis ? n.normalizeAxis(*axis, n.rank(x)) : std::nullopt;
    if (!axis || repeats->size() != 1)
      return n.invalid("needs one count of tiles and one axis");
    AffineExpr count = (*repeats)[0];
    repeats = Dims(n.rank(x), n.constantDim(1));
    (*repeats)[*axis] = count;
  }
  if (!repeats)
    return failure();
  if (static_cast<int64_t>(repeats->size()) != n.rank(x))
    return n.invalid("has " + Twine(repeats->size()) + " repeats for " + Twine(n.rank(x)) + " dimensions");
  // Each dimension becomes [repeats, size], whose first dimension is broadcast.
  Dims split, wide, result;
  for (auto [dim, times] : llvm::zip(n.dims(x), *repeats)) {
    n.require(times, "repeats a dimension a negative number of times");
    bool isOnce = getConstant(times) == 1;
    if (!isOnce) {
      split.push_back(n.constantDim(1));
      wide.push_back(times);
    }
    split.push_back(dim);
    wide.push_back(dim);
    result.push_back(mulDims(dim, times));
  }
  return n.setResult(n.reshape(n.broadcast(n.reshape(x, split), wide), result));
}

//===----------------------------------------------------------------------===//
// Blocks and channels
//===----------------------------------------------------------------------===//

std::optional<AffineExpr> readBlockSize(Node &n, Value x) {
  int64_t size = n.getInt("blocksize", 1);
  if (n.rank(x) == 4 && size >= 1 && size <= INT16_MAX)
    return n.constantDim(size);
  (void)n.invalid("needs an input [N, C, H, W] and a 'blocksize' of at least 1, found " + dimsToString(n.dims(x)) +
                  " and " + Twine(size));
  return std::nullopt;
}

LogicalResult importDepthToSpace(Node &n) {
  Value x = n.input(0);
  std::optional<AffineExpr> b = readBlockSize(n, x);
  std::string mode = n.getString("mode", "DCR");
  if (!b)
    return failure();
  if (mode != "DCR" && mode != "CRD")
    return n.invalid("'mode' has to be DCR or CRD, not '" + mode + "'");
  Dims d = n.dims(x);
  AffineExpr channels = divDims(d[1], mulDims(*b, *b));
  bool blocksFirst = mode == "DCR";
  Dims split = blocksFirst ? Dims{d[0], *b, *b, channels, d[2], d[3]} : Dims{d[0], channels, *b, *b, d[2], d[3]};
  Ints order = blocksFirst ? Ints{0, 3, 4, 1, 5, 2} : Ints{0, 1, 4, 2, 5, 3};
  return n.setResult(
      n.reshape(n.transpose(n.reshape(x, split), order), {d[0], channels, mulDims(d[2], *b), mulDims(d[3], *b)}));
}

LogicalResult importSpaceToDepth(Node &n) {
  Value x = n.input(0);
  std::optional<AffineExpr> b = readBlockSize(n, x);
  if (!b)
    return failure();
  Dims d = n.dims(x);
  AffineExpr height = divDims(d[2], *b), width = divDims(d[3], *b);
  std::string mode = n.getString("mode", "DCR");
  if (mode != "DCR" && mode != "CRD")
    return n.invalid("'mode' has to be DCR or CRD, not '" + mode + "'");
  Ints order = mode == "DCR" ? Ints{0, 3, 5, 1, 2, 4} : Ints{0, 1, 3, 5, 2, 4};
  Value blocks = n.transpose(n.reshape(x, {d[0], d[1], height, *b, width, *b}), order);
  return n.setResult(n.reshape(blocks, {d[0], mulDims(d[1], mulDims(*b, *b)), height, width}));
}

} // namespace

ArrayRef<OpEntry> onnx_import::getShapeOps() {
  static const OpEntry ops[] = {
      {"CenterCropPad", importCenterCropPad},
      {"Concat", importConcat},
      {"DepthToSpace", importDepthToSpace},
      {"Expand", importExpand},
      {"Flatten", importFlatten},
      {"Pad", importPad},
      {"Reshape", importReshape},
      {"Slice", importSlice},
      {"SpaceToDepth", importSpaceToDepth},
      {"Split", importSplit},
      {"Squeeze", importSqueeze},
      {"Tile", importTile},
      {"Transpose", importTranspose},
      {"Unsqueeze", importUnsqueeze},
  };
  return ops;
}
