//===- Scalars.cpp - what an elementwise operation does to scalars ---------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "passes/Kernel.h"
#include "passes/lower/tenon-to-linalg/ElementEmitter.h"
#include "passes/lower/tenon-to-linalg/SmallNumbers.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cmath>
#include <limits>

using namespace mlir;
using namespace tenon;

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

Type tenon::getScalarType(Type type) {
  if (isSmallFloat(type) || isSmallInt(type))
    return IntegerType::get(type.getContext(), 8);
  if (auto integer = dyn_cast<IntegerType>(type))
    return IntegerType::get(type.getContext(), integer.getWidth());
  return type;
}

Type tenon::getStorageType(Type type) {
  if (type.isInteger(1))
    return IntegerType::get(type.getContext(), 8);
  return getScalarType(type);
}

Type tenon::getAccumulatorType(Type type) {
  return type.isF16() || type.isBF16() ? Float32Type::get(type.getContext()) : getStorageType(type);
}

Value tenon::toAccumulator(OpBuilder &b, Location loc, Value scalar, Type elementType) {
  if (elementType.isInteger(1))
    return toStorage(b, loc, scalar, elementType);
  if (elementType.isF16() || elementType.isBF16())
    return arith::ExtFOp::create(b, loc, b.getF32Type(), scalar);
  assert(scalar.getType() == getAccumulatorType(elementType) && "other elements are accumulated as they are");
  return scalar;
}

Value tenon::fromAccumulator(OpBuilder &b, Location loc, Value accumulator, Type elementType) {
  if (elementType.isInteger(1))
    return fromStorage(b, loc, accumulator, elementType);
  if (elementType.isF16() || elementType.isBF16())
    return arith::TruncFOp::create(b, loc, elementType, accumulator);
  return accumulator;
}

Value tenon::fromStorage(OpBuilder &b, Location loc, Value stored, Type elementType) {
  if (!elementType.isInteger(1) || stored.getType().isInteger(1))
    return stored;
  assert(stored.getType().isInteger(8) && "booleans are stored as bytes");
  Value zero = arith::ConstantIntOp::create(b, loc, stored.getType(), 0);
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, stored, zero);
}

Value tenon::toStorage(OpBuilder &b, Location loc, Value scalar, Type elementType) {
  return elementType.isInteger(1) ? arith::ExtUIOp::create(b, loc, b.getI8Type(), scalar).getResult() : scalar;
}

//===----------------------------------------------------------------------===//
// Scalar code
//===----------------------------------------------------------------------===//

/// If both operands are zeros, either is a valid maximum and minimum, as in IEEE 754's maxNum: this takes one
/// instruction instead of three if one operand is known not to be NaN.
static arith::FastMathFlagsAttr getAnyZero(OpBuilder &b) {
  return arith::FastMathFlagsAttr::get(b.getContext(), arith::FastMathFlags::nsz);
}

namespace {

/// Emits scalar code for elements of one tenon type. f16 and bf16 are computed in f32 and rounded after each operation,
/// as in every runtime without native f16 arithmetic.
struct Scalar {
  OpBuilder &b;
  Location loc;
  Type elementType;

  bool isFloat() const { return isa<FloatType>(elementType); }
  bool isUnsigned() const { return elementType.isUnsignedInteger() || elementType.isInteger(1); }
  unsigned width() const { return elementType.getIntOrFloatBitWidth(); }
  bool isReducedPrecision() const { return isFloat() && width() < 32; }

  Value constant(Type type, double value) const {
    if (isa<FloatType>(type))
      return arith::ConstantOp::create(b, loc, b.getFloatAttr(type, value));
    return arith::ConstantOp::create(b, loc, b.getIntegerAttr(type, static_cast<int64_t>(value)));
  }
  Value like(Value x, double value) const { return constant(x.getType(), value); }

  Value select(Value c, Value x, Value y) const { return arith::SelectOp::create(b, loc, c, x, y); }
  Value compareFloat(arith::CmpFPredicate p, Value x, Value y) const { return arith::CmpFOp::create(b, loc, p, x, y); }
  Value compareInt(arith::CmpIPredicate p, Value x, Value y) const { return arith::CmpIOp::create(b, loc, p, x, y); }

