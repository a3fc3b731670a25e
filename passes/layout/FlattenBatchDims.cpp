//===- FlattenBatchDims.cpp - products of matrices, whatever the rows are ------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A kernel blocks one dimension of rows. Where batch, time or pixels are
// several, one of them may be 1, 7 or unknown; their product seldom is.
//
//===----------------------------------------------------------------------===//

#include "dialects/tenon/DiscardableAttributes.h"
#include "dialects/tenon/Tenon.h"
#include "dialects/tenon/TenonBuilder.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/ApplyPatterns.h"
#include "passes/Passes.h"

namespace tenon {
#define GEN_PASS_DEF_FLATTENBATCHDIMS
#include "passes/Passes.h.inc"
} // namespace tenon

using namespace mlir;
using namespace tenon;

/// All dimensions but the last as one.
static Dims collapse(const Dims &dims) {
  assert(!dims.empty() && "a scalar has no rows");
  return {getElementCount(dims.front().getContext(), ArrayRef(dims).drop_back()), dims.back()};
}

/// Reshapes a result with collapsed rows to the model's shape.
static Value putBack(OpBuilder &b, Location loc, Value value, const Dims &dims) {
  auto result = ReshapeOp::create(b, loc, getTensorType(dims, getElementTypeOrSelf(value)), value);
  result->setAttr(kSinksAttr, b.getUnitAttr());
  return result;
}

static ReshapeOp getSinking(Value value) {
  auto op = value.getDefiningOp<ReshapeOp>();
  return op && op->hasAttr(kSinksAttr) ? op : ReshapeOp();
}

namespace {

/// [m..., k] x [k, n] -> [m..., n]
struct CollapseContract : public OpRewritePattern<ContractOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ContractOp op, PatternRewriter &rewriter) const override {
    ArrayRef<int64_t> lhs = op.getLhsDims(), rhs = op.getRhsDims(), result = op.getResultDims();
    Dims dims = getDims(op.getType()), from = getDims(op.getLhs());
    if (lhs.size() < 3 || rhs.size() != 2 || result.size() != lhs.size() || lhs.drop_back() != result.drop_back() ||
        ArrayRef(from).drop_back() != ArrayRef(dims).drop_back() || !llvm::is_contained(rhs, lhs.back()) ||
        !llvm::is_contained(rhs, result.back()) || lhs.back() == result.back())
      return rewriter.notifyMatchFailure(op, "is not a matmul of rows with one matrix");
    int64_t row = lhs.front();
    Value product = ContractOp::create(
        rewriter, op.getLoc(), TenonBuilder(rewriter, op.getLoc()).reshape(op.getLhs(), collapse(from)), op.getRhs(),
        ArrayRef<int64_t>{row, lhs.back()}, rhs, ArrayRef<int64_t>{row, result.back()}, op.getResultTypeAttr());
    rewriter.replaceOp(op, putBack(rewriter, op.getLoc(), product, dims));
    return success();
  }
};

/// A convolution with a window of one pixel is a matmul of pixels with a matrix.
struct ConvolveToContract : public OpRewritePattern<ConvolveOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ConvolveOp op, PatternRewriter &rewriter) const override {
    auto isOne = [](int64_t value) { return value == 1; };
    auto isZero = [](int64_t value) { return value == 0; };
    Dims filter = getDims(op.getFilter());
    bool isPointwise =
        llvm::all_of(ArrayRef(filter).drop_back(2), [](AffineExpr dim) { return getConstant(dim) == 1; });
    if (!op.getChannelsLast() || op.getGroups() != 1 || !isPointwise || !llvm::all_of(op.getStrides(), isOne) ||
        !llvm::all_of(op.getLow(), isZero) || !llvm::all_of(op.getHigh(), isZero))
      return rewriter.notifyMatchFailure(op, "has a window of more than one pixel, or a stride");
    Location loc = op.getLoc();
    Dims dims = getDims(op.getType());
    Value matrix = TenonBuilder(rewriter, loc).reshape(op.getFilter(), Dims(ArrayRef(filter).take_back(2)));
    Value product = ContractOp::create(
        rewriter, loc, TenonBuilder(rewriter, loc).reshape(op.getInput(), collapse(getDims(op.getInput()))), matrix,
        ArrayRef<int64_t>{0, 2}, ArrayRef<int64_t>{2, 1}, ArrayRef<int64_t>{0, 1}, op.getResultTypeAttr());
    rewriter.replaceOp(op, putBack(rewriter, loc, product, dims));
    return success();
  }
};

