//===- inverse_trigonometric.c - asin, acos, atan, atan2 ------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "coefficients.h"
#include "support.h"

#define PI_HI 0x1.921fb54442d18p+1
#define PI_LO 0x1.1a62633145c07p-53

/// (asin(x) - x) / x for z = x^2 <= 1/4.
INLINE double asinTail(double z) { return z * polynomial(z, ASIN, ASIN_DEGREE); }

/// sqrt(z) as a double-double sum, by one Newton step on the hardware's square root.
INLINE Sum rootOf(double z) {
  double s = __builtin_sqrt(z);
  double hi = ofBits(bitsOf(s) & 0xffffffff00000000); // its square is exact
  return (Sum){hi, z == 0 ? 0 : (z - hi * hi) / (s + hi)};
}

// Above 1/2: asin(x) = pi/2 - 2 asin(sqrt((1-x)/2)).
double asin(double x) {
  double a = absolute(x);
  double z = a > 0.5 ? 0.5 * (1 - a) : a * a;
  double tail = asinTail(z);
  Sum s = rootOf(z);
  // The large parts pi/4 and hi are subtracted first, with a single rounding.
  double wide = PI_HI / 4 - (2 * ((s.hi + s.lo) * tail + s.lo) - (PI_LO / 2)) + (PI_HI / 4 - 2 * s.hi);
  double y = a > 0.5 ? wide : a + a * tail;
  return a > 1 ? NAN : withSign(y, x);
}

double acos(double x) {
  double a = absolute(x);
  double z = a > 0.5 ? 0.5 * (1 - a) : a * a;
  double tail = asinTail(z);
  Sum s = rootOf(z);
  double root = 2 * (s.hi + (s.lo + (s.hi + s.lo) * tail)); // acos(|x|) above 1/2
  double middle = PI_HI / 2 - (x - (PI_LO / 2 - x * tail));
  double y = a > 0.5 ? (x < 0 ? PI_HI - (root - PI_LO) : root) : middle;
  y = x != x ? x : y;
  return a > 1 ? NAN : y;
}

/// atan(t) for t >= 0: subtracts the nearest of 0, atan(1/2), pi/4, atan(3/2), pi/2, which leaves a polynomial on |r|
/// <= 7/16.
INLINE double atanOf(double t) {
  int c1 = t >= 0.4375, c2 = t >= 0.6875, c3 = t >= 1.1875, c4 = t >= 2.4375;
  double pivot = c3 ? 1.5 : (c2 ? 1 : (c1 ? 0.5 : 0));
  double hi = c4 ? HALF_PI_HI : c3 ? 0x1.f730bd281f69bp-1 : c2 ? HALF_PI_HI / 2 : c1 ? 0x1.dac670561bb4fp-2 : 0;
  double lo = c4 ? HALF_PI_LO : c3 ? 0x1.007887af0cbbdp-56 : c2 ? HALF_PI_LO / 2 : c1 ? 0x1.a2b7f222f65e2p-56 : 0;
  double r = (c4 ? -1 : t - pivot) / (c4 ? t : 1 + t * pivot);
  double z = r * r;
  return hi + (r + (r * (z * polynomial(z, ATAN, ATAN_DEGREE)) + lo));
}

double atan(double x) { return x != x ? x : withSign(atanOf(absolute(x)), x); }

double atan2(double y, double x) {
  double ay = absolute(y), ax = absolute(x);
  int bothZero = ay == 0 && ax == 0, bothInfinite = ay == INF && ax == INF;
  double t = bothZero ? 0 : bothInfinite ? 1 : ay / ax;
  double angle = atanOf(t);
  angle = (int64_t)bitsOf(x) < 0 ? PI_HI - (angle - PI_LO) : angle;
  return x != x || y != y ? x + y : withSign(angle, y);
}

float asinf(float x) { return (float)asin(x); }
float acosf(float x) { return (float)acos(x); }
float atanf(float x) { return (float)atan(x); }
float atan2f(float y, float x) { return (float)atan2(y, x); }
