//===- ExpandShaderMath.cpp - mathematics that shaders lack ---------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/tenon/DiscardableAttributes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "passes/ApplyPatterns.h"
#include "passes/Passes.h"

namespace tenon {
#define GEN_PASS_DEF_EXPANDSHADERMATH
#include "passes/Passes.h.inc"
} // namespace tenon

using namespace mlir;

/// What GLSL.std.450 has for 64-bit floats, too.
static bool isForDoubles(Operation *op) {
  return isa<math::AbsFOp, math::CeilOp, math::FloorOp, math::RoundEvenOp, math::SqrtOp, math::FmaOp>(op);
}

/// True for functions that Vulkan lacks (erf, log1p), computes so imprecisely that results differ in the fourth digit
/// (sine and cosine of large angles, atan and its derivatives), or lets overflow (tanh).
static bool isExpanded(StringRef name) {
  return llvm::is_contained({math::ErfOp::getOperationName(), math::Log1pOp::getOperationName(),
                             math::TanhOp::getOperationName(), math::SinOp::getOperationName(),
                             math::CosOp::getOperationName(), math::AtanOp::getOperationName(),
                             math::AsinOp::getOperationName(), math::AcosOp::getOperationName()},
                            name);
}

namespace {
/// x to the power of 0 is 1 for every x, which Vulkan does not guarantee for x = 0.
struct DefineZeroPower : OpRewritePattern<math::PowFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(math::PowFOp op, PatternRewriter &b) const override {
    if (op->hasAttr(tenon::kDefinedAttr))
      return b.notifyMatchFailure(op, "is rewritten already");
    Location loc = op.getLoc();
    auto constant = [&](double value) -> Value {
      return arith::ConstantOp::create(b, loc, b.getFloatAttr(op.getType(), value));
    };
    auto power = math::PowFOp::create(b, loc, op.getLhs(), op.getRhs());
    power->setAttr(tenon::kDefinedAttr, b.getUnitAttr());
    Value isZero = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ, op.getRhs(), constant(0.0));
    b.replaceOpWithNewOp<arith::SelectOp>(op, isZero, constant(1.0), power);
    return success();
  }
};

struct ExpandShaderMath : public tenon::impl::ExpandShaderMathBase<ExpandShaderMath> {
  void runOnOperation() override {
    WalkResult refused = getOperation()->walk([](Operation *op) {
      if (!isa<math::MathDialect>(op->getDialect()) || !op->getResult(0).getType().isF64() || isForDoubles(op))
        return WalkResult::advance();
      op->emitError("computes ") << op->getName().stripDialect()
                                 << " of 64-bit floats, which Vulkan has not: convert it to f32";
      return WalkResult::interrupt();
    });
    if (refused.wasInterrupted())
      return signalPassFailure();
    RewritePatternSet patterns(&getContext());
    populateMathPolynomialApproximationPatterns(patterns, isExpanded);
    patterns.add<DefineZeroPower>(&getContext());
    if (failed(tenon::applyPatterns(getOperation(), std::move(patterns), getArgumentName())))
      return signalPassFailure();
    getOperation()->walk([](math::PowFOp op) { op->removeAttr(tenon::kDefinedAttr); });
  }
};
} // namespace