/// Elementwise users are moved to the collapsed rows, so that they are fused with the matmul.
struct SinkThroughElementwise : public RewritePattern {
  SinkThroughElementwise(MLIRContext *context) : RewritePattern(MatchAnyOpTypeTag(), 1, context) {}
  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    if (!op->hasTrait<Elementwise>() || op->getNumResults() != 1)
      return failure();
    Location loc = op->getLoc();
    Dims dims = getDims(op->getResult(0));
    auto sinks = [&](Value operand) { return getSinking(operand) && getDims(operand) == dims; };
    if (llvm::none_of(op->getOperands(), sinks))
      return rewriter.notifyMatchFailure(op, "does not read collapsed rows");
    SmallVector<Dims> wanted;
    for (Value operand : op->getOperands()) {
      Dims own = getDims(operand);
      bool isRow = llvm::all_of(ArrayRef(own).drop_back(own.empty() ? 0 : 1),
                                [](AffineExpr dim) { return getConstant(dim) == 1; });
      if (own != dims && !isRow)
        return rewriter.notifyMatchFailure(op, "reads an operand that is broadcast along some of the rows");
      wanted.push_back(own == dims ? collapse(dims) : own.empty() ? own : Dims{own.back()});
    }
    SmallVector<Value> operands;
    for (auto [operand, type] : llvm::zip(op->getOperands(), wanted))
      operands.push_back(sinks(operand)             ? getSinking(operand).getInput()
                         : getDims(operand) == type ? operand
                                                    : TenonBuilder(rewriter, loc).reshape(operand, type));
    Operation *moved = rewriter.clone(*op);
    moved->setOperands(operands);
    moved->getResult(0).setType(getTensorType(collapse(dims), getElementTypeOrSelf(op->getResult(0))));
    rewriter.replaceOp(op, putBack(rewriter, loc, moved->getResult(0), dims));
    return success();
  }
};

/// True if a value is the result of a matmul of rows with a matrix, or computed from one element by element.
bool isFromProduct(Value value, int64_t depth = 8) {
  Operation *op = value.getDefiningOp();
  if (!op || depth == 0)
    return false;
  if (auto contract = dyn_cast<ContractOp>(op))
    return contract.getRhsDims().size() == 2;
  return op->hasTrait<Elementwise>() && llvm::any_of(op->getOperands(), [&](Value operand) {
           return getDims(operand) == getDims(value) && isFromProduct(operand, depth - 1);
         });
}

/// True for a reshape of the model that expands collapsed rows like this pass does.
bool isSinking(ReshapeOp op) {
  Dims dims = getDims(op.getType());
  return dims.size() > 2 && op->getBlock() == op.getInput().getParentBlock() &&
         getDims(op.getInput()) == collapse(dims) && isFromProduct(op.getInput());
}

struct FlattenBatchDims : public tenon::impl::FlattenBatchDimsBase<FlattenBatchDims> {
  void runOnOperation() override {
    getOperation().walk([](ReshapeOp op) {
      if (isSinking(op))
        op->setAttr(kSinksAttr, UnitAttr::get(op.getContext()));
    });
    RewritePatternSet patterns(&getContext());
    patterns.add<CollapseContract, ConvolveToContract, SinkThroughElementwise>(&getContext());
    if (failed(applyPatterns(getOperation(), std::move(patterns), getArgumentName())))
      return signalPassFailure();
    getOperation().walk([](ReshapeOp op) { op->removeAttr(kSinksAttr); });
  }
};

} // namespace
