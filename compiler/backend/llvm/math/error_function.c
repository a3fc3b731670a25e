//===- error_function.c - erf, erfc ---------------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// erfc(x) = e^(-x^2) g(x) / (1 + 2x), where g is smooth on all of x >= 0 and, in
// t = (x-4)/(x+4), a polynomial (Shepherd and Laframboise, 1981). Below 1, erf is
// x times a polynomial in x^2.
//
//===----------------------------------------------------------------------===//

#include "exponential.h"

/// erfc(x) for x >= 0.
INLINE double erfcPositive(double x) {
  double a = x > 28 ? 28 : x; // 0 from 27.3 on
  Sum square = multiplyExact(a, a);
  double e = expOfSum(-square.hi, -square.lo, 0);
  double g = polynomial((a - 4) / (a + 4), ERFC, ERFC_DEGREE);
  return g / (1 + 2 * a) * e;
}

double erf(double x) {
  double a = absolute(x), z = a * a;
  double small = a + a * polynomial(z, ERF, ERF_DEGREE);
  double y = a < 1 ? small : 1 - erfcPositive(a);
  return x != x ? x : withSign(y, x);
}

double erfc(double x) {
  double a = absolute(x);
  double tail = erfcPositive(a), z = x * x;
  // Around 0 the result is near 1, so 1 - erf(x) is more accurate.
  double middle = 1 - (x + x * polynomial(z, ERF, ERF_DEGREE));
  double y = a < 0.25 ? middle : x < 0 ? 2 - tail : tail;
  return x != x ? x : y;
}

HOT float erff(float x) { return oddQuotient(x, 4.45f, ERFF_UPPER, ERFF_UPPER_DEGREE, ERFF_LOWER, ERFF_LOWER_DEGREE); }

float erfcf(float x) { return (float)erfc(x); }
