//===- TokenScorer.h - a language model that tells how probable tokens are -===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_TOOLS_TENON_TOKENSCORER_H
#define TENON_TOOLS_TENON_TOKENSCORER_H

#include "tools/tenon/Generator.h"

#include <memory>
#include <string>
#include <vector>

namespace tenon {

/// A loaded artifact of a language model: one that returns the logits of all positions of a text, or one that keeps a
/// text's keys and values between runs and returns those of its last token (Generator.h).
class TokenScorer {
public:
  /// Fails with TENON_UNSUPPORTED if the model is neither.
  Status load(const std::string &path, const ModelOptions &options);

  /// Tokens that a text may have.
  size_t getMaxLength() const { return maxLength; }
  size_t getVocabulary() const { return vocabulary; }

  /// Runs a text of `count` tokens, at least one, and sets `logits` to the predictions after each of them, [count,
  /// vocabulary].
  Status run(const uint32_t *tokens, size_t count, std::vector<float> &logits);

private:
  Status findTensors();
  Status checkTokens(const uint32_t *tokens, size_t count) const;
  Status runSteps(const uint32_t *tokens, size_t count, std::vector<float> &logits);
  Status runWhole(const uint32_t *tokens, size_t count, std::vector<float> &logits);

  ModelSession handles;
  std::unique_ptr<Generator> generator; ///< of a model that keeps texts; null where it has no states
  std::string model;
  size_t maxLength = SIZE_MAX, fixedLength = 0, vocabulary = 0;
  uint32_t maskInput = UINT32_MAX, idsInput = 0;
};

} // namespace tenon

#endif // TENON_TOOLS_TENON_TOKENSCORER_H
