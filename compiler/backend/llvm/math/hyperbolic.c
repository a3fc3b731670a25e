//===- hyperbolic.c - sinh, cosh, tanh and their inverses -----------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// From expm1 and log1p, which keep their precision where exp and log cancel.
//
//===----------------------------------------------------------------------===//

#include "exponential.h"

double sinh(double x) {
  double a = absolute(x);
  double e = expm1(a > 40 ? 40 : a);
  double small = 0.5 * (a < 1 ? 2 * e - e * e / (e + 1) : e + e / (e + 1));
  double y = a > 22 ? expOfSum(a, 0, -1) : small;
  return x != x || x == 0 ? x : withSign(y, x);
}

double cosh(double x) {
  double half = expOfSum(absolute(x), 0, -1);
  return half + 0.25 / half;
}

double tanh(double x) {
  double a = absolute(x);
  // tanh(a) = 1 - 2/(e^2a + 1); the other form does not cancel near 0.
  double e = expm1(2 * a);
  double y = a < 1 ? e / (e + 2) : 1 - 2 / (e + 2);
  y = a > 22 ? 1 : y;
  return x != x || x == 0 ? x : withSign(y, x);
}

double asinh(double x) {
  double a = absolute(x), z = a * a;
  double small = log1p(a + z / (1 + __builtin_sqrt(z + 1)));
  double middle = log(2 * a + 1 / (__builtin_sqrt(z + 1) + a));
  double large = log(a) + LN2_HI + LN2_LO;
  double y = a > 0x1p28 ? large : a > 2 ? middle : small;
  return x != x || x == 0 ? x : withSign(y, x);
}

double acosh(double x) {
  double t = x - 1;
  double small = log1p(t + __builtin_sqrt(2 * t + t * t));
  double middle = log(2 * x - 1 / (x + __builtin_sqrt(x * x - 1)));
  double large = log(x) + LN2_HI + LN2_LO;
  double y = x > 0x1p28 ? large : x > 2 ? middle : small;
  y = x != x ? x : y;
  return x < 1 ? NAN : y;
}

double atanh(double x) {
  double a = absolute(x), twice = a + a;
  double small = twice + twice * a / (1 - a), large = twice / (1 - a);
  double y = 0.5 * log1p(a < 0.5 ? small : large);
  y = a > 1 ? NAN : y;
  return x != x || x == 0 ? x : withSign(y, x);
}

HOT float tanhf(float x) {
  return oddQuotient(x, 12, TANHF_UPPER, TANHF_UPPER_DEGREE, TANHF_LOWER, TANHF_LOWER_DEGREE);
}

float sinhf(float x) { return (float)sinh(x); }
float coshf(float x) { return (float)cosh(x); }
float asinhf(float x) { return (float)asinh(x); }
float acoshf(float x) { return (float)acosh(x); }
float atanhf(float x) { return (float)atanh(x); }
