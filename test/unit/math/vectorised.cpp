//===- vectorised.cpp - inlined and vectorised, the same results ----------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "functions.h"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <vector>

using namespace tenon::test;

// clang-format moves one more entry at a time to a line of its own, so that a second run changes what the first one
// wrote.
// clang-format off
#define EACH_LOOP(X) \
  X(float, expf) X(float, expnormalf) X(float, exp2f) X(float, expm1f) X(float, logf) X(float, log1pf) \
  X(float, tanhf) X(float, erff) X(float, sinf) X(float, cosf) X(double, exp) X(double, log)
// clang-format on

extern "C" {
#define DECLARE(type, name) void tenon_loop_##name(const type *, type *, long);
EACH_LOOP(DECLARE)
DECLARE(float, powf)
#undef DECLARE
}

namespace {

template <typename T, typename Loop, typename Scalar> int countDifferent(Loop loop, Scalar scalar) {
  std::mt19937_64 random(6);
  std::uniform_real_distribution<double> inside(-20, 20);
  std::vector<T> x(10'007), y(x.size());
  for (size_t i = 0; i < x.size(); i++) {
    double all = sizeof(T) == 8 ? anyDouble(random) : anyFloat(random);
    x[i] = T(i % 2 ? all : inside(random));
  }
  loop(x.data(), y.data(), long(x.size()));
  int different = 0;
  for (size_t i = 0; i < x.size(); i++)
    different += !isSame(y[i], scalar(x[i]));
  return different;
}

} // namespace

#ifdef TENON_TEST_NEEDS_AVX2
/// All of this program is for such processors.
static const bool canRun = [] {
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma"))
    std::exit(0);
  return true;
}();
#endif

TEST_CASE("loops give the same bits as single calls") {
#define CHECK_LOOP(type, name) CHECK(countDifferent<type>(tenon_loop_##name, tenon_##name) == 0);
  EACH_LOOP(CHECK_LOOP)
  CHECK(countDifferent<float>(tenon_loop_powf, [](float x) { return tenon_powf(x, 2.4f); }) == 0);
}