  Value unary(Operation *op, Value x) const;
  Value binary(Operation *op, Value x, Value y) const;
  Value compare(ComparePredicate predicate, Value x, Value y) const;
  Value power(Value x, Value y) const;
  Value remainder(Value x, Value y, bool signOfDivisor) const;
};

Value Scalar::unary(Operation *op, Value x) const {
  auto math = [&]<typename OpT>() -> Value { return OpT::create(b, loc, x); };
  return TypeSwitch<Operation *, Value>(op)
      .Case<AbsOp>([&](auto) -> Value {
        if (isFloat())
          return math.operator()<math::AbsFOp>();
        return isUnsigned() ? x : math.operator()<math::AbsIOp>();
      })
      .Case<NegOp>([&](auto) -> Value {
        if (isFloat())
          return arith::NegFOp::create(b, loc, x);
        return arith::SubIOp::create(b, loc, like(x, 0), x);
      })
      .Case<SignOp>([&](auto) -> Value {
        Value zero = like(x, 0), one = like(x, 1);
        if (isUnsigned())
          return select(compareInt(arith::CmpIPredicate::ne, x, zero), one, zero);
        Value minus = like(x, -1);
        if (!isFloat())
          return select(compareInt(arith::CmpIPredicate::sgt, x, zero), one,
                        select(compareInt(arith::CmpIPredicate::slt, x, zero), minus, zero));
        // What is neither stays: zeros and NaN.
        return select(compareFloat(arith::CmpFPredicate::OGT, x, zero), one,
                      select(compareFloat(arith::CmpFPredicate::OLT, x, zero), minus, x));
      })
      .Case<CeilOp>([&](auto) { return math.operator()<math::CeilOp>(); })
      .Case<FloorOp>([&](auto) { return math.operator()<math::FloorOp>(); })
      .Case<RoundOp>([&](auto) { return math.operator()<math::RoundEvenOp>(); })
      .Case<SqrtOp>([&](auto) { return math.operator()<math::SqrtOp>(); })
      .Case<RsqrtOp>(
          [&](auto) -> Value { return arith::DivFOp::create(b, loc, like(x, 1), math::SqrtOp::create(b, loc, x)); })
      .Case<ReciprocalOp>([&](auto) -> Value { return arith::DivFOp::create(b, loc, like(x, 1), x); })
      .Case<ExpOp>([&](auto) { return math.operator()<math::ExpOp>(); })
      .Case<LogOp>([&](auto) { return math.operator()<math::LogOp>(); })
      .Case<Log1pOp>([&](auto) { return math.operator()<math::Log1pOp>(); })
      .Case<SinOp>([&](auto) { return math.operator()<math::SinOp>(); })
      .Case<CosOp>([&](auto) { return math.operator()<math::CosOp>(); })
      .Case<TanOp>([&](auto) { return math.operator()<math::TanOp>(); })
      .Case<AsinOp>([&](auto) { return math.operator()<math::AsinOp>(); })
      .Case<AcosOp>([&](auto) { return math.operator()<math::AcosOp>(); })
      .Case<AtanOp>([&](auto) { return math.operator()<math::AtanOp>(); })
      .Case<SinhOp>([&](auto) { return math.operator()<math::SinhOp>(); })
      .Case<CoshOp>([&](auto) { return math.operator()<math::CoshOp>(); })
      .Case<TanhOp>([&](auto) { return math.operator()<math::TanhOp>(); })
      .Case<AsinhOp>([&](auto) { return math.operator()<math::AsinhOp>(); })
      .Case<AcoshOp>([&](auto) { return math.operator()<math::AcoshOp>(); })
      .Case<AtanhOp>([&](auto) { return math.operator()<math::AtanhOp>(); })
      .Case<ErfOp>([&](auto) { return math.operator()<math::ErfOp>(); })
      .Case<NotOp>([&](auto) -> Value { return arith::XOrIOp::create(b, loc, x, constant(x.getType(), -1)); })
      .Case<IsNaNOp>([&](auto) -> Value { return compareFloat(arith::CmpFPredicate::UNO, x, x); })
      .Case<IsInfOp>([&](auto) -> Value {
        Value infinity = like(x, std::numeric_limits<double>::infinity());
        return compareFloat(arith::CmpFPredicate::OEQ, math::AbsFOp::create(b, loc, x), infinity);
      })
      .Case<SigmoidOp>([&](auto) -> Value {
        Value e = math::ExpOp::create(b, loc, arith::NegFOp::create(b, loc, x));
        return arith::DivFOp::create(b, loc, like(x, 1), arith::AddFOp::create(b, loc, like(x, 1), e));
      })
      .Case<ReluOp>([&](auto) -> Value {
        if (isFloat())
          return arith::MaximumFOp::create(b, loc, x, like(x, 0), getAnyZero(b));
        return isUnsigned() ? x : arith::MaxSIOp::create(b, loc, x, like(x, 0)).getResult();
      })
      .Case<GeluOp>([&](GeluOp gelu) -> Value {
        auto mul = [&](Value p, Value q) -> Value { return arith::MulFOp::create(b, loc, p, q); };
        auto add = [&](Value p, Value q) -> Value { return arith::AddFOp::create(b, loc, p, q); };
        Value inner;
        if (gelu.getTanh()) {
          Value cubic = mul(like(x, 0.044715), mul(x, mul(x, x)));
          inner = math::TanhOp::create(b, loc, mul(like(x, 0.7978845608028654), add(x, cubic)));
        } else {
          inner = math::ErfOp::create(b, loc, mul(x, like(x, 0.7071067811865476)));
        }
        return mul(mul(like(x, 0.5), x), add(like(x, 1), inner));
      })
      .Default([](Operation *) { return Value(); });
}

Value Scalar::power(Value x, Value y) const {
  if (isFloat())
    return math::PowFOp::create(b, loc, x, y);
  // The reference implementation computes integer powers in double precision.
  Type f64 = b.getF64Type();
  Value result =
      math::PowFOp::create(b, loc, castScalar(b, loc, x, elementType, f64), castScalar(b, loc, y, elementType, f64));
  return castScalar(b, loc, result, f64, elementType);
}

Value Scalar::remainder(Value x, Value y, bool signOfDivisor) const {
  if (isUnsigned())
    return arith::RemUIOp::create(b, loc, x, y);
  Value rest =
      isFloat() ? arith::RemFOp::create(b, loc, x, y).getResult() : arith::RemSIOp::create(b, loc, x, y).getResult();
  if (!signOfDivisor)
    return rest;
  Value zero = like(x, 0), wrong, sum;
  if (isFloat()) {
    Value negativeRest = compareFloat(arith::CmpFPredicate::OLT, rest, zero);
    Value negativeDivisor = compareFloat(arith::CmpFPredicate::OLT, y, zero);
    wrong = arith::AndIOp::create(b, loc, compareFloat(arith::CmpFPredicate::ONE, rest, zero),
                                  arith::XOrIOp::create(b, loc, negativeRest, negativeDivisor));
    sum = arith::AddFOp::create(b, loc, rest, y);
  } else {
    Value signs = compareInt(arith::CmpIPredicate::slt, arith::XOrIOp::create(b, loc, rest, y), zero);
    wrong = arith::AndIOp::create(b, loc, compareInt(arith::CmpIPredicate::ne, rest, zero), signs);
    sum = arith::AddIOp::create(b, loc, rest, y);
  }
  return select(wrong, sum, rest);
}

Value Scalar::compare(ComparePredicate predicate, Value x, Value y) const {
  if (isFloat()) {
    static constexpr arith::CmpFPredicate kFloat[] = {arith::CmpFPredicate::OEQ, arith::CmpFPredicate::UNE,
                                                      arith::CmpFPredicate::OLT, arith::CmpFPredicate::OLE,
                                                      arith::CmpFPredicate::OGT, arith::CmpFPredicate::OGE};
    return compareFloat(kFloat[static_cast<int>(predicate)], x, y);
  }
  static constexpr arith::CmpIPredicate kSigned[] = {arith::CmpIPredicate::eq,  arith::CmpIPredicate::ne,
                                                     arith::CmpIPredicate::slt, arith::CmpIPredicate::sle,
                                                     arith::CmpIPredicate::sgt, arith::CmpIPredicate::sge};
  static constexpr arith::CmpIPredicate kUnsigned[] = {arith::CmpIPredicate::eq,  arith::CmpIPredicate::ne,
                                                       arith::CmpIPredicate::ult, arith::CmpIPredicate::ule,
                                                       arith::CmpIPredicate::ugt, arith::CmpIPredicate::uge};
  return compareInt((isUnsigned() ? kUnsigned : kSigned)[static_cast<int>(predicate)], x, y);
}

Value Scalar::binary(Operation *op, Value x, Value y) const {
  auto pick = [&]<typename FloatOp, typename SignedOp, typename UnsignedOp>() -> Value {
    if (isFloat())
      return FloatOp::create(b, loc, x, y);
    if (isUnsigned())
      return UnsignedOp::create(b, loc, x, y);
    return SignedOp::create(b, loc, x, y);
  };
  // The hardware traps on integer division by zero, which is replaced by a division by 1, and on MIN / -1.
  auto divisor = [&]() -> Value {
    if (isFloat())
      return y;
    Value traps = isUnsigned()
                      ? compareInt(arith::CmpIPredicate::eq, y, like(y, 0)) // -1 and 0 are the only ones
                      : compareInt(arith::CmpIPredicate::ult, arith::AddIOp::create(b, loc, y, like(y, 1)), like(y, 2));
    return select(traps, like(y, 1), y);
  };
  auto shift = [&]<typename OpT>() -> Value {
    Value inRange = compareInt(arith::CmpIPredicate::ult, y, like(y, width()));
    // A shift by the width or more yields 0, or copies of the sign.
    Value gone = like(x, 0);
    if constexpr (std::is_same_v<OpT, arith::ShRSIOp>)
      gone = OpT::create(b, loc, x, like(x, width() - 1));
    return select(inRange, OpT::create(b, loc, x, y), gone);
  };
  return TypeSwitch<Operation *, Value>(op)
      .Case<AddOp>([&](auto) { return pick.operator()<arith::AddFOp, arith::AddIOp, arith::AddIOp>(); })
      .Case<SubOp>([&](auto) { return pick.operator()<arith::SubFOp, arith::SubIOp, arith::SubIOp>(); })
      .Case<MulOp>([&](auto) { return pick.operator()<arith::MulFOp, arith::MulIOp, arith::MulIOp>(); })
      .Case<DivOp>([&](auto) -> Value {
        Value isMinusOne = isFloat() || isUnsigned() ? Value() : compareInt(arith::CmpIPredicate::eq, y, like(y, -1));
        y = divisor();
        Value quotient = pick.operator()<arith::DivFOp, arith::DivSIOp, arith::DivUIOp>();
        // The negation of the smallest number is that number again in two's complement.
        return isMinusOne ? select(isMinusOne, arith::SubIOp::create(b, loc, like(x, 0), x), quotient) : quotient;
      })
      .Case<RemOp>([&](auto) { return remainder(x, divisor(), false); })
      .Case<ModOp>([&](auto) { return remainder(x, divisor(), true); })
      .Case<PowOp>([&](auto) { return power(x, y); })
      .Case<MaxOp>([&](auto) -> Value {
        return isFloat() ? arith::MaximumFOp::create(b, loc, x, y, getAnyZero(b)).getResult()
                         : pick.operator()<arith::MaximumFOp, arith::MaxSIOp, arith::MaxUIOp>();
      })
      .Case<MinOp>([&](auto) -> Value {
        return isFloat() ? arith::MinimumFOp::create(b, loc, x, y, getAnyZero(b)).getResult()
                         : pick.operator()<arith::MinimumFOp, arith::MinSIOp, arith::MinUIOp>();
      })
      .Case<AndOp>([&](auto) -> Value { return arith::AndIOp::create(b, loc, x, y); })
      .Case<OrOp>([&](auto) -> Value { return arith::OrIOp::create(b, loc, x, y); })
      .Case<XorOp>([&](auto) -> Value { return arith::XOrIOp::create(b, loc, x, y); })
      .Case<ShiftLeftOp>([&](auto) { return shift.operator()<arith::ShLIOp>(); })
      .Case<ShiftRightOp>(
          [&](auto) { return isUnsigned() ? shift.operator()<arith::ShRUIOp>() : shift.operator()<arith::ShRSIOp>(); })
      .Case<CompareOp>([&](CompareOp compareOp) { return compare(compareOp.getPredicate(), x, y); })
      .Default([](Operation *) { return Value(); });
}

} // namespace

