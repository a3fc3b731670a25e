//===- RaiseNormalizations.cpp - normalisations in parts ---------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/simplify/RaiseNormalizations.h"
#include "dialects/tenon/Tenon.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tenon;

//===----------------------------------------------------------------------===//
// What the parts look like
//===----------------------------------------------------------------------===//

/// The number that all elements of a constant are.
static std::optional<double> getNumber(Value value) {
  SplatElementsAttr splat;
  if (!matchPattern(value, m_Constant(&splat)) || !isa<FloatType>(splat.getElementType()))
    return std::nullopt;
  return splat.getSplatValue<APFloat>().convertToDouble();
}

/// True if a divisor is the extent `dim`, as a constant or as a size.
static bool isExtent(Value value, AffineExpr dim) {
  if (auto sizes = value.getDefiningOp<SizesOp>())
    return sizes.getValues().getDims() == ArrayRef(dim);
  std::optional<double> number = getNumber(value);
  std::optional<int64_t> extent = getConstant(dim);
  return number && extent && *number == static_cast<double>(*extent);
}

/// Returns a value before the reshape that appends a dimension of 1.
static Value dropLastOne(Value value) {
  auto reshape = value.getDefiningOp<ReshapeOp>();
  if (!reshape)
    return value;
  Dims dims = getDims(reshape.getInput());
  dims.push_back(getDimConstant(value.getContext(), 1));
  return dims == getDims(value) ? reshape.getInput() : value;
}

/// Returns the value whose mean along the last dimension, kept as an extent of 1, is `value`.
static Value matchMean(Value value) {
  auto div = dropLastOne(value).getDefiningOp<DivOp>();
  auto sum = div ? dropLastOne(div.getLhs()).getDefiningOp<ReduceOp>() : ReduceOp();
  if (!sum || sum.getKind() != ReduceKind::sum)
    return {};
  Dims dims = getDims(sum.getInput());
  int64_t last = dims.size() - 1;
  if (sum.getAxes() != ArrayRef(last) || !isExtent(div.getRhs(), dims[last]))
    return {};
  dims[last] = getDimConstant(value.getContext(), 1);
  return getDims(value) == dims ? sum.getInput() : Value();
}

/// What `value` is the square of.
static Value matchSquare(Value value) {
  if (auto mul = value.getDefiningOp<MulOp>())
    return mul.getLhs() == mul.getRhs() ? mul.getLhs() : Value();
  auto pow = value.getDefiningOp<PowOp>();
  return pow && getNumber(pow.getRhs()) == 2 ? pow.getLhs() : Value();
}

/// What `value` is the root of.
static Value matchRoot(Value value) {
  if (auto sqrt = value.getDefiningOp<SqrtOp>())
    return sqrt.getInput();
  auto pow = value.getDefiningOp<PowOp>();
  return pow && getNumber(pow.getRhs()) == 0.5 ? pow.getLhs() : Value();
}

/// What `value` is one by the root of.
static Value matchInverseRoot(Value value) {
  if (auto rsqrt = value.getDefiningOp<RsqrtOp>())
    return rsqrt.getInput();
  if (auto reciprocal = value.getDefiningOp<ReciprocalOp>())
    return matchRoot(reciprocal.getInput());
  if (auto div = value.getDefiningOp<DivOp>())
    return getNumber(div.getLhs()) == 1 ? matchRoot(div.getRhs()) : Value();
  auto pow = value.getDefiningOp<PowOp>();
  return pow && getNumber(pow.getRhs()) == -0.5 ? pow.getLhs() : Value();
}

//===----------------------------------------------------------------------===//
// The whole
//===----------------------------------------------------------------------===//

namespace {
struct Norm {
  Value input;
  bool isCentered;
  double epsilon;
};
} // namespace

/// Matches `x` divided by the root of `variance`: the norm of x, or of the value whose difference to its mean is x.
static std::optional<Norm> matchNorm(Value x, Value variance) {
  auto sum = variance ? variance.getDefiningOp<AddOp>() : AddOp();
  if (!sum)
    return std::nullopt;
  Value mean = sum.getLhs(), other = sum.getRhs();
  std::optional<double> epsilon = getNumber(other);
  if (!epsilon) {
    epsilon = getNumber(mean);
    mean = other;
  }
  Value squares = matchMean(mean);
  if (!epsilon || !squares || getDims(variance) != getDims(mean) || matchSquare(squares) != x)
    return std::nullopt;
  auto difference = x.getDefiningOp<SubOp>();
  if (difference && matchMean(difference.getRhs()) == difference.getLhs())
    return Norm{difference.getLhs(), true, *epsilon};
  return Norm{x, false, *epsilon};
}

/// False for a few long rows, since each row is computed by one tile.
static bool hasEnoughRows(Value x, const ReductionPolicy &policy) {
  Dims dims = getDims(x);
  AffineExpr rows = getElementCount(x.getContext(), ArrayRef(dims).drop_back());
  return getConstant(dims.back()).value_or(0) < policy.longRow ||
         getConstant(rows).value_or(policy.minRows) >= policy.minRows;
}

static LogicalResult raise(Operation *op, Value x, Value variance, PatternRewriter &rewriter,
                           const ReductionPolicy &policy) {
  std::optional<Norm> norm = matchNorm(x, variance);
  if (!norm || op->getResult(0).getType() != norm->input.getType() || !hasEnoughRows(norm->input, policy))
    return rewriter.notifyMatchFailure(op, "is not a normalization along the last dimension of many rows");
  Type element = getElementTypeOrSelf(norm->input);
  auto scalar = RankedTensorType::get({}, element);
  Value one =
      WeightOp::create(rewriter, op->getLoc(), DenseElementsAttr::get(scalar, rewriter.getFloatAttr(element, 1)));
  int64_t axis = getDims(norm->input).size() - 1;
  if (norm->isCentered)
    rewriter.replaceOpWithNewOp<LayerNormOp>(op, norm->input, one, Value(), axis, APFloat(norm->epsilon));
  else
    rewriter.replaceOpWithNewOp<RmsNormOp>(op, norm->input, one, axis, APFloat(norm->epsilon));
  return success();
}

namespace {
/// mul(x, 1 / sqrt(mean(x^2) + epsilon)) -> rms_norm(x), or layer_norm if x is the difference to a mean
struct RaiseProduct : public OpRewritePattern<MulOp> {
  RaiseProduct(MLIRContext *context, const ReductionPolicy &policy) : OpRewritePattern(context), policy(policy) {}
  LogicalResult matchAndRewrite(MulOp op, PatternRewriter &rewriter) const override {
    if (succeeded(raise(op, op.getLhs(), matchInverseRoot(op.getRhs()), rewriter, policy)))
      return success();
    return raise(op, op.getRhs(), matchInverseRoot(op.getLhs()), rewriter, policy);
  }

private:
  ReductionPolicy policy;
};

/// div(x, sqrt(mean(x^2) + epsilon)) -> the same
struct RaiseQuotient : public OpRewritePattern<DivOp> {
  RaiseQuotient(MLIRContext *context, const ReductionPolicy &policy) : OpRewritePattern(context), policy(policy) {}
  LogicalResult matchAndRewrite(DivOp op, PatternRewriter &rewriter) const override {
    return raise(op, op.getLhs(), matchRoot(op.getRhs()), rewriter, policy);
  }

private:
  ReductionPolicy policy;
};
} // namespace

void tenon::populateRaiseNormalizations(RewritePatternSet &patterns, const ReductionPolicy &policy) {
  patterns.add<RaiseProduct, RaiseQuotient>(patterns.getContext(), policy);
}
