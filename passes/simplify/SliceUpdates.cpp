//===- SliceUpdates.cpp - scatters and gathers over ranges ----------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Exporters write an assignment to a slice as a scatter over a range of indices:
//
//   x[:, 3:67] = y  ->  transpose, scatter_nd(x, 3 + iota(64), y), transpose
//
// Where each coordinate that is scattered to is `start + step * i` along a dimension
// of its own, and within bounds, no element is written twice, and the elements that
// are written form a box. The result is then a concat of what lies before the box,
// the updates, and what lies behind it, along each dimension that the box does not
// span: one pass over the memory.
//
//===----------------------------------------------------------------------===//

#include "passes/simplify/SliceUpdates.h"
#include "dialects/tenon/Tenon.h"
#include "dialects/tenon/TenonBuilder.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "passes/shape/AffineValues.h"

#include <cassert>

using namespace mlir;
using namespace tenon;

namespace {

/// The elements `start`, `start + step`, ... of a dimension, `count` in total.
struct IndexRange {
  AffineExpr start, count;
  int64_t step = 1;
};

/// One range for each dimension of a tensor.
using Box = SmallVector<IndexRange, 4>;

} // namespace

static AffineExpr getDimConstant(AffineExpr like, int64_t value) { return getDimConstant(like.getContext(), value); }

static bool isConstant(AffineExpr dim, int64_t value) { return getConstant(dim) == value; }

static bool areKnown(ArrayRef<AffineExpr> dims) { return llvm::none_of(dims, isUnknownDim); }

/// True if the range contains all elements of a dimension.
static bool spans(const Facts &facts, const IndexRange &range, AffineExpr extent) {
  return isConstant(range.start, 0) && range.step == 1 && facts.isEqual(range.count, extent);
}

/// Returns the range whose value at position i of `count` is `start + stride * i`. If all indices are negative, they
/// count from the end. None if some elements may be out of bounds.
static std::optional<IndexRange> getRange(const Facts &facts, AffineExpr start, int64_t stride, AffineExpr count,
                                          AffineExpr extent) {
  IndexRange range{start, count, isConstant(count, 1) || stride == 0 ? 1 : stride};
  if (isUnknownDim(start) || isUnknownDim(count) || isUnknownDim(extent))
    return std::nullopt;
  AffineExpr end = addDims(start, mulDims(subDims(count, getDimConstant(count, 1)), getDimConstant(count, range.step)));
  AffineExpr first = range.step < 0 ? end : start, last = range.step < 0 ? start : end;
  if (getConstant(last).value_or(0) < 0) {
    first = addDims(first, extent);
    last = addDims(last, extent);
    range.start = addDims(range.start, extent);
  }
  bool isInside = facts.isNotNegative(first) && facts.isAtMost(addDims(last, getDimConstant(last, 1)), extent);
  // An empty range has no first and last element, but with a step of 1 it is still a position in the tensor.
  bool hasElements = range.step == 1 || facts.isAtMost(getDimConstant(count, 1), count);
  return isInside && hasElements ? std::optional(range) : std::nullopt;
}

static Value reshape(OpBuilder &b, Location loc, Value value, ArrayRef<AffineExpr> dims) {
  return b.createOrFold<ReshapeOp>(loc, getTensorType(dims, getElementTypeOrSelf(value)), value);
}

static Value transpose(OpBuilder &b, Location loc, Value value, ArrayRef<int64_t> permutation) {
  return b.createOrFold<TransposeOp>(loc, value, b.getDenseI64ArrayAttr(permutation));
}

/// The elements of a range along a dimension.
static Value slice(OpBuilder &b, Location loc, Value value, int64_t dim, const IndexRange &range) {
  Dims dims = getDims(value), starts(dims.size(), getDimConstant(b.getContext(), 0));
  SmallVector<int64_t> steps(dims.size(), 1);
  assert(dim >= 0 && dim < static_cast<int64_t>(dims.size()) && "a slice is along a dimension of the value");
  starts[dim] = range.start;
  steps[dim] = range.step;
  dims[dim] = range.count;
  auto startsAttr = ShapeAttr::get(b.getContext(), starts);
  return b.createOrFold<SliceOp>(loc, getTensorType(dims, getElementTypeOrSelf(value)), value, startsAttr, steps);
}

