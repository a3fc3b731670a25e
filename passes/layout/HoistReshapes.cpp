//===- HoistReshapes.cpp - shapes change as early as they can ---------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A reshape costs nothing where it is a view of what lies in memory, but no
// kernel has one inside. Exporters write queries, keys and values as
// reshape(slice(transpose(reshape(product)))); with all reshapes next to the
// product, what is left is read by the attention itself.
//
//===----------------------------------------------------------------------===//

#include "dialects/tenon/ReducedPrecision.h"
#include "dialects/tenon/Tenon.h"
#include "dialects/tenon/TenonBuilder.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/ApplyPatterns.h"
#include "passes/Passes.h"
#include "passes/cost/PromotedCopies.h"
#include "passes/simplify/TransposePatterns.h"

namespace tenon {
#define GEN_PASS_DEF_HOISTRESHAPES
#include "passes/Passes.h.inc"
} // namespace tenon

using namespace mlir;
using namespace tenon;

namespace {
/// Adjacent dimensions of one shape that hold the same elements as adjacent dimensions of another.
struct Group {
  SmallVector<unsigned> from; ///< none of them 1, but those that `isKept` says
  SmallVector<unsigned> to;
};
} // namespace

static bool isOne(AffineExpr dim) { return getConstant(dim) == 1; }

/// Returns the smallest groups in order. Dimensions of 1 in `from` belong to no group; those in `to` to the preceding
/// group, or to the first one. None if dynamic extents leave it ambiguous which dimensions belong together.
static std::optional<SmallVector<Group>> groupDims(const Dims &from, const Dims &to) {
  constexpr unsigned kMaxJoined = 6; // limit: compile time
  MLIRContext *context = from.empty() ? nullptr : from.front().getContext();
  auto count = [&](const Dims &dims, ArrayRef<unsigned> group) {
    Dims extents;
    for (unsigned i : group)
      extents.push_back(dims[i]);
    return getElementCount(context, extents);
  };
  SmallVector<Group> groups;
  SmallVector<unsigned> leading;
  unsigned i = 0, j = 0;
  auto skipOnes = [&] {
    while (i < from.size() && isOne(from[i]))
      ++i;
    for (; j < to.size() && isOne(to[j]); ++j)
      (groups.empty() ? leading : groups.back().to).push_back(j);
  };
  auto extend = [](const Dims &dims, unsigned &next, SmallVectorImpl<unsigned> &group) {
    if (next == dims.size())
      return false;
    group.push_back(next++);
    return true;
  };
  for (skipOnes(); i < from.size() && j < to.size(); skipOnes()) {
    Group group{{i++}, {j++}};
    while (count(from, group.from) != count(to, group.to)) {
      std::optional<int64_t> left = getConstant(count(from, group.from)), right = getConstant(count(to, group.to));
      // A dynamic extent must equal a product of extents on the other side.
      bool extendsTo = left && right ? *right < *left : !left;
      bool isDone = group.from.size() + group.to.size() > kMaxJoined ||
                    !(extendsTo ? extend(to, j, group.to) : extend(from, i, group.from));
      if (isDone)
        return std::nullopt;
    }
    llvm::erase_if(group.from, [&](unsigned dim) { return isOne(from[dim]); });
    groups.push_back(group);
  }
  if (i < from.size() || j < to.size() || groups.empty())
    return std::nullopt;
  groups.front().to.insert(groups.front().to.begin(), leading.begin(), leading.end());
  return groups;
}

namespace {

/// slice(transpose(x)) -> transpose(slice(x))
struct RaiseSliceOverTranspose : public OpRewritePattern<SliceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(SliceOp op, PatternRewriter &rewriter) const override {
    auto transpose = op.getInput().getDefiningOp<TransposeOp>();
    if (!transpose)
      return rewriter.notifyMatchFailure(op, "does not slice a transposed tensor");
    Dims dims = getDims(op.getType()), own = dims, starts(dims);
    SmallVector<int64_t> steps(dims.size());
    for (auto [i, axis] : llvm::enumerate(transpose.getPermutation())) {
      own[axis] = dims[i];
      starts[axis] = op.getStarts().getDims()[i];
      steps[axis] = op.getSteps()[i];
    }
    Value slice = SliceOp::create(rewriter, op.getLoc(), getTensorType(own, op.getType().getElementType()),
                                  transpose.getInput(), ShapeAttr::get(op.getContext(), starts), steps);
    rewriter.replaceOpWithNewOp<TransposeOp>(op, op.getType(), slice, transpose.getPermutation());
    return success();
  }
};

