//===- rounding.c - rounding to integers, remainders, parts of a number ---===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Targets with an instruction for a rounding never call these; plain x86-64 does.
//
//===----------------------------------------------------------------------===//

#include "coefficients.h"
#include "support.h"

/// Rounds a >= 0 to the nearest integer, ties to even: adding 2^52 leaves no bits for a fraction.
INLINE double nearest(double a) { return a < 0x1p52 ? (a + 0x1p52) - 0x1p52 : a; }
INLINE float nearestFloat(float a) { return a < 0x1p23f ? (a + 0x1p23f) - 0x1p23f : a; }

double rint(double x) { return withSign(nearest(absolute(x)), x); }
double nearbyint(double x) { return rint(x); }
double roundeven(double x) { return rint(x); }
double trunc(double x) {
  double a = absolute(x), n = nearest(a);
  return withSign(n > a ? n - 1 : n, x);
}
double round(double x) {
  double a = absolute(x), n = nearest(a);
  n = n > a ? n - 1 : n;
  return withSign(a - n >= 0.5 ? n + 1 : n, x);
}
double floor(double x) {
  double n = rint(x);
  return withSign(n > x ? n - 1 : n, x);
}
double ceil(double x) {
  double n = rint(x);
  return withSign(n < x ? n + 1 : n, x);
}

float rintf(float x) { return withSignFloat(nearestFloat(absoluteFloat(x)), x); }
float nearbyintf(float x) { return rintf(x); }
float roundevenf(float x) { return rintf(x); }
float truncf(float x) {
  float a = absoluteFloat(x), n = nearestFloat(a);
  return withSignFloat(n > a ? n - 1 : n, x);
}
float roundf(float x) {
  float a = absoluteFloat(x), n = nearestFloat(a);
  n = n > a ? n - 1 : n;
  return withSignFloat(a - n >= 0.5f ? n + 1 : n, x);
}
float floorf(float x) {
  float n = rintf(x);
  return withSignFloat(n > x ? n - 1 : n, x);
}
float ceilf(float x) {
  float n = rintf(x);
  return withSignFloat(n < x ? n + 1 : n, x);
}

double fabs(double x) { return absolute(x); }
float fabsf(float x) { return absoluteFloat(x); }
double copysign(double x, double y) { return withSign(x, y); }
float copysignf(float x, float y) { return withSignFloat(x, y); }
double sqrt(double x) { return __builtin_sqrt(x); }
float sqrtf(float x) { return __builtin_sqrtf(x); }

double fmin(double x, double y) { return x < y || y != y ? x : y; }
double fmax(double x, double y) { return x > y || y != y ? x : y; }
float fminf(float x, float y) { return x < y || y != y ? x : y; }
float fmaxf(float x, float y) { return x > y || y != y ? x : y; }

//===----------------------------------------------------------------------===//
// Exponents
//===----------------------------------------------------------------------===//

double ldexp(double x, int n) {
  // Three factors reach from the smallest denormal to infinity. A downward step stops above the denormals, so that only
  // the last product rounds.
  if (n > 1023) {
    x *= 0x1p1023;
    n -= 1023;
    if (n > 1023) {
      x *= 0x1p1023;
      n = n - 1023 > 1023 ? 1023 : n - 1023;
    }
  } else if (n < -1022) {
    x *= 0x1p-969;
    n += 969;
    if (n < -1022) {
      x *= 0x1p-969;
      n = n + 969 < -1022 ? -1022 : n + 969;
    }
  }
  return x * ofBits((uint64_t)(n + 1023) << 52);
}
float ldexpf(float x, int n) {
  // Every float and its product with 2^+-600 is a normal double.
  n = n > 600 ? 600 : n < -600 ? -600 : n;
  return (float)(x * ofBits((uint64_t)(n + 1023) << 52));
}

