//===- SmallNumbers.cpp - numbers that are a byte in scalar code -----------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Written with selects and without tables or branches, so that LLVM's
// vectoriser takes it as it is.
//
//===----------------------------------------------------------------------===//

#include "passes/lower/tenon-to-linalg/SmallNumbers.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/APFloat.h"
#include <bit>
#include <cmath>
#include <optional>

using namespace mlir;
using namespace tenon;
using llvm::APFloat;

bool tenon::isSmallFloat(Type type) { return isa<FloatType>(type) && type.getIntOrFloatBitWidth() <= 8; }

bool tenon::isSmallInt(Type type) {
  return isa<IntegerType>(type) && type.getIntOrFloatBitWidth() < 8 && !type.isInteger(1);
}

namespace {

/// An unsigned number of 32 bits under construction.
struct Word {
  OpBuilder *b;
  Location loc;
  Value value;

  Word of(Value v) const { return {b, loc, v}; }
  Word constant(uint32_t number) const {
    return of(arith::ConstantOp::create(*b, loc, b->getI32IntegerAttr(static_cast<int32_t>(number))));
  }
  Word select(Value condition, Word otherwise) const {
    return of(arith::SelectOp::create(*b, loc, condition, value, otherwise.value));
  }
  Value compare(arith::CmpIPredicate predicate, uint32_t number) const {
    return arith::CmpIOp::create(*b, loc, predicate, value, constant(number).value);
  }
  Value operator==(uint32_t number) const { return compare(arith::CmpIPredicate::eq, number); }
  Value operator<(uint32_t number) const { return compare(arith::CmpIPredicate::ult, number); }
  Value operator>(uint32_t number) const { return compare(arith::CmpIPredicate::ugt, number); }
  Word operator+(Word other) const { return of(arith::AddIOp::create(*b, loc, value, other.value)); }
  Word operator+(uint32_t number) const { return *this + constant(number); }
  Word operator-(uint32_t number) const { return *this + (0u - number); }
  Word operator&(uint32_t number) const { return of(arith::AndIOp::create(*b, loc, value, constant(number).value)); }
  Word operator|(Word other) const { return of(arith::OrIOp::create(*b, loc, value, other.value)); }
  Word operator<<(unsigned by) const { return of(arith::ShLIOp::create(*b, loc, value, constant(by).value)); }
  Word operator>>(unsigned by) const { return of(arith::ShRUIOp::create(*b, loc, value, constant(by).value)); }

  Value asFloat() const { return arith::BitcastOp::create(*b, loc, b->getF32Type(), value); }
  Value asByte() const { return arith::TruncIOp::create(*b, loc, b->getI8Type(), value); }
};

/// The encoding of a small float, apart from the sign bit.
struct Format {
  explicit Format(FloatType type);

  unsigned mantissaBits, signBit;
  int bias;
  float smallest;                        // the least number above zero
  uint32_t largest;                      // the code of the largest finite number
  std::optional<uint32_t> infinity, nan; // where the type has them
  bool hasNegativeZero;                  // otherwise its code is NaN
};

} // namespace

static constexpr uint32_t kInfinity = 0x7f800000, kNaN = 0x7fc00000; // format: f32
static constexpr unsigned kMantissaBits = 23;                        // format: f32
static constexpr int kBias = 127;                                    // format: f32

static uint32_t codeOf(const APFloat &number) { return number.bitcastToAPInt().getZExtValue(); }

Format::Format(FloatType type) {
  assert(isSmallFloat(type) && "wider floats have instructions");
  const llvm::fltSemantics &semantics = type.getFloatSemantics();
  mantissaBits = APFloat::semanticsPrecision(semantics) - 1;
  signBit = type.getWidth() - 1;
  bias = 1 - APFloat::semanticsMinExponent(semantics);
  smallest = std::ldexp(1.0f, 1 - bias - static_cast<int>(mantissaBits));
  largest = codeOf(APFloat::getLargest(semantics));
  if (APFloat::semanticsHasInf(semantics))
    infinity = codeOf(APFloat::getInf(semantics));
  if (APFloat::semanticsHasNaN(semantics))
    nan = codeOf(APFloat::getQNaN(semantics));
  hasNegativeZero = APFloat::getZero(semantics, /*Negative=*/true).isNegative();
}

static Word bitsOf(OpBuilder &b, Location loc, Value x) {
  assert(x.getType().isF32() && "small floats are converted from and to f32");
  return {&b, loc, arith::BitcastOp::create(b, loc, b.getI32Type(), x)};
}

static Value getFloat(OpBuilder &b, Location loc, float number) {
  return arith::ConstantOp::create(b, loc, b.getF32FloatAttr(number));
}

//===----------------------------------------------------------------------===//
// The exponent alone: f8E8M0FNU
//===----------------------------------------------------------------------===//

static constexpr uint32_t kExponentNaN = 255; // format: f8E8M0
/// 2^-127, which is no normal f32, and 2^127.
static constexpr uint32_t kSmallestPower = 0x00400000, kLargestPower = 0x7f000000; // format: f8E8M0

static Value decodePower(Word code) {
  Word bits = (code << kMantissaBits).select(code > 0, code.constant(kSmallestPower));
  return code.constant(kNaN).select(code == kExponentNaN, bits).asFloat();
}

