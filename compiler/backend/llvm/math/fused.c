//===- fused.c - fma on targets without the instruction -------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "support.h"

/// The product of two floats is exact in double. Rounding the sum to odd keeps the second rounding correct (Boldo and
/// Melquiond).
float fmaf(float x, float y, float z) {
  double product = (double)x * y;
  Sum sum = addExact(product, z);
  uint64_t bits = bitsOf(sum.hi);
  if (absolute(sum.hi) < INF && sum.lo != 0 && !(bits & 1))
    bits += (sum.lo > 0) == (sum.hi > 0) ? 1 : -1;
  return (float)ofBits(bits);
}

/// Mantissa of 53 bits and exponent of a finite nonzero number.
typedef struct {
  uint64_t m;
  int e;
} Normal;

INLINE Normal normalOf(double x) {
  int isTiny = absolute(x) < 0x1p-1022;
  uint64_t bits = bitsOf(isTiny ? x * 0x1p54 : x);
  return (Normal){(bits & 0xfffffffffffff) | 1ull << 52, (int)(bits >> 52 & 0x7ff) - 1075 - (isTiny ? 54 : 0)};
}

/// m 2^e rounded once, to nearest even; the top bit of `m` is at most bit 124, and its last bit is sticky.
static double roundWide(unsigned __int128 m, int e, int isNegative) {
  uint64_t top = (uint64_t)(m >> 64);
  int bits = top ? 128 - __builtin_clzll(top) : 64 - __builtin_clzll((uint64_t)m);
  int drop = bits - 53;
  drop = e + drop < -1074 ? -1074 - e : drop;
  if (drop > 126)
    return isNegative ? -0.0 : 0.0;
  if (drop > 0) {
    unsigned __int128 rest = m & (((unsigned __int128)1 << drop) - 1), half = (unsigned __int128)1 << (drop - 1);
    m >>= drop;
    e += drop;
    m += rest > half || (rest == half && (m & 1));
  }
  double y = ldexp((double)(int64_t)(uint64_t)m, e);
  return isNegative ? -y : y;
}

double fma(double x, double y, double z) {
  int isFiniteProduct = absolute(x) < INF && absolute(y) < INF;
  if (!isFiniteProduct || x == 0 || y == 0)
    return x * y + z;
  if (!(absolute(z) < INF))
    return z; // x * y could overflow to the other infinity
  Normal a = normalOf(x), b = normalOf(y);
  int isNegative = (bitsOf(x) ^ bitsOf(y)) >> 63;
  // The product has 106 bits, shifted so that 18 bits are free below: bits of z that fall below them only matter as
  // sticky bit.
  unsigned __int128 product = (unsigned __int128)a.m * b.m << 18;
  int e = a.e + b.e - 18;
  if (z == 0)
    return roundWide(product, e, isNegative);
  Normal c = normalOf(z);
  int otherNegative = (int)(bitsOf(z) >> 63);
  unsigned __int128 other = (unsigned __int128)c.m << 71; // as high up as the product
  int otherE = c.e - 71;
  if (e < otherE || (e == otherE && product < other)) {
    unsigned __int128 m = product;
    product = other;
    other = m;
    int t = e;
    e = otherE;
    otherE = t;
    t = isNegative;
    isNegative = otherNegative;
    otherNegative = t;
  }
  int shift = e - otherE;
  int lost = shift > 126 ? other != 0 : (other & (((unsigned __int128)1 << shift) - 1)) != 0;
  other = shift > 126 ? 0 : other >> shift;
  // A sticky last bit represents the dropped bits, which are far below every rounding position.
  unsigned __int128 sum;
  if (isNegative == otherNegative)
    sum = product + other + (unsigned)lost;
  else if (product >= other + (unsigned)lost)
    sum = product - other - (unsigned)lost;
  else {
    sum = other - product;
    isNegative = !isNegative;
  }
  if (sum == 0)
    return 0;
  return roundWide(sum | (unsigned)lost, e, isNegative);
}
