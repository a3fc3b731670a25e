//===- Decompose.cpp - composite operations and special cases in terms of simpler ones ===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/tenon/IndexUses.h"
#include "dialects/tenon/Tenon.h"
#include "dialects/tenon/TenonBuilder.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/ApplyPatterns.h"
#include "passes/Passes.h"
#include "passes/cost/ReductionPolicy.h"

namespace tenon {
#define GEN_PASS_DEF_DECOMPOSE
#include "passes/Passes.h.inc"
} // namespace tenon

using namespace mlir;
using namespace tenon;

namespace {

//===----------------------------------------------------------------------===//
// What kernels have no form for
//===----------------------------------------------------------------------===//

/// reduce with kept dimensions -> reduce, reshape
template <typename OpT> struct DropKeptDimensions : public OpRewritePattern<OpT> {
  using OpRewritePattern<OpT>::OpRewritePattern;
  LogicalResult matchAndRewrite(OpT op, PatternRewriter &rewriter) const override {
    if (!op.getKeepdims())
      return rewriter.notifyMatchFailure(op, "keeps no dimensions");
    auto bare = cast<OpT>(rewriter.clone(*op));
    bare.setKeepdims(false);
    SmallVector<Type> types;
    if (failed(OpT::inferReturnTypes(op.getContext(), op.getLoc(), bare->getOperands(), bare->getAttrDictionary(),
                                     bare->getPropertiesStorage(), {}, types)))
      return failure();
    bare->getResult(0).setType(cast<RankedTensorType>(types[0]));
    rewriter.replaceOpWithNewOp<ReshapeOp>(op, op.getType(), bare->getResult(0));
    return success();
  }
};

static std::optional<int64_t> countElements(MLIRContext *context, ArrayRef<AffineExpr> extents) {
  return getConstant(getElementCount(context, extents));
}

/// True if few results reduce many elements each.
static bool reducesManyElements(ReduceOp op, const ReductionPolicy &policy) {
  std::optional<int64_t> results = countElements(op.getContext(), getDims(op)),
                         elements = countElements(op.getContext(), getDims(op.getInput()));
  return results && elements && *results <= policy.fewResults &&
         *elements >= policy.manyElements * std::max<int64_t>(*results, 1);
}

/// True if the reduction is over the pixels of one channels-last image, which threads have computed by lines. If there
/// are fewer pixels, threads have computed channels instead (kernel/TileKernels.cpp).
static bool reducesLines(ReduceOp op, const ReductionPolicy &policy) {
  Dims dims = getDims(op.getInput());
  ArrayRef<AffineExpr> all(dims);
  ArrayRef<int64_t> axes = op.getAxes();
  if (axes.empty() || axes.back() + 2 != op.getInput().getType().getRank() ||
      axes.back() - axes.front() + 1 != static_cast<int64_t>(axes.size()))
    return false;
  std::optional<int64_t> images = countElements(op.getContext(), all.take_front(axes.front())),
                         elements = countElements(op.getContext(), all),
                         pixels = countElements(op.getContext(), all.slice(axes.front(), axes.size()));
  return images == 1 && pixels >= policy.minPixels && elements >= policy.minImageElements;
}

/// reduce along several dimensions -> reduce along all but the first of them, then along the first: the first reduction
/// has enough results for all threads, and each thread reduces what it has computed itself.
struct SplitReduction : public OpRewritePattern<ReduceOp> {
  SplitReduction(MLIRContext *context, const ReductionPolicy &policy) : OpRewritePattern(context), policy(policy) {}
  LogicalResult matchAndRewrite(ReduceOp op, PatternRewriter &rewriter) const override {
    if (op.getKeepdims() || !(reducesManyElements(op, policy) || reducesLines(op, policy)))
      return rewriter.notifyMatchFailure(op, "has enough results for what it joins");
    Dims dims = getDims(op.getInput());
    SmallVector<int64_t> axes(op.getAxes());
    int64_t first = *llvm::find_if(axes, [&](int64_t axis) { return getConstant(dims[axis]) != 1; });
    llvm::erase(axes, first);
    if (llvm::all_of(axes, [&](int64_t axis) { return getConstant(dims[axis]) == 1; }))
      return rewriter.notifyMatchFailure(op, "joins along one dimension");
    int64_t before = llvm::count_if(axes, [&](int64_t axis) { return axis < first; });
    auto partial = ReduceOp::create(rewriter, op.getLoc(), op.getKind(), op.getInput(), axes, false);
    rewriter.replaceOpWithNewOp<ReduceOp>(op, op.getKind(), partial, ArrayRef(first - before), false);
    return success();
  }

private:
  ReductionPolicy policy;
};

/// contract of operands without elements -> zeros. A sum over an empty range has no slices that could become tiles.
struct DropEmptySums : public OpRewritePattern<ContractOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ContractOp op, PatternRewriter &rewriter) const override {
    auto isEmpty = [](Value operand) {
      return llvm::any_of(getDims(operand), [](AffineExpr dim) { return getConstant(dim) == 0; });
    };
    if (!isEmpty(op.getLhs()) && !isEmpty(op.getRhs()))
      return rewriter.notifyMatchFailure(op, "has elements to sum");
    Value zero = TenonBuilder(rewriter, op.getLoc()).scalar(op.getType().getElementType(), 0);
    rewriter.replaceOpWithNewOp<BroadcastOp>(op, op.getType(), zero);
    return success();
  }
};