//===----------------------------------------------------------------------===//
// Casts
//===----------------------------------------------------------------------===//

/// Returns the type through which a small number is converted: the smallest computable type that holds all of its
/// values.
static Type getWiderType(Type type) {
  if (isSmallFloat(type))
    return Float32Type::get(type.getContext());
  return IntegerType::get(type.getContext(), 8,
                          type.isUnsignedInteger() ? IntegerType::Unsigned : IntegerType::Signless);
}

static Value widenSmallNumber(OpBuilder &b, Location loc, Value byte, Type type) {
  if (isSmallFloat(type))
    return decodeSmallFloat(b, loc, byte, cast<FloatType>(type));
  return decodeSmallInt(b, loc, byte, cast<IntegerType>(type));
}

/// Rounds once: a value that f32 cannot hold is converted to f64 and rounded to odd. Integers of 64 bits may be rounded
/// on the way to f64, which is visible only in f8E8M0FNU because of its range.
static Value castToSmallFloat(OpBuilder &b, Location loc, Value x, Type from, FloatType to, bool saturate,
                              Rounding rounding) {
  assert(isSmallFloat(to) && !isSmallFloat(from) && !isSmallInt(from) &&
         "small numbers are widened before they are cast");
  if (isa<IntegerType>(from) && from.getIntOrFloatBitWidth() > 16) {
    x = castScalar(b, loc, x, from, b.getF64Type());
    from = b.getF64Type();
  }
  x = from.isF64() ? roundToOdd(b, loc, x) : castScalar(b, loc, x, from, b.getF32Type());
  return encodeSmallFloat(b, loc, x, to, saturate, rounding);
}

