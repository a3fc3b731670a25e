//===- exact.cpp - the functions whose results have no error --------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "functions.h"

#include <catch2/catch.hpp>
#include <cstring>
#include <string>
#include <vector>

using namespace tenon::test;

namespace {

constexpr int samples = 100'000;

/// Random bits, and numbers around the places where a fraction ends.
double sampleDouble(std::mt19937_64 &random) {
  double near[] = {anyDouble(random), std::ldexp(double(int64_t(random())), -int(random() % 66)),
                   double(int64_t(random() % 64) - 32) / 4};
  return near[random() % 3];
}
float sampleFloat(std::mt19937_64 &random) {
  float near[] = {anyFloat(random), std::ldexp(float(int32_t(random())), -int(random() % 34)),
                  float(int64_t(random() % 64) - 32) / 4};
  return near[random() % 3];
}

template <typename Mine, typename Theirs> int countWrongDouble(Mine mine, Theirs theirs) {
  std::mt19937_64 random(2);
  int wrong = 0;
  for (int i = 0; i < samples; i++) {
    double x = sampleDouble(random), y = sampleDouble(random);
    wrong += !isSame(mine(x, y), theirs(x, y));
  }
  return wrong;
}
template <typename Mine, typename Theirs> int countWrongFloat(Mine mine, Theirs theirs) {
  std::mt19937_64 random(2);
  int wrong = 0;
  for (int i = 0; i < samples; i++) {
    float x = sampleFloat(random), y = sampleFloat(random);
    wrong += !isSame(mine(x, y), theirs(x, y));
  }
  return wrong;
}

uint16_t bitsOf(_Float16 x) { return std::bit_cast<uint16_t>(x); }
uint16_t bitsOf(__bf16 x) { return std::bit_cast<uint16_t>(x); }

/// |x| rounded to nearest even at the given precision and least exponent, by scaling and rint in double.
double roundTo(double x, int digits, int least, double largest) {
  if (x != x || std::isinf(x) || x == 0)
    return x;
  int last = std::max(std::ilogb(x), least) - digits + 1;
  double y = std::ldexp(std::rint(std::ldexp(x, -last)), last);
  return std::fabs(y) > largest ? std::copysign(INFINITY, x) : y;
}

double valueOf(_Float16 x) { return tenon___extendhfsf2(x); }
double valueOf(__bf16 x) { return std::bit_cast<float>(uint32_t(bitsOf(x)) << 16); }

} // namespace

