//===- Sampler.cpp - the next token of a text -----------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/text/Sampler.h"

#include <algorithm>
#include <cassert>
#include <cmath>

using namespace tenon::text;

void Sampler::note(uint32_t token) {
  if (token >= seen.size())
    seen.resize(size_t(token) + 1);
  seen[token] = true;
}

double Sampler::penalize(uint32_t token, double logit) const {
  if (std::isnan(logit))
    return -INFINITY;
  if (token >= seen.size() || !seen[token])
    return logit;
  return logit > 0 ? logit / options.repetitionPenalty : logit * options.repetitionPenalty;
}

/// splitmix64 (Steele, Lea and Flood, https://doi.org/10.1145/2660193.2660195), as a number in [0, 1).
double Sampler::nextUniform() {
  uint64_t z = state += 0x9e3779b97f4a7c15;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
  z = (z ^ z >> 27) * 0x94d049bb133111eb;
  return static_cast<double>((z ^ z >> 31) >> 11) * 0x1p-53;
}

/// Drops the least probable of sorted candidates, and computes `weights` of the others.
void Sampler::keepLikely(std::vector<Candidate> &sorted, std::vector<double> &weights) const {
  double sum = 0;
  for (const Candidate &candidate : sorted)
    sum += weights.emplace_back(std::exp((candidate.logit - sorted.front().logit) / options.temperature));
  size_t kept = 0;
  for (double before = 0; kept < sorted.size(); before += weights[kept++])
    if (kept > 0 && (before >= options.topP * sum || weights[kept] < options.minP))
      break;
  sorted.resize(kept);
  weights.resize(kept);
}

uint32_t Sampler::sample(const float *logits, size_t count) {
  assert(count > 0 && "a vocabulary has tokens");
  // Among equal logits, the first token counts as the most probable one.
  auto isBetter = [](const Candidate &a, const Candidate &b) {
    return a.logit != b.logit ? a.logit > b.logit : a.token < b.token;
  };
  std::vector<Candidate> candidates(count);
  for (size_t i = 0; i < count; ++i)
    candidates[i] = {static_cast<uint32_t>(i), penalize(static_cast<uint32_t>(i), static_cast<double>(logits[i]))};
  if (options.temperature <= 0 || options.topK == 1)
    return std::min_element(candidates.begin(), candidates.end(), isBetter)->token;
  double best = std::min_element(candidates.begin(), candidates.end(), isBetter)->logit;
  // Without a finite logit there is no distribution.
  if (!std::isfinite(best))
    return std::min_element(candidates.begin(), candidates.end(), isBetter)->token;
  // All tokens below this bound together have a probability of 2^-51, which a number in [0, 1) cannot resolve, so they
  // need no sorting.
  constexpr double kLeast = 48; // math: -ln(2^-51 / 2^18 tokens)
  double least = best - kLeast * options.temperature;
  candidates.erase(std::remove_if(candidates.begin(), candidates.end(),
                                  [&](const Candidate &candidate) { return candidate.logit < least; }),
                   candidates.end());
  size_t most = options.topK ? std::min(options.topK, candidates.size()) : candidates.size();
  std::partial_sort(candidates.begin(), candidates.begin() + static_cast<ptrdiff_t>(most), candidates.end(), isBetter);
  candidates.resize(most);
  std::vector<double> weights;
  keepLikely(candidates, weights);
  double sum = 0;
  for (double weight : weights)
    sum += weight;
  double place = nextUniform() * sum;
  for (size_t i = 0; i + 1 < weights.size(); ++i) {
    place -= weights[i];
    if (place < 0)
      return candidates[i].token;
  }
  return candidates.back().token;
}
