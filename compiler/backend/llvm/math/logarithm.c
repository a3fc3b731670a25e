//===- logarithm.c - log, log2, log10, log1p, pow -------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// x = 2^k (1+f) with 1+f in sqrt(1/2)..sqrt(2), and log(1+f) = 2 atanh(s) for
// s = f/(2+f). As atanh(s) = s + s^3/3 + ..., log(1+f) = f - f^2/2 + s (f^2/2 + R),
// which keeps the rounding of s away from the leading term (the arrangement is K.C. Ng's).
//
//===----------------------------------------------------------------------===//

#include "exponential.h"

/// The exponent and mantissa of x > 0: x = 2^k (1+f).
typedef struct {
  double k, f;
} LogReduced;

INLINE LogReduced reduceLog(double x) {
  const uint64_t one = 0x3ff0000000000000, rootHalf = 0x3fe6a09e667f3bcd;
  int isTiny = x < 0x1p-1022;
  uint64_t bits = bitsOf(isTiny ? x * 0x1p54 : x);
  uint64_t exponent = (bits + (one - rootHalf)) >> 52; // biased by 1023
  // An integer in the mantissa of 2^52 is converted by a subtraction, which every vector unit has.
  double k = ofBits(0x4330000000000000 | exponent) - (0x1p52 + 1023);
  double m = ofBits(bits - (exponent << 52) + one);
  return (LogReduced){isTiny ? k - 54 : k, m - 1};
}

/// log(1+f) = f - (half - rest), half = f^2/2.
typedef struct {
  double half, rest;
} LogTail;

INLINE LogTail logTail(double f) {
  double s = f / (2 + f), z = s * s, half = 0.5 * f * f;
  return (LogTail){half, s * (half + z * polynomial(z, LOG, LOG_DEGREE))};
}

/// Returns the logarithm for arguments that are not finite and positive, else y.
INLINE double logSpecial(double x, double y) {
  y = x == INF ? x : y;
  y = x < 0 ? NAN : y;
  y = x == 0 ? -INF : y;
  return x != x ? x : y;
}

HOT double log(double x) {
  LogReduced x1 = reduceLog(x);
  LogTail tail = logTail(x1.f);
  return logSpecial(x, x1.k * LN2_HI + (x1.f - (tail.half - (tail.rest + x1.k * LN2_LO))));
}

/// log(1+f) as a sum whose first part has 21 bits, so that its product with a short constant is exact.
INLINE Sum logParts(double f) {
  LogTail tail = logTail(f);
  double hi = ofBits(bitsOf(f - tail.half) & 0xffffffff00000000);
  return (Sum){hi, ((f - hi) - tail.half) + tail.rest};
}

HOT double log2(double x) {
  const double hi = 0x1.7154765200000p+0, lo = 0x1.705fc2eefa200p-33; // 1/ln(2)
  LogReduced x1 = reduceLog(x);
  Sum y = logParts(x1.f);
  Sum sum = addOrdered(x1.k, y.hi * hi);
  return logSpecial(x, sum.hi + (sum.lo + ((y.lo + y.hi) * lo + y.lo * hi)));
}

HOT double log10(double x) {
  const double hi = 0x1.bcb7b15200000p-2, lo = 0x1.b9438ca9aadd5p-36;   // 1/ln(10)
  const double hi2 = 0x1.34413509f6000p-2, lo2 = 0x1.9fef311f12b36p-42; // log10(2)
  LogReduced x1 = reduceLog(x);
  Sum y = logParts(x1.f);
  Sum sum = addOrdered(x1.k * hi2, y.hi * hi);
  return logSpecial(x, sum.hi + (sum.lo + (x1.k * lo2 + (y.lo + y.hi) * lo + y.lo * hi)));
}

HOT double log1p(double x) {
  double u = 1 + x;
  // The rounding error of u relative to u: the derivative of the logarithm.
  double lost = (x > 1 ? 1 - (u - x) : x - (u - 1)) / u;
  LogReduced u1 = reduceLog(u);
  LogTail tail = logTail(u1.f);
  double y = u1.k * LN2_HI + (u1.f - (tail.half - (tail.rest + (u1.k * LN2_LO + lost))));
  y = logSpecial(u, y);
  y = x < -1 ? NAN : y;
  return x == 0 || x != x ? x : y;
}

//===----------------------------------------------------------------------===//
// pow
//===----------------------------------------------------------------------===//

