//===- trigonometric.c - sin, cos, tan ------------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// x = n pi/2 + r with |r| <= pi/4. Small arguments: Cody and Waite, pi/2 in
// parts whose products with n are exact. Huge ones: Payne and Hanek, the product
// of the mantissa with just those bits of 2/pi that decide quadrant and fraction.
//
//===----------------------------------------------------------------------===//

#include "coefficients.h"
#include "support.h"

#define TWO_OVER_PI 0x1.45f306dc9c883p-1

typedef struct {
  uint64_t quadrant; // its low two bits
  double hi, lo;
} Reduced;

/// For |x| <= 10^6: n has 20 bits and the parts of pi/2 have 33 each.
INLINE Reduced reduceSmall(double x) {
  double rounded = x * TWO_OVER_PI + ROUNDER;
  double n = rounded - ROUNDER;
  double first = x - n * 0x1.921fb54400000p+0; // exact
  Sum second = addExact(first, -(n * 0x1.0b4611a600000p-34));
  Sum third = addExact(second.hi, -(n * 0x1.3198a2e000000p-69));
  Sum r = addOrdered(third.hi, second.lo + (third.lo - n * 0x1.b839a252049c1p-104));
  return (Reduced){bitsOf(rounded), r.hi, r.lo};
}

/// The bits of 2/pi after the binary point, behind one word of zeros.
static const uint64_t twoOverPi[21] = {0,
                                       0xa2f9836e4e441529,
                                       0xfc2757d1f534ddc0,
                                       0xdb6295993c439041,
                                       0xfe5163abdebbc561,
                                       0xb7246e3a424dd2e0,
                                       0x06492eea09d1921c,
                                       0xfe1deb1cb129a73e,
                                       0xe88235f52ebb4484,
                                       0xe99c7026b45f7e41,
                                       0x3991d639835339f4,
                                       0x9c845f8bbdf9283b,
                                       0x1ff897ffde05980f,
                                       0xef2f118b5a0a6d1f,
                                       0x6d367ecf27cb09b7,
                                       0x4f463f669e5fea2d,
                                       0x7527bac7ebe5f17b,
                                       0x3d0739f78a5292ea,
                                       0x6bfb5fb11f8d5d08,
                                       0x56033046fc7b6bab,
                                       0xf0cfbc209af4361d};

INLINE uint64_t wordAt(unsigned position) {
  unsigned word = position >> 6, shift = position & 63;
  return twoOverPi[word] << shift | twoOverPi[word + 1] >> 1 >> (63 - shift);
}

/// For 10^6 < |x| < inf. With x = m 2^e, bits of 2/pi worth more than 2^(1-e) only add whole periods; the next 192 bits
/// give 2 of the quadrant and a fraction with 62 bits more than the worst cancellation of a double needs.
static Reduced reduceHuge(double x) {
  uint64_t bits = bitsOf(x);
  int exponent = (int)(bits >> 52 & 0x7ff) - 1075;
  uint64_t m = (bits & 0xfffffffffffff) | 1ull << 52;
  unsigned position = (unsigned)(exponent - 2 + 64);

  unsigned __int128 low = (unsigned __int128)m * wordAt(position + 128);
  unsigned __int128 middle = (unsigned __int128)m * wordAt(position + 64) + (uint64_t)(low >> 64);
  uint64_t high = m * wordAt(position) + (uint64_t)(middle >> 64);

  // Rounds to the nearest quadrant; the remainder is a signed fraction of 190 bits.
  uint64_t quadrant = (high + (1ull << 61)) >> 62;
  high -= quadrant << 62;
  uint64_t words[3] = {high, (uint64_t)middle, (uint64_t)low};
  int isNegative = (int64_t)high < 0;
  if (isNegative) {
    // Two's complement, minus one unit in the last of 190 places.
    words[0] = ~words[0];
    words[1] = ~words[1];
    words[2] = ~words[2];
  }
  // Shift the leading zeros out: at most some 70.
  unsigned zeros = 0;
  if (words[0] == 0) {
    words[0] = words[1];
    words[1] = words[2];
    words[2] = 0;
    zeros = 64;
  }
  unsigned shift = words[0] ? (unsigned)__builtin_clzll(words[0]) : 0;
  uint64_t top = words[0] << shift | words[1] >> 1 >> (63 - shift);
  uint64_t next = words[1] << shift | words[2] >> 1 >> (63 - shift);
  zeros += shift;
  // 53 + 53 bits; the first bit of `top` is worth 1/2 turn quarter, 2^-zeros of it.
  double a = (double)(int64_t)(top >> 11) * 0x1p-51;
  double b = (double)(int64_t)((top & 0x7ff) << 42 | next >> 22) * 0x1p-104;
  double scale = ofBits((uint64_t)(1023 - zeros) << 52);
  Sum r = multiplyExact(a, HALF_PI_HI);
  r.lo += a * HALF_PI_LO + b * HALF_PI_HI;
  r = addOrdered(r.hi, r.lo);
  scale = isNegative ? -scale : scale;
  int isMinus = (int64_t)bits < 0;
  scale = isMinus ? -scale : scale;
  return (Reduced){isMinus ? -quadrant : quadrant, r.hi * scale, r.lo * scale};
}

INLINE Reduced reduce(double x) { return absolute(x) <= 1e6 ? reduceSmall(x) : reduceHuge(x); }

