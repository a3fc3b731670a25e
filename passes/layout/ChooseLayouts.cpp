//===- ChooseLayouts.cpp - channels last where convolutions want them -----===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Convolutions become such of [N, spatial..., C] between transposes; then the
// transposes sink through all that can work on either layout, until they meet
// their inverse and vanish.
//
//===----------------------------------------------------------------------===//

#include "dialects/tenon/DiscardableAttributes.h"
#include "dialects/tenon/Tenon.h"
#include "dialects/tenon/TenonBuilder.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "passes/ApplyPatterns.h"
#include "passes/Passes.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "tenon-choose-layouts"

namespace tenon {
#define GEN_PASS_DEF_CHOOSELAYOUTS
#include "passes/Passes.h.inc"
} // namespace tenon

using namespace mlir;
using namespace tenon;

using Permutation = SmallVector<int64_t>;

/// [N, C, spatial...] to [N, spatial..., C].
static Permutation getToLast(int64_t rank) {
  Permutation p{0};
  for (int64_t i = 2; i < rank; ++i)
    p.push_back(i);
  p.push_back(1);
  return p;
}

/// Transposes a channels-last result back to the model's order.
static Value putBack(OpBuilder &b, Location loc, Value value) {
  auto op = TransposeOp::create(b, loc, value,
                                invertPermutationVector(getToLast(cast<RankedTensorType>(value.getType()).getRank())));
  op->setAttr(kSinksAttr, b.getUnitAttr());
  return op;
}

//===----------------------------------------------------------------------===//
// Convolutions
//===----------------------------------------------------------------------===//

namespace {

struct ConvolveChannelsLast : public OpRewritePattern<ConvolveOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ConvolveOp op, PatternRewriter &rewriter) const override {
    bool isOfFloats = op.getType().getElementType().isF32() && !op.getResultType();
    bool isInt8 =
        op.getType().getElementType().isInteger(32) && getElementTypeOrSelf(op.getInput()).isUnsignedInteger(8);
    if (op.getChannelsLast() || (!isOfFloats && !isInt8) || !op.getFilter().getType().hasStaticShape())
      return rewriter.notifyMatchFailure(op, "is not an f32 or 8-bit convolution with a channels-first layout");
    Location loc = op.getLoc();
    int64_t rank = op.getType().getRank();
    Permutation toLast = getToLast(rank), filter;
    for (int64_t i = 2; i < rank; ++i)
      filter.push_back(i);
    filter.append({1, 0});
    auto result =
        ConvolveOp::create(rewriter, loc, TenonBuilder(rewriter, loc).transpose(op.getInput(), toLast),
                           TenonBuilder(rewriter, loc).transpose(op.getFilter(), filter), op.getStrides(),
                           op.getDilations(), op.getLow(), op.getHigh(), op.getGroups(), op.getResultTypeAttr(), true);
    LDBG() << "computes the convolution at " << loc << " with channels last";
    rewriter.replaceOp(op, putBack(rewriter, loc, result));
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Sinking transposes
//===----------------------------------------------------------------------===//

/// Returns the transpose that produces a value, if it moves channels from the last place back to the model's.
static TransposeOp getFromLast(Value value) {
  auto op = value.getDefiningOp<TransposeOp>();
  // A transpose that was merged with another one no longer has this form.
  bool sinks = op && op->hasAttr(kSinksAttr) &&
               op.getPermutation() == ArrayRef(invertPermutationVector(getToLast(op.getPermutation().size())));
  return sinks ? op : TransposeOp();
}

/// Extents of 1 in front, up to `rank` dimensions.
static Value addLeadingOnes(OpBuilder &b, Location loc, Value value, int64_t rank) {
  Dims dims = getDims(value);
  if (static_cast<int64_t>(dims.size()) == rank)
    return value;
  dims.insert(dims.begin(), rank - dims.size(), getDimConstant(b.getContext(), 1));
  return ReshapeOp::create(b, loc, getTensorType(dims, getElementTypeOrSelf(value)), value);
}

/// Converts a value that broadcasts against [N, C, spatial...] to one that broadcasts against [N, spatial..., C].
static Value moveToLast(OpBuilder &b, Location loc, Value value, int64_t rank) {
  if (TransposeOp op = getFromLast(value); op && static_cast<int64_t>(op.getPermutation().size()) == rank)
    return op.getInput();
  if (cast<RankedTensorType>(value.getType()).getRank() == 0)
    return value;
  return TenonBuilder(b, loc).transpose(addLeadingOnes(b, loc, value, rank), getToLast(rank));
}

/// Sinks transposes through an elementwise operation. It pays off if at least half of the operands that it reads in
/// full are transposes.
struct SinkThroughElementwise : public RewritePattern {
  SinkThroughElementwise(MLIRContext *context) : RewritePattern(MatchAnyOpTypeTag(), 1, context) {}
  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    if (!op->hasTrait<Elementwise>() || op->getNumResults() != 1)
      return failure();
    Value result = op->getResult(0);
    Dims dims = getDims(result);
    int64_t rank = dims.size(), numSunk = 0, numOthers = 0;
    for (Value operand : op->getOperands()) {
      if (getDims(operand) != dims)
        continue;
      ++(getFromLast(operand) ? numSunk : numOthers);
    }
    if (numSunk == 0 || numOthers > numSunk)
      return rewriter.notifyMatchFailure(op, "reads no transposed operand, or too few of them");
    Location loc = op->getLoc();
    Permutation toLast = getToLast(rank);
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(moveToLast(rewriter, loc, operand, rank));
    Operation *moved = rewriter.clone(*op);
    moved->setOperands(operands);
    moved->getResult(0).setType(getTensorType(applyPermutation(ArrayRef(dims), toLast), getElementTypeOrSelf(result)));
    rewriter.replaceOp(op, putBack(rewriter, loc, moved->getResult(0)));
    return success();
  }
};