//===----------------------------------------------------------------------===//
// Updates of a box
//===----------------------------------------------------------------------===//

/// Interleaves `updates` along dimension `dim` with the elements of `x`, at a range with gaps. All sizes are static.
static Value interleave(OpBuilder &b, Location loc, Value x, Value updates, int64_t dim, const IndexRange &range) {
  Dims dims = getDims(x), low(dims.size(), getDimConstant(b.getContext(), 0));
  int64_t extent = *getConstant(dims[dim]), first = *getConstant(range.start), count = *getConstant(range.count);
  SmallVector<int64_t> interior(dims.size(), 0), shape(dims.size(), 1);
  SmallVector<bool> isWritten(extent, false);
  assert(range.step > 1 && (count == 0 || (first >= 0 && first + (count - 1) * range.step < extent)) &&
         "a range with gaps is within the dimension");
  for (int64_t i = 0; i < count; ++i)
    isWritten[first + i * range.step] = true;
  low[dim] = range.start;
  interior[dim] = range.step - 1;
  shape[dim] = extent;
  Value zero = TenonBuilder(b, loc).scalar(getElementTypeOrSelf(x), 0);
  Value mask = WeightOp::create(
      b, loc, DenseElementsAttr::get(RankedTensorType::get(shape, b.getI1Type()), ArrayRef<bool>(isWritten)));
  Value spread = PadOp::create(b, loc, x.getType(), PadMode::constant, updates, zero,
                               ShapeAttr::get(b.getContext(), low), interior);
  return SelectOp::create(b, loc, mask, spread, x);
}

/// Returns `x` with the elements of `box` replaced by `updates`, which has the shape of the box. Dimensions before
/// `dim` are covered entirely.
static Value updateBox(OpBuilder &b, Location loc, const Facts &facts, Value x, Value updates, Box box,
                       size_t dim = 0) {
  Dims dims = getDims(x);
  assert(box.size() == dims.size() && "a box has a range in each dimension");
  while (dim < dims.size() && spans(facts, box[dim], dims[dim]))
    ++dim;
  if (dim == dims.size())
    return reshape(b, loc, updates, dims);
  IndexRange range = box[dim];
  AffineExpr zero = getDimConstant(b.getContext(), 0), end = addDims(range.start, range.count);
  box[dim] = {zero, range.count};
  Value inner = updateBox(b, loc, facts, slice(b, loc, x, dim, range), updates, box, dim + 1);
  if (range.step != 1)
    return interleave(b, loc, x, inner, dim, range);
  SmallVector<Value> parts;
  if (!isConstant(range.start, 0))
    parts.push_back(slice(b, loc, x, dim, {zero, range.start}));
  parts.push_back(inner);
  if (AffineExpr rest = subDims(dims[dim], end); !isConstant(rest, 0))
    parts.push_back(slice(b, loc, x, dim, {end, rest}));
  return reshape(b, loc, b.createOrFold<ConcatOp>(loc, parts, dim), dims);
}

/// Returns the transpose that a scatter reads if the result is transposed back: the box is then written before the
/// transpose, and both usually cancel.
static TransposeOp getTransposeBefore(Operation *scatter) {
  bool isTransposed = llvm::any_of(scatter->getUsers(), llvm::IsaPred<TransposeOp>);
  return isTransposed ? scatter->getOperand(0).getDefiningOp<TransposeOp>() : TransposeOp();
}

