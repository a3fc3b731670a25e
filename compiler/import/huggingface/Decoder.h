//===- Decoder.h - what decoders with rotary positions have in common -----===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Most open language models are variants of one: attention with rotary positions and gated feed-forward layers, with
// norms before or behind them. What all of them have is here; in what order a layer does what is for each
// architecture's own file to say.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_IMPORT_HUGGINGFACE_DECODER_H
#define TENON_COMPILER_IMPORT_HUGGINGFACE_DECODER_H

#include "compiler/import/huggingface/ModelContext.h"
#include "compiler/import/huggingface/Rope.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace tenon::huggingface {

//===----------------------------------------------------------------------===//
// Configs
//===----------------------------------------------------------------------===//

/// What a config stands for where it does not say.
struct DecoderDefaults {
  int64_t headSize = 0; ///< 0: the features of a layer, over heads
  double epsilon = 1e-6;
  const char *activationKey = "hidden_act";
  const char *activation = "silu";
  bool isTied = false;
};

/// The fields that the configs of all these decoders have.
struct DecoderConfig {
  explicit DecoderConfig(const Config &config, const DecoderDefaults &defaults = {});

  int64_t hidden, layers, heads, keyHeads, headSize, intermediate, vocabulary;
  double epsilon;
  Activation activation;
  bool isTied; ///< the table of words is the last product's matrix, too

  /// The usual scale of scores, 1 / sqrt(headSize).
  double getScale() const;
};

/// Returns for each layer whether it has sliding-window attention: from `layer_types` or, in older files, as
/// `otherwise` says for its number.
std::vector<bool> readWindowedLayers(const Config &config, int64_t layers, llvm::function_ref<bool(int64_t)> otherwise);

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

/// The values that all layers of one kind share. Queries are the tokens of this run, keys also those of earlier runs.
struct SequencePositions {
  Tensor cosines, sines; ///< [length, rotated / 2]
  Tensor mask;           ///< [length, past + length]: whether a query sees a key
};
/// Those of each sequence in a run.
using Positions = llvm::SmallVector<SequencePositions, 1>;

/// A query attends to itself and earlier tokens; if `window` is not 0, only to the last `window` of these.
Positions makePositions(ModelContext &model, const Rope &rope, const Dim &length, int64_t window = 0);
/// The same angles with another window.
Positions withWindow(ModelContext &model, Positions positions, int64_t window);

/// Multiplies x, [batch, length, hidden], with `name`.weight, and splits the result into heads: [batch, heads, length,
/// headSize].
Tensor projectHeads(ModelContext &model, const DecoderConfig &config, const Tensor &x, const std::string &name,
                    int64_t heads, bool hasBias = false);

/// Applies rotary embeddings to the first features of queries and keys, and computes attention: [batch, length, heads *
/// headSize]. Keys and values of earlier runs come first. If `softcap` is not 0, it bounds the scores.
Tensor attendTurned(ModelContext &model, const Tensor &queries, const Tensor &keys, const Tensor &values,
                    const Positions &positions, double scale, double softcap = 0);

/// Llama's attention, under self_attn: x, [batch, length, hidden], has separate projections for queries, keys and
/// values, and an output projection, all with or without a bias.
Tensor attendPlainly(ModelContext &model, const DecoderConfig &config, const Tensor &x, const Positions &positions,
                     bool hasBias = false);

//===----------------------------------------------------------------------===//
// The whole
//===----------------------------------------------------------------------===//

/// Declares input_ids, [batch, length]. Empty, after reported errors, if the config is invalid.
Tensor declareTokens(ModelContext &model, const DecoderConfig &config);
/// A vector for each word: [vocabulary, hidden].
Tensor getWords(ModelContext &model, const DecoderConfig &config);
/// Applies all layers to x, each in the scope of its weights.
Tensor runLayers(ModelContext &model, const DecoderConfig &config, Tensor x,
                 llvm::function_ref<Tensor(const Tensor &x, int64_t number)> layer);
/// Adds the output logits, [batch, length, vocabulary], or with a context [batch, vocabulary] for the last token and
/// the token that follows (NextToken.h), from x, [batch, length, hidden], after the last norm. If `softcap` is not 0,
/// it bounds the logits.
void outputLogits(ModelContext &model, const DecoderConfig &config, const Tensor &ids, const Tensor &x,
                  const Tensor &words, double softcap = 0);

/// Builds a pre-norm decoder from input_ids to logits: each layer adds `attend(norm(x))` to x, and then `feedForward`
/// of another norm. Both map [batch, length, hidden] to the same shape. If `window` is not 0, the layers that
/// `windowed` names, or all of them if it is empty, have sliding-window attention.
void buildPreNormDecoder(ModelContext &model, const DecoderConfig &config, const Rope &rope, int64_t window,
                         const std::vector<bool> &windowed,
                         llvm::function_ref<Tensor(const Tensor &normed, const Positions &positions)> attend,
                         llvm::function_ref<Tensor(const Tensor &normed)> feedForward);

/// Returns tanh(x / limit) * limit, which is bounded by `limit` and close to x for small numbers.
Tensor capSoftly(const Tensor &x, double limit);

} // namespace tenon::huggingface

#endif // TENON_COMPILER_IMPORT_HUGGINGFACE_DECODER_H
