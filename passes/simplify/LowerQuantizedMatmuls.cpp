//===- LowerQuantizedMatmuls.cpp - products of quantised numbers as such of bytes ===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How zero points leave the sums is as in Jacob et al., "Quantization and
// Training of Neural Networks for Efficient Integer-Arithmetic-Only Inference"
// (2018), section 2.3.
//
//===----------------------------------------------------------------------===//

#include "dialects/tenon/Padding.h"
#include "dialects/tenon/Tenon.h"
#include "dialects/tenon/TenonBuilder.h"
#include "dialects/tenon/WeightBytes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/ApplyPatterns.h"
#include "passes/Passes.h"
#include "passes/simplify/ConstantValue.h"

namespace tenon {
#define GEN_PASS_DEF_LOWERQUANTIZEDMATMULS
#include "passes/Passes.h.inc"
} // namespace tenon

using namespace mlir;
using namespace tenon;

//===----------------------------------------------------------------------===//
// What is multiplied
//===----------------------------------------------------------------------===//

namespace {
/// A factor (bytes - zero) * scale. Zero point and scale broadcast against the bytes.
struct Factor {
  Value bytes;
  Value zero;  ///< of 32 bits; null for none
  Value scale; ///< of f32; null for a factor of 32 bits
};
} // namespace

static bool isByte(Type type) { return type.isSignlessInteger(8) || type.isUnsignedInteger(8); }
static Type getElementType(Value value) { return getElementTypeOrSelf(value); }

/// Returns the value of a splat constant, if it is one.
static std::optional<int64_t> getUniform(Value value) {
  Operation *op = value.getDefiningOp();
  // Casts and index maps do not change the value of a zero point.
  if (isa_and_nonnull<CastOp, IndexMapOpInterface>(op) &&
      getElementType(value).getIntOrFloatBitWidth() >= getElementType(op->getOperand(0)).getIntOrFloatBitWidth())
    return getUniform(op->getOperand(0));
  auto weight = dyn_cast_or_null<WeightOp>(op);
  auto type = weight ? dyn_cast<IntegerType>(weight.getType().getElementType()) : IntegerType();
  if (!type)
    return std::nullopt;
  auto extend = [&](const APInt &number) { return type.isUnsigned() ? number.getZExtValue() : number.getSExtValue(); };
  if (auto splat = dyn_cast<SplatElementsAttr>(weight.getValue()))
    return extend(splat.getSplatValue<APInt>());
  std::optional<ArrayRef<char>> bytes = getBytes(weight.getValue());
  if (!isByte(type) || !bytes || bytes->empty() || !llvm::all_equal(*bytes))
    return std::nullopt;
  return extend(APInt(8, static_cast<uint8_t>(bytes->front())));
}

/// Returns the operand of a cast to `to`, if `value` is one.
static Value getCastInput(Value value, Type to) {
  auto cast = value.getDefiningOp<CastOp>();
  return cast && getElementType(value) == to ? cast.getInput() : Value();
}

/// i32(bytes) - zero, or i32(bytes).
static std::optional<Factor> matchCentred(Value value) {
  Type i32 = IntegerType::get(value.getContext(), 32);
  if (getElementType(value) != i32)
    return std::nullopt;
  Value zero, wide = value;
  if (auto sub = value.getDefiningOp<SubOp>()) {
    wide = sub.getLhs();
    zero = getUniform(sub.getRhs()) == 0 ? Value() : sub.getRhs();
  }
  Value bytes = getCastInput(wide, i32);
  if (!bytes || !isByte(getElementType(bytes)) || getDims(bytes) != getDims(value))
    return std::nullopt;
  return Factor{bytes, zero, {}};
}

/// f32(centred) * scale.
static std::optional<Factor> matchScaled(Value value) {
  auto mul = value.getDefiningOp<MulOp>();
  if (!mul)
    return std::nullopt;
  for (auto [number, scale] : {std::pair(mul.getLhs(), mul.getRhs()), std::pair(mul.getRhs(), mul.getLhs())}) {
    Value centred = getCastInput(number, Float32Type::get(value.getContext()));
    std::optional<Factor> factor = centred && getDims(centred) == getDims(value) ? matchCentred(centred) : std::nullopt;
    if (factor) {
      factor->scale = scale;
      return factor;
    }
  }
  return std::nullopt;
}