/// reshape(transpose(x)) -> transpose(reshape(x)), if the merged dimensions are adjacent and in order in x, too.
struct RaiseOverTranspose : public OpRewritePattern<ReshapeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ReshapeOp op, PatternRewriter &rewriter) const override {
    auto transpose = op.getInput().getDefiningOp<TransposeOp>();
    if (!transpose || !transpose->hasOneUse())
      return rewriter.notifyMatchFailure(op, "does not read a transposed tensor with one use");
    Dims from = getDims(transpose.getInput()), to = getDims(op.getType());
    std::optional<SmallVector<Group>> groups = groupDims(getDims(transpose.getType()), to);
    if (!groups)
      return rewriter.notifyMatchFailure(op, "has dynamic dimensions that cannot be matched");
    // The groups in the order of x.
    ArrayRef<int64_t> permutation = transpose.getPermutation();
    auto getPlace = [&](const Group &group) { return permutation[group.from.front()]; };
    for (const Group &group : *groups)
      for (auto [first, second] : llvm::zip(group.from, llvm::drop_begin(group.from)))
        for (int64_t between = permutation[first] + 1; between != permutation[second]; ++between)
          if (between >= static_cast<int64_t>(from.size()) || !isOne(from[between]))
            return rewriter.notifyMatchFailure(op, "collapses dimensions that are not in order");
    SmallVector<Group> ordered(*groups);
    llvm::sort(ordered, [&](const Group &a, const Group &b) { return getPlace(a) < getPlace(b); });
    Dims own;
    SmallVector<int64_t> moved(to.size());
    for (const Group &group : ordered)
      for (unsigned dim : group.to) {
        moved[dim] = own.size();
        own.push_back(to[dim]);
      }
    Value reshaped = TenonBuilder(rewriter, op.getLoc()).reshape(transpose.getInput(), own);
    rewriter.replaceOpWithNewOp<TransposeOp>(op, op.getType(), reshaped, moved);
    return success();
  }
};

/// reshape(slice(x)) -> slice(reshape(x)). A dimension that is sliced to one element is merged with the next one:
/// slices of [m, 3, n] along the second dimension are slices of [m, 3 * n].
struct RaiseOverSlice : public OpRewritePattern<ReshapeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ReshapeOp op, PatternRewriter &rewriter) const override {
    auto slice = op.getInput().getDefiningOp<SliceOp>();
    if (!slice || !slice->hasOneUse() || slice.getInput().getDefiningOp<TransposeOp>())
      return rewriter.notifyMatchFailure(op, "does not read a slice with one use");
    Dims whole = getDims(slice.getInput()), from = getDims(slice.getType()), to = getDims(op.getType());
    Dims starts(slice.getStarts().getDims());
    std::optional<SmallVector<Group>> groups = groupDims(from, to);
    if (!groups)
      return rewriter.notifyMatchFailure(op, "has dynamic dimensions that cannot be matched");
    AffineExpr zero = getDimConstant(op.getContext(), 0);
    auto isCut = [&](unsigned dim) {
      return whole[dim] != from[dim] || starts[dim] != zero || slice.getSteps()[dim] != 1;
    };
    Dims own(to), ownStarts(to.size(), zero);
    SmallVector<int64_t> ownSteps(to.size(), 1);
    for (const Group &group : *groups) {
      unsigned first = group.from.front();
      if (llvm::any_of(ArrayRef(group.from).drop_front(), isCut))
        return rewriter.notifyMatchFailure(op, "collapses a sliced dimension with others");
      // Dimensions of 1 stay where they are.
      SmallVector<unsigned> inner = llvm::filter_to_vector(group.to, [&](unsigned dim) { return !isOne(to[dim]); });
      unsigned outer = inner.front();
      inner.erase(inner.begin());
      if (isCut(first)) {
        if (slice.getSteps()[first] != 1 || (group.from.size() > 1 && !inner.empty()) ||
            !cut(to, inner, joined(from, group), whole[first], starts[first], own[outer], ownStarts[outer]))
          return rewriter.notifyMatchFailure(op, "slices within rows");
      }
    }
    for (unsigned dim = 0; dim < from.size(); ++dim) {
      if (!isOne(from[dim]) || !isCut(dim))
        continue;
      // The group after the sliced dimension, which must be unsliced and begin after it.
      const Group *next = nullptr;
      for (const Group &group : *groups) {
        if (group.from.front() < dim && group.from.back() > dim)
          return rewriter.notifyMatchFailure(op, "collapses the dimensions around one that is sliced to one element");
        if (!next && group.from.front() > dim)
          next = &group;
      }
      auto isFull = [&](unsigned i) { return own[i] == to[i] && ownStarts[i] == zero; };
      if (!next || isCut(next->from.front()) || slice.getSteps()[dim] <= 0)
        return rewriter.notifyMatchFailure(op, "slices one element of the last dimension, or has a negative step");
      auto outer = llvm::find_if(next->to, [&](unsigned i) { return !isOne(to[i]); });
      if (!isFull(*outer))
        return rewriter.notifyMatchFailure(op, "slices one element of several dimensions");
      ownStarts[*outer] = mulDims(starts[dim], to[*outer]);
      own[*outer] = mulDims(whole[dim], to[*outer]);
    }
    Value reshaped = TenonBuilder(rewriter, op.getLoc()).reshape(slice.getInput(), own);
    rewriter.replaceOpWithNewOp<SliceOp>(op, op.getType(), reshaped, ShapeAttr::get(op.getContext(), ownStarts),
                                         ownSteps);
    return success();
  }