/// Creates the pad of `input`, whose dimensions are permuted relative to those of the input of `op`.
static Value permutePad(OpBuilder &b, PadOp op, Value input, ArrayRef<int64_t> p) {
  Dims dims = getDims(op.getType()), low(op.getLow().getDims());
  return PadOp::create(b, op.getLoc(),
                       getTensorType(applyPermutation(ArrayRef(dims), p), op.getType().getElementType()), op.getMode(),
                       input, op.getValue(), ShapeAttr::get(b.getContext(), applyPermutation(ArrayRef(low), p)),
                       applyPermutation(op.getInterior(), p));
}

struct SinkThroughPad : public OpRewritePattern<PadOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(PadOp op, PatternRewriter &rewriter) const override {
    TransposeOp from = getFromLast(op.getInput());
    if (!from)
      return rewriter.notifyMatchFailure(op, "does not pad a transposed tensor");
    Value padded = permutePad(rewriter, op, from.getInput(), getToLast(op.getType().getRank()));
    rewriter.replaceOp(op, putBack(rewriter, op.getLoc(), padded));
    return success();
  }
};

/// transpose(pad(x)) -> pad(transpose(x)) for the input of a convolution, so that one kernel does both.
struct HoistOverPad : public OpRewritePattern<TransposeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(TransposeOp op, PatternRewriter &rewriter) const override {
    auto pad = op.getInput().getDefiningOp<PadOp>();
    int64_t rank = op.getPermutation().size();
    if (!pad || !pad->hasOneUse() || rank < 3 || op.getPermutation() != ArrayRef(getToLast(rank)))
      return rewriter.notifyMatchFailure(op, "does not transpose a padded tensor to channels-last");
    Value input = TenonBuilder(rewriter, op.getLoc()).transpose(pad.getInput(), op.getPermutation());
    rewriter.replaceOp(op, permutePad(rewriter, pad, input, op.getPermutation()));
    return success();
  }
};