static std::optional<Factor> matchFactor(Value value) {
  if (isByte(getElementType(value)))
    return Factor{value, {}, {}};
  return getElementType(value).isF32() ? matchScaled(value) : matchCentred(value);
}

/// True if a type is that of a matmul of the factors: an i32 sum, or f32.
static bool isResultOf(Type type, const Factor &first, const Factor &second) {
  bool isScaled = bool(first.scale);
  return isScaled == bool(second.scale) && (isScaled ? type.isF32() : type.isInteger(32));
}

/// True if an operation is a matmul of u8 with i8 already.
static bool isNarrow(Operation *op) {
  Type lhs = getElementType(op->getOperand(0)), rhs = getElementType(op->getOperand(1));
  return isByte(lhs) && isByte(rhs) && lhs != rhs;
}

//===----------------------------------------------------------------------===//
// Where parameters lie
//===----------------------------------------------------------------------===//

/// Returns the extents of a value that broadcasts against `rank` dimensions.
static Dims getAlignedDims(Value value, size_t rank) {
  Dims dims = getDims(value);
  dims.insert(dims.begin(), rank - dims.size(), getDimConstant(value.getContext(), 1));
  return dims;
}

static bool isOne(AffineExpr dim) { return getConstant(dim) == 1; }

/// True if a parameter of an operand is the same for all summed elements. Null counts as such.
static bool isOutsideOfSums(Value parameter, ArrayRef<int64_t> indices, ArrayRef<int64_t> result) {
  if (!parameter)
    return true;
  Dims dims = getAlignedDims(parameter, indices.size());
  return llvm::all_of(llvm::zip(indices, dims), [&](auto pair) {
    auto [index, dim] = pair;
    return isOne(dim) || llvm::is_contained(result, index);
  });
}

/// Reshapes a value whose dimension i runs over index `indices[i]`, if it is not 1, so that it broadcasts against the
/// result.
static Value alignToResult(OpBuilder &b, Location loc, Value value, ArrayRef<int64_t> indices,
                           ArrayRef<int64_t> result) {
  Dims kept, dims(result.size(), getDimConstant(b.getContext(), 1));
  SmallVector<int64_t> places, order;
  for (auto [index, dim] : llvm::zip(indices, getAlignedDims(value, indices.size()))) {
    if (isOne(dim))
      continue;
    order.push_back(places.size());
    places.push_back(llvm::find(result, index) - result.begin());
    kept.push_back(dim);
    dims[places.back()] = dim;
  }
  TenonBuilder build(b, loc);
  value = build.reshape(value, kept);
  if (kept.empty())
    return value;
  llvm::sort(order, [&](int64_t x, int64_t y) { return places[x] < places[y]; });
  if (!llvm::is_sorted(order))
    value = TransposeOp::create(b, loc, value, order);
  return build.reshape(value, dims);
}

//===----------------------------------------------------------------------===//
// Products of bytes
//===----------------------------------------------------------------------===//

/// Shifts a zero point; a splat becomes a scalar.
static Value shiftZero(OpBuilder &b, Location loc, Value zero, int64_t by) {
  Type i32 = b.getI32Type();
  std::optional<int64_t> known = zero ? getUniform(zero) : 0;
  if (known)
    return *known + by == 0 ? Value() : TenonBuilder(b, loc).scalar(i32, *known + by);
  return by == 0 ? zero : AddOp::create(b, loc, zero, TenonBuilder(b, loc).scalar(i32, by)).getResult();
}

/// True if makeUnsigned or makeSigned leaves a zero point of 0.
static bool isWithoutZero(const Factor &factor, bool asSigned) {
  int64_t shift = getElementType(factor.bytes).isUnsignedInteger() == asSigned ? (asSigned ? -128 : 128) : 0;
  std::optional<int64_t> known = factor.zero ? getUniform(factor.zero) : 0;
  return known && *known + shift == 0;
}

/// Converts the numbers to the other signedness if necessary: they and their zero point are shifted by 128.
static Factor makeBytes(OpBuilder &b, Location loc, Factor factor, bool asSigned) {
  Type from = getElementType(factor.bytes), to = b.getIntegerType(8, /*isSigned=*/false);
  if (asSigned)
    to = b.getI8Type();
  int64_t shift = from == to ? 0 : asSigned ? -128 : 128;
  factor.zero = shiftZero(b, loc, factor.zero, shift);
  TenonBuilder build(b, loc);
  if (shift != 0)
    factor.bytes = build.cast(XorOp::create(b, loc, factor.bytes, build.scalar(from, 128)), to);
  return factor;
}

