//===- Decompose.cpp - composite operations and special cases in terms of simpler ones ===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/tenon/IndexUses.h"
#include "dialects/tenon/Tenon.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "passes/Passes.h"

namespace tenon {
#define GEN_PASS_DEF_DECOMPOSE
#include "passes/Passes.h.inc"
} // namespace tenon

using namespace mlir;
using namespace tenon;

//===----------------------------------------------------------------------===//
// Helpers
//===----------------------------------------------------------------------===//

/// A scalar of the element type of `like`.
static Value createScalar(OpBuilder &b, Location loc, Value like, double value) {
  Type type = getElementTypeOrSelf(like);
  auto tensor = RankedTensorType::get({}, type);
  Attribute element = isa<FloatType>(type) ? Attribute(b.getFloatAttr(type, value))
                                           : b.getIntegerAttr(type, static_cast<int64_t>(value));
  return WeightOp::create(b, loc, DenseElementsAttr::get(tensor, element));
}

/// A per-channel operand of shape [C] as [C, 1, 1...], to broadcast against [N, C, spatial...].
static Value expandChannels(OpBuilder &b, Location loc, Value parameter, int64_t rank) {
  Dims dims = getDims(parameter);
  for (int64_t i = 2; i < rank; ++i)
    dims.push_back(getDimConstant(b.getContext(), 1));
  return ReshapeOp::create(b, loc, getTensorType(dims, getElementTypeOrSelf(parameter)), parameter);
}

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

/// Whether very few results join very many elements each.
static bool joinsMuch(ReduceOp op) {
  constexpr int64_t kFewResults = 8, kManyElements = 1 << 16;
  std::optional<int64_t> results = countElements(op.getContext(), getDims(op)),
                         elements = countElements(op.getContext(), getDims(op.getInput()));
  return results && elements && *results <= kFewResults && *elements >= kManyElements * std::max<int64_t>(*results, 1);
}

/// Whether pixels of one image are joined, channels last, which threads have computed line by line: of few pixels each
/// has computed some channels (kernel/TileKernels.cpp).
static bool joinsLines(ReduceOp op) {
  constexpr int64_t kFewPixels = 112, kManyElements = 1 << 14;
  Dims dims = getDims(op.getInput());
  ArrayRef<AffineExpr> all(dims);
  ArrayRef<int64_t> axes = op.getAxes();
  if (axes.empty() || axes.back() + 2 != op.getInput().getType().getRank() ||
      axes.back() - axes.front() + 1 != static_cast<int64_t>(axes.size()))
    return false;
  std::optional<int64_t> images = countElements(op.getContext(), all.take_front(axes.front())),
                         elements = countElements(op.getContext(), all),
                         pixels = countElements(op.getContext(), all.slice(axes.front(), axes.size()));
  return images == 1 && pixels >= kFewPixels && elements >= kManyElements;
}

/// reduce along several dimensions -> reduce along all but the first of them, reduce: there are as many results first
/// as threads can share, and each thread joins what it has computed itself.
struct SplitReduction : public OpRewritePattern<ReduceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ReduceOp op, PatternRewriter &rewriter) const override {
    if (op.getKeepdims() || !(joinsMuch(op) || joinsLines(op)))
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
};

/// contract of operands without elements -> zeros. A sum over nothing has no slices that could become tiles.
struct DropEmptySums : public OpRewritePattern<ContractOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ContractOp op, PatternRewriter &rewriter) const override {
    auto isEmpty = [](Value operand) {
      return llvm::any_of(getDims(operand), [](AffineExpr dim) { return getConstant(dim) == 0; });
    };
    if (!isEmpty(op.getLhs()) && !isEmpty(op.getRhs()))
      return rewriter.notifyMatchFailure(op, "has elements to sum");
    Value zero = createScalar(rewriter, op.getLoc(), op.getResult(), 0);
    rewriter.replaceOpWithNewOp<BroadcastOp>(op, op.getType(), zero);
    return success();
  }
};