struct SinkThroughSlice : public OpRewritePattern<SliceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(SliceOp op, PatternRewriter &rewriter) const override {
    TransposeOp from = getFromLast(op.getInput());
    if (!from)
      return rewriter.notifyMatchFailure(op, "does not slice a transposed tensor");
    Permutation toLast = getToLast(op.getType().getRank());
    Dims dims = getDims(op.getType()), starts(op.getStarts().getDims());
    auto type = getTensorType(applyPermutation(ArrayRef(dims), toLast), op.getType().getElementType());
    Value part = SliceOp::create(rewriter, op.getLoc(), type, from.getInput(),
                                 ShapeAttr::get(op.getContext(), applyPermutation(ArrayRef(starts), toLast)),
                                 applyPermutation(op.getSteps(), toLast));
    rewriter.replaceOp(op, putBack(rewriter, op.getLoc(), part));
    return success();
  }
};

struct SinkThroughPool : public OpRewritePattern<PoolOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(PoolOp op, PatternRewriter &rewriter) const override {
    TransposeOp from = getFromLast(op.getInput());
    if (!from || op.getChannelsLast())
      return rewriter.notifyMatchFailure(op, "does not pool a transposed tensor");
    auto moved = cast<PoolOp>(rewriter.clone(*op));
    moved.getInputMutable().assign(from.getInput());
    moved.setChannelsLast(true);
    Permutation toLast = getToLast(op.getType().getRank());
    Dims dims = getDims(op.getType());
    moved.getResult().setType(getTensorType(applyPermutation(ArrayRef(dims), toLast), op.getType().getElementType()));
    rewriter.replaceOp(op, putBack(rewriter, op.getLoc(), moved));
    return success();
  }
};

struct SinkThroughConcat : public OpRewritePattern<ConcatOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ConcatOp op, PatternRewriter &rewriter) const override {
    int64_t numSunk = llvm::count_if(op.getInputs(), [](Value input) { return bool(getFromLast(input)); });
    if (2 * numSunk <= static_cast<int64_t>(op.getInputs().size()))
      return rewriter.notifyMatchFailure(op, "concatenates mostly tensors that are not transposed");
    int64_t rank = op.getType().getRank();
    Permutation toLast = getToLast(rank), fromLast = invertPermutationVector(toLast);
    SmallVector<Value> inputs;
    for (Value input : op.getInputs())
      inputs.push_back(moveToLast(rewriter, op.getLoc(), input, rank));
    Value joined = ConcatOp::create(rewriter, op.getLoc(), inputs, fromLast[op.getAxis()]);
    rewriter.replaceOp(op, putBack(rewriter, op.getLoc(), joined));
    return success();
  }
};

/// A gather along a spatial dimension selects pixels with all of their channels.
struct SinkThroughGather : public OpRewritePattern<GatherOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(GatherOp op, PatternRewriter &rewriter) const override {
    TransposeOp from = getFromLast(op.getInput());
    if (!from || op.getAxis() < 2 || getDims(op.getIndices()).size() != 1)
      return rewriter.notifyMatchFailure(op, "does not gather pixels of a transposed tensor");
    int64_t axis = from.getPermutation()[op.getAxis()];
    Value taken = GatherOp::create(rewriter, op.getLoc(), from.getInput(), op.getIndices(), axis);
    rewriter.replaceOp(op, putBack(rewriter, op.getLoc(), taken));
    return success();
  }
};

