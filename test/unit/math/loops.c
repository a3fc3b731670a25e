//===- loops.c - loops that the vectoriser should widen -------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// As a kernel has them: linked with the math library's bitcode, then optimised.
// Compiled without builtins, since the call of a function can be inlined and an
// intrinsic of LLVM (which clang would make of it) cannot.
//
//===----------------------------------------------------------------------===//

#define LOOP(type, name, suffix)                                                                                       \
  type name##suffix(type);                                                                                             \
  void tenon_loop_##name##suffix(const type *restrict x, type *restrict y, long count) {                               \
    for (long i = 0; i < count; i++)                                                                                   \
      y[i] = name##suffix(x[i]);                                                                                       \
  }

LOOP(float, exp, f)
LOOP(float, expnormal, f)
LOOP(float, exp2, f)
LOOP(float, expm1, f)
LOOP(float, log, f)
LOOP(float, log1p, f)
LOOP(float, tanh, f)
LOOP(float, erf, f)
LOOP(float, sin, f)
LOOP(float, cos, f)
LOOP(double, exp, )
LOOP(double, log, )

float powf(float, float);
void tenon_loop_powf(const float *restrict x, float *restrict y, long count) {
  for (long i = 0; i < count; i++)
    y[i] = powf(x[i], 2.4f);
}
