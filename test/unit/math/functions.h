//===- functions.h - the math library under its prefixed names --*- C++ -*-===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_TEST_UNIT_MATH_FUNCTIONS_H
#define TENON_TEST_UNIT_MATH_FUNCTIONS_H

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>

// clang-format moves one more entry at a time to a line of its own, so that a second run changes what the first one
// wrote.
// clang-format off
#define EACH_UNARY(X) \
  X(exp) X(exp2) X(exp10) X(expm1) X(log) X(log2) X(log10) X(log1p) X(sin) X(cos) X(tan) X(asin) \
  X(acos) X(atan) X(sinh) X(cosh) X(tanh) X(asinh) X(acosh) X(atanh) X(erf) X(erfc) X(cbrt) X(sqrt) \
  X(floor) X(ceil) X(trunc) X(round) X(roundeven) X(rint) X(nearbyint) X(fabs)
// clang-format on
#define EACH_BINARY(X) X(pow) X(atan2) X(fmod) X(fmin) X(fmax) X(copysign)

extern "C" {
#define DECLARE(name)                                                                                                  \
  double tenon_##name(double);                                                                                         \
  float tenon_##name##f(float);
EACH_UNARY(DECLARE)
#undef DECLARE
#define DECLARE(name)                                                                                                  \
  double tenon_##name(double, double);                                                                                 \
  float tenon_##name##f(float, float);
EACH_BINARY(DECLARE)
#undef DECLARE
float tenon_expnormalf(float);
double tenon_fma(double, double, double);
float tenon_fmaf(float, float, float);
double tenon_ldexp(double, int);
float tenon_ldexpf(float, int);
double tenon_frexp(double, int *);
double tenon_modf(double, double *);
float tenon_modff(float, float *);
double tenon___powidf2(double, int);
void tenon_sincos(double, double *, double *);
void tenon_sincosf(float, float *, float *);
float tenon___extendhfsf2(_Float16);
_Float16 tenon___truncsfhf2(float);
_Float16 tenon___truncdfhf2(double);
__bf16 tenon___truncsfbf2(float);
__bf16 tenon___truncdfbf2(double);
void *tenon_memcpy(void *, const void *, size_t);
void *tenon_memmove(void *, const void *, size_t);
void *tenon_memset(void *, int, size_t);
int tenon_memcmp(const void *, const void *, size_t);
}

namespace tenon::test {

/// A number with random bits: every exponent alike, NaN and infinity now and then.
inline double anyDouble(std::mt19937_64 &random) { return std::bit_cast<double>(random()); }
inline float anyFloat(std::mt19937_64 &random) { return std::bit_cast<float>(uint32_t(random())); }

/// Equal bits, or both NaN.
template <typename T> bool isSame(T a, T b) {
  return (a != a && b != b) || (a == b && std::signbit(a) == std::signbit(b));
}

/// How far `got` is from `want`, in units of the last place of T at `want`. Infinite where a NaN, an infinity
/// or the sign of a zero is wrong.
template <typename T> double ulpsOff(T got, long double want) {
  constexpr double wrong = std::numeric_limits<double>::infinity();
  T rounded = T(want);
  if (isSame(got, rounded))
    // Also where both overflowed or underflowed.
    if (got != got || std::isinf(got) || got == 0)
      return 0;
  if (got != got || rounded != rounded || (got == 0 && std::signbit(got) != std::signbit(rounded)))
    return wrong;
  constexpr int digits = std::numeric_limits<T>::digits;
  if (std::isinf(want))
    return wrong;
  int exponent = std::max(std::ilogb(want) + 1, std::numeric_limits<T>::min_exponent);
  long double value = got;
  if (std::isinf(got)) // the next number after the largest one
    value = std::copysign(std::ldexp(1.0L, std::numeric_limits<T>::max_exponent), (long double)got);
  return double(std::fabs(value - want) / std::ldexp(1.0L, exponent - digits));
}

} // namespace tenon::test

#endif // TENON_TEST_UNIT_MATH_FUNCTIONS_H
