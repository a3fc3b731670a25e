//===- Generator.h - a decoder that goes on with a text -------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_TOOLS_TENON_GENERATOR_H
#define TENON_TOOLS_TENON_GENERATOR_H

#include "runtime/base/Status.h"
#include "tenon/runtime.h"

#include <memory>
#include <string>
#include <vector>

namespace tenon {

using rt::Status;

/// A loaded artifact of a language model that keeps what it has of a text from run to run (tenon compile --context).
/// Its input is input_ids, i64[1, length], of tokens that are new; its output logits, f32[1, vocabulary], of the one
/// that comes next.
class Generator {
public:
  /// Fails with TENON_UNSUPPORTED where the model has other inputs, outputs or states. The budget is that of
  /// tenon_session_options, the folder, which may be empty, that of tenon_load_options.
  Status load(const std::string &path, uint32_t threads, uint64_t weightBudget, const std::string &weightsFolder);

  /// Tokens that a text may have.
  size_t getContext() const { return context; }
  /// Tokens of the text so far.
  size_t getLength() const { return text.size(); }
  size_t getVocabulary() const { return vocabulary; }

  /// Goes on with these tokens, at most `chunk` of them in one run. There is one at least. Fails with TENON_RESOURCES
  /// where the text would be longer than the context, and changes nothing then.
  Status push(const std::vector<uint32_t> &tokens, size_t chunk);
  /// Makes these tokens the text: goes on with those that are new where they begin as the text so far, and begins again
  /// where they do not.
  Status follow(const std::vector<uint32_t> &tokens, size_t chunk);
  /// The logits of the next token, after one of these.
  const float *getLogits() const { return logits.data(); }

private:
  struct Release {
    void operator()(tenon_artifact *artifact) const { tenon_artifact_release(artifact); }
    void operator()(tenon_session *session) const { tenon_session_release(session); }
  };
  Status checkModel();
  Status run(const uint32_t *tokens, size_t count);

  std::unique_ptr<tenon_artifact, Release> artifact;
  std::unique_ptr<tenon_session, Release> session;
  std::string model;
  size_t context = 0, vocabulary = 0;
  std::vector<uint32_t> text; ///< the tokens of all runs
  std::vector<float> logits;
};

} // namespace tenon

#endif // TENON_TOOLS_TENON_GENERATOR_H
