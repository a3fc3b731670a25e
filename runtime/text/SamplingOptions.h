//===- SamplingOptions.h - how the next token of a text is sampled --------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_TEXT_SAMPLINGOPTIONS_H
#define TENON_RUNTIME_TEXT_SAMPLINGOPTIONS_H

#include <cstddef>

namespace tenon::text {

/// How a token is sampled from the logits, which a model does itself (compiler/import/huggingface/NextToken.h). The
/// defaults keep all tokens; the filters apply in the order of the fields, as in transformers' `generate`.
struct SamplingOptions {
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

} // namespace tenon::text

#endif // TENON_RUNTIME_TEXT_SAMPLINGOPTIONS_H
