//===- Embedder.h - an encoder that makes vectors of texts ----------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_TOOLS_TENON_EMBEDDER_H
#define TENON_TOOLS_TENON_EMBEDDER_H

#include "runtime/text/Encoding.h"
#include "tenon/runtime.h"

#include <memory>
#include <optional>

namespace tenon {

using rt::Status;

/// How the vectors of tokens become one, where the model does not do it.
enum class TokenPooling { mean, first };

/// A loaded artifact of an encoder. Its inputs are input_ids and maybe attention_mask and token_type_ids, integers of
/// [batch, length]. Its output is sentence_embedding, f32[batch, size], or else last_hidden_state,
/// f32[batch, length, size].
class Embedder {
public:
  /// Fails with TENON_UNSUPPORTED where the model has other inputs or outputs. Without `pooling`, it has to have
  /// sentence_embedding.
  Status load(const std::string &path, uint32_t threads, std::optional<TokenPooling> pooling);

  /// Sizes that the model was compiled for; 0 where they are open.
  size_t getFixedBatch() const { return fixedBatch; }
  size_t getFixedLength() const { return fixedLength; }
  /// Tokens that a text may have; SIZE_MAX where there is no limit.
  size_t getMaxLength() const { return maxLength; }

  /// Appends the vectors of encodings, which all have the same length: as many as the batch, if that is fixed, at
  /// most.
  Status run(const std::vector<text::Encoding> &batch, std::vector<std::vector<float>> &vectors);

private:
  struct Release {
    void operator()(tenon_artifact *artifact) const { tenon_artifact_release(artifact); }
    void operator()(tenon_session *session) const { tenon_session_release(session); }
  };
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

  std::unique_ptr<tenon_artifact, Release> artifact;
  std::unique_ptr<tenon_session, Release> session;
  std::vector<Input> inputs;
  uint32_t output = 0;
  std::optional<TokenPooling> tokenPooling; ///< of the output's tokens
  size_t fixedBatch = 0, fixedLength = 0, maxLength = SIZE_MAX;
};

/// Scales a vector to a length of 1, unless it is all zeros.
void normalizeVector(std::vector<float> &vector);

} // namespace tenon

#endif // TENON_TOOLS_TENON_EMBEDDER_H
