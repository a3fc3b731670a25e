//===- exponential.c - exp, exp2, exp10, expm1 ----------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Cody and Waite: x = n ln(2) + r, a polynomial in r, and 2^n put into the
// exponent by two multiplications.
//
//===----------------------------------------------------------------------===//

#include "exponential.h"

HOT double exp(double x) { return expOfSum(x, 0, 0); }

HOT double exp2(double x) {
  double bounded = x > 1200 ? 1200 : x;
  bounded = bounded < -1200 ? -1200 : bounded;
  double n = (bounded + ROUNDER) - ROUNDER;
  double r = bounded - n;
  return scaleBy(1 + r * polynomial(r, EXP2, EXP2_DEGREE), n);
}

HOT double exp10(double x) {
  double bounded = x > 400 ? 400 : x;
  bounded = bounded < -400 ? -400 : bounded;
  double n = (bounded * 0x1.a934f0979a371p+1 + ROUNDER) - ROUNDER;
  double r = (bounded - n * 0x1.34413509f6000p-2) - n * 0x1.9fef311f12b36p-42; // log10(2) in two parts
  return scaleBy(1 + r * polynomial(r, EXP10, EXP10_DEGREE), n);
}

HOT double expm1(double x) {
  double bounded = x > 710 ? 710 : x;
  bounded = bounded < -60 ? -60 : bounded;
  ExpReduced reduced = reduceExp(bounded, 0);
  double e = reduced.r + expTail(reduced);
  // Half of 2^n, since n may be 1024.
  double half = ofBits((bitsOf(reduced.n - 1 + ROUNDER) + 1023) << 52);
  double y = 2 * (e * half + (half - 0.5));
  return absolute(x) < 0x1p-54 ? x : y;
}

//===----------------------------------------------------------------------===//
// float
//===----------------------------------------------------------------------===//

#define LOG2_EF 0x1.715476p+0f
#define LN2_HIF 0x1.62e4p-1f
#define LN2_LOF 0x1.7f7d1cp-20f

/// (1 + t) 2^n for an integer |n| <= 250, to which ROUNDERF was added. The scale has two factors, so that a denormal
/// result is rounded once; the first factor is applied to the terms of the sum, which rounds equally at any scale.
INLINE float scaleByFloat(float t, float rounded) {
  MAY_FUSE
  uint32_t n = bitsOfFloat(rounded), half = n >> 1; // what ROUNDERF is in these is shifted out
  float first = floatOfBits((half + 127) << 23), second = floatOfBits((n - half + 127) << 23);
  return (first + t * first) * second;
}

HOT float expf(float x) {
  MAY_FUSE
  float bounded = x > 120 ? 120 : x;
  bounded = bounded < -120 ? -120 : bounded;
  float rounded = bounded * LOG2_EF + ROUNDERF, n = rounded - ROUNDERF;
  float r = (bounded - n * LN2_HIF) - n * LN2_LOF;
  return scaleByFloat(r + r * r * polynomialFloat(r, EXPF, EXPF_DEGREE), rounded);
}

/// The exponent is applied by one multiplication, without clamping.
HOT float expnormalf(float x) {
  MAY_FUSE
  float rounded = x * LOG2_EF + ROUNDERF, n = rounded - ROUNDERF;
  float r = (x - n * LN2_HIF) - n * LN2_LOF, t = r + r * r * polynomialFloat(r, EXPF, EXPF_DEGREE);
  float scale = floatOfBits((bitsOfFloat(rounded) + 127) << 23); // what ROUNDERF is in these is shifted out
  return scale + t * scale;
}

HOT float exp2f(float x) {
  MAY_FUSE
  float bounded = x > 200 ? 200 : x;
  bounded = bounded < -200 ? -200 : bounded;
  float rounded = bounded + ROUNDERF, r = bounded - (rounded - ROUNDERF);
  return scaleByFloat(r * polynomialFloat(r, EXP2F, EXP2F_DEGREE), rounded);
}

HOT float expm1f(float x) {
  MAY_FUSE
  float bounded = x > 89 ? 89 : x;
  bounded = bounded < -30 ? -30 : bounded;
  float n = (bounded * LOG2_EF + ROUNDERF) - ROUNDERF;
  float r = (bounded - n * LN2_HIF) - n * LN2_LOF;
  float e = r + r * r * polynomialFloat(r, EXPF, EXPF_DEGREE);
  float half = floatOfBits((bitsOfFloat(n - 1 + ROUNDERF) + 127) << 23);
  float y = 2 * (e * half + (half - 0.5f));
  return absoluteFloat(x) < 0x1p-25f ? x : y;
}

float exp10f(float x) { return (float)exp10(x); }