private:
  /// Returns the number of elements in a group at each index of its first dimension.
  static AffineExpr joined(const Dims &from, const Group &group) {
    Dims others;
    for (unsigned dim : ArrayRef(group.from).drop_front())
      others.push_back(from[dim]);
    return getElementCount(from.front().getContext(), others);
  }

  /// Computes the extent and start of the slice in the group's outermost dimension if the group is not sliced yet.
  /// `factor` merges the sliced dimension with those after it; `inner` are the dimensions that it is split into. One of
  /// the two is 1.
  static bool cut(const Dims &to, ArrayRef<unsigned> inner, AffineExpr factor, AffineExpr whole, AffineExpr start,
                  AffineExpr &extent, AffineExpr &newStart) {
    int64_t size = 1;
    for (unsigned dim : inner) {
      std::optional<int64_t> known = getConstant(to[dim]);
      if (!known)
        return false;
      size *= *known;
    }
    if (size == 1) {
      extent = mulDims(whole, factor);
      newStart = mulDims(start, factor);
      return true;
    }
    std::optional<int64_t> all = getConstant(whole), first = getConstant(start);
    if (!all || !first || size == 0 || *all % size != 0 || *first % size != 0)
      return false;
    extent = getDimConstant(whole.getContext(), *all / size);
    newStart = getDimConstant(whole.getContext(), *first / size);
    return true;
  }
};

/// True if all users of a tensor, perhaps through reshapes, promote it as they copy it.
static bool isCopiedInAnyShape(Value value) {
  return llvm::all_of(value.getUses(), [](OpOperand &use) {
    auto reshape = dyn_cast<ReshapeOp>(use.getOwner());
    return reshape ? areCopied(reshape) : isCopied(use);
  });
}

/// reshape(cast(x)) -> cast(reshape(x)), if matmuls and convolutions promote the reshaped operand themselves.
struct RaiseOverWidening : public OpRewritePattern<ReshapeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ReshapeOp op, PatternRewriter &rewriter) const override {
    auto cast = op.getInput().getDefiningOp<CastOp>();
    if (!cast || !isWidened(cast) || !isCopiedInAnyShape(cast))
      return rewriter.notifyMatchFailure(op, "does not read an operand that products widen to f32");
    Value reshaped = TenonBuilder(rewriter, op.getLoc()).reshape(cast.getInput(), getDims(op.getType()));
    rewriter.replaceOpWithNewOp<CastOp>(op, op.getType(), reshaped);
    return success();
  }
};

/// transpose(cast(x)) -> cast(transpose(x)), if convolutions promote their input themselves.
struct TransposeBeforeWidening : public OpRewritePattern<TransposeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(TransposeOp op, PatternRewriter &rewriter) const override {
    auto cast = op.getInput().getDefiningOp<CastOp>();
    if (!cast || !isWidened(cast) || !cast->hasOneUse() || op->use_empty() || !areCopiedImages(op))
      return rewriter.notifyMatchFailure(op, "does not move a tensor that convolutions widen to f32");
    Type half = getTensorType(getDims(op.getType()), getElementTypeOrSelf(cast.getInput()));
    Value moved = TransposeOp::create(rewriter, op.getLoc(), half, cast.getInput(), op.getPermutation());
    rewriter.replaceOpWithNewOp<CastOp>(op, op.getType(), moved);
    return success();
  }
};

struct HoistReshapes : public tenon::impl::HoistReshapesBase<HoistReshapes> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns
        .add<RaiseSliceOverTranspose, RaiseOverTranspose, RaiseOverSlice, RaiseOverWidening, TransposeBeforeWidening>(
            &getContext());
    populateTransposePatterns(patterns);
    // Operations are visited top-down: a slice merges dimensions only if no transpose could move above it.
    GreedyRewriteConfig config;
    config.setUseTopDownTraversal(true);
    if (failed(applyPatterns(getOperation(), std::move(patterns), getArgumentName(), config)))
      signalPassFailure();
  }
};

} // namespace