/// Sums bytes along dimensions of static extents by a matmul with ones, which needs no copy in i32.
static Value multiplyByOnes(OpBuilder &b, Location loc, Value bytes, ArrayRef<int64_t> axes,
                            ArrayRef<int64_t> extents) {
  Type other =
      getElementType(bytes).isUnsignedInteger() ? Type(b.getI8Type()) : Type(b.getIntegerType(8, /*isSigned=*/false));
  SmallVector<int64_t> indices = llvm::to_vector(llvm::seq<int64_t>(getDims(bytes).size())), left;
  llvm::copy_if(indices, std::back_inserter(left), [&](int64_t index) { return !llvm::is_contained(axes, index); });
  auto ones = DenseElementsAttr::get(RankedTensorType::get(extents, other), b.getIntegerAttr(other, 1));
  return ContractOp::create(b, loc, bytes, WeightOp::create(b, loc, ones), indices, axes, left,
                            TypeAttr::get(b.getI32Type()));
}

/// Sums a factor, or its bytes only, along dimensions of static extents; the others are kept, with 1 in the reduced
/// ones.
static Value sumAlong(OpBuilder &b, Location loc, const Factor &factor, ArrayRef<int64_t> axes, bool isCentred) {
  Type type = getElementType(factor.bytes);
  Dims kept = getDims(factor.bytes);
  SmallVector<int64_t> extents;
  for (int64_t axis : axes) {
    extents.push_back(*getConstant(kept[axis]));
    kept[axis] = getDimConstant(b.getContext(), 1);
  }
  // A computed matrix is summed by columns, because vectors run along them, which a matmul with a row of ones would not
  // do.
  bool isMatrix = !isConstantValue(factor.bytes) && !type.isUnsignedInteger();
  SmallVector<int64_t> sorted(axes);
  llvm::sort(sorted);
  TenonBuilder build(b, loc);
  Value sum = isMatrix ? ReduceOp::create(b, loc, ReduceKind::sum, build.cast(factor.bytes, b.getI32Type()), sorted,
                                          /*keepdims=*/true)
                       : build.reshape(multiplyByOnes(b, loc, factor.bytes, axes, extents), kept);
  if (!isCentred || !factor.zero)
    return sum;
  Value depth = build.scalar(b.getI32Type(), llvm::product_of(extents));
  return SubOp::create(b, loc, sum, MulOp::create(b, loc, factor.zero, depth).getResult());
}

/// True if a sum of `depth` products of centred bytes fits i32.
static bool fitsInto32Bits(int64_t depth) { return depth * 255 * 255 <= std::numeric_limits<int32_t>::max(); }

/// True if such a sum is exact in f32, in any order.
static bool isExactInFloat(int64_t depth) { return depth * 255 * 255 <= (1 << 24); }

/// An integer product, with its scales as f32.
static Value applyScales(OpBuilder &b, Location loc, Value sum, Value first, Value second) {
  Value number = TenonBuilder(b, loc).cast(sum, b.getF32Type());
  return MulOp::create(b, loc, number, MulOp::create(b, loc, first, second).getResult());
}

namespace {

struct NarrowContract : public OpRewritePattern<ContractOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ContractOp op, PatternRewriter &rewriter) const override {
    std::optional<Factor> lhs = matchFactor(op.getLhs()), rhs = matchFactor(op.getRhs());
    if (!lhs || !rhs || !isResultOf(op.getType().getElementType(), *lhs, *rhs))
      return rewriter.notifyMatchFailure(op, "is not a matmul of 8-bit integers minus zero points");
    ArrayRef<int64_t> result = op.getResultDims();
    SmallVector<int64_t> lhsSummed, rhsSummed;
    if (!findSums(op, lhsSummed, rhsSummed))
      return rewriter.notifyMatchFailure(op, "does not sum over dimensions of both operands alone");
    for (auto [factor, indices] : {std::pair(&*lhs, op.getLhsDims()), std::pair(&*rhs, op.getRhsDims())})
      if (!isOutsideOfSums(factor->zero, indices, result) || !isOutsideOfSums(factor->scale, indices, result))
        return rewriter.notifyMatchFailure(op, "has scales or zero points that vary along a reduction dimension");
    std::optional<bool> isMatrixLeft = findMatrix(op, *lhs, *rhs);
    bool isDone =
        isMatrixLeft && isNarrow(op) && getElementType(*isMatrixLeft ? op.getRhs() : op.getLhs()).isUnsignedInteger();
    if (!isMatrixLeft || isDone)
      return rewriter.notifyMatchFailure(op, "has no i8 matrix, or too few columns");

