//===- Sampler.h - the next token of a text -------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_TEXT_SAMPLER_H
#define TENON_RUNTIME_TEXT_SAMPLER_H

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tenon::text {

/// How a token is sampled from the logits. The defaults keep all tokens; the filters apply in the order of the fields,
/// as in transformers' `generate`.
struct SamplerOptions {
  /// Logits of tokens that the text contains already are divided by it if they are positive, and multiplied otherwise
  /// (Keskar and others, https://arxiv.org/abs/1909.05858). 1: no penalty.
  double repetitionPenalty = 1;
  /// Logits are divided by it. 0: greedy decoding, which takes the token with the largest logit.
  double temperature = 0;
  /// The most probable tokens that are left. 0: all.
  size_t topK = 0;
  /// The smallest set of most probable tokens with this total probability is kept (Holtzman and others,
  /// https://arxiv.org/abs/1904.09751).
  double topP = 1;
  /// The minimal probability of a token relative to the most probable one (Nguyen and others,
  /// https://arxiv.org/abs/2407.01082).
  double minP = 0;
};

/// Samples the tokens of one text. The same seed and logits yield the same tokens on all machines.
class Sampler {
public:
  Sampler(const SamplerOptions &options, uint64_t seed) : options(options), state(seed) {}

  /// Adds a token to the text, for the repetition penalty.
  void note(uint32_t token);
  /// Samples the next token from the logits of all tokens, of which there is at least one. A NaN logit counts as
  /// -infinity.
  uint32_t sample(const float *logits, size_t count);

private:
  struct Candidate {
    uint32_t token;
    double logit;
  };
  double penalize(uint32_t token, double logit) const;
  void keepLikely(std::vector<Candidate> &sorted, std::vector<double> &weights) const;
  double nextUniform();

  SamplerOptions options;
  uint64_t state;
  std::vector<bool> seen;
};

} // namespace tenon::text

#endif // TENON_RUNTIME_TEXT_SAMPLER_H
