//===- Simplify.cpp - scales into convolutions, costly operations to cheap ones ===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/tenon/ReducedPrecision.h"
#include "dialects/tenon/Tenon.h"
#include "dialects/tenon/Views.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Matchers.h"
#include "passes/ApplyPatterns.h"
#include "passes/Passes.h"
#include "passes/shape/FunctionFacts.h"
#include "passes/simplify/ConstantValue.h"
#include "passes/simplify/HoistCasts.h"
#include "passes/simplify/LowRankUpdates.h"
#include "passes/simplify/RaiseNormalizations.h"
#include "passes/simplify/SliceUpdates.h"
#include "passes/simplify/TransposePatterns.h"
#include "passes/simplify/TransposedConvolution.h"
#include "passes/simplify/WidenConvolutions.h"

namespace tenon {
#define GEN_PASS_DEF_SIMPLIFY
#include "passes/Passes.h.inc"
} // namespace tenon

using namespace mlir;
using namespace tenon;

/// True if `value` has one element for each channel of a result of shape [N, C, spatial...], or a single one.
static bool isPerChannel(Value value, int64_t rank) {
  Dims dims = getDims(value);
  if (static_cast<int64_t>(dims.size()) > rank)
    return false;
  for (auto [i, dim] : llvm::enumerate(dims))
    if (static_cast<int64_t>(i) + rank - static_cast<int64_t>(dims.size()) != 1 && getConstant(dim) != 1)
      return false;
  return true;
}

namespace {

/// mul(convolve(x, filter), scale) -> convolve(x, mul(filter, scale))
struct FoldScaleIntoFilter : public OpRewritePattern<MulOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(MulOp op, PatternRewriter &rewriter) const override {
    auto convolve = op.getLhs().getDefiningOp<ConvolveOp>();
    Value scale = op.getRhs();
    if (!convolve) {
      convolve = op.getRhs().getDefiningOp<ConvolveOp>();
      scale = op.getLhs();
    }
    if (!convolve || !convolve->hasOneUse() || convolve.getResultType() || convolve.getChannelsLast())
      return rewriter.notifyMatchFailure(op, "does not scale a convolution with one use");
    int64_t rank = convolve.getType().getRank();
    if (!isa<FloatType>(convolve.getType().getElementType()) || !isConstantValue(convolve.getFilter()) ||
        !isConstantValue(scale) || !isPerChannel(scale, rank))
      return rewriter.notifyMatchFailure(op, "has a factor that is not a constant for each channel");
    // The first dimension of the filter corresponds to the second one of the result.
    auto scaleType = cast<RankedTensorType>(scale.getType());
    Dims dims(rank, getDimConstant(op.getContext(), 1));
    dims[0] = getElementCount(op.getContext(), getDims(scale));
    Value aligned = ReshapeOp::create(rewriter, op.getLoc(), getTensorType(dims, scaleType.getElementType()), scale);
    Value filter = MulOp::create(rewriter, convolve.getLoc(), convolve.getFilter(), aligned);
    rewriter.setInsertionPoint(op);
    Operation *scaled = rewriter.clone(*convolve);
    scaled->setOperand(1, filter);
    scaled->setLoc(rewriter.getFusedLoc({convolve.getLoc(), op.getLoc()}));
    rewriter.replaceOp(op, scaled->getResults());
    return success();
  }
};