/// True if `updateBox` supports the box and is no slower than the scatter. Decreasing indices are not supported, nor
/// are gaps in a dynamic dimension or in the innermost one, which would need a test for each element.
static bool isUpdatable(Operation *scatter, const Box &box, ArrayRef<AffineExpr> dims) {
  assert(box.size() == dims.size() && "a box has a range in each dimension");
  TransposeOp before = getTransposeBefore(scatter);
  int64_t innermost = static_cast<int64_t>(dims.size()) - 1;
  if (before)
    innermost = invertPermutationVector(before.getPermutation()).back();
  for (auto [dim, range] : llvm::enumerate(box)) {
    bool isGapped = range.step > 1 && static_cast<int64_t>(dim) != innermost;
    if (range.step != 1 && (!isGapped || !getConstants({range.start, range.count, dims[dim]})))
      return false;
  }
  return true;
}

/// Returns the input of a scatter with the elements of `box` replaced by `updates`.
static Value updateInput(OpBuilder &b, Operation *scatter, const Facts &facts, Value updates, const Box &box) {
  Location loc = scatter->getLoc();
  TransposeOp before = getTransposeBefore(scatter);
  if (!before)
    return updateBox(b, loc, facts, scatter->getOperand(0), updates, box);
  SmallVector<int64_t> permutation(before.getPermutation()), inverse = invertPermutationVector(permutation);
  Box own;
  for (int64_t dim : inverse)
    own.push_back(box[dim]);
  return transpose(b, loc, updateBox(b, loc, facts, before.getInput(), transpose(b, loc, updates, inverse), own),
                   permutation);
}

namespace {

/// scatter(x, no indices, no updates) -> x
template <typename OpT> struct DropEmptyScatter : public OpRewritePattern<OpT> {
  using OpRewritePattern<OpT>::OpRewritePattern;
  LogicalResult matchAndRewrite(OpT op, PatternRewriter &rewriter) const override {
    Dims rows = getDims(op.getIndices());
    if (std::is_same_v<OpT, ScatterNDOp>)
      rows.pop_back();
    if (!llvm::any_of(rows, [](AffineExpr dim) { return isConstant(dim, 0); }))
      return rewriter.notifyMatchFailure(op, "may have updates");
    rewriter.replaceOp(op, reshape(rewriter, op.getLoc(), op.getInput(), getDims(op.getType())));
    return success();
  }
};

/// scatter_nd(x, box, updates) -> concat(x before the box, updates, x behind it)
struct RaiseScatterND : public OpRewritePattern<ScatterNDOp> {
  RaiseScatterND(MLIRContext *context, const Facts &facts) : OpRewritePattern(context), facts(facts) {}