INLINE double sinReduced(Reduced x) {
  double z = x.hi * x.hi;
  return x.hi + (z * x.hi * polynomial(z, SIN, SIN_DEGREE) + (x.lo - 0.5 * z * x.lo));
}
INLINE double cosReduced(Reduced x) {
  double z = x.hi * x.hi, half = 0.5 * z, whole = 1 - half;
  return whole + (((1 - whole) - half) + (z * z * polynomial(z, COS, COS_DEGREE) - x.hi * x.lo));
}

/// sin(r + quadrant pi/2).
INLINE double turned(uint64_t quadrant, double sine, double cosine) {
  double y = quadrant & 1 ? cosine : sine;
  return quadrant & 2 ? -y : y;
}

double sin(double x) {
  Reduced r = reduce(x);
  double y = turned(r.quadrant, sinReduced(r), cosReduced(r));
  y = x == 0 ? x : y;
  return absolute(x) < INF ? y : NAN;
}
double cos(double x) {
  Reduced r = reduce(x);
  double y = turned(r.quadrant + 1, sinReduced(r), cosReduced(r));
  return absolute(x) < INF ? y : NAN;
}
double tan(double x) {
  Reduced r = reduce(x);
  double sine = sinReduced(r), cosine = cosReduced(r);
  double y = r.quadrant & 1 ? -cosine / sine : sine / cosine;
  y = x == 0 ? x : y;
  return absolute(x) < INF ? y : NAN;
}
void sincos(double x, double *sine, double *cosine) {
  *sine = sin(x);
  *cosine = cos(x);
}

//===----------------------------------------------------------------------===//
// float: reduced and evaluated in double, rounded once
//===----------------------------------------------------------------------===//

/// Selects one of five words by comparisons: a table in memory would prevent the vectorizer from turning branches into
/// selects.
INLINE uint32_t wordOf(unsigned index, uint32_t a, uint32_t b, uint32_t c, uint32_t d, uint32_t e) {
  uint32_t low = index == 0 ? a : b, high = index == 2 ? c : d;
  uint32_t word = index < 2 ? low : high;
  return index < 4 ? word : e;
}

INLINE Reduced reduceFloat(float x) {
  double rounded = x * TWO_OVER_PI + ROUNDER;
  double n = rounded - ROUNDER;
  // For |x| <= 2^22 the first product is exact, and the second is far below the worst cancellation, some
  // 2^-30.
  double r = (x - n * 0x1.921fb54400000p+0) - n * 0x1.0b4611a626331p-34;
  uint64_t quadrant = bitsOf(rounded);
  if (absoluteFloat(x) > 0x1p22f) {
    // Like reduceHuge, with 96 bits of 2/pi and 32-bit words.
    uint32_t bits = bitsOfFloat(x);
    uint32_t m = (bits & 0x7fffff) | 0x800000;
    unsigned position = (bits >> 23 & 0xff) - 150 - 2 + 32, index = position >> 5, shift = position & 31;
    uint32_t w0 = wordOf(index, 0, 0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0);
    uint32_t w1 = wordOf(index, 0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0, 0xdb629599);
    uint32_t w2 = wordOf(index, 0x4e441529, 0xfc2757d1, 0xf534ddc0, 0xdb629599, 0x3c439041);
    uint32_t w3 = wordOf(index, 0xfc2757d1, 0xf534ddc0, 0xdb629599, 0x3c439041, 0xfe5163ab);
    w0 = w0 << shift | w1 >> 1 >> (31 - shift);
    w1 = w1 << shift | w2 >> 1 >> (31 - shift);
    w2 = w2 << shift | w3 >> 1 >> (31 - shift);
    uint64_t middle = (uint64_t)m * w1 + ((uint64_t)m * w2 >> 32);
    uint64_t fraction = ((uint64_t)(m * w0) << 32) + middle;
    uint64_t turns = (fraction + (1ull << 61)) >> 62;
    double signedFraction = (double)(int64_t)(fraction - (turns << 62)) * 0x1p-62;
    int isMinus = x < 0;
    r = (isMinus ? -signedFraction : signedFraction) * HALF_PI_HI;
    quadrant = isMinus ? -turns : turns;
  }
  return (Reduced){quadrant, r, 0};
}

INLINE double sinReducedFloat(double r) {
  double z = r * r;
  return r + r * (z * polynomial(z, SINF, SINF_DEGREE));
}
INLINE double cosReducedFloat(double r) {
  double z = r * r;
  return 1 - 0.5 * z + z * z * polynomial(z, COSF, COSF_DEGREE);
}

HOT float sinf(float x) {
  Reduced r = reduceFloat(x);
  float y = (float)turned(r.quadrant, sinReducedFloat(r.hi), cosReducedFloat(r.hi));
  y = x == 0 ? x : y;
  return absoluteFloat(x) < __builtin_inff() ? y : __builtin_nanf("");
}
HOT float cosf(float x) {
  Reduced r = reduceFloat(x);
  float y = (float)turned(r.quadrant + 1, sinReducedFloat(r.hi), cosReducedFloat(r.hi));
  return absoluteFloat(x) < __builtin_inff() ? y : __builtin_nanf("");
}
HOT float tanf(float x) {
  Reduced r = reduceFloat(x);
  double sine = sinReducedFloat(r.hi), cosine = cosReducedFloat(r.hi);
  int isOdd = r.quadrant & 1;
  float y = (float)((isOdd ? -cosine : sine) / (isOdd ? sine : cosine));
  y = x == 0 ? x : y;
  return absoluteFloat(x) < __builtin_inff() ? y : __builtin_nanf("");
}
void sincosf(float x, float *sine, float *cosine) {
  *sine = sinf(x);
  *cosine = cosf(x);
}