/// convolve(pad(x)) -> convolve(x) with more padding, if the pad adds a static number of zeros.
struct FoldPadIntoConvolve : public OpRewritePattern<ConvolveOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ConvolveOp op, PatternRewriter &rewriter) const override {
    auto pad = op.getInput().getDefiningOp<PadOp>();
    if (!pad || pad.getMode() != PadMode::constant || !matchPattern(pad.getValue(), m_AnyZeroFloat()) ||
        !llvm::all_of(pad->getUsers(), llvm::IsaPred<ConvolveOp>))
      return rewriter.notifyMatchFailure(op, "does not read zero padding that only convolutions use");
    SmallVector<int64_t> low(op.getLow()), high(op.getHigh());
    Dims from = getDims(pad.getInput()), to = getDims(pad.getType());
    for (int64_t dim = 0; dim < static_cast<int64_t>(to.size()); ++dim) {
      std::optional<int64_t> before = getConstant(pad.getLow().getDims()[dim]),
                             all = getConstant(subDims(to[dim], from[dim]));
      int64_t spatial = dim - op.getFirstSpatialDim();
      bool isSpatial = spatial >= 0 && spatial < static_cast<int64_t>(low.size());
      if (!before || !all || pad.getInterior()[dim] != 0 || (!isSpatial && (*before != 0 || *all != 0)))
        return rewriter.notifyMatchFailure(op, "reads padding outside of the spatial dimensions, or of dynamic size");
      if (!isSpatial)
        continue;
      low[spatial] += *before;
      high[spatial] += *all - *before;
      // If one side is cropped and the other padded, windows would read the cropped elements.
      if (*before < 0 || *all < *before)
        return rewriter.notifyMatchFailure(op, "pads one side and crops the other");
    }
    rewriter.modifyOpInPlace(op, [&] {
      op.getInputMutable().assign(pad.getInput());
      op.setLow(low);
      op.setHigh(high);
    });
    return success();
  }
};

/// mul(add(convolve, bias), scale) -> add(mul(convolve, scale), mul(bias, scale))
struct DistributeScale : public OpRewritePattern<MulOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(MulOp op, PatternRewriter &rewriter) const override {
    auto sum = op.getLhs().getDefiningOp<AddOp>();
    Value scale = op.getRhs();
    if (!sum || !sum->hasOneUse() || !isConstantValue(scale) || !isConstantValue(sum.getRhs()))
      return rewriter.notifyMatchFailure(op, "does not multiply a sum by constants");
    auto convolve = sum.getLhs().getDefiningOp<ConvolveOp>();
    if (!convolve || !convolve->hasOneUse() || convolve.getChannelsLast() ||
        !isPerChannel(scale, convolve.getType().getRank()) || !isPerChannel(sum.getRhs(), convolve.getType().getRank()))
      return rewriter.notifyMatchFailure(op, "scales no convolution with a bias");
    Value product = MulOp::create(rewriter, op.getLoc(), sum.getLhs(), scale);
    Value bias = MulOp::create(rewriter, op.getLoc(), sum.getRhs(), scale);
    rewriter.replaceOpWithNewOp<AddOp>(op, product, bias);
    return success();
  }
};

/// x^2, x^3 -> multiplications, x^1 -> x, x^-1 -> 1 / x. x^0.5 is kept: pow and sqrt differ at -infinity and -0.
struct ReducePower : public OpRewritePattern<PowOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(PowOp op, PatternRewriter &rewriter) const override {
    SplatElementsAttr exponent;
    if (!isa<FloatType>(op.getType().getElementType()) || !matchPattern(op.getRhs(), m_Constant(&exponent)) ||
        op.getLhs().getType() != op.getType())
      return rewriter.notifyMatchFailure(op, "has no constant exponent");
    double value = exponent.getSplatValue<APFloat>().convertToDouble();
    if (value == 2)
      rewriter.replaceOpWithNewOp<MulOp>(op, op.getLhs(), op.getLhs());
    else if (value == 1)
      rewriter.replaceOp(op, op.getLhs());
    else if (value == -1)
      rewriter.replaceOpWithNewOp<ReciprocalOp>(op, op.getLhs());
    else if (value == 3)
      rewriter.replaceOpWithNewOp<MulOp>(op, op.getLhs(),
                                         MulOp::create(rewriter, op.getLoc(), op.getLhs(), op.getLhs()).getResult());
    else
      return rewriter.notifyMatchFailure(op, "has an exponent for which there is no cheaper operation");
    return success();
  }
};

/// A transpose that only moves dimensions of 1 -> reshape
struct TransposeToReshape : public OpRewritePattern<TransposeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(TransposeOp op, PatternRewriter &rewriter) const override {
    if (!keepsElementOrder(getDims(op.getInput()), op.getPermutation()))
      return rewriter.notifyMatchFailure(op, "moves elements");
    rewriter.replaceOpWithNewOp<ReshapeOp>(op, op.getType(), op.getInput());
    return success();
  }
};

