//===- support.h - what all files of the CPU math library share ---*- C -*-===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Rules of these files: no call outside of the library, no assumption of a
// fused multiply-add, no contraction (the compiler is told so) but where MAY_FUSE
// stands, round-to-nearest mode. What is marked HOT has no loops, tables or branches that the loop
// vectoriser cannot turn into selects.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_BACKEND_LLVM_MATH_SUPPORT_H
#define TENON_COMPILER_BACKEND_LLVM_MATH_SUPPORT_H

#include <stddef.h>
#include <stdint.h>

#include "functions.h"

#define INLINE static inline __attribute__((always_inline))
/// Always inlined, so that loops over it are vectorized.
#define HOT __attribute__((always_inline))
/// At the start of a function's body: allows products to be contracted into fused multiply-adds. It is for expressions
/// that are accurate enough either way.
#define MAY_FUSE _Pragma("clang fp contract(fast)")

#define INF __builtin_inf()
#define NAN __builtin_nan("")

#define HALF_PI_HI 0x1.921fb54442d18p+0
#define HALF_PI_LO 0x1.1a62633145c07p-54

/// Adding this to a small number rounds it to an integer, which is then in the low bits.
#define ROUNDER 0x1.8p52
#define ROUNDERF 0x1.8p23f

INLINE uint64_t bitsOf(double x) {
  uint64_t bits;
  __builtin_memcpy(&bits, &x, sizeof bits);
  return bits;
}
INLINE uint32_t bitsOfFloat(float x) {
  uint32_t bits;
  __builtin_memcpy(&bits, &x, sizeof bits);
  return bits;
}
INLINE double ofBits(uint64_t bits) {
  double x;
  __builtin_memcpy(&x, &bits, sizeof x);
  return x;
}
INLINE float floatOfBits(uint32_t bits) {
  float x;
  __builtin_memcpy(&x, &bits, sizeof x);
  return x;
}

INLINE double absolute(double x) { return ofBits(bitsOf(x) & ~(1ull << 63)); }
INLINE float absoluteFloat(float x) { return floatOfBits(bitsOfFloat(x) & 0x7fffffff); }
/// The magnitude of `x` with the sign of `y`.
INLINE double withSign(double x, double y) { return ofBits((bitsOf(x) & ~(1ull << 63)) | (bitsOf(y) & (1ull << 63))); }
INLINE float withSignFloat(float x, float y) {
  return floatOfBits((bitsOfFloat(x) & 0x7fffffff) | (bitsOfFloat(y) & 0x80000000));
}

/// Horner's rule; `degree` is a constant at every call, so the loop is unrolled.
INLINE double polynomial(double x, const double *c, int degree) {
  MAY_FUSE
  double sum = c[degree];
#pragma clang loop unroll(full)
  for (int i = degree - 1; i >= 0; i--)
    sum = sum * x + c[i];
  return sum;
}
INLINE float polynomialFloat(float x, const float *c, int degree) {
  MAY_FUSE
  float sum = c[degree];
#pragma clang loop unroll(full)
  for (int i = degree - 1; i >= 0; i--)
    sum = sum * x + c[i];
  return sum;
}
/// An odd function that saturates at 1, as x times a quotient of polynomials in x^2: one division, and no cases. The
/// quotient is fitted up to where floats round to 1, and exceeds 1 by 2^-21 at `bound`, so everything beyond is 1
/// however it is rounded.
INLINE float oddQuotient(float x, float bound, const float *upper, int upperDegree, const float *lower,
                         int lowerDegree) {
  float b = x > bound ? bound : x;
  b = b < -bound ? -bound : b;
  float z = b * b;
  float y = b * polynomialFloat(z, upper, upperDegree) / polynomialFloat(z, lower, lowerDegree);
  y = y > 1 ? 1 : y;
  return y < -1 ? -1 : y;
}

//===----------------------------------------------------------------------===//
// Double-double: an unevaluated sum hi + lo with |lo| <= ulp(hi)/2
//===----------------------------------------------------------------------===//

typedef struct {
  double hi, lo;
} Sum;

/// a + b exactly, for |a| >= |b| or a == 0 (Dekker).
INLINE Sum addOrdered(double a, double b) {
  double hi = a + b;
  return (Sum){hi, (a - hi) + b};
}
/// a + b exactly (Knuth).
INLINE Sum addExact(double a, double b) {
  double hi = a + b, other = hi - a;
  return (Sum){hi, (a - (hi - other)) + (b - other)};
}
/// a * b exactly where nothing overflows or underflows (Veltkamp's split, Dekker's product).
INLINE Sum multiplyExact(double a, double b) {
  double ta = a * 0x1.0000002p27, tb = b * 0x1.0000002p27;
  double ah = ta - (ta - a), bh = tb - (tb - b);
  double al = a - ah, bl = b - bh;
  double hi = a * b;
  return (Sum){hi, ((ah * bh - hi) + ah * bl + al * bh) + al * bl};
}

#endif // TENON_COMPILER_BACKEND_LLVM_MATH_SUPPORT_H