  LogicalResult matchAndRewrite(ScatterNDOp op, PatternRewriter &rewriter) const override {
    if (op.getKind() != ScatterKind::assign)
      return rewriter.notifyMatchFailure(op, "combines updates with existing elements");
    Dims dims = getDims(op.getInput()), rows = getDims(op.getIndices()), shape = getDims(op.getUpdates());
    size_t count = *getConstant(rows.pop_back_val());
    if (!areKnown(dims) || !areKnown(rows) || !areKnown(shape))
      return rewriter.notifyMatchFailure(op, "has unknown extents");
    Box box;
    // The dimension of the updates along which each coordinate varies, if there is one.
    SmallVector<std::optional<int64_t>> moving(count);
    for (size_t component = 0; component < count; ++component) {
      std::optional<AffineValue> value = getAffineValue(facts, op.getIndices(), component);
      if (!value)
        return rewriter.notifyMatchFailure(op, "has indices that are not known to be affine");
      for (size_t dim = 0; dim < rows.size(); ++dim) {
        if (value->strides[dim] == 0)
          continue;
        if (moving[component] || llvm::is_contained(moving, std::optional<int64_t>(dim)))
          return rewriter.notifyMatchFailure(op, "does not write to a box");
        moving[component] = dim;
      }
      AffineExpr extent = moving[component] ? rows[*moving[component]] : getDimConstant(op.getContext(), 1);
      int64_t stride = moving[component] ? value->strides[*moving[component]] : 1;
      std::optional<IndexRange> range = getRange(facts, value->offset, stride, extent, dims[component]);
      if (!range)
        return rewriter.notifyMatchFailure(op, "has indices that may be out of range");
      box.push_back(*range);
    }
    for (size_t dim = 0; dim < rows.size(); ++dim)
      if (!isConstant(rows[dim], 1) && !llvm::is_contained(moving, std::optional<int64_t>(dim)))
        return rewriter.notifyMatchFailure(op, "writes elements more than once");
    rows.append(dims.begin() + count, dims.end());
    for (size_t dim = count; dim < dims.size(); ++dim)
      box.push_back({getDimConstant(op.getContext(), 0), dims[dim]});
    assert(rows.size() == shape.size() &&
           "updates have a dimension for each one of the indices and of what they write");
    if (!llvm::all_of(llvm::zip(rows, shape), [&](auto it) { return facts.isEqual(std::get<0>(it), std::get<1>(it)); }))
      return rewriter.notifyMatchFailure(op, "has updates that are not known to have the shape of its indices");
    if (!isUpdatable(op, box, dims))
      return rewriter.notifyMatchFailure(op, "goes backwards, or leaves gaps in a dynamic or innermost dimension");
    Value updates = arrange(rewriter, op, moving, box);
    rewriter.replaceOp(op, updateInput(rewriter, op, facts, updates, box));
    return success();
  }

private:
  /// Returns the updates in the shape of the box, with their dimensions in the order of the coordinates.
  static Value arrange(OpBuilder &b, ScatterNDOp op, ArrayRef<std::optional<int64_t>> moving, const Box &box) {
    Dims shape = getDims(op.getUpdates()), wanted;
    size_t outer = getDims(op.getIndices()).size() - 1;
    SmallVector<int64_t> permutation;
    for (std::optional<int64_t> dim : moving)
      if (dim)
        permutation.push_back(*dim);
    for (size_t dim = 0; dim < outer; ++dim)
      if (!llvm::is_contained(permutation, static_cast<int64_t>(dim)))
        permutation.push_back(dim);
    for (size_t dim = outer; dim < shape.size(); ++dim)
      permutation.push_back(dim);
    for (const IndexRange &range : box)
      wanted.push_back(range.count);
    return reshape(b, op.getLoc(), transpose(b, op.getLoc(), op.getUpdates(), permutation), wanted);
  }

  const Facts &facts;
};

/// scatter_elements(x, box, updates) -> concat(x before the box, updates, x behind it)
struct RaiseScatterElements : public OpRewritePattern<ScatterElementsOp> {
  RaiseScatterElements(MLIRContext *context, const Facts &facts) : OpRewritePattern(context), facts(facts) {}