/// contract(x, transpose(weight)) -> contract(x, weight): the indices of the contraction express the transpose, so a
/// weight that is read in two orders is stored once.
struct AbsorbTranspose : public OpRewritePattern<ContractOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ContractOp op, PatternRewriter &rewriter) const override {
    auto absorb = [&](OpOperand &operand, ArrayRef<int64_t> indices) -> std::optional<SmallVector<int64_t>> {
      // Halves are widened last.
      CastOp widening = isWidened(operand.get()) ? operand.get().getDefiningOp<CastOp>() : CastOp();
      auto transpose = (widening ? widening.getInput() : operand.get()).getDefiningOp<TransposeOp>();
      if (!transpose || !isConstantValue(transpose.getInput()))
        return std::nullopt;
      SmallVector<int64_t> own(indices.size());
      for (auto [index, axis] : llvm::zip(indices, transpose.getPermutation()))
        own[axis] = index;
      Value source = transpose.getInput();
      if (widening)
        source = CastOp::create(rewriter, widening.getLoc(),
                                getTensorType(getDims(source), widening.getType().getElementType()), source);
      rewriter.modifyOpInPlace(op, [&] { operand.set(source); });
      return own;
    };
    std::optional<SmallVector<int64_t>> lhs = absorb(op.getLhsMutable(), op.getLhsDims()),
                                        rhs = absorb(op.getRhsMutable(), op.getRhsDims());
    if (!lhs && !rhs)
      return rewriter.notifyMatchFailure(op, "reads no transposed weight");
    rewriter.modifyOpInPlace(op, [&] {
      if (lhs)
        op.setLhsDims(*lhs);
      if (rhs)
        op.setRhsDims(*rhs);
    });
    return success();
  }
};

/// A slice of exactly one operand of a concat -> that operand: often only the last state of a recurrence is used.
struct SliceToPart : public OpRewritePattern<SliceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(SliceOp op, PatternRewriter &rewriter) const override {
    auto concat = getReshaped(op.getInput()).getDefiningOp<ConcatOp>();
    if (!concat || !isContiguous(concat) || !isContiguous(op))
      return rewriter.notifyMatchFailure(op, "is not a contiguous slice of a concatenation");
    auto countElements = [&](Value value) { return getElementCount(op.getContext(), getDims(value)); };
    AffineExpr begin = getDimConstant(op.getContext(), 0);
    for (Value part : concat.getInputs()) {
      if (begin == getOffset(op) && countElements(part) == countElements(op)) {
        rewriter.replaceOpWithNewOp<ReshapeOp>(op, op.getType(), part);
        return success();
      }
      begin = addDims(begin, countElements(part));
    }
    return rewriter.notifyMatchFailure(op, "is not exactly one operand of the concatenation");
  }
};

} // namespace

void tenon::populateTransposePatterns(RewritePatternSet &patterns) {
  patterns.add<TransposeToReshape>(patterns.getContext());
}

/// True if all convolutions are channels-last; before that, the role of the last dimension is undecided.
static bool hasChannelsLast(func::FuncOp function) {
  WalkResult result = function.walk(
      [](ConvolveOp op) { return op.getChannelsLast() ? WalkResult::advance() : WalkResult::interrupt(); });
  return !result.wasInterrupted();
}

namespace {
struct Simplify : public tenon::impl::SimplifyBase<Simplify> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<FoldScaleIntoFilter, FoldPadIntoConvolve, DistributeScale, ReducePower, AbsorbTranspose, SliceToPart>(
        &getContext());
    Facts facts = collectFacts(getOperation());
    populateTransposePatterns(patterns);
    populateSliceUpdates(patterns, facts);
    populateHoistCasts(patterns);
    populateLowRankUpdates(patterns);
    if (hasChannelsLast(getOperation()))
      populateRaiseNormalizations(patterns);
    // Once scales are in the filters.
    RewritePatternSet split(&getContext());
    populateWidenedConvolutions(split);
    populateTransposedConvolutions(split);
    if (failed(applyPatterns(getOperation(), std::move(patterns), getArgumentName())) ||
        failed(applyPatterns(getOperation(), std::move(split), getArgumentName())))
      signalPassFailure();
  }
};

} // namespace
