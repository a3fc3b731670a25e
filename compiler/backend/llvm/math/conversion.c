//===- conversion.c - half and bfloat16 -----------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Rounded to nearest even, NaN kept quiet with its upper bits, overflow to infinity.
//
//===----------------------------------------------------------------------===//

#include "support.h"

INLINE _Float16 halfOfBits(uint16_t bits) {
  _Float16 x;
  __builtin_memcpy(&x, &bits, sizeof x);
  return x;
}
INLINE __bf16 bfloatOfBits(uint16_t bits) {
  __bf16 x;
  __builtin_memcpy(&x, &bits, sizeof x);
  return x;
}

float __extendhfsf2(_Float16 x) {
  uint16_t bits;
  __builtin_memcpy(&bits, &x, sizeof bits);
  uint32_t sign = (uint32_t)(bits & 0x8000) << 16, rest = bits & 0x7fff;
  // The exponent's bias is corrected by a multiplication, which handles denormals as well.
  float y = floatOfBits(rest << 13) * 0x1p112f;
  uint32_t special = 0x7f800000 | rest << 13;
  special |= (rest > 0x7c00) << 22;
  return floatOfBits((rest >= 0x7c00 ? special : bitsOfFloat(y)) | sign);
}

/// Rounds to odd: if `x` is inexact, the last bit of the result is set (see fmaf in fused.c). The result may then be
/// rounded again to a type of at most 24 bits.
INLINE float toOdd(double x) {
  float y = (float)x;
  double back = y;
  uint32_t bits = bitsOfFloat(y);
  int isInexact = absolute(x) < INF && back != x;
  // The conversion is first moved towards zero, so that the odd neighbour is on the correct side.
  bits -= isInexact && absolute(back) > absolute(x);
  bits |= isInexact;
  return floatOfBits(bits);
}

_Float16 __truncsfhf2(float x) {
  uint32_t bits = bitsOfFloat(x), sign = bits >> 16 & 0x8000, rest = bits & 0x7fffffff;
  // Normal numbers: the bias of the exponent, then rounding by half of the last place, minus one if that is even.
  uint32_t normal = (rest - (112u << 23) + 0xfff + (rest >> 13 & 1)) >> 13;
  // Below 2^-14: adding 1/2 aligns the last place of f16's denormals with the last place of the sum.
  uint32_t denormal = bitsOfFloat(floatOfBits(rest) + 0.5f) - bitsOfFloat(0.5f);
  uint32_t y = rest < 0x38800000 ? denormal : normal;
  y = rest >= 0x477ff000 ? 0x7c00 : y;
  y = rest > 0x7f800000 ? 0x7e00 | (rest >> 13 & 0x3ff) : y;
  return halfOfBits((uint16_t)(y | sign));
}
_Float16 __truncdfhf2(double x) { return __truncsfhf2(toOdd(x)); }

__bf16 __truncsfbf2(float x) {
  uint32_t bits = bitsOfFloat(x);
  uint32_t y = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
  return bfloatOfBits((uint16_t)((bits & 0x7fffffff) > 0x7f800000 ? bits >> 16 | 0x40 : y));
}
__bf16 __truncdfbf2(double x) { return __truncsfbf2(toOdd(x)); }
