//===- WidenConvolutions.cpp - convolutions of halves in f32 -------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/simplify/WidenConvolutions.h"
#include "dialects/tenon/ReducedPrecision.h"
#include "dialects/tenon/TenonBuilder.h"

using namespace mlir;
using namespace tenon;

namespace {
/// convolve(x, filter) -> cast(convolve(cast(x), cast(filter)))
struct WidenConvolution : public OpRewritePattern<ConvolveOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ConvolveOp op, PatternRewriter &rewriter) const override {
    if (!isReducedPrecision(op.getInput().getType()) || !isReducedPrecision(op.getFilter().getType()))
      return rewriter.notifyMatchFailure(op, "is not an f16 convolution");
    Location loc = op.getLoc();
    Type wide = rewriter.getF32Type();
    TenonBuilder build(rewriter, loc);
    Value sum = ConvolveOp::create(rewriter, loc, build.cast(op.getInput(), wide), build.cast(op.getFilter(), wide),
                                   op.getStrides(), op.getDilations(), op.getLow(), op.getHigh(), op.getGroups(),
                                   TypeAttr(), op.getChannelsLast());
    rewriter.replaceOp(op, build.cast(sum, op.getType().getElementType()));
    return success();
  }
};
} // namespace

void tenon::populateWidenedConvolutions(RewritePatternSet &patterns) {
  patterns.add<WidenConvolution>(patterns.getContext());
}
