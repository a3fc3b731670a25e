//===- exponential.h - e^x in parts, for several files ------------*- C -*-===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_BACKEND_LLVM_MATH_EXPONENTIAL_H
#define TENON_COMPILER_BACKEND_LLVM_MATH_EXPONENTIAL_H

#include "coefficients.h"
#include "support.h"

#define LOG2_E 0x1.71547652b82fep+0
/// ln(2) as a sum whose first part is short enough that its product with any exponent is exact (Cody and Waite).
#define LN2_HI 0x1.62e42fefa3800p-1
#define LN2_LO 0x1.ef35793c76730p-45

/// y * 2^n for an integer |n| <= 2000. Two factors, so that a denormal result is rounded once.
INLINE double scaleBy(double y, double n) {
  double first = n * 0.5 + ROUNDER;
  double second = (n - (first - ROUNDER)) + ROUNDER;
  return y * ofBits((bitsOf(first) + 1023) << 52) * ofBits((bitsOf(second) + 1023) << 52);
}

/// x = n ln(2) + r + c with an integer n, |r| <= ln(2)/2 and c the rounding error of r.
typedef struct {
  double n, r, c;
} ExpReduced;

INLINE ExpReduced reduceExp(double hi, double lo) {
  double n = (hi * LOG2_E + ROUNDER) - ROUNDER;
  double exact = hi - n * LN2_HI;
  double rest = lo - n * LN2_LO;
  double r = exact + rest;
  return (ExpReduced){n, r, (exact - r) + rest};
}

/// e^r - 1 for a reduced argument, without the first term: e^r = 1 + (r + this).
INLINE double expTail(ExpReduced x) { return x.r * x.r * polynomial(x.r, EXP, EXP_DEGREE) + x.c; }

/// e^(hi + lo) * 2^shift for |lo| much smaller than |hi|. Beyond 800 it is infinite or 0 anyway.
INLINE double expOfSum(double hi, double lo, double shift) {
  hi = hi > 800 ? 800 : hi;
  hi = hi < -800 ? -800 : hi;
  ExpReduced x = reduceExp(hi, lo);
  return scaleBy(1 + (x.r + expTail(x)), x.n + shift);
}

#endif // TENON_COMPILER_BACKEND_LLVM_MATH_EXPONENTIAL_H