/// Returns the clamped float if it was limited on both sides by constants that fit 32 bits; null otherwise. NaN is
/// ignored, since its conversion to an integer is undefined anyway.
static Value clampTo32Bits(OpBuilder &b, Location loc, Value x) {
  auto getLimit = [](auto op) -> Value {
    FloatAttr limit;
    bool isLimit = op && matchPattern(op.getRhs(), m_Constant(&limit)) && std::abs(limit.getValueAsDouble()) < 1e9;
    return isLimit ? op.getRhs() : Value();
  };
  auto below = x.getDefiningOp<arith::MinimumFOp>();
  auto above = getLimit(below) ? below.getLhs().getDefiningOp<arith::MaximumFOp>() : arith::MaximumFOp();
  if (!getLimit(above))
    return {};
  auto noNaN = arith::FastMathFlagsAttr::get(b.getContext(), arith::FastMathFlags::nnan);
  Value limited = arith::MaximumFOp::create(b, loc, above.getLhs(), above.getRhs(), noNaN);
  return arith::MinimumFOp::create(b, loc, limited, below.getRhs(), noNaN);
}

Value tenon::castScalar(OpBuilder &b, Location loc, Value x, Type from, Type to, bool saturate, Rounding rounding) {
  if (from == to)
    return x;
  if (isSmallFloat(from) || isSmallInt(from))
    return castScalar(b, loc, widenSmallNumber(b, loc, x, from), getWiderType(from), to, saturate, rounding);
  if (isSmallFloat(to))
    return castToSmallFloat(b, loc, x, from, cast<FloatType>(to), saturate, rounding);
  if (isSmallInt(to))
    return encodeSmallInt(b, loc, castScalar(b, loc, x, from, getWiderType(to)), cast<IntegerType>(to));
  Type target = getScalarType(to);
  auto fromFloat = dyn_cast<FloatType>(from), toFloat = dyn_cast<FloatType>(to);
  assert(x.getType() == getScalarType(from) && "a scalar has the type of its element");
  if (fromFloat && toFloat) {
    if (fromFloat.getWidth() == toFloat.getWidth()) { // f16 and bf16
      x = arith::ExtFOp::create(b, loc, b.getF32Type(), x);
      return arith::TruncFOp::create(b, loc, target, x);
    }
    if (fromFloat.getWidth() < toFloat.getWidth())
      return arith::ExtFOp::create(b, loc, target, x);
    return arith::TruncFOp::create(b, loc, target, x);
  }
  Scalar scalar{b, loc, from};
  if (to.isInteger(1)) {
    if (fromFloat)
      return scalar.compareFloat(arith::CmpFPredicate::UNE, x, scalar.like(x, 0));
    return scalar.compareInt(arith::CmpIPredicate::ne, x, scalar.like(x, 0));
  }
  if (Value limited = fromFloat && target.getIntOrFloatBitWidth() <= 16 ? clampTo32Bits(b, loc, x) : Value())
    return arith::TruncIOp::create(b, loc, target, arith::FPToSIOp::create(b, loc, b.getI32Type(), limited));
  if (fromFloat) {
    // The conversion goes through 64 bits, so that a value beyond the target's range wraps instead of being undefined.
    Type i64 = b.getI64Type();
    Value wide = to.isUnsignedInteger(64) ? arith::FPToUIOp::create(b, loc, i64, x).getResult()
                                          : arith::FPToSIOp::create(b, loc, i64, x).getResult();
    return target == i64 ? wide : arith::TruncIOp::create(b, loc, target, wide).getResult();
  }
  if (toFloat) {
    if (scalar.isUnsigned())
      return arith::UIToFPOp::create(b, loc, target, x);
    return arith::SIToFPOp::create(b, loc, target, x);
  }
  unsigned fromWidth = x.getType().getIntOrFloatBitWidth(), toWidth = target.getIntOrFloatBitWidth();
  if (fromWidth == toWidth)
    return x;
  if (fromWidth > toWidth)
    return arith::TruncIOp::create(b, loc, target, x);
  if (scalar.isUnsigned())
    return arith::ExtUIOp::create(b, loc, target, x);
  return arith::ExtSIOp::create(b, loc, target, x);
}