/// An operation whose results have no elements -> empty weights, so that its requirements on windows or sums need not
/// be met, and no kernel has zero tiles. Index checks remain.
struct DropEmptyResults : public RewritePattern {
  explicit DropEmptyResults(MLIRContext *context) : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/10, context) {}
  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    if (!isa<TenonDialect>(op->getDialect()) || isa<WeightOp>(op) || op->getNumResults() == 0 || !isPure(op))
      return rewriter.notifyMatchFailure(op, "is not a pure operation of the dialect with results");
    for (Type type : op->getResultTypes()) {
      auto tensor = dyn_cast<RankedTensorType>(type);
      if (!tensor || !tensor.hasStaticShape() || tensor.getNumElements() != 0)
        return rewriter.notifyMatchFailure(op, "may have elements to compute");
    }
    if (llvm::any_of(getIndexUses(op),
                     [](const IndexUse &use) { return !use.isInRange && getConstant(use.count) != 0; }))
      return rewriter.notifyMatchFailure(op, "has indices, which have to be in range");
    SmallVector<Value> empty;
    for (Type type : op->getResultTypes())
      empty.push_back(WeightOp::create(rewriter, op->getLoc(),
                                       DenseElementsAttr::get(cast<ShapedType>(type), ArrayRef<Attribute>())));
    rewriter.replaceOp(op, empty);
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Composites
//===----------------------------------------------------------------------===//

/// Decomposes composites without a kernel, or all of them.
struct DecomposeComposite : public OpInterfaceRewritePattern<CompositeOpInterface> {
  DecomposeComposite(MLIRContext *context, bool all) : OpInterfaceRewritePattern(context), all(all) {}
  LogicalResult matchAndRewrite(CompositeOpInterface op, PatternRewriter &rewriter) const override {
    if (!all && getComputeKind(op->getName()) != ComputeKind::decomposed)
      return rewriter.notifyMatchFailure(op, "has a kernel of its own");
    FailureOr<Value> value = op.decompose(rewriter);
    if (failed(value))
      return rewriter.notifyMatchFailure(op, "has no decomposition for these operands");
    rewriter.replaceOp(op, *value);
    return success();
  }

private:
  bool all;
};

struct Decompose : public tenon::impl::DecomposeBase<Decompose> {
  using DecomposeBase::DecomposeBase;
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<DropKeptDimensions<ReduceOp>, DropKeptDimensions<ArgReduceOp>, DropEmptySums, DropEmptyResults>(
        &getContext());
    patterns.add<SplitReduction>(&getContext(), policy);
    patterns.add<DecomposeComposite>(&getContext(), all);
    if (failed(applyPatterns(getOperation(), std::move(patterns), getArgumentName())))
      signalPassFailure();
  }

private:
  ReductionPolicy policy;
};

} // namespace
