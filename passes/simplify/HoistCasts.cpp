//===- HoistCasts.cpp - weights of halves are moved as such ---------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/simplify/HoistCasts.h"
#include "dialects/tenon/ReducedPrecision.h"
#include "dialects/tenon/Tenon.h"
#include "mlir/IR/PatternMatch.h"
#include "passes/simplify/ConstantValue.h"

using namespace mlir;
using namespace tenon;

namespace {
/// move(widen(w)) -> widen(move(w))
template <typename OpT> struct MoveBeforeWidening : public OpRewritePattern<OpT> {
  using OpRewritePattern<OpT>::OpRewritePattern;
  LogicalResult matchAndRewrite(OpT op, PatternRewriter &rewriter) const override {
    Value input = op.getInput();
    if (!isWidened(input) || !isConstantValue(input))
      return rewriter.notifyMatchFailure(op, "does not move a constant that is cast to a wider type");
    Value halves = input.getDefiningOp<CastOp>().getInput();
    auto type = cast<RankedTensorType>(op.getType());
    auto moved = cast<OpT>(rewriter.clone(*op));
    moved.getInputMutable().assign(halves);
    moved.getResult().setType(cast<RankedTensorType>(type.clone(getElementTypeOrSelf(halves))));
    rewriter.replaceOpWithNewOp<CastOp>(op, type, moved.getResult());
    return success();
  }
};
} // namespace

void tenon::populateHoistCasts(RewritePatternSet &patterns) {
  patterns.add<MoveBeforeWidening<GatherOp>, MoveBeforeWidening<ReshapeOp>, MoveBeforeWidening<SliceOp>,
               MoveBeforeWidening<TransposeOp>>(patterns.getContext());
}
