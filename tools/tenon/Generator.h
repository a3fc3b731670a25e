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

/// A loaded artifact of a language model that keeps the keys and values of a text between runs (tenon compile
/// --context). Its input is input_ids, i64[1, length], with the new tokens; its output logits, f32[1, vocabulary], for
/// the next one.
class Generator {
public:
  /// Fails with TENON_UNSUPPORTED if the model has other inputs, outputs or states. The budget is that of
  /// tenon_session_options; the folder, which may be empty, that of tenon_load_options.
  Status load(const std::string &path, uint32_t threads, uint64_t weightBudget, const std::string &weightsFolder);

  /// Tokens that a text may have.
  size_t getContext() const { return context; }
  /// Tokens of the text so far.
  size_t getLength() const { return text.size(); }
  size_t getVocabulary() const { return vocabulary; }

  /// Appends at least one token, with at most `chunk` of them in one run. Fails with TENON_RESOURCES, and changes
  /// nothing, if the text would exceed the context.
  Status push(const std::vector<uint32_t> &tokens, size_t chunk);
  /// Sets the text to these tokens: appends the new ones if they begin with the current text, and starts over if they
  /// do not.
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
