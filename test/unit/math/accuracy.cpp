//===- accuracy.cpp - the math library against libm in long double --------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The bounds here are the ones that docs/performance/math-accuracy.md states.
//
//===----------------------------------------------------------------------===//

#include "functions.h"

#include <catch2/catch.hpp>
#include <vector>

using namespace tenon::test;

namespace {

constexpr int samples = 60'000;

/// An interval that gets uniform samples, besides the samples of all bit patterns.
struct Interval {
  double low, high;
};

template <typename T> const std::vector<T> &specials() {
  using L = std::numeric_limits<T>;
  static const std::vector<T> values = [] {
    std::vector<T> v = {0,
                        L::denorm_min(),
                        L::min() / 2,
                        L::min(),
                        T(1e-8),
                        T(0.25),
                        T(0.4375),
                        T(0.5),
                        T(0.625),
                        T(0.6875),
                        T(0.9375),
                        T(1),
                        T(1.5),
                        T(2),
                        T(2.5),
                        T(3),
                        T(4.45),
                        T(4),
                        T(12),
                        T(10),
                        T(22),
                        T(88.7228),
                        T(89),
                        T(104),
                        T(709.7827),
                        T(710.4758),
                        T(745.13),
                        T(746),
                        T(1e6),
                        T(1000001),
                        T(4194304),
                        T(8388607.5),
                        T(16777215),
                        T(1e15),
                        T(4503599627370497.5),
                        T(1e22),
                        L::max(),
                        L::infinity(),
                        L::quiet_NaN()};
    size_t count = v.size();
    for (size_t i = 0; i < count; i++)
      v.push_back(-v[i]);
    return v;
  }();
  return values;
}

template <typename T> T any(std::mt19937_64 &random) {
  if constexpr (sizeof(T) == 8)
    return anyDouble(random);
  else
    return anyFloat(random);
}

/// The largest error, in units of the last place, and where it was met.
struct Worst {
  double ulps = 0, x = 0, y = 0;

  void see(double error, double atX, double atY = 0) {
    if (error > ulps)
      *this = {error, atX, atY};
  }
};

template <typename T, typename Function, typename Reference>
Worst worstUnary(Function function, Reference reference, const std::vector<Interval> &intervals) {
  std::mt19937_64 random(1);
  Worst worst;
  auto see = [&](T x) { worst.see(ulpsOff<T>(function(x), reference((long double)x)), x); };
  for (T x : specials<T>())
    see(x);
  for (int i = 0; i < samples; i++)
    see(any<T>(random));
  for (const Interval &interval : intervals) {
    std::uniform_real_distribution<double> inside(interval.low, interval.high);
    for (int i = 0; i < samples; i++)
      see(T(inside(random)));
  }
  return worst;
}

template <typename T, typename Function, typename Reference>
Worst worstBinary(Function function, Reference reference, Interval xs, Interval ys) {
  std::mt19937_64 random(1);
  Worst worst;
  auto see = [&](T x, T y) { worst.see(ulpsOff<T>(function(x, y), reference((long double)x, (long double)y)), x, y); };
  for (T x : specials<T>())
    for (T y : specials<T>())
      see(x, y);
  std::uniform_real_distribution<double> inX(xs.low, xs.high), inY(ys.low, ys.high);
  for (int i = 0; i < samples; i++) {
    see(any<T>(random), any<T>(random));
    see(T(inX(random)), T(inY(random)));
    see(T(1 + inY(random) * 1e-4), T(inX(random) * 1e3)); // near 1, large powers
  }
  return worst;
}

} // namespace

