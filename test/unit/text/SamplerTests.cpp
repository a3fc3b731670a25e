//===- SamplerTests.cpp - the next token of a text ------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/text/Sampler.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <vector>

using namespace tenon::text;

namespace {

/// How often each token is chosen, of so many.
std::map<uint32_t, double> count(const SamplerOptions &options, const std::vector<float> &logits, int times = 20000) {
  Sampler sampler(options, 5);
  std::map<uint32_t, double> shares;
  for (int i = 0; i < times; ++i)
    shares[sampler.sample(logits.data(), logits.size())] += 1.0 / times;
  return shares;
}

/// Logits of these probabilities.
std::vector<float> logitsOf(const std::vector<double> &probabilities) {
  std::vector<float> logits;
  for (double probability : probabilities)
    logits.push_back(float(std::log(probability)));
  return logits;
}

} // namespace

TEST_CASE("without a temperature the most probable token is taken, of equal ones the first") {
  std::vector<float> logits{1, 3, NAN, 3, -INFINITY};
  CHECK(count({}, logits, 5) == std::map<uint32_t, double>{{1, 1.0}});
  std::vector<float> nothing{NAN, -INFINITY};
  CHECK(count({}, nothing, 5).size() == 1);
  SamplerOptions warm;
  warm.temperature = 1;
  CHECK(count(warm, nothing, 5).size() == 1);
}

TEST_CASE("tokens come as often as they are probable") {
  SamplerOptions options;
  options.temperature = 1;
  std::map<uint32_t, double> shares = count(options, logitsOf({0.5, 0.3, 0.15, 0.05}));
  CHECK(shares[0] == Approx(0.5).margin(0.02));
  CHECK(shares[1] == Approx(0.3).margin(0.02));
  CHECK(shares[2] == Approx(0.15).margin(0.02));
  CHECK(shares[3] == Approx(0.05).margin(0.01));
  // A temperature of 1/2 squares probabilities.
  options.temperature = 0.5;
  shares = count(options, logitsOf({0.5, 0.3, 0.2}));
  CHECK(shares[0] == Approx(0.25 / 0.38).margin(0.02));
  CHECK(shares[2] == Approx(0.04 / 0.38).margin(0.02));
}

TEST_CASE("top-k, top-p and min-p leave the most probable tokens") {
  std::vector<float> logits = logitsOf({0.05, 0.4, 0.3, 0.15, 0.1});
  auto tokens = [&](SamplerOptions options) {
    options.temperature = 1;
    std::vector<uint32_t> left;
    for (auto [token, share] : count(options, logits))
      left.push_back(token);
    return left;
  };
  SamplerOptions options;
  options.topK = 2;
  CHECK(tokens(options) == std::vector<uint32_t>{1, 2});
  options = {};
  options.topP = 0.6; // 0.4 is not enough
  CHECK(tokens(options) == std::vector<uint32_t>{1, 2});
  options.topP = 0.75;
  CHECK(tokens(options) == std::vector<uint32_t>{1, 2, 3});
  options = {};
  options.minP = 0.3; // of 0.4
  CHECK(tokens(options) == std::vector<uint32_t>{1, 2, 3});
  options.minP = 1;
  CHECK(tokens(options) == std::vector<uint32_t>{1});
  // Together, of what is left of the one before.
  options = {};
  options.topK = 3;
  options.topP = 0.8; // of 0.85, which is 0.68
  CHECK(tokens(options) == std::vector<uint32_t>{1, 2});
}

TEST_CASE("tokens of the text become less probable, whatever the sign of their logits") {
  SamplerOptions options;
  options.repetitionPenalty = 2;
  std::vector<float> logits{3, 2, -1};
  Sampler sampler(options, 0);
  CHECK(sampler.sample(logits.data(), logits.size()) == 0);
  sampler.note(0);
  CHECK(sampler.sample(logits.data(), logits.size()) == 1);
  std::vector<float> negative{-1.5f, -2};
  Sampler other(options, 0);
  CHECK(other.sample(negative.data(), negative.size()) == 0);
  other.note(0);
  CHECK(other.sample(negative.data(), negative.size()) == 1);
}

TEST_CASE("a seed gives the same tokens again, another one others") {
  SamplerOptions options;
  options.temperature = 1;
  std::vector<float> logits(1000, 0);
  auto sample = [&](uint64_t seed) {
    Sampler sampler(options, seed);
    std::vector<uint32_t> tokens;
    for (int i = 0; i < 50; ++i)
      tokens.push_back(sampler.sample(logits.data(), logits.size()));
    return tokens;
  };
  CHECK(sample(1) == sample(1));
  CHECK(sample(1) != sample(2));
}