#define CHECK_SAME(name)                                                                                               \
  CHECK(countWrongDouble([](double x, double) { return tenon_##name(x); },                                             \
                         [](double x, double) { return ::name(x); }) == 0);                                            \
  CHECK(countWrongFloat([](float x, float) { return tenon_##name##f(x); },                                             \
                        [](float x, float) { return ::name##f(x); }) == 0)

TEST_CASE("rounding to integers") {
  CHECK_SAME(floor);
  CHECK_SAME(ceil);
  CHECK_SAME(trunc);
  CHECK_SAME(round);
  CHECK_SAME(roundeven);
  CHECK_SAME(rint);
  CHECK_SAME(nearbyint);
  CHECK_SAME(fabs);
  CHECK_SAME(sqrt);
}

#define CHECK_SAME2(name)                                                                                              \
  CHECK(countWrongDouble(tenon_##name, [](double x, double y) { return ::name(x, y); }) == 0);                         \
  CHECK(countWrongFloat(tenon_##name##f, [](float x, float y) { return ::name##f(x, y); }) == 0)

TEST_CASE("remainder and sign") {
  CHECK_SAME2(fmod);
  CHECK_SAME2(copysign);
  // Which of two zeros is the smaller is not said; adding 0 quiets a NaN, as libraries differ on signalling
  // ones.
  auto noZeros = [](auto f) { return [f](auto x, auto y) { return x == 0 && y == 0 ? 0 : f(x + 0, y + 0); }; };
  CHECK(countWrongDouble(noZeros(tenon_fmin), noZeros([](double x, double y) { return ::fmin(x, y); })) == 0);
  CHECK(countWrongDouble(noZeros(tenon_fmax), noZeros([](double x, double y) { return ::fmax(x, y); })) == 0);
  CHECK(countWrongFloat(noZeros(tenon_fminf), noZeros([](float x, float y) { return ::fminf(x, y); })) == 0);
  CHECK(countWrongFloat(noZeros(tenon_fmaxf), noZeros([](float x, float y) { return ::fmaxf(x, y); })) == 0);
}

TEST_CASE("fused multiply-add") {
  std::mt19937_64 random(3);
  int wrong = 0;
  for (int i = 0; i < samples; i++) {
    double x = sampleDouble(random), y = sampleDouble(random);
    // Also addends that nearly cancel the product, and ones far below it.
    double addends[] = {sampleDouble(random), -x * y, std::nextafter(-x * y, 0), x * y * 0x1p-53, x * y * -0x1p-107};
    for (double z : addends)
      wrong += !isSame(tenon_fma(x, y, z), std::fma(x, y, z));
    double small = std::ldexp(x, -1000 - std::ilogb(x)), tiny = std::ldexp(y, -60 - std::ilogb(y));
    wrong += !isSame(tenon_fma(small, tiny, 0x1p-1074), std::fma(small, tiny, 0x1p-1074));
    float fx = sampleFloat(random), fy = sampleFloat(random);
    float floats[] = {sampleFloat(random), -fx * fy, std::nextafterf(-fx * fy, 0), fx * fy * 0x1p-24f};
    for (float z : floats)
      wrong += !isSame(tenon_fmaf(fx, fy, z), std::fmaf(fx, fy, z));
  }
  CHECK(wrong == 0);
}

TEST_CASE("exponents") {
  std::mt19937_64 random(4);
  int wrong = 0;
  for (int i = 0; i < samples; i++) {
    double x = sampleDouble(random);
    float f = sampleFloat(random);
    int n = int(random() % 5000) - 2500, mine = 0, theirs = 0;
    wrong += !isSame(tenon_ldexp(x, n), std::ldexp(x, n)) + !isSame(tenon_ldexpf(f, n / 8), std::ldexp(f, n / 8));
    wrong += !isSame(tenon_frexp(x, &mine), std::frexp(x, &theirs)) + (std::isfinite(x) && mine != theirs);
    double whole, wholeReference;
    wrong += !isSame(tenon_modf(x, &whole), std::modf(x, &wholeReference)) + !isSame(whole, wholeReference);
    float wholef, wholefReference;
    wrong += !isSame(tenon_modff(f, &wholef), std::modf(f, &wholefReference)) + !isSame(wholef, wholefReference);
  }
  CHECK(wrong == 0);
  CHECK(tenon_ldexp(1, 1 << 30) == INFINITY);
  CHECK(tenon_ldexp(1, -(1 << 30)) == 0);
  CHECK(tenon___powidf2(3, 5) == 243);
  CHECK(tenon___powidf2(2, -3) == 0.125);
  CHECK(tenon___powidf2(2, std::numeric_limits<int>::min()) == 0);
}

TEST_CASE("sine and cosine at once") {
  double s, c;
  tenon_sincos(1e22, &s, &c);
  CHECK((s == tenon_sin(1e22) && c == tenon_cos(1e22)));
  float sf, cf;
  tenon_sincosf(1e22f, &sf, &cf);
  CHECK((sf == tenon_sinf(1e22f) && cf == tenon_cosf(1e22f)));
}

TEST_CASE("half and bfloat16") {
  int wrong = 0;
  for (uint32_t bits = 0; bits < 0x10000; bits++) {
    // Every half: its value by definition, and back.
    _Float16 half = std::bit_cast<_Float16>(uint16_t(bits));
    int exponent = bits >> 10 & 31, mantissa = bits & 1023;
    double value = exponent == 31 ? (mantissa ? NAN : INFINITY)
                   : exponent     ? std::ldexp(1024 + mantissa, exponent - 25)
                                  : std::ldexp(mantissa, -24);
    float wide = tenon___extendhfsf2(half);
    wrong += !isSame<float>(wide, bits >> 15 ? -value : value);
    bool isNan = exponent == 31 && mantissa;
    uint16_t quiet = isNan ? bits | 0x200 : bits;
    wrong += bitsOf(tenon___truncsfhf2(wide)) != quiet;
  }
  CHECK(wrong == 0);

  std::mt19937_64 random(5);
  for (int i = 0; i < samples; i++) {
    // All bits; and the range of half, with ties and near-ties at both precisions.
    double x = i % 2 ? anyDouble(random) : std::ldexp(double(int64_t(random())), -50 - int(random() % 40));
    if (i % 3)
      x = std::bit_cast<double>(std::bit_cast<uint64_t>(x) & ~0ull << (random() % 50)) + (i % 3 - 1) * 0x1p-40;
    float f = i % 5 ? float(x) : anyFloat(random);
    wrong += !isSame(valueOf(tenon___truncsfhf2(f)), roundTo(f, 11, -14, 65504));
    wrong += !isSame(valueOf(tenon___truncdfhf2(x)), roundTo(x, 11, -14, 65504));
    wrong += !isSame(valueOf(tenon___truncsfbf2(f)), roundTo(f, 8, -126, 0x1.fep127));
    wrong += !isSame(valueOf(tenon___truncdfbf2(x)), roundTo(x, 8, -126, 0x1.fep127));
  }
  CHECK(wrong == 0);
}

TEST_CASE("memory") {
  for (size_t size : {0, 1, 7, 31, 32, 33, 64, 100, 1000})
    for (size_t from = 0; from < 70; from += 3)
      for (size_t to = 0; to < 70; to += 5) {
        std::string mine(1100, 0), theirs;
        for (size_t i = 0; i < mine.size(); i++)
          mine[i] = char(i * 7 + i / 256);
        theirs = mine;
        REQUIRE(tenon_memmove(&mine[to], &mine[from], size) == &mine[to]);
        memmove(&theirs[to], &theirs[from], size);
        REQUIRE(mine == theirs);
        std::string copy(1100, 1);
        REQUIRE(tenon_memcpy(&copy[to], &mine[from], size) == &copy[to]);
        REQUIRE(tenon_memcmp(&copy[to], &mine[from], size) == 0);
        REQUIRE(copy[to + size] == 1);
        REQUIRE(tenon_memset(&copy[to], 200 + int(size), size) == &copy[to]);
        REQUIRE(copy.substr(to, size) == std::string(size, char(200 + size)));
        REQUIRE(copy[to + size] == 1);
      }
  CHECK(tenon_memcmp("abc", "abd", 3) < 0);
  CHECK(tenon_memcmp("\xff", "a", 1) > 0);
}
