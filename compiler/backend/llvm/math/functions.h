//===- functions.h - every function of the CPU math library -------*- C -*-===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The names and types are those of the C library and the compilers' run-time
// library, since that is what MLIR's and LLVM's lowerings call.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_BACKEND_LLVM_MATH_FUNCTIONS_H
#define TENON_COMPILER_BACKEND_LLVM_MATH_FUNCTIONS_H

#include <stddef.h>
#include <stdint.h>

#define UNARY(name)                                                                                                    \
  double name(double);                                                                                                 \
  float name##f(float);
#define BINARY(name)                                                                                                   \
  double name(double, double);                                                                                         \
  float name##f(float, float);

UNARY(exp)
/// exp(x) for x <= 0 if the result is a normal number, NaN for NaN, and unspecified otherwise. It is not a C library
/// function.
float expnormalf(float);
UNARY(exp2)
UNARY(exp10)
UNARY(expm1)
UNARY(log)
UNARY(log2)
UNARY(log10)
UNARY(log1p)
BINARY(pow)
UNARY(sin)
UNARY(cos)
UNARY(tan)
void sincos(double, double *, double *);
void sincosf(float, float *, float *);
UNARY(asin)
UNARY(acos)
UNARY(atan)
BINARY(atan2)
UNARY(sinh)
UNARY(cosh)
UNARY(tanh)
UNARY(asinh)
UNARY(acosh)
UNARY(atanh)
UNARY(erf)
UNARY(erfc)
UNARY(cbrt)
UNARY(sqrt)

UNARY(floor)
UNARY(ceil)
UNARY(trunc)
UNARY(round)
UNARY(roundeven)
UNARY(rint)
UNARY(nearbyint)
UNARY(fabs)
BINARY(fmod)
BINARY(fmin)
BINARY(fmax)
BINARY(copysign)
double fma(double, double, double);
float fmaf(float, float, float);
double ldexp(double, int);
float ldexpf(float, int);
double frexp(double, int *);
float frexpf(float, int *);
double modf(double, double *);
float modff(float, float *);
double __powidf2(double, int);
float __powisf2(float, int);

float __extendhfsf2(_Float16);
_Float16 __truncsfhf2(float);
_Float16 __truncdfhf2(double);
__bf16 __truncsfbf2(float);
__bf16 __truncdfbf2(double);

void *memcpy(void *, const void *, size_t);
void *memmove(void *, const void *, size_t);
void *memset(void *, int, size_t);
int memcmp(const void *, const void *, size_t);

#undef UNARY
#undef BINARY

#endif // TENON_COMPILER_BACKEND_LLVM_MATH_FUNCTIONS_H