    Location loc = op.getLoc();
    *lhs = makeBytes(rewriter, loc, *lhs, *isMatrixLeft);
    *rhs = makeBytes(rewriter, loc, *rhs, !*isMatrixLeft);
    Value sum = ContractOp::create(rewriter, loc, lhs->bytes, rhs->bytes, op.getLhsDims(), op.getRhsDims(), result,
                                   TypeAttr::get(rewriter.getI32Type()));
    // Subtracts the zero point of one side times the sums of the other; the sums of the weight include its own zero
    // point, so that both are accounted for.
    auto subtract = [&](const Factor &factor, ArrayRef<int64_t> indices, const Factor &other,
                        ArrayRef<int64_t> otherIndices, ArrayRef<int64_t> otherSummed, bool isCentred) {
      if (!factor.zero)
        return;
      Value sums =
          alignToResult(rewriter, loc, sumAlong(rewriter, loc, other, otherSummed, isCentred), otherIndices, result);
      Value zero = alignToResult(rewriter, loc, factor.zero, indices, result);
      sum = SubOp::create(rewriter, loc, sum, MulOp::create(rewriter, loc, sums, zero).getResult());
    };
    subtract(*lhs, op.getLhsDims(), *rhs, op.getRhsDims(), rhsSummed, !*isMatrixLeft);
    subtract(*rhs, op.getRhsDims(), *lhs, op.getLhsDims(), lhsSummed, *isMatrixLeft);
    if (lhs->scale)
      sum = applyScales(rewriter, loc, sum, alignToResult(rewriter, loc, lhs->scale, op.getLhsDims(), result),
                        alignToResult(rewriter, loc, rhs->scale, op.getRhsDims(), result));
    rewriter.replaceOp(op, sum);
    return success();
  }

private:
  /// Returns true if the signed matrix is on the left: it is the constant, or, if both integer factors are computed,
  /// the one that has the columns of the result. (Dequantized queries and keys are left to attention.)
  static std::optional<bool> findMatrix(ContractOp op, const Factor &lhs, const Factor &rhs) {
    bool isLhsConstant = isConstantValue(lhs.bytes), isRhsConstant = isConstantValue(rhs.bytes);
    if (isLhsConstant != isRhsConstant)
      return isLhsConstant;
    if (isLhsConstant || lhs.scale || op.getResultDims().empty())
      return std::nullopt;
    int64_t column = op.getResultDims().back();
    bool isInLhs = llvm::is_contained(op.getLhsDims(), column);
    return isInLhs != llvm::is_contained(op.getRhsDims(), column) ? std::optional(isInLhs) : std::nullopt;
  }

  /// Finds the summed dimensions, which must have equal static extents in both operands.
  static bool findSums(ContractOp op, SmallVectorImpl<int64_t> &lhsSummed, SmallVectorImpl<int64_t> &rhsSummed) {
    Dims lhs = getDims(op.getLhs()), rhs = getDims(op.getRhs());
    int64_t depth = 1;
    for (auto [dim, index] : llvm::enumerate(op.getLhsDims())) {
      const int64_t *other = llvm::find(op.getRhsDims(), index);
      if (other != op.getRhsDims().end() && rhs[other - op.getRhsDims().begin()] != lhs[dim])
        return false;
      if (llvm::is_contained(op.getResultDims(), index))
        continue;
      if (other == op.getRhsDims().end() || !getConstant(lhs[dim]))
        return false;
      depth *= *getConstant(lhs[dim]);
      lhsSummed.push_back(dim);
    }
    for (auto [dim, index] : llvm::enumerate(op.getRhsDims()))
      if (!llvm::is_contained(op.getResultDims(), index)) {
        if (!llvm::is_contained(op.getLhsDims(), index))
          return false;
        rhsSummed.push_back(dim);
      }
    auto isDistinct = [](ArrayRef<int64_t> indices) {
      return llvm::SmallDenseSet<int64_t>(indices.begin(), indices.end()).size() == indices.size();
    };
    return fitsInto32Bits(depth) && isDistinct(op.getLhsDims()) && isDistinct(op.getRhsDims());
  }
};

