//===- Generator.h - a decoder that goes on with texts --------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_TOOLS_TENON_GENERATOR_H
#define TENON_TOOLS_TENON_GENERATOR_H

#include "runtime/base/Memory.h"
#include "runtime/text/SamplingOptions.h"
#include "tools/tenon/ModelSession.h"

#include <optional>
#include <string>
#include <vector>

namespace tenon {

/// A loaded artifact of a language model that keeps the keys and values of texts between runs (tenon compile
/// --context). Its input is input_ids, i64[1, length], with the new tokens of a text; its outputs are logits, f32[1,
/// vocabulary], and token, i64[1], the next one. A program for several sequences takes one token of each,
/// i64[sequences, 1].
///
/// The first run of a text may take other inputs, such as the spectrogram of a recording: their first dimension is 1
/// there, and 0 in later runs, for which there are other programs.
class Generator {
public:
  /// Goes on with as many texts at the same time. Fails with TENON_UNSUPPORTED if the model has other inputs, outputs
  /// or states.
  Status load(const std::string &path, const ModelOptions &options, uint32_t numTexts = 1);

  /// An input of first runs beside the tokens. All texts begin with its value.
  struct OtherInput {
    std::vector<int64_t> dims; ///< of the value; empty until there is one
    tenon_dtype dtype;
    rt::Memory memory;
  };
  /// Those of the model, from input 1 on. Their values have to be set after load() and before a run.
  std::vector<OtherInput> &getOtherInputs() { return others; }
  const tenon_artifact *getArtifact() const { return handles.artifact.get(); }
  const std::string &getModel() const { return model; }

  /// Returns the number of tokens that a text may have.
  size_t getContext() const { return context; }
  size_t getVocabulary() const { return vocabulary; }
  /// Returns how many texts a run takes a token of at most; 1 without a program for several sequences.
  uint32_t getMostSequences() const { return batches.empty() ? 1 : batches.back(); }
  /// Returns the number of tokens of a text so far.
  size_t getLength(uint32_t text = 0) const { return texts[text].tokens.size(); }
  /// Returns the token that follows a text, once it has tokens.
  uint32_t getNext(uint32_t text = 0) const { return texts[text].next; }
  /// Returns the logits of that token after push() or follow() of a text, until the next run.
  const float *getLogits() const { return logits; }

  /// Sets how the model samples the token that follows a text, from the text's next run on; greedily before that. Fails
  /// with TENON_UNSUPPORTED if the model takes no such settings.
  Status setSampling(const text::SamplingOptions &options, uint64_t seed, uint32_t text = 0);

  /// Appends at least one token to a text, with at most `chunk` of them in one run. Fails with TENON_RESOURCES, and
  /// changes nothing, if the text would exceed the context.
  Status push(const std::vector<uint32_t> &tokens, size_t chunk, uint32_t text = 0);
  /// Sets a text to these tokens: appends the new ones if they begin with its tokens, and starts over if they do not.
  /// They count as its prompt.
  Status follow(const std::vector<uint32_t> &tokens, size_t chunk, uint32_t text = 0);
  /// A token that is appended to a text.
  struct Next {
    uint32_t text, token;
  };
  /// Appends a token to each of several texts, all of them different, in as few runs as the programs allow.
  Status step(const std::vector<Next> &next);

private:
  /// What the states `sampling` and `seed` of a text's slot hold.
  struct Sampling {
    float settings[5]; ///< temperature, repetition penalty, top-k, top-p, min-p
    int64_t seed;
  };
  struct Text {
    std::vector<uint32_t> tokens; ///< of all runs
    uint32_t next = 0;
    std::optional<Sampling> sampling;
  };

  Status checkModel();
  Status checkInputs(uint32_t count);
  Status setPromptLength(size_t length, uint32_t text);
  Status bindOthers(bool isFirstRun);
  Status checkStates(uint32_t count);
  Status readPrograms();
  Status checkTokens(const uint32_t *tokens, size_t count, uint32_t text) const;
  Status applySampling(uint32_t text);
  Status run(const std::vector<int64_t> &ids, int64_t batch, bool isFirstRun);
  uint32_t readNext(size_t sequence) const;
  Status append(const uint32_t *tokens, size_t count, uint32_t text);
  Status stepTogether(const Next *next, size_t count);

  ModelSession handles;
  std::string model;
  size_t context = 0, vocabulary = 0;
  std::vector<uint32_t> batches; ///< numbers of sequences, from 2 on, for which there are programs, ascending
  std::vector<Text> texts;       ///< each has the slot of its number
  std::vector<OtherInput> others;
  std::optional<uint32_t> samplingState, seedState, beginState;
  const float *logits = nullptr; ///< of the last run, as `nextTokens`
  const int64_t *nextTokens = nullptr;
};

} // namespace tenon

#endif // TENON_TOOLS_TENON_GENERATOR_H
