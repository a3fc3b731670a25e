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

/// How a token is chosen by its logit. What is left out leaves all tokens; steps are taken in the order of the fields,
/// as transformers' `generate` takes them.
struct SamplerOptions {
  /// Logits of tokens that the text has already are divided by it where they are positive, and multiplied elsewhere
  /// (Keskar and others, https://arxiv.org/abs/1909.05858). 1: nothing changes.
  double repetitionPenalty = 1;
  /// Logits are divided by it. 0: the token with the largest logit, and no chance.
  double temperature = 0;
  /// The most probable tokens that are left. 0: all.
  size_t topK = 0;
  /// The fewest of the most probable tokens that have this probability together (Holtzman and others,
  /// https://arxiv.org/abs/1904.09751).
  double topP = 1;
  /// The least probability of a token, over that of the most probable one (Nguyen and others,
  /// https://arxiv.org/abs/2407.01082).
  double minP = 0;
};

/// Chooses tokens of one text, one after the other. The same seed and logits give the same tokens everywhere.
class Sampler {
public:
  Sampler(const SamplerOptions &options, uint64_t seed) : options(options), state(seed) {}

  /// Counts a token as one of the text, for the penalty of repetitions.
  void note(uint32_t token);
  /// The next token, by the logits of all. A logit that is no number is as good as none. There is one token at least.
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
