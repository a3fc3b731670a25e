//===- Element.cpp - single elements of any type as numbers --------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/tenon-run/Element.h"

#include <bit>
#include <cassert>
#include <cmath>
#include <cstring>

namespace tenon::run {

namespace {
/// A binary floating-point format of at most 16 bits with a leading sign bit.
struct SmallFloat {
  unsigned exponentBits, mantissaBits;
  int bias;
  /// The meaning of the codes with all exponent bits set: infinity and NaN as in IEEE 754; only the last one is NaN; or
  /// none is special.
  enum { ieee, lastIsNan, finite } top;
  bool negativeZeroIsNan;
};
} // namespace

static SmallFloat smallFloat(tenon_dtype dtype) {
  switch (dtype) {
  case TENON_F16:
    return {5, 10, 15, SmallFloat::ieee, false};
  case TENON_BF16:
    return {8, 7, 127, SmallFloat::ieee, false};
  case TENON_F8E4M3FN:
    return {4, 3, 7, SmallFloat::lastIsNan, false};
  case TENON_F8E4M3FNUZ:
    return {4, 3, 8, SmallFloat::finite, true};
  case TENON_F8E5M2:
    return {5, 2, 15, SmallFloat::ieee, false};
  case TENON_F8E5M2FNUZ:
    return {5, 2, 16, SmallFloat::finite, true};
  default: // TENON_F4E2M1
    assert(dtype == TENON_F4E2M1 && "a float is decoded by its fields, or is one of C's own types");
    return {2, 1, 1, SmallFloat::finite, false};
  }
}

/// Returns 2^exponent for exponents from -1022 to 1023, from its bits, because the program must not depend on libm.
static double powerOfTwo(int exponent) { return std::bit_cast<double>(uint64_t(exponent + 1023) << 52); }

static double decode(const SmallFloat &f, unsigned code) {
  unsigned mantissa = code & ((1u << f.mantissaBits) - 1);
  unsigned topExponent = (1u << f.exponentBits) - 1;
  unsigned exponent = code >> f.mantissaBits & topExponent;
  bool negative = code >> (f.mantissaBits + f.exponentBits) & 1;
  if (f.negativeZeroIsNan && negative && !exponent && !mantissa)
    return NAN;
  if (exponent == topExponent) {
    if (f.top == SmallFloat::ieee)
      return mantissa ? NAN : negative ? -INFINITY : INFINITY;
    if (f.top == SmallFloat::lastIsNan && mantissa == (1u << f.mantissaBits) - 1)
      return NAN;
  }
  if (exponent)
    mantissa |= 1u << f.mantissaBits;
  double value = double(mantissa) * powerOfTwo(int(exponent ? exponent : 1) - f.bias - int(f.mantissaBits));
  return negative ? -value : value;
}

/// Returns the code of the value nearest to `value`, ties to even, by binary search: codes of one sign are ordered like
/// their values.
static unsigned encode(const SmallFloat &f, double value) {
  unsigned sign = 1u << (f.exponentBits + f.mantissaBits);
  unsigned last = sign - 1;
  if (std::isnan(value))
    return f.negativeZeroIsNan ? sign : last;
  while (std::isnan(decode(f, last)) || std::isinf(decode(f, last)))
    --last;
  double magnitude = std::fabs(value);
  unsigned low = 0, high = last;
  while (low < high) {
    unsigned middle = (low + high + 1) / 2;
    if (decode(f, middle) <= magnitude)
      low = middle;
    else
      high = middle - 1;
  }
  if (low < last) {
    double below = magnitude - decode(f, low), above = decode(f, low + 1) - magnitude;
    if (above < below || (above == below && (low & 1)))
      ++low;
  }
  bool negative = std::signbit(value) && !(low == 0 && f.negativeZeroIsNan);
  return negative ? low | sign : low;
}

bool isFloat(tenon_dtype dtype) {
  switch (dtype) {
  case TENON_I8:
  case TENON_I16:
  case TENON_I32:
  case TENON_I64:
  case TENON_U8:
  case TENON_U16:
  case TENON_U32:
  case TENON_U64:
  case TENON_BOOL:
  case TENON_I4:
  case TENON_U4:
  case TENON_I2:
  case TENON_U2:
  case TENON_STRING:
    return false;
  default:
    return true;
  }
}

template <typename T> static double get(const void *data, uint64_t index) {
  T value;
  memcpy(&value, static_cast<const uint8_t *>(data) + index * sizeof value, sizeof value);
  return double(value);
}

/// Returns the significant bits of an element of less than eight bits.
static unsigned bitsAt(const void *data, uint64_t index, unsigned bits) {
  return static_cast<const uint8_t *>(data)[index] & ((1u << bits) - 1);
}

static double signExtend(unsigned value, unsigned bits) {
  return value >> (bits - 1) ? double(value) - double(1u << bits) : double(value);
}

double elementAt(tenon_dtype dtype, const void *data, uint64_t index) {
  switch (dtype) {
  case TENON_F32:
  case TENON_C64:
    return get<float>(data, index);
  case TENON_F64:
  case TENON_C128:
    return get<double>(data, index);
  case TENON_I8:
    return get<int8_t>(data, index);
  case TENON_I16:
    return get<int16_t>(data, index);
  case TENON_I32:
    return get<int32_t>(data, index);
  case TENON_I64:
    return get<int64_t>(data, index);
  case TENON_U8:
  case TENON_BOOL:
    return get<uint8_t>(data, index);
  case TENON_U16:
    return get<uint16_t>(data, index);
  case TENON_U32:
    return get<uint32_t>(data, index);
  case TENON_U64:
    return get<uint64_t>(data, index);
  case TENON_F16:
  case TENON_BF16:
    return decode(smallFloat(dtype), unsigned(get<uint16_t>(data, index)));
  case TENON_F8E4M3FN:
  case TENON_F8E4M3FNUZ:
  case TENON_F8E5M2:
  case TENON_F8E5M2FNUZ:
    return decode(smallFloat(dtype), unsigned(get<uint8_t>(data, index)));
  case TENON_F8E8M0: {
    double code = get<uint8_t>(data, index);
    return code == 255 ? NAN : powerOfTwo(int(code) - 127);
  }
  case TENON_F4E2M1:
    return decode(smallFloat(dtype), bitsAt(data, index, 4));
  case TENON_I4:
    return signExtend(bitsAt(data, index, 4), 4);
  case TENON_U4:
    return bitsAt(data, index, 4);
  case TENON_I2:
    return signExtend(bitsAt(data, index, 2), 2);
  case TENON_U2:
    return bitsAt(data, index, 2);
  case TENON_STRING:
    break;
  }
  return NAN;
}

template <typename T> static void put(void *data, uint64_t index, T value) {
  memcpy(static_cast<uint8_t *>(data) + index * sizeof value, &value, sizeof value);
}

/// Like nearbyint, which would be the only dependence of this program on libm.
static double roundToEven(double value) {
  constexpr double kWholeFrom = 4503599627370496; // 2^52: doubles from here on have no fraction
  if (!(std::fabs(value) < kWholeFrom))
    return value;
  volatile double shifted = std::fabs(value) + kWholeFrom;
  return std::copysign(shifted - kWholeFrom, value);
}

template <typename T> static void putInteger(void *data, uint64_t index, double value) {
  // Both bounds are exact as doubles, except for the largest 64-bit integers, which round up: therefore >=.
  constexpr T kMin = T(-1) < T(0) ? T(T(1) << (sizeof(T) * 8 - 1)) : T(0);
  constexpr T kMax = T(~kMin);
  double rounded = roundToEven(value);
  T result = std::isnan(value) ? T(0) : rounded >= double(kMax) ? kMax : rounded <= double(kMin) ? kMin : T(rounded);
  put(data, index, result);
}

static void putSmallInteger(void *data, uint64_t index, double value, double least, double most, unsigned bits) {
  double rounded = std::isnan(value) ? 0 : roundToEven(value);
  rounded = rounded < least ? least : rounded > most ? most : rounded;
  put(data, index, uint8_t(unsigned(int(rounded)) & ((1u << bits) - 1)));
}

void setElement(tenon_dtype dtype, void *data, uint64_t index, double value) {
  switch (dtype) {
  case TENON_F32:
  case TENON_C64:
    return put(data, index, float(value));
  case TENON_F64:
  case TENON_C128:
    return put(data, index, value);
  case TENON_I8:
    return putInteger<int8_t>(data, index, value);
  case TENON_I16:
    return putInteger<int16_t>(data, index, value);
  case TENON_I32:
    return putInteger<int32_t>(data, index, value);
  case TENON_I64:
    return putInteger<int64_t>(data, index, value);
  case TENON_U8:
    return putInteger<uint8_t>(data, index, value);
  case TENON_BOOL:
    return put(data, index, uint8_t(value != 0));
  case TENON_U16:
    return putInteger<uint16_t>(data, index, value);
  case TENON_U32:
    return putInteger<uint32_t>(data, index, value);
  case TENON_U64:
    return putInteger<uint64_t>(data, index, value);
  case TENON_F16:
  case TENON_BF16:
    return put(data, index, uint16_t(encode(smallFloat(dtype), value)));
  case TENON_F8E4M3FN:
  case TENON_F8E4M3FNUZ:
  case TENON_F8E5M2:
  case TENON_F8E5M2FNUZ:
  case TENON_F4E2M1:
    return put(data, index, uint8_t(encode(smallFloat(dtype), value)));
  case TENON_F8E8M0: {
    unsigned code = 0;
    // The geometric middle of two powers decides.
    while (code < 254 && value >= powerOfTwo(int(code) - 127) * 1.4142135623730951)
      ++code;
    return put(data, index, uint8_t(std::isnan(value) ? 255 : code));
  }
  case TENON_I4:
    return putSmallInteger(data, index, value, -8, 7, 4);
  case TENON_U4:
    return putSmallInteger(data, index, value, 0, 15, 4);
  case TENON_I2:
    return putSmallInteger(data, index, value, -2, 1, 2);
  case TENON_U2:
    return putSmallInteger(data, index, value, 0, 3, 2);
  case TENON_STRING:
    return;
  }
}

} // namespace tenon::run
