//===- Embedder.h - an encoder that makes vectors of texts ----------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_TOOLS_TENON_EMBEDDER_H
#define TENON_TOOLS_TENON_EMBEDDER_H

#include "runtime/text/Encoding.h"
#include "tools/tenon/ModelSession.h"

#include <optional>

namespace tenon {

using rt::Status;

/// How the vectors of tokens are pooled, if the model does not pool them.
enum class TokenPooling { mean, first };

/// A loaded artifact of an encoder. Its inputs are input_ids and optionally attention_mask and token_type_ids, integers
/// of [batch, length]. Its output is sentence_embedding, f32[batch, size], or else last_hidden_state, f32[batch,
/// length, size].
class Embedder {
public:
  /// Fails with TENON_UNSUPPORTED if the model has other inputs or outputs. Without `pooling`, it must have
  /// sentence_embedding.
  Status load(const std::string &path, const ModelOptions &options, std::optional<TokenPooling> pooling);

  /// The sizes that the model was compiled for; 0 if they are dynamic.
  size_t getFixedBatch() const { return fixedBatch; }
  size_t getFixedLength() const { return fixedLength; }
  /// The maximal number of tokens in a text; SIZE_MAX if there is no limit.
  size_t getMaxLength() const { return maxLength; }

  /// Appends the vectors of encodings of equal length; at most as many as a fixed batch has.
  Status run(const std::vector<text::Encoding> &batch, std::vector<std::vector<float>> &vectors);

private:
  enum class Role { ids, mask, types };
  struct Input {
    Role role;
    tenon_dtype dtype;
    std::vector<int64_t> values; ///< as many of the type's as there are
  };
  Status findInputs();
  Status findOutput(std::optional<TokenPooling> pooling);
  void fill(const std::vector<text::Encoding> &batch, size_t rows, size_t length, Input &input) const;
  Status pool(const std::vector<text::Encoding> &batch, const tenon_tensor &tensor,
              std::vector<std::vector<float>> &vectors) const;

  ModelSession handles;
  std::vector<Input> inputs;
  uint32_t output = 0;
  std::optional<TokenPooling> tokenPooling; ///< of the output's tokens
  size_t fixedBatch = 0, fixedLength = 0, maxLength = SIZE_MAX;
};

/// Normalizes a vector to length 1, unless it is zero.
void normalizeVector(std::vector<float> &vector);

} // namespace tenon

#endif // TENON_TOOLS_TENON_EMBEDDER_H