/// An operation whose results have no elements -> empty weights: what it would demand of windows or sums need not be
/// met, and no kernel has to do without tiles. Indices that have to be in range are still looked at.
struct DropEmptyResults : public RewritePattern {
  explicit DropEmptyResults(MLIRContext *context) : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/10, context) {}
  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    if (!isa<TenonDialect>(op->getDialect()) || isa<WeightOp>(op) || op->getNumResults() == 0 || !isPure(op))
      return rewriter.notifyMatchFailure(op, "is no computation of values alone");
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

/// batch_norm -> x * factor + offset, factor = scale / sqrt(variance + epsilon), offset = bias - mean * factor.
/// Both are weights as a rule, and become part of the convolution before.
struct DecomposeBatchNorm : public OpRewritePattern<BatchNormOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(BatchNormOp op, PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Type type = getElementTypeOrSelf(op.getInput());
    auto convert = [&](Value value) -> Value {
      auto tensor = cast<RankedTensorType>(value.getType());
      if (tensor.getElementType() == type)
        return value;
      return CastOp::create(rewriter, loc, tensor.clone(type), value);
    };
    Value scale = convert(op.getScale()), bias = convert(op.getBias()), mean = convert(op.getMean()),
          variance = convert(op.getVariance());
    Value epsilon = createScalar(rewriter, loc, op.getInput(), op.getEpsilon().convertToDouble());
    Value deviation = SqrtOp::create(rewriter, loc, AddOp::create(rewriter, loc, variance, epsilon).getResult());
    Value factor = DivOp::create(rewriter, loc, scale, deviation);
    Value offset = SubOp::create(rewriter, loc, bias, MulOp::create(rewriter, loc, mean, factor).getResult());
    int64_t rank = op.getType().getRank();
    Value scaled = MulOp::create(rewriter, loc, op.getInput(), expandChannels(rewriter, loc, factor, rank));
    rewriter.replaceOpWithNewOp<AddOp>(op, scaled, expandChannels(rewriter, loc, offset, rank));
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Composites that kernels do have a form for: taken apart on demand
//===----------------------------------------------------------------------===//

struct DecomposeSigmoid : public OpRewritePattern<SigmoidOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(SigmoidOp op, PatternRewriter &b) const override {
    Location loc = op.getLoc();
    Value e = ExpOp::create(b, loc, NegOp::create(b, loc, op.getInput()).getResult());
    Value one = createScalar(b, loc, op.getInput(), 1);
    b.replaceOpWithNewOp<ReciprocalOp>(op, AddOp::create(b, loc, e, one).getResult());
    return success();
  }
};

struct DecomposeRelu : public OpRewritePattern<ReluOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ReluOp op, PatternRewriter &b) const override {
    b.replaceOpWithNewOp<MaxOp>(op, op.getInput(), createScalar(b, op.getLoc(), op.getInput(), 0));
    return success();
  }
};

struct DecomposeGelu : public OpRewritePattern<GeluOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(GeluOp op, PatternRewriter &b) const override {
    Location loc = op.getLoc();
    Value x = op.getInput(), inner;
    auto scalar = [&](double value) { return createScalar(b, loc, x, value); };
    auto mul = [&](Value p, Value q) -> Value { return MulOp::create(b, loc, p, q); };
    if (op.getTanh()) {
      Value cubic = mul(mul(mul(x, x), x), scalar(0.044715));
      Value sum = AddOp::create(b, loc, x, cubic);
      inner = TanhOp::create(b, loc, mul(sum, scalar(0.7978845608028654)));
    } else {
      inner = ErfOp::create(b, loc, mul(x, scalar(0.7071067811865476)));
    }
    b.replaceOpWithNewOp<MulOp>(op, mul(x, scalar(0.5)), AddOp::create(b, loc, inner, scalar(1)).getResult());
    return success();
  }
};

struct DecomposeSoftmax : public OpRewritePattern<SoftmaxOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(SoftmaxOp op, PatternRewriter &b) const override {
    Location loc = op.getLoc();
    int64_t axis = op.getAxis();
    auto reduce = [&](ReduceKind kind, Value x) -> Value { return ReduceOp::create(b, loc, kind, x, axis, true); };
    Value shifted = SubOp::create(b, loc, op.getInput(), reduce(ReduceKind::max, op.getInput()));
    Value e = ExpOp::create(b, loc, shifted);
    Value sum = reduce(ReduceKind::sum, e);
    if (op.getLog())
      b.replaceOpWithNewOp<SubOp>(op, shifted, LogOp::create(b, loc, sum).getResult());
    else
      b.replaceOpWithNewOp<DivOp>(op, e, sum);
    return success();
  }
};