/// Bits are those in memory.
static Value bitcastScalar(OpBuilder &b, Location loc, Value x, Type from, Type to) {
  x = toStorage(b, loc, x, from);
  Type target = getStorageType(to);
  if (x.getType() != target)
    x = arith::BitcastOp::create(b, loc, target, x);
  return fromStorage(b, loc, x, to);
}

//===----------------------------------------------------------------------===//
// Elementwise operations and reductions
//===----------------------------------------------------------------------===//

Value tenon::emitElementwise(OpBuilder &b, Location loc, Operation *op, ValueRange scalars) {
  Type type = getElementTypeOrSelf(op->getOperand(0));
  if (auto cast = dyn_cast<CastOp>(op))
    return castScalar(b, loc, scalars[0], type, cast.getType().getElementType(), cast.getSaturate(),
                      cast.getRounding());
  if (auto bitcast = dyn_cast<BitcastOp>(op))
    return bitcastScalar(b, loc, scalars[0], type, bitcast.getType().getElementType());
  if (isa<SelectOp>(op))
    return arith::SelectOp::create(b, loc, scalars[0], scalars[1], scalars[2]);
  Scalar scalar{b, loc, type};
  SmallVector<Value> operands(scalars);
  if (scalar.isReducedPrecision())
    for (Value &operand : operands)
      operand = arith::ExtFOp::create(b, loc, b.getF32Type(), operand);
  Value result =
      op->getNumOperands() == 1 ? scalar.unary(op, operands[0]) : scalar.binary(op, operands[0], operands[1]);
  if (result && scalar.isReducedPrecision() && result.getType().isF32())
    result = arith::TruncFOp::create(b, loc, type, result);
  return result;
}

