//===- KeepWeightsQuantized.cpp - weights stay in the few bits that they have ----===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/tenon/Tenon.h"
#include "dialects/tenon/TenonBuilder.h"
#include "dialects/tenon/WeightBytes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/ApplyPatterns.h"
#include "passes/Passes.h"
#include "passes/simplify/ConstantValue.h"

namespace tenon {
#define GEN_PASS_DEF_KEEPWEIGHTSQUANTIZED
#include "passes/Passes.h.inc"
} // namespace tenon

using namespace mlir;
using namespace tenon;

/// Returns the operand of a cast between integers or to a float; otherwise the value itself.
static Value skipCast(Value value) {
  auto cast = value.getDefiningOp<CastOp>();
  return cast ? cast.getInput() : value;
}

/// Reshapes a parameter to the rank of the numbers.
static Value alignRank(OpBuilder &b, Value parameter, int64_t rank) {
  assert(rank >= static_cast<int64_t>(getDims(parameter).size()) &&
         "a scale or zero point broadcasts against the integers");
  Dims dims(rank - getDims(parameter).size(), getDimConstant(b.getContext(), 1));
  llvm::append_range(dims, getDims(parameter));
  return TenonBuilder(b, parameter.getLoc()).reshape(parameter, dims);
}

static bool isByte(Value value) {
  auto type = dyn_cast<IntegerType>(getElementTypeOrSelf(value));
  return type && type.getWidth() == 8;
}

/// True if all elements along a dimension have the same parameters.
static bool isOneAlong(Value scale, Value zero, int64_t axis) {
  auto isOne = [&](Value parameter) { return getConstant(getDim(parameter, axis)) == 1; };
  return isOne(scale) && (!zero || isOne(zero));
}

/// (bytes - zero) * scale of constants -> dequantize. Null if it does not match.
static Value makeDequantize(OpBuilder &b, Value product) {
  auto mul = product.getDefiningOp<MulOp>();
  if (!mul || !isConstantValue(product))
    return {};
  int64_t rank = mul.getType().getRank();
  std::pair<Value, Value> orders[] = {{mul.getLhs(), mul.getRhs()}, {mul.getRhs(), mul.getLhs()}};
  for (auto [number, scale] : orders) {
    auto centred = skipCast(number).getDefiningOp<SubOp>();
    Value bytes = skipCast(centred ? centred.getLhs() : skipCast(number));
    Value zero = centred ? skipCast(centred.getRhs()) : Value();
    if (!isByte(bytes) || getDims(bytes) != getDims(product) || (zero && !isByte(zero)))
      continue;
    scale = alignRank(b, scale, rank);
    zero = zero ? alignRank(b, zero, rank) : zero;
    int64_t axis = rank - 1;
    while (axis >= 0 && !isOneAlong(scale, zero, axis))
      --axis;
    std::optional<int64_t> block = axis < 0 ? std::nullopt : getConstant(getDim(bytes, axis));
    if (!block || *block < 1)
      continue;
    // A block covers the whole dimension if neither scale nor zero point changes along it.
    return DequantizeOp::create(b, product.getLoc(), bytes, scale, zero, axis, *block, TypeAttr());
  }
  return {};
}