/// reduce(transpose(x)) -> reduce(x), followed by a transpose of the result, which is smaller.
struct SinkThroughReduce : public OpRewritePattern<ReduceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ReduceOp op, PatternRewriter &rewriter) const override {
    TransposeOp from = getFromLast(op.getInput());
    if (!from || op.getKeepdims())
      return rewriter.notifyMatchFailure(op, "does not reduce a transposed tensor");
    Permutation fromLast(from.getPermutation());
    SmallVector<int64_t> axes, left;
    for (int64_t i = 0; i < static_cast<int64_t>(fromLast.size()); ++i)
      (llvm::is_contained(op.getAxes(), i) ? axes : left).push_back(fromLast[i]);
    Permutation order(left), sorted(left);
    llvm::sort(sorted);
    llvm::sort(axes);
    for (int64_t &place : order)
      place = llvm::find(sorted, place) - sorted.begin();
    Value reduced = ReduceOp::create(rewriter, op.getLoc(), op.getKind(), from.getInput(), axes, false);
    rewriter.replaceOp(op, llvm::is_sorted(order) ? reduced
                                                  : TenonBuilder(rewriter, op.getLoc()).transpose(reduced, order));
    return success();
  }
};

/// If `parts` are factors of the dimensions `whole` in order, returns the dimension that each of them is a factor of.
/// Extents of 1 may be anywhere.
static std::optional<SmallVector<int64_t>> findGroups(const Dims &whole, const Dims &parts) {
  SmallVector<int64_t> groups;
  auto product = [&](int64_t group) {
    AffineExpr all = getDimConstant(whole[0].getContext(), 1);
    for (auto [part, own] : llvm::zip(parts, groups))
      all = own == group ? mulDims(all, part) : all;
    return all;
  };
  int64_t last = static_cast<int64_t>(whole.size()) - 1;
  for (int64_t group = 0; group <= last && groups.size() < parts.size(); ++group)
    do
      groups.push_back(group);
    while (groups.size() < parts.size() && (group == last || product(group) != whole[group]));
  for (int64_t group = 0; group <= last; ++group)
    if (product(group) != whole[group])
      return std::nullopt;
  return groups;
}

/// Returns the order of the parts of dimensions once the channels are last.
static Permutation orderParts(ArrayRef<int64_t> groups, int64_t rank) {
  Permutation order, toLast = getToLast(rank);
  for (int64_t group : toLast)
    for (auto [i, own] : llvm::enumerate(groups))
      if (own == group)
        order.push_back(i);
  return order;
}

/// reshape(move(reshape(transpose(x)))), where dimensions are split, the parts are broadcast or permuted, and then
/// merged again: nearest-neighbour upsampling, depth-to-space, space-to-depth, channel shuffle.
struct SinkThroughParts : public OpRewritePattern<ReshapeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ReshapeOp op, PatternRewriter &rewriter) const override {
    Operation *move = op.getInput().getDefiningOp();
    if (!isa_and_nonnull<BroadcastOp, TransposeOp>(move))
      return rewriter.notifyMatchFailure(op, "does not reshape a broadcast or transposed tensor");
    auto split = move->getOperand(0).getDefiningOp<ReshapeOp>();
    TransposeOp from = split ? getFromLast(split.getInput()) : TransposeOp();
    int64_t rank = op.getType().getRank();
    if (!from || static_cast<int64_t>(from.getPermutation().size()) != rank)
      return rewriter.notifyMatchFailure(op, "does not reshape a transposed tensor");
    Dims in = getDims(split), out = getDims(move->getResult(0)), result = getDims(op);
    std::optional<SmallVector<int64_t>> inGroups = findGroups(getDims(from), in), outGroups = findGroups(result, out);
    if (!inGroups || !outGroups || in.size() != out.size())
      return rewriter.notifyMatchFailure(op, "does not split or collapse whole dimensions");
    Permutation inOrder = orderParts(*inGroups, rank), outOrder = orderParts(*outGroups, rank);
    auto transpose = dyn_cast<TransposeOp>(move);
    if (!transpose) {
      // What is stretched stays where it is.
      auto isOne = [&](int64_t part) { return getConstant(in[part]) == 1; };
      if (!llvm::equal(llvm::make_filter_range(inOrder, std::not_fn(isOne)),
                       llvm::make_filter_range(outOrder, std::not_fn(isOne))))
        return rewriter.notifyMatchFailure(op, "broadcasts across transposed dimensions");
      inOrder = outOrder;
    }
    Location loc = op.getLoc();
    Type element = op.getType().getElementType();
    Value parts = ReshapeOp::create(rewriter, loc, getTensorType(applyPermutation(ArrayRef(in), inOrder), element),
                                    from.getInput());
    Value moved;
    if (transpose) {
      Permutation place = invertPermutationVector(inOrder), order;
      for (int64_t part : outOrder)
        order.push_back(place[transpose.getPermutation()[part]]);
      moved = TransposeOp::create(rewriter, loc, parts, order);
    } else {
      moved =
          BroadcastOp::create(rewriter, loc, getTensorType(applyPermutation(ArrayRef(out), outOrder), element), parts);
    }
    Value joined = ReshapeOp::create(
        rewriter, loc, getTensorType(applyPermutation(ArrayRef(result), getToLast(rank)), element), moved);
    rewriter.replaceOp(op, putBack(rewriter, loc, joined));
    return success();
  }
};