  LogicalResult matchAndRewrite(ScatterElementsOp op, PatternRewriter &rewriter) const override {
    if (op.getKind() != ScatterKind::assign)
      return rewriter.notifyMatchFailure(op, "combines updates with existing elements");
    Dims dims = getDims(op.getInput()), wanted = getDims(op.getIndices()), shape = getDims(op.getUpdates());
    if (!areKnown(dims) || !areKnown(wanted) || !areKnown(shape))
      return rewriter.notifyMatchFailure(op, "has unknown extents");
    assert(wanted.size() == shape.size() && wanted.size() == dims.size() && "updates have the rank of the input");
    if (!llvm::all_of(llvm::zip(wanted, shape),
                      [&](auto it) { return facts.isEqual(std::get<0>(it), std::get<1>(it)); }))
      return rewriter.notifyMatchFailure(op, "has updates that are not known to have the shape of its indices");
    std::optional<AffineValue> value = getAffineValue(facts, op.getIndices());
    if (!value)
      return rewriter.notifyMatchFailure(op, "has indices that are not known to be affine");
    Box box;
    int64_t axis = op.getAxis();
    for (size_t dim = 0; dim < dims.size(); ++dim) {
      bool isAxis = static_cast<int64_t>(dim) == axis;
      if ((value->strides[dim] == 0) == isAxis && !isConstant(wanted[dim], 1))
        return rewriter.notifyMatchFailure(op, "does not write to a box");
      AffineExpr start = isAxis ? value->offset : getDimConstant(op.getContext(), 0);
      std::optional<IndexRange> range =
          getRange(facts, start, isAxis ? value->strides[dim] : 1, wanted[dim], dims[dim]);
      if (!range)
        return rewriter.notifyMatchFailure(op, "has indices that may be out of range");
      box.push_back(*range);
    }
    if (!isUpdatable(op, box, dims))
      return rewriter.notifyMatchFailure(op, "goes backwards, or leaves gaps in a dynamic or innermost dimension");
    rewriter.replaceOp(op, updateInput(rewriter, op, facts, op.getUpdates(), box));
    return success();
  }

private:
  const Facts &facts;
};

//===----------------------------------------------------------------------===//
// Gathers
//===----------------------------------------------------------------------===//

/// gather(x, range) -> the slice of x at the range, which is only a computation of addresses.
struct RaiseGather : public OpRewritePattern<GatherOp> {
  RaiseGather(MLIRContext *context, const Facts &facts) : OpRewritePattern(context), facts(facts) {}

  LogicalResult matchAndRewrite(GatherOp op, PatternRewriter &rewriter) const override {
    Dims dims = getDims(op.getInput()), rows = getDims(op.getIndices());
    int64_t axis = op.getAxis();
    if (isUnknownDim(dims[axis]) || !areKnown(rows))
      return rewriter.notifyMatchFailure(op, "has unknown extents");
    std::optional<AffineValue> value = getAffineValue(facts, op.getIndices());
    if (!value)
      return rewriter.notifyMatchFailure(op, "has indices that are not known to be affine");
    std::optional<std::pair<int64_t, AffineExpr>> run = join(*value, rows);
    if (!run)
      return rewriter.notifyMatchFailure(op, "gathers indices that form no range");
    std::optional<IndexRange> range = getRange(facts, value->offset, run->first, run->second, dims[axis]);
    if (!range)
      return rewriter.notifyMatchFailure(op, "has indices that may be out of range");
    Value taken = slice(rewriter, op.getLoc(), op.getInput(), axis, *range);
    rewriter.replaceOp(op, reshape(rewriter, op.getLoc(), taken, getDims(op.getType())));
    return success();
  }

private:
  /// Returns the stride and the number of all positions in row-major order, if they form one range.
  static std::optional<std::pair<int64_t, AffineExpr>> join(const AffineValue &value, ArrayRef<AffineExpr> rows) {
    assert(value.strides.size() == rows.size() && "an index has a stride along each of its dimensions");
    std::pair<int64_t, AffineExpr> run(1, getDimConstant(value.offset.getContext(), 1));
    bool isFirst = true;
    for (auto [stride, extent] : llvm::reverse(llvm::zip(value.strides, rows))) {
      if (isConstant(extent, 1))
        continue;
      std::optional<int64_t> inner = getConstant(run.second);
      int64_t distance;
      if (stride == 0 ||
          (!isFirst && (!inner || __builtin_mul_overflow(run.first, *inner, &distance) || distance != stride)))
        return std::nullopt;
      run = {isFirst ? stride : run.first, mulDims(run.second, extent)};
      isFirst = false;
    }
    return run;
  }

  const Facts &facts;
};

} // namespace

void tenon::populateSliceUpdates(RewritePatternSet &patterns, const Facts &facts) {
  patterns.add<DropEmptyScatter<ScatterNDOp>, DropEmptyScatter<ScatterElementsOp>>(patterns.getContext());
  patterns.add<RaiseScatterND, RaiseScatterElements, RaiseGather>(patterns.getContext(), facts);
}