namespace {

/// Keeps quantized a matrix or an embedding that is not an operand of an int8 matmul.
template <typename OpT> struct DequantizeLate : public OpRewritePattern<OpT> {
  using OpRewritePattern<OpT>::OpRewritePattern;
  LogicalResult matchAndRewrite(OpT op, PatternRewriter &rewriter) const override {
    for (OpOperand &operand : op->getOpOperands())
      if (Value weight = makeDequantize(rewriter, operand.get())) {
        rewriter.modifyOpInPlace(op, [&] { operand.set(weight); });
        return success();
      }
    return rewriter.notifyMatchFailure(op, "does not read dequantized 8-bit integers");
  }
};

/// gather(dequantize(x)) -> dequantize(gather(x))
struct GatherFirst : public OpRewritePattern<GatherOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(GatherOp op, PatternRewriter &rewriter) const override {
    auto dequantize = op.getInput().getDefiningOp<DequantizeOp>();
    int64_t axis = op.getAxis();
    // Numbers become unsigned before.
    if (!dequantize || axis == static_cast<int64_t>(dequantize.getAxis()) ||
        getElementTypeOrSelf(dequantize.getInput()).isSignlessInteger(4))
      return rewriter.notifyMatchFailure(op, "does not gather from a tensor that only it dequantizes");
    auto gather = [&](Value value) -> Value {
      return value ? GatherOp::create(rewriter, op.getLoc(), value, op.getIndices(), axis).getResult() : value;
    };
    auto gatherParameter = [&](Value value) -> Value {
      if (!value || getConstant(getDim(value, axis)) != 1)
        return gather(value);
      // One for all stays one.
      Dims dims = getDims(value), ones(getDims(op.getIndices()).size(), getDimConstant(rewriter.getContext(), 1));
      dims.erase(dims.begin() + axis);
      dims.insert(dims.begin() + axis, ones.begin(), ones.end());
      return ReshapeOp::create(rewriter, op.getLoc(), getTensorType(dims, getElementTypeOrSelf(value)), value);
    };
    int64_t moved = dequantize.getAxis(), more = getDims(op.getIndices()).size() - 1;
    rewriter.replaceOpWithNewOp<DequantizeOp>(op, gather(dequantize.getInput()), gatherParameter(dequantize.getScale()),
                                              gatherParameter(dequantize.getZero()),
                                              moved > axis ? moved + more : moved, dequantize.getBlock(),
                                              dequantize.getResultTypeAttr());
    return success();
  }
};

/// Shifts numbers from -8..7 to 0..15, together with their zero points.
struct MakeUnsigned : public OpRewritePattern<DequantizeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(DequantizeOp op, PatternRewriter &rewriter) const override {
    if (!getElementTypeOrSelf(op.getInput()).isSignlessInteger(4) || !isConstantValue(op.getInput()) ||
        (op.getZero() && (!isConstantValue(op.getZero()) || !getElementTypeOrSelf(op.getZero()).isSignlessInteger(4))))
      return rewriter.notifyMatchFailure(op, "has no constant signed 4-bit integers");
    Location loc = op.getLoc();
    Type wide = rewriter.getIntegerType(8), type = rewriter.getIntegerType(4, false);
    auto number = [&](int64_t rank) -> Value {
      auto tensor = RankedTensorType::get(SmallVector<int64_t>(rank, 1), wide);
      return WeightOp::create(rewriter, loc, DenseElementsAttr::get(tensor, rewriter.getI8IntegerAttr(8)));
    };
    int64_t rank = op.getType().getRank();
    TenonBuilder build(rewriter, loc);
    auto shift = [&](Value value) -> Value {
      Value sum = AddOp::create(rewriter, loc, build.cast(value, wide), number(rank));
      return build.cast(sum, type);
    };
    Value zero = op.getZero() ? shift(op.getZero()) : build.cast(number(rank), type);
    rewriter.replaceOpWithNewOp<DequantizeOp>(op, shift(op.getInput()), op.getScale(), zero, op.getAxis(),
                                              op.getBlock(), op.getResultTypeAttr());
    return success();
  }
};

/// Merges weights with equal numbers that a matmul and an embedding share in two shapes.
void joinEqualWeights(func::FuncOp function) {
  llvm::DenseMap<std::pair<Type, size_t>, SmallVector<WeightOp>> known;
  for (WeightOp weight : llvm::make_early_inc_range(function.getOps<WeightOp>())) {
    std::optional<ArrayRef<char>> bytes;
    if (weight.getType().getElementType().isUnsignedInteger(4))
      bytes = getBytes(weight.getValue());
    if (!bytes)
      continue;
    SmallVector<WeightOp> &alike = known[{weight.getType(), llvm::hash_value(*bytes)}];
    WeightOp *equal = llvm::find_if(alike, [&](WeightOp other) { return *getBytes(other.getValue()) == *bytes; });
    if (equal == alike.end()) {
      alike.push_back(weight);
      continue;
    }
    weight.replaceAllUsesWith(equal->getResult());
    weight.erase();
  }
}

struct KeepWeightsQuantized : public tenon::impl::KeepWeightsQuantizedBase<KeepWeightsQuantized> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<DequantizeLate<ContractOp>, DequantizeLate<GatherOp>, GatherFirst, MakeUnsigned>(&getContext());
    if (failed(applyPatterns(getOperation(), std::move(patterns), getArgumentName())))
      return signalPassFailure();
    joinEqualWeights(getOperation());
  }
};

} // namespace