/// True if a reshape splits the dimensions of a tensor that are permuted and merged again afterwards.
static bool splitsParts(ReshapeOp op, int64_t rank) {
  auto joins = [&](Operation *user) {
    auto reshape = dyn_cast<ReshapeOp>(user);
    return reshape && reshape.getType().getRank() == rank;
  };
  return op.getType().getRank() >= rank && llvm::any_of(op->getUsers(), [&](Operation *move) {
           return isa<BroadcastOp, TransposeOp>(move) && llvm::any_of(move->getUsers(), joins);
         });
}

/// reshape(transpose(x)) -> transpose(reshape(x)), where pixels are merged into one dimension or split, and channels
/// are the last dimension before and after. The model's own transposes sink from there on, too.
struct SinkThroughReshape : public OpRewritePattern<ReshapeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ReshapeOp op, PatternRewriter &rewriter) const override {
    auto from = op.getInput().getDefiningOp<TransposeOp>();
    int64_t rank = op.getType().getRank();
    if (!from || rank < 3 || from.getPermutation().size() < 3 ||
        from.getPermutation() != ArrayRef(invertPermutationVector(getToLast(from.getPermutation().size()))))
      return rewriter.notifyMatchFailure(op, "does not have the shape of a channels-last tensor");
    Dims before = getDims(from), after = getDims(op);
    // Batch and channels are kept, and the dimensions in between are reshaped among themselves.
    bool keeps = before[0] == after[0] && before[1] == after[1];
    auto getPixels = [&](const Dims &dims) { return getElementCount(op.getContext(), ArrayRef(dims).drop_front(2)); };
    if (!keeps || getPixels(before) != getPixels(after) || splitsParts(op, before.size()))
      return rewriter.notifyMatchFailure(op, "collapses or splits the channel dimension");
    auto type = getTensorType(applyPermutation(ArrayRef(after), getToLast(rank)), op.getType().getElementType());
    Value shaped = ReshapeOp::create(rewriter, op.getLoc(), type, from.getInput());
    rewriter.replaceOp(op, putBack(rewriter, op.getLoc(), shaped));
    return success();
  }
};

struct ChooseLayouts : public tenon::impl::ChooseLayoutsBase<ChooseLayouts> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<ConvolveChannelsLast, SinkThroughElementwise, SinkThroughPad, HoistOverPad, SinkThroughSlice,
                 SinkThroughPool, SinkThroughConcat, SinkThroughParts, SinkThroughGather, SinkThroughReduce,
                 SinkThroughReshape>(&getContext());
    if (failed(applyPatterns(getOperation(), std::move(patterns), getArgumentName())))
      signalPassFailure();
    getOperation().walk([](TransposeOp op) { op->removeAttr(kSinksAttr); });
  }
};

} // namespace