/// The mean over dimensions `axis` and after, kept as 1.
Value createMean(OpBuilder &b, Location loc, Value x, int64_t axis) {
  Dims dims = getDims(x);
  SmallVector<int64_t> axes;
  for (int64_t i = axis; i < static_cast<int64_t>(dims.size()); ++i)
    axes.push_back(i);
  Value sum = ReduceOp::create(b, loc, ReduceKind::sum, x, axes, true);
  AffineExpr count = getElementCount(b.getContext(), ArrayRef(dims).drop_front(axis));
  auto scalar = RankedTensorType::get({}, getElementTypeOrSelf(x));
  return DivOp::create(b, loc, sum, SizesOp::create(b, loc, scalar, ShapeAttr::get(b.getContext(), count)).getResult());
}

template <typename OpT> struct DecomposeNorm : public OpRewritePattern<OpT> {
  using OpRewritePattern<OpT>::OpRewritePattern;
  LogicalResult matchAndRewrite(OpT op, PatternRewriter &b) const override {
    Location loc = op.getLoc();
    Value x = op.getInput();
    if constexpr (std::is_same_v<OpT, LayerNormOp>)
      x = SubOp::create(b, loc, x, createMean(b, loc, x, op.getAxis()));
    Value variance = createMean(b, loc, MulOp::create(b, loc, x, x), op.getAxis());
    Value epsilon = createScalar(b, loc, x, op.getEpsilon().convertToDouble());
    Value inverse = RsqrtOp::create(b, loc, AddOp::create(b, loc, variance, epsilon).getResult());
    Value y = MulOp::create(b, loc, MulOp::create(b, loc, x, inverse).getResult(), op.getScale());
    if constexpr (std::is_same_v<OpT, LayerNormOp>)
      if (op.getBias())
        y = AddOp::create(b, loc, y, op.getBias());
    b.replaceOp(op, y);
    return success();
  }
};

/// (x - zero) * scale, where a gather repeats what blocks have in common
struct DecomposeDequantize : public OpRewritePattern<DequantizeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(DequantizeOp op, PatternRewriter &b) const override {
    Location loc = op.getLoc();
    auto extent = getConstant(getDim(op.getInput(), op.getAxis()));
    if (!extent)
      return b.notifyMatchFailure(op, "has an open extent");
    Type result = op.getType().getElementType(), compute = result.isF64() ? result : b.getF32Type();
    SmallVector<int64_t> blocks;
    for (int64_t i = 0; i < *extent; ++i)
      blocks.push_back(i / static_cast<int64_t>(op.getBlock()));
    auto spread = [&](Value value) -> Value {
      value = CastOp::create(b, loc, getTensorType(getDims(value), compute), value);
      if (getConstant(getDim(value, op.getAxis())) == 1)
        return value;
      Value indices = WeightOp::create(
          b, loc, DenseElementsAttr::get(RankedTensorType::get(*extent, b.getI64Type()), ArrayRef(blocks)));
      return GatherOp::create(b, loc, value, indices, op.getAxis());
    };
    Value x = CastOp::create(b, loc, getTensorType(getDims(op.getInput()), compute), op.getInput());
    if (op.getZero())
      x = SubOp::create(b, loc, x, spread(op.getZero()));
    x = MulOp::create(b, loc, x, spread(op.getScale()));
    b.replaceOpWithNewOp<CastOp>(op, op.getType(), x);
    return success();
  }
};

struct Decompose : public tenon::impl::DecomposeBase<Decompose> {
  using DecomposeBase::DecomposeBase;
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<DropKeptDimensions<ReduceOp>, DropKeptDimensions<ArgReduceOp>, DropEmptySums, DropEmptyResults,
                 SplitReduction, DecomposeBatchNorm>(&getContext());
    if (all)
      patterns.add<DecomposeSigmoid, DecomposeRelu, DecomposeGelu, DecomposeSoftmax, DecomposeNorm<LayerNormOp>,
                   DecomposeNorm<RmsNormOp>, DecomposeDequantize>(&getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