#define CHECK_UNARY(name, bound, boundf, ...)                                                                          \
  do {                                                                                                                 \
    auto reference = [](long double x) { return name##l(x); };                                                         \
    Worst d = worstUnary<double>(tenon_##name, reference, {__VA_ARGS__});                                              \
    INFO(#name " is worst at " << std::hexfloat << d.x);                                                               \
    CHECK(d.ulps <= bound);                                                                                            \
    Worst f = worstUnary<float>(tenon_##name##f, reference, {__VA_ARGS__});                                            \
    INFO(#name "f is worst at " << std::hexfloat << f.x);                                                              \
    CHECK(f.ulps <= boundf);                                                                                           \
  } while (false)

TEST_CASE("exponentials") {
  CHECK_UNARY(exp, 1, 1.1, Interval{-1, 1}, Interval{-110, 90}, Interval{-750, 710});
  CHECK_UNARY(exp2, 1.25, 1.25, Interval{-1, 1}, Interval{-150, 128}, Interval{-1080, 1024});
  CHECK_UNARY(exp10, 1.5, 1, Interval{-1, 1}, Interval{-46, 39}, Interval{-325, 309});
  CHECK_UNARY(expm1, 1.5, 2, Interval{-1, 1}, Interval{-60, 90}, Interval{-1, 710});
}

TEST_CASE("exponentials that are normal numbers") {
  // Elsewhere it may be anything.
  auto normal = [](float x) { return x > 0 || x < -87.3365f ? tenon_expf(x) : tenon_expnormalf(x); };
  Worst worst =
      worstUnary<float>(normal, [](long double x) { return expl(x); }, {Interval{-1, 0}, Interval{-87.3365, 0}});
  INFO("worst at " << std::hexfloat << worst.x);
  CHECK(worst.ulps <= 1.1);
  CHECK(tenon_expnormalf(0) == 1);
  CHECK(std::isnan(tenon_expnormalf(std::numeric_limits<float>::quiet_NaN())));
}

TEST_CASE("logarithms") {
  CHECK_UNARY(log, 1, 1, Interval{0.5, 2}, Interval{0, 1000});
  CHECK_UNARY(log2, 1, 1, Interval{0.5, 2}, Interval{0, 1000});
  CHECK_UNARY(log10, 1, 1, Interval{0.5, 2}, Interval{0, 1000});
  CHECK_UNARY(log1p, 1, 1, Interval{-1, 1}, Interval{-1e-3, 1e-3}, Interval{0, 1000});
}

TEST_CASE("trigonometric functions") {
  CHECK_UNARY(sin, 1, 1, Interval{-1, 1}, Interval{-100, 100}, Interval{-1.1e6, 1.1e6}, Interval{-1e12, 1e12});
  CHECK_UNARY(cos, 1, 1, Interval{-1, 1}, Interval{-100, 100}, Interval{-1.1e6, 1.1e6}, Interval{-1e12, 1e12});
  CHECK_UNARY(tan, 2.25, 1, Interval{-1, 1}, Interval{-100, 100}, Interval{-1.1e6, 1.1e6}, Interval{-1e12, 1e12});
  CHECK_UNARY(asin, 1, 1, Interval{-1, 1}, Interval{0.49, 0.51});
  CHECK_UNARY(acos, 1.25, 1, Interval{-1, 1}, Interval{0.49, 0.51});
  CHECK_UNARY(atan, 1, 1, Interval{-1, 1}, Interval{-4, 4}, Interval{-100, 100});
}

TEST_CASE("hyperbolic functions") {
  CHECK_UNARY(sinh, 2, 1, Interval{-2, 2}, Interval{-30, 30}, Interval{-711, 711});
  CHECK_UNARY(cosh, 2, 1, Interval{-2, 2}, Interval{-30, 30}, Interval{-711, 711});
  CHECK_UNARY(tanh, 2.25, 7, Interval{-1, 1}, Interval{-10, 10}, Interval{-25, 25});
  CHECK_UNARY(asinh, 2, 1, Interval{-3, 3}, Interval{-1e3, 1e3});
  CHECK_UNARY(acosh, 2, 1, Interval{1, 3}, Interval{1, 1e3});
  CHECK_UNARY(atanh, 2, 1, Interval{-1, 1}, Interval{-0.01, 0.01});
}

TEST_CASE("error functions") {
  CHECK_UNARY(erf, 1.5, 8, Interval{-1, 1}, Interval{-6, 6});
  CHECK_UNARY(erfc, 4, 1, Interval{-1, 1}, Interval{-6, 28});
}

TEST_CASE("roots") {
  CHECK_UNARY(cbrt, 1, 1, Interval{-8, 8});
  CHECK_UNARY(sqrt, 0.5, 0.5, Interval{0, 8});
}

TEST_CASE("powers and angles of two arguments") {
  auto power = [](long double x, long double y) { return powl(x, y); };
  Worst d = worstBinary<double>(tenon_pow, power, {0, 20}, {-200, 200});
  INFO("pow is worst at " << std::hexfloat << d.x << ", " << d.y);
  CHECK(d.ulps <= 1);
  Worst f = worstBinary<float>(tenon_powf, power, {0, 20}, {-30, 30});
  INFO("powf is worst at " << std::hexfloat << f.x << ", " << f.y);
  CHECK(f.ulps <= 1);

  auto angle = [](long double y, long double x) { return atan2l(y, x); };
  d = worstBinary<double>(tenon_atan2, angle, {-5, 5}, {-5, 5});
  INFO("atan2 is worst at " << std::hexfloat << d.x << ", " << d.y);
  CHECK(d.ulps <= 2);
  f = worstBinary<float>(tenon_atan2f, angle, {-5, 5}, {-5, 5});
  INFO("atan2f is worst at " << std::hexfloat << f.x << ", " << f.y);
  CHECK(f.ulps <= 1);
}