/// True if each channel is a group of its own, with few products per sum.
static bool isDepthwise(ConvolveOp op) {
  std::optional<SmallVector<int64_t>> shape = getConstants(getDims(op.getFilter()));
  return shape && shape->front() == static_cast<int64_t>(op.getGroups()) && (*shape)[1] == 1 &&
         isExactInFloat(llvm::product_of(ArrayRef(*shape).drop_front()));
}

/// Lowers a convolution of one group, or of one group per channel, before its layout is chosen.
struct NarrowConvolve : public OpRewritePattern<ConvolveOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ConvolveOp op, PatternRewriter &rewriter) const override {
    std::optional<Factor> input = matchFactor(op.getInput()), filter = matchFactor(op.getFilter());
    bool isDone = isNarrow(op) && getElementType(op.getInput()).isUnsignedInteger();
    if (!input || !filter || !isResultOf(op.getType().getElementType(), *input, *filter) || op.getChannelsLast() ||
        (op.getGroups() != 1 && !isDepthwise(op)) || isDone)
      return rewriter.notifyMatchFailure(
          op, "is not an 8-bit convolution minus zero points with one group or one group per channel");
    int64_t rank = op.getType().getRank();
    auto isOneNumber = [](Value parameter) { return !parameter || llvm::all_of(getDims(parameter), isOne); };
    auto isPerFilter = [&](Value parameter) {
      return !parameter || llvm::all_of(ArrayRef(getAlignedDims(parameter, rank)).drop_front(), isOne);
    };
    bool hasFilterZero = !isWithoutZero(*filter, /*asSigned=*/true);
    if (!isOneNumber(input->zero) || !isOneNumber(input->scale) || !isPerFilter(filter->zero) ||
        !isPerFilter(filter->scale) || (hasFilterZero && op.getGroups() != 1))
      return rewriter.notifyMatchFailure(op, "has scales or zero points that vary along a reduction dimension");
    std::optional<SmallVector<int64_t>> shape = getConstants(getDims(op.getFilter()));
    if (!shape || !isConstantValue(filter->bytes) || !fitsInto32Bits(llvm::product_of(ArrayRef(*shape).drop_front())))
      return rewriter.notifyMatchFailure(op, "has no constant filter, or a very large one");

    Location loc = op.getLoc();
    *input = makeBytes(rewriter, loc, *input, /*asSigned=*/false);
    *filter = makeBytes(rewriter, loc, *filter, /*asSigned=*/true);
    Value sum = convolve(rewriter, op, *input, *filter);
    AffineExpr one = getDimConstant(op.getContext(), 1);
    Dims perFilter(rank - 1, one), number;
    perFilter[0] = getDimConstant(op.getContext(), shape->front());
    TenonBuilder build(rewriter, loc);
    // Aligns a scalar, or a number for each filter, to the result's channels.
    auto alignToChannels = [&](Value parameter) {
      return build.reshape(parameter, isOneNumber(parameter) ? number : perFilter);
    };
    if (hasFilterZero) {
      Value shift =
          MulOp::create(rewriter, loc, sumWindows(rewriter, op, *input, *shape), alignToChannels(filter->zero));
      sum = SubOp::create(rewriter, loc, sum, shift);
    }
    if (input->zero) {
      Value sums = sumAlong(rewriter, loc, *filter, llvm::to_vector(llvm::seq<int64_t>(1, rank)), /*isCentred=*/false);
      Value shift = MulOp::create(rewriter, loc, build.reshape(sums, perFilter), build.reshape(input->zero, number));
      sum = SubOp::create(rewriter, loc, sum, shift);
    }
    if (input->scale)
      sum = applyScales(rewriter, loc, sum, alignToChannels(filter->scale), build.reshape(input->scale, number));
    rewriter.replaceOp(op, sum);
    return success();
  }