Value tenon::emitSoftmaxWeight(OpBuilder &b, Location loc, Value x) {
  auto type = cast<FloatType>(x.getType());
  double smallest = APFloat::getSmallestNormalized(type.getFloatSemantics()).convertToDouble();
  Value least = arith::ConstantOp::create(b, loc, b.getFloatAttr(type, std::log(smallest)));
  Value isSmall = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OLT, x, least);
  Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(type));
  auto weight = math::ExpOp::create(b, loc, x);
  weight->setAttr(kNormalAttr, b.getUnitAttr());
  return arith::SelectOp::create(b, loc, isSmall, zero, weight);
}

Value tenon::emitCombine(OpBuilder &b, Location loc, ReduceKind kind, Type elementType, Value x, Value y) {
  // The order of a sum is unspecified, which allows vectorization.
  auto reorder =
      arith::FastMathFlagsAttr::get(b.getContext(), arith::FastMathFlags::reassoc | arith::FastMathFlags::contract);
  // The new element is the first operand, because x86 returns the second one if either is NaN. With the other order,
  // LLVM would use masked stores, which are ten times slower on some processors.
  arith::FastMathFlagsAttr anyZero = getAnyZero(b);
  if (isa<FloatType>(elementType)) {
    switch (kind) {
    case ReduceKind::sum:
      return arith::AddFOp::create(b, loc, x, y, reorder);
    case ReduceKind::prod:
      return arith::MulFOp::create(b, loc, x, y, reorder);
    case ReduceKind::max:
      return arith::MaximumFOp::create(b, loc, y, x, anyZero);
    case ReduceKind::min:
      return arith::MinimumFOp::create(b, loc, y, x, anyZero);
    }
  }
  bool isUnsigned = elementType.isUnsignedInteger() || elementType.isInteger(1);
  switch (kind) {
  case ReduceKind::sum:
    return arith::AddIOp::create(b, loc, x, y);
  case ReduceKind::prod:
    return arith::MulIOp::create(b, loc, x, y);
  case ReduceKind::max:
    if (isUnsigned)
      return arith::MaxUIOp::create(b, loc, x, y);
    return arith::MaxSIOp::create(b, loc, x, y);
  case ReduceKind::min:
    if (isUnsigned)
      return arith::MinUIOp::create(b, loc, x, y);
    return arith::MinSIOp::create(b, loc, x, y);
  }
  llvm_unreachable("all kinds are above");
}