double frexp(double x, int *exponent) {
  double scaled = absolute(x) < 0x1p-1022 ? x * 0x1p54 : x;
  int isOrdinary = x != 0 && absolute(x) < INF;
  int e = (int)(bitsOf(scaled) >> 52 & 0x7ff) - 1022 - (scaled != x ? 54 : 0);
  *exponent = isOrdinary ? e : 0;
  return isOrdinary ? ofBits((bitsOf(scaled) & 0x800fffffffffffff) | 0x3fe0000000000000) : x;
}
float frexpf(float x, int *exponent) { return (float)frexp(x, exponent); }

double modf(double x, double *whole) {
  *whole = trunc(x);
  return withSign(absolute(x) == INF ? 0 : x - *whole, x);
}
float modff(float x, float *whole) {
  *whole = truncf(x);
  return withSignFloat(absoluteFloat(x) == __builtin_inff() ? 0 : x - *whole, x);
}

/// x^n by squaring.
double __powidf2(double x, int n) {
  double y = 1;
  for (unsigned left = n < 0 ? -(unsigned)n : (unsigned)n; left; left >>= 1) {
    y = left & 1 ? y * x : y;
    x *= x;
  }
  return n < 0 ? 1 / y : y;
}
float __powisf2(float x, int n) { return (float)__powidf2(x, n); }

/// Starts with a cubic polynomial in the mantissa, then two Newton steps, and a last one on 21 bits, whose square is
/// exact.
double cbrt(double x) {
  int exponent;
  double m = 2 * frexp(absolute(x), &exponent); // 1 <= m < 2, |x| = m 2^(exponent-1)
  int shifted = exponent - 1 + 3 * 400;
  int third = (int)((unsigned)shifted / 3), rest = shifted - 3 * third;
  double scaled = rest == 0 ? m : rest == 1 ? 2 * m : 4 * m; // |x| = scaled 2^(3 (third - 400))
  double t = polynomial(m, CBRT, CBRT_DEGREE);
  t *= rest == 0 ? 1 : rest == 1 ? 0x1.428a2f98d728bp+0 : 0x1.965fea53d6e3dp+0;
  t -= (t - scaled / (t * t)) * (1.0 / 3);
  t -= (t - scaled / (t * t)) * (1.0 / 3);
  t = ofBits(bitsOf(t) & 0xffffffff00000000);
  double q = scaled / (t * t);
  t += t * ((q - t) / (2 * t + q)); // Halley
  double y = t * ofBits((uint64_t)(third - 400 + 1023) << 52);
  return x == 0 || x != x || absolute(x) == INF ? x : withSign(y, x);
}
float cbrtf(float x) { return (float)cbrt(x); }

//===----------------------------------------------------------------------===//
// fmod: long division of the mantissas, as many bits a step as a word has room for
//===----------------------------------------------------------------------===//

/// Mantissa and exponent of |x|: m 2^e, denormals with a shorter m.
typedef struct {
  uint64_t m;
  int e;
} Parts;

INLINE Parts partsOf(double x) {
  uint64_t bits = bitsOf(x) & ~(1ull << 63);
  int e = (int)(bits >> 52);
  uint64_t m = bits & 0xfffffffffffff;
  return (Parts){e ? m | 1ull << 52 : m, (e ? e : 1) - 1075};
}

double fmod(double x, double y) {
  double ax = absolute(x), ay = absolute(y);
  if (!(ax < INF) || !(ay > 0))
    return x != x ? x : y != y ? y : NAN;
  if (ax < ay || ay == INF)
    return x;
  Parts a = partsOf(ax), b = partsOf(ay);
  uint64_t rest = a.m % b.m;
  for (int left = a.e - b.e; left > 0; left -= 11) {
    int step = left < 11 ? left : 11; // 53 + 11 bits
    rest = (rest << step) % b.m;
  }
  // rest 2^b.e: exact, since the result has no bit below those of y.
  return withSign(ldexp((double)(int64_t)rest, b.e), x);
}
float fmodf(float x, float y) { return (float)fmod(x, y); }