/// log(x) for finite x > 0 with about 65 bits: a power multiplies its error by up to 745.
INLINE Sum logExtended(double x) {
  LogReduced x1 = reduceLog(x);
  double f = x1.f;
  Sum t = addOrdered(2, f);
  double s = f / t.hi;
  Sum product = multiplyExact(s, t.hi);
  double sLow = (((f - product.hi) - product.lo) - s * t.lo) / t.hi;

  // atanh(s + sLow) = s + sLow + s^3/3 + s^5 Q(s^2); the cubic term needs a low part as well.
  Sum square = multiplyExact(s, s);
  double squareLow = square.lo + 2 * s * sLow;
  Sum cube = multiplyExact(s, square.hi);
  double cubeLow = cube.lo + s * squareLow + sLow * square.hi;
  Sum third = multiplyExact(cube.hi, 0x1.5555555555555p-2);
  double thirdLow = third.lo + cube.hi * 0x1.5555555555555p-56 + cubeLow * 0x1.5555555555555p-2;
  double tail = s * square.hi * square.hi * polynomial(square.hi, POWLOG, POWLOG_DEGREE);

  Sum y = addOrdered(s, third.hi);
  y.lo += sLow + (thirdLow + tail);
  Sum whole = addExact(x1.k * LN2_HI, 2 * y.hi);
  return addOrdered(whole.hi, whole.lo + (2 * y.lo + x1.k * LN2_LO));
}

/// Adding and subtracting 2^52 rounds to an integer; beyond it every number is one.
INLINE int isInteger(double x) {
  double a = absolute(x);
  return a >= 0x1p52 || (a + 0x1p52) - 0x1p52 == a;
}

/// x^y by the cases of C's annex F, where `finite` is |x|^y for finite nonzero x and finite y.
INLINE double powSpecial(double x, double y, double finite) {
  double a = absolute(x);
  int isWhole = isInteger(y);
  int isOdd = isWhole && !isInteger(0.5 * y);
  double limit = a == 1 ? 1 : ((a > 1) == (y > 0) ? INF : 0);
  int isLimit = a == 0 || a == INF || absolute(y) == INF;
  double r = isLimit ? limit : finite;
  r = x < 0 && !isLimit && !isWhole ? NAN : r;
  r = isOdd && (int64_t)bitsOf(x) < 0 ? -r : r;
  r = x != x || y != y ? x + y : r;
  return y == 0 || x == 1 ? 1 : r;
}

HOT double pow(double x, double y) {
  // A larger |y| overflows or underflows as well, and its product could not be split.
  double power = y > 0x1p65 ? 0x1p65 : y;
  power = power < -0x1p65 ? -0x1p65 : power;
  Sum l = logExtended(absolute(x));
  Sum e = multiplyExact(power, l.hi);
  e.lo += power * l.lo;
  return powSpecial(x, y, expOfSum(e.hi, absolute(e.hi) > 800 ? 0 : e.lo, 0));
}

//===----------------------------------------------------------------------===//
// float
//===----------------------------------------------------------------------===//

HOT float logf(float x) {
  const uint32_t one = 0x3f800000, rootHalf = 0x3f3504f3;
  int isTiny = x < 0x1p-126f;
  uint32_t bits = bitsOfFloat(isTiny ? x * 0x1p25f : x);
  uint32_t exponent = (bits + (one - rootHalf)) >> 23;
  float k = (float)((int32_t)exponent - (isTiny ? 152 : 127));
  float f = floatOfBits(bits - (exponent << 23) + one) - 1;
  float s = f / (2 + f), z = s * s, half = 0.5f * f * f;
  float rest = s * (half + z * polynomialFloat(z, LOGF, LOGF_DEGREE));
  float y = k * 0x1.62e4p-1f + (f - (half - (rest + k * 0x1.7f7d1cp-20f)));
  y = x == __builtin_inff() ? x : y;
  y = x < 0 ? __builtin_nanf("") : y;
  y = x == 0 ? -__builtin_inff() : y;
  return x != x ? x : y;
}

HOT float log2f(float x) { return (float)log2(x); }
HOT float log10f(float x) { return (float)log10(x); }
HOT float log1pf(float x) { return (float)log1p(x); }

HOT float powf(float x, float y) {
  LogReduced x1 = reduceLog(absolute(x));
  LogTail tail = logTail(x1.f);
  double l = x1.k * LN2_HI + (x1.f - (tail.half - (tail.rest + x1.k * LN2_LO)));
  return (float)powSpecial(x, y, expOfSum(y * l, 0, 0));
}
