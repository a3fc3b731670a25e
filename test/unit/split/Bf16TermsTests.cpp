//===- Bf16TermsTests.cpp - floats as sums of shorter ones ---------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/paths/split/Bf16Terms.h"
#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

using namespace tenon;

static float toFloat(uint16_t bf16) { return std::bit_cast<float>(uint32_t(bf16) << 16); }

/// A matrix [depth, columns] in terms, and where its elements lie.
struct Packed {
  TermPacking packing;
  std::vector<uint16_t> elements;

  Packed(const std::vector<float> &source, int64_t depth, int64_t columns, int64_t numTerms)
      : packing{1, 0, depth, columns, columns, 1, chooseStep(depth), numTerms}, elements(packing.countElements()) {
    packTerms(packing, source.data(), elements.data());
  }
  float getPart(int64_t k, int64_t column, int64_t term) const {
    int64_t step = packing.step, steps = packing.getNumSteps();
    int64_t tile = ((column / 16) * steps + k / step) * packing.numTerms + term;
    return toFloat(elements[tile * step * 16 + k % step / 2 * 32 + column % 16 * 2 + k % 2]);
  }
};

TEST_CASE("steps are even, at most 32 long, and few, and have little beyond the depth", "[terms]") {
  for (int64_t depth = 1; depth <= 3000; ++depth) {
    int64_t step = chooseStep(depth), steps = (depth + step - 1) / step;
    CAPTURE(depth, step);
    CHECK((step % 2 == 0 && step >= 2 && step <= 32));
    CHECK(steps == (depth + 31) / 32);
    CHECK(steps * step - depth < 2 * steps);
  }
  CHECK(chooseStep(768) == 32);
  CHECK(chooseStep(72) == 24);
  CHECK(chooseStep(40) == 20);
  CHECK(chooseStep(7) == 8);
  CHECK(chooseStep(1205) == 32);
}

TEST_CASE("three terms sum to the element, two to one close by, and there are zeros beyond", "[terms]") {
  std::mt19937 random(3);
  for (auto [depth, columns] : {std::pair<int64_t, int64_t>{1, 1}, {7, 5}, {33, 17}, {64, 32}, {97, 40}}) {
    std::vector<float> source(depth * columns);
    for (float &x : source)
      x = std::ldexp(std::uniform_real_distribution<float>(-1, 1)(random),
                     std::uniform_int_distribution<int>(-40, 40)(random));
    source.front() = std::numeric_limits<float>::max();
    Packed three(source, depth, columns, 3), two(source, depth, columns, 2);
    for (int64_t k = 0; k < three.packing.getNumSteps() * three.packing.step; ++k)
      for (int64_t n = 0; n < three.packing.getNumPanels() * 16; ++n) {
        float x = k < depth && n < columns ? source[k * columns + n] : 0;
        CHECK(double(three.getPart(k, n, 0)) + three.getPart(k, n, 1) + three.getPart(k, n, 2) == x);
        if (x != std::numeric_limits<float>::max())
          CHECK(std::abs(double(two.getPart(k, n, 0)) + two.getPart(k, n, 1) - x) <=
                std::ldexp(std::abs(double(x)), -16));
      }
  }
}

TEST_CASE("what is no number stays none", "[terms]") {
  float nan = std::bit_cast<float>(0x7fffffffu), infinity = std::numeric_limits<float>::infinity();
  for (int64_t numTerms : {1, 2, 3}) {
    Packed packed({nan, infinity}, 1, 2, numTerms);
    float sums[2] = {};
    for (int64_t term = 0; term < numTerms; ++term)
      for (int64_t n = 0; n < 2; ++n)
        sums[n] += packed.getPart(0, n, term);
    CHECK(std::isnan(sums[0]));
    CHECK(!std::isfinite(sums[1]));
  }
}

TEST_CASE("other dimensions are apart", "[terms]") {
  // [outer, depth, column] = 100 outer + 10 depth + column, and the same with the columns first.
  std::vector<float> last, first;
  for (int outer = 0; outer < 2; ++outer)
    for (int k = 0; k < 3; ++k)
      for (int n = 0; n < 4; ++n)
        last.push_back(100 * outer + 10 * k + n);
  for (int n = 0; n < 4; ++n)
    for (int outer = 0; outer < 2; ++outer)
      for (int k = 0; k < 3; ++k)
        first.push_back(100 * outer + 10 * k + n);
  TermPacking packing{2, 12, 3, 4, 4, 1, 4, 1};
  std::vector<uint16_t> a(packing.countElements()), b(packing.countElements());
  packTerms(packing, last.data(), a.data());
  packTerms({2, 3, 3, 1, 4, 6, 4, 1}, first.data(), b.data());
  CHECK(a == b);
  CHECK(toFloat(a[0]) == 0);
  CHECK(toFloat(a[1]) == 10);
  CHECK(toFloat(a[2]) == 1);
  CHECK(toFloat(a[4 * 16 + 32]) == 120);
}

TEST_CASE("one term of f32 lies where the terms do", "[terms]") {
  for (auto [depth, columns] : {std::pair<int64_t, int64_t>{1, 1}, {7, 5}, {33, 17}, {97, 40}}) {
    std::vector<float> source(depth * columns);
    for (size_t i = 0; i < source.size(); ++i)
      source[i] = static_cast<float>(i + 1); // which bf16 holds, as far as these go, in three terms
    Packed three(source, depth, columns, 3);
    TermPacking packing{1, 0, depth, columns, columns, 1, chooseStep(depth), 1};
    std::vector<float> whole(packing.countElements());
    packWhole(packing, source.data(), whole.data());
    CHECK(whole.size() * 3 == three.elements.size());
    int64_t term = packing.step * 16;
    for (size_t i = 0; i < whole.size(); ++i) {
      size_t first = i / term * 3 * term + i % term;
      float sum = toFloat(three.elements[first + 2 * term]) + toFloat(three.elements[first + term]);
      CHECK(whole[i] == sum + toFloat(three.elements[first]));
    }
  }
}