Value tenon::emitPrecedes(OpBuilder &b, Location loc, Type elementType, Value x, Value y) {
  if (!isa<FloatType>(elementType)) {
    bool isUnsigned = elementType.isUnsignedInteger() || elementType.isInteger(1);
    return arith::CmpIOp::create(b, loc, isUnsigned ? arith::CmpIPredicate::ult : arith::CmpIPredicate::slt, x, y);
  }
  Value isLess = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OLT, x, y);
  Value isNumber = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::ORD, x, x);
  Value isNaN = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNO, y, y);
  return arith::OrIOp::create(b, loc, isLess, arith::AndIOp::create(b, loc, isNumber, isNaN));
}

TypedAttr tenon::getIdentity(OpBuilder &b, ReduceKind kind, Type elementType, Type accumulatorType) {
  if (auto type = dyn_cast<FloatType>(accumulatorType)) {
    double infinity = std::numeric_limits<double>::infinity();
    double value = kind == ReduceKind::sum    ? 0
                   : kind == ReduceKind::prod ? 1
                   : kind == ReduceKind::max  ? -infinity
                                              : infinity;
    return b.getFloatAttr(type, value);
  }
  unsigned width = accumulatorType.getIntOrFloatBitWidth();
  bool isUnsigned = elementType.isUnsignedInteger() || elementType.isInteger(1);
  APInt value(width, kind == ReduceKind::prod ? 1 : 0);
  if (kind == ReduceKind::max && !isUnsigned)
    value = APInt::getSignedMinValue(width);
  if (kind == ReduceKind::min)
    value = isUnsigned ? APInt::getMaxValue(width) : APInt::getSignedMaxValue(width);
  return b.getIntegerAttr(accumulatorType, value);
}
