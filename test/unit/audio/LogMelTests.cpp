//===- LogMelTests.cpp - spectrograms, against what NumPy computes --------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/audio/LogMel.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <numeric>

using namespace tenon::audio;

/// A rectangular tone of 444 Hz with pseudo-random noise, in numbers that f32 has.
static std::vector<float> makeSignal(size_t count) {
  std::vector<float> samples(count);
  for (size_t i = 0; i < count; ++i)
    samples[i] = (static_cast<float>(i * 7919 % 1000) - 500) / 4096 + (i / 18 % 2 ? 0.25f : -0.25f);
  return samples;
}

namespace {
struct Wanted {
  size_t band, column;
  double value;
};
} // namespace

static void check(size_t bands, size_t columns, double sum, std::initializer_list<Wanted> values) {
  std::vector<float> got = computeLogMel(makeSignal(2900), bands, columns);
  REQUIRE(got.size() == bands * columns);
  CHECK(std::accumulate(got.begin(), got.end(), 0.0) == Approx(sum).epsilon(1e-6));
  for (const Wanted &wanted : values)
    CHECK(got[wanted.band * columns + wanted.column] == Approx(wanted.value).margin(1e-6));
}

TEST_CASE("a recording that is shorter than the spectrogram is padded") {
  check(80, 20, 675.9837781062977,
        {{0, 0, 0.91291553},
         {3, 1, 0.39515358},
         {17, 5, -0.13455421},
         {40, 11, 0.49806665},
         {79, 19, -0.02758657},
         {40, 18, 0.58033248}});
}

TEST_CASE("a recording that is longer is cut, and reflected at both ends") {
  check(128, 12, 597.1750600973002,
        {{0, 0, 0.83715632},
         {3, 1, 0.3311677},
         {17, 5, 1.23580786},
         {40, 11, 0.27590623},
         {127, 11, 0.5192311},
         {64, 10, 0.43648741}});
}

TEST_CASE("silence is as quiet as Whisper knows it") {
  for (float value : computeLogMel({}, 80, 2))
    CHECK(value == -1.5f);
}
