//===- TransformsTests.cpp - the matrices of Winograd convolutions --------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/paths/winograd/Transforms.h"
#include <catch2/catch.hpp>
#include <random>

using namespace tenon;

TEST_CASE("transforms give the convolution", "[winograd]") {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> uniform(-1, 1);
  for (int64_t outputs : {2, 4, 6}) {
    REQUIRE(hasWinogradTransforms(outputs, 3));
    WinogradTransforms t = getWinogradTransforms(outputs, 3);
    int64_t side = outputs + 2;
    std::vector<double> d(side), g(3), products(side);
    for (double &x : d)
      x = uniform(random);
    for (double &x : g)
      x = uniform(random);
    for (int64_t i = 0; i < side; ++i) {
      double x = 0, w = 0;
      for (int64_t k = 0; k < side; ++k)
        x += t.input.at(i, k) * d[k];
      for (int64_t k = 0; k < 3; ++k)
        w += t.filter.at(i, k) * g[k];
      products[i] = x * w;
    }
    for (int64_t i = 0; i < outputs; ++i) {
      double y = 0;
      for (int64_t k = 0; k < side; ++k)
        y += t.output.at(i, k) * products[k];
      CHECK(y == Approx(d[i] * g[0] + d[i + 1] * g[1] + d[i + 2] * g[2]).margin(1e-12));
    }
  }
  CHECK(!hasWinogradTransforms(3, 3));
  CHECK(!hasWinogradTransforms(4, 5));
}

static std::vector<float> makeFilter(const FilterShape &shape, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> filter(shape.window * shape.window * shape.channels * shape.filters);
  for (float &x : filter)
    x = normal(random);
  return filter;
}

TEST_CASE("a transformed filter lies in panels, with zeros after the last filter", "[winograd]") {
  WinogradTransforms t = getWinogradTransforms(2, 3);
  FilterShape shape{3, 2, 5};
  std::vector<float> filter = makeFilter(shape, 1), packed(2 * 16 * 2 * 4, -1.0f);
  transformFilter(t, shape, filter.data(), 4, packed.data());
  for (int64_t point = 0; point < 16; ++point)
    for (int64_t c = 0; c < 2; ++c)
      for (int64_t f = 0; f < 8; ++f) {
        double wanted = 0;
        for (int64_t w = 0; w < 9 && f < 5; ++w)
          wanted += t.filter.at(point / 4, w / 3) * t.filter.at(point % 4, w % 3) * filter[(w * 2 + c) * 5 + f];
        CHECK(packed[((f / 4 * 16 + point) * 2 + c) * 4 + f % 4] == Approx(wanted).margin(1e-6));
      }
}

TEST_CASE("larger squares have larger errors, which are known", "[winograd]") {
  FilterShape shape{3, 64, 32};
  std::vector<float> filter = makeFilter(shape, 2);
  double two = measureWinogradError(getWinogradTransforms(2, 3), shape, filter.data());
  double four = measureWinogradError(getWinogradTransforms(4, 3), shape, filter.data());
  double six = measureWinogradError(getWinogradTransforms(6, 3), shape, filter.data());
  CHECK(two > 0);
  CHECK(two < 5e-7);
  CHECK(four > two);
  CHECK(four < 2.5e-6); // 4e-6 to 1e-5 with the points 0, 1, -1, 2, -2
  CHECK(six > four);
  CHECK(six < 1.2e-5);
}