private:
  /// Returns the sums over windows of the input, which are multiplied with the filters' zero point: channels are summed
  /// first, then the result is convolved with ones.
  static Value sumWindows(OpBuilder &b, ConvolveOp op, const Factor &input, ArrayRef<int64_t> filterShape) {
    SmallVector<int64_t> window(filterShape);
    window[0] = window[1] = 1;
    Value channels = sumAlong(b, op.getLoc(), input, {1}, /*isCentred=*/true);
    Type i32 = b.getI32Type();
    auto ones = DenseElementsAttr::get(RankedTensorType::get(window, i32), b.getIntegerAttr(i32, 1));
    return ConvolveOp::create(b, op.getLoc(), channels, WeightOp::create(b, op.getLoc(), ones), op.getStrides(),
                              op.getDilations(), op.getLow(), op.getHigh(), 1, TypeAttr(), /*channels_last=*/false);
  }

  /// The padding is the zero point, which represents 0.
  static Value convolve(OpBuilder &b, ConvolveOp op, const Factor &input, const Factor &filter) {
    SmallVector<int64_t> low(op.getLow()), high(op.getHigh());
    Value padded = input.bytes;
    if (input.zero && hasPadding(op)) {
      TenonBuilder build(b, op.getLoc());
      Value zero = build.cast(build.reshape(input.zero, {}), getElementType(padded));
      padded = padInput(b, op, padded, zero);
      low.assign(low.size(), 0);
      high.assign(high.size(), 0);
    }
    return ConvolveOp::create(b, op.getLoc(), padded, filter.bytes, op.getStrides(), op.getDilations(), low, high,
                              op.getGroups(), TypeAttr::get(b.getI32Type()), /*channels_last=*/false);
  }
};

/// i32 convolutions that are not int8, such as grouped ones, are computed in f32 if that is exact.
struct ConvolveInFloat : public OpRewritePattern<ConvolveOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ConvolveOp op, PatternRewriter &rewriter) const override {
    std::optional<SmallVector<int64_t>> shape = getConstants(getDims(op.getFilter()));
    bool isCentred =
        op.getType().getElementType().isInteger(32) && matchCentred(op.getInput()) && matchCentred(op.getFilter());
    if (!isCentred || !shape || !isExactInFloat(llvm::product_of(ArrayRef(*shape).drop_front())))
      return rewriter.notifyMatchFailure(op, "is not an 8-bit convolution whose sums f32 represents exactly");
    Location loc = op.getLoc();
    TenonBuilder build(rewriter, loc);
    Type f32 = rewriter.getF32Type();
    Value sum = ConvolveOp::create(rewriter, loc, build.cast(op.getInput(), f32), build.cast(op.getFilter(), f32),
                                   op.getStrides(), op.getDilations(), op.getLow(), op.getHigh(), op.getGroups(),
                                   TypeAttr(), op.getChannelsLast());
    rewriter.replaceOp(op, build.cast(sum, op.getType().getElementType()));
    return success();
  }
};

//===----------------------------------------------------------------------===//
// What follows
//===----------------------------------------------------------------------===//

/// True if a value is computed by elementwise operations on the result of an integer matmul.
bool followsProduct(Value value, int depth = 8) {
  Operation *op = value.getDefiningOp();
  if (!op || depth == 0)
    return false;
  if (isa<ContractOp, ConvolveOp>(op))
    return isNarrow(op);
  return op->hasTrait<Elementwise>() &&
         llvm::any_of(op->getOperands(), [&](Value operand) { return followsProduct(operand, depth - 1); });
}

/// x / c -> x * (1 / c), which is ten times faster.
struct DivideByMultiplying : public OpRewritePattern<DivOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(DivOp op, PatternRewriter &rewriter) const override {
    bool isRounded = llvm::all_of(op->getUsers(), llvm::IsaPred<RoundOp>);
    if (!op.getType().getElementType().isF32() || !isConstantValue(op.getRhs()) || isConstantValue(op.getLhs()) ||
        (!isRounded && !followsProduct(op.getLhs())))
      return rewriter.notifyMatchFailure(op, "does not divide a quantized tensor or an integer product by a constant");
    Value inverse = ReciprocalOp::create(rewriter, op.getLoc(), op.getRhs());
    rewriter.replaceOpWithNewOp<MulOp>(op, op.getLhs(), inverse);
    return success();
  }
};

struct LowerQuantizedMatmuls : public tenon::impl::LowerQuantizedMatmulsBase<LowerQuantizedMatmuls> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<NarrowContract, NarrowConvolve, DivideByMultiplying>(&getContext());
    patterns.add<ConvolveInFloat>(&getContext(), /*benefit=*/0);
    if (failed(applyPatterns(getOperation(), std::move(patterns), getArgumentName())))
      signalPassFailure();
  }
};

} // namespace