static Value encodePower(Word bits, bool saturate, Rounding rounding) {
  // Numbers below 2^-126 are denormal in f32. From 2^-127 on, a shift normalizes them, with exponent 0.
  Word normal = bits.select(bits > 0x007fffff, (bits << 1) - 0x00800000);
  uint32_t addend = rounding == Rounding::up ? 0x007fffff : rounding == Rounding::nearest ? 0x00400000 : 0;
  Word code = (normal + addend) >> kMantissaBits;
  Word below = bits.constant(saturate ? 0 : kExponentNaN), above = bits.constant(saturate ? 254 : kExponentNaN);
  code = below.select(bits < kSmallestPower, code);
  code = above.select(bits > kLargestPower, code);
  // A sign is the highest bit: NaN, too.
  return bits.constant(kExponentNaN).select(bits > kInfinity, code).asByte();
}

//===----------------------------------------------------------------------===//
// Small floats
//===----------------------------------------------------------------------===//

Value tenon::decodeSmallFloat(OpBuilder &b, Location loc, Value byte, FloatType type) {
  Word code{&b, loc, arith::ExtUIOp::create(b, loc, b.getI32Type(), byte)};
  if (isa<Float8E8M0FNUType>(type))
    return decodePower(code);
  Format format(type);
  uint32_t signMask = 1u << format.signBit;
  Word magnitude = code & (signMask - 1);
  Word normal = (magnitude << (kMantissaBits - format.mantissaBits)) +
                (static_cast<uint32_t>(kBias - format.bias) << kMantissaBits);
  // A denormal code is a multiple of the smallest number.
  Value multiple = arith::UIToFPOp::create(b, loc, b.getF32Type(), magnitude.value);
  Word subnormal = bitsOf(b, loc, arith::MulFOp::create(b, loc, multiple, getFloat(b, loc, format.smallest)));
  Word bits = subnormal.select(magnitude < 1u << format.mantissaBits, normal);
  if (format.largest < signMask - 1)
    bits = bits.constant(kNaN).select(magnitude > format.largest, bits);
  if (format.infinity)
    bits = bits.constant(kInfinity).select(magnitude == *format.infinity, bits);
  bits = bits | (code & signMask) << (31 - format.signBit);
  if (!format.hasNegativeZero)
    bits = bits.constant(kNaN).select(code == signMask, bits);
  return bits.asFloat();
}

Value tenon::encodeSmallFloat(OpBuilder &b, Location loc, Value x, FloatType type, bool saturate, Rounding rounding) {
  Word bits = bitsOf(b, loc, x);
  if (isa<Float8E8M0FNUType>(type))
    return encodePower(bits, saturate, rounding);
  Format format(type);
  Word magnitude = bits & 0x7fffffff;
  // Rounds to nearest even: adds half of the last kept bit, minus one if that bit is 0.
  unsigned dropped = kMantissaBits - format.mantissaBits;
  Word rounded = magnitude + ((1u << (dropped - 1)) - 1) + ((magnitude >> dropped) & 1);
  Word normal = (rounded >> dropped) - (static_cast<uint32_t>(kBias - format.bias) << format.mantissaBits);
  // Denormal results are multiples of the smallest number. Adding a number whose last bit has that value makes the
  // addition round them to nearest even.
  float shift = std::ldexp(format.smallest, kMantissaBits);
  Value sum = arith::AddFOp::create(b, loc, magnitude.asFloat(), getFloat(b, loc, shift));
  Word subnormal = bitsOf(b, loc, sum) - std::bit_cast<uint32_t>(shift);
  Word code = subnormal.select(magnitude < static_cast<uint32_t>(kBias - format.bias + 1) << kMantissaBits, normal);

  uint32_t beyond = saturate || !format.nan ? format.largest : format.infinity.value_or(*format.nan);
  code = code.constant(beyond).select(code > format.largest, code);
  code = code.constant(format.nan.value_or(0)).select(magnitude > kInfinity, code);
  Word sign = (bits >> 31) << format.signBit;
  if (!format.hasNegativeZero)
    sign = code.constant(0).select(code == 0, sign);
  return (code | sign).asByte();
}

Value tenon::roundToOdd(OpBuilder &b, Location loc, Value x) {
  Value nearest = arith::TruncFOp::create(b, loc, b.getF32Type(), x);
  Value back = arith::ExtFOp::create(b, loc, b.getF64Type(), nearest);
  Word bits = bitsOf(b, loc, nearest);
  // False of NaN, which stays.
  Value differs = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::ONE, back, x);
  Value isEven = (bits & 1) == 0;
  Value isLarger = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OGT, math::AbsFOp::create(b, loc, back),
                                         math::AbsFOp::create(b, loc, x));
  Word other = (bits - 1).select(isLarger, bits + 1);
  return other.select(arith::AndIOp::create(b, loc, differs, isEven), bits).asFloat();
}

//===----------------------------------------------------------------------===//
// Small integers
//===----------------------------------------------------------------------===//

Value tenon::decodeSmallInt(OpBuilder &b, Location loc, Value byte, IntegerType type) {
  if (type.isUnsigned())
    return encodeSmallInt(b, loc, byte, type);
  Value above = arith::ConstantIntOp::create(b, loc, b.getI8Type(), 8 - type.getWidth());
  return arith::ShRSIOp::create(b, loc, arith::ShLIOp::create(b, loc, byte, above), above);
}

Value tenon::encodeSmallInt(OpBuilder &b, Location loc, Value x, IntegerType type) {
  Value mask = arith::ConstantIntOp::create(b, loc, b.getI8Type(), (1 << type.getWidth()) - 1);
  return arith::AndIOp::create(b, loc, x, mask);
}
