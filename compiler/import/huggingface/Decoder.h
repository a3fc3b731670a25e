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

/// The fields that configs of all these decoders have.
struct DecoderConfig {
  explicit DecoderConfig(const Config &config, const DecoderDefaults &defaults = {});

  int64_t hidden, layers, heads, keyHeads, headSize, intermediate, vocabulary;
  double epsilon;
  Activation activation;
  bool isTied; ///< the table of words is the last product's matrix, too

  /// The usual scale of scores, 1 / sqrt(headSize).
  double getScale() const;
};

/// For each layer, whether it sees no further than the window: as `layer_types` says, or in older files as `otherwise`
/// says of its number.
std::vector<bool> readWindowedLayers(const Config &config, int64_t layers, llvm::function_ref<bool(int64_t)> otherwise);

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

/// What all layers of one kind use. Queries are those of the tokens of this run, keys also those of earlier ones.
struct Positions {
  Tensor cosines, sines; ///< [length, rotated / 2]
  Tensor mask;           ///< [length, past + length]: whether a query sees a key
};

/// A query sees itself and what is before it; where `window` is not 0, only the last `window` of these.
Positions makePositions(ModelContext &model, const Rope &rope, const Dim &length, int64_t window = 0);
/// The same angles with another window.
Positions withWindow(ModelContext &model, Positions positions, int64_t window);

/// The product of x, [batch, length, hidden], with `name`.weight, as heads: [batch, heads, length, headSize].
Tensor projectHeads(ModelContext &model, const DecoderConfig &config, const Tensor &x, const std::string &name,
                    int64_t heads, bool hasBias = false);

/// Turns queries and keys, whose first features have rotary positions, and mixes the values: [batch, length, heads *
/// headSize]. Keys and values of earlier runs come first. Where `softcap` is not 0, no score is above it.
Tensor attendTurned(ModelContext &model, const Tensor &queries, const Tensor &keys, const Tensor &values,
                    const Positions &positions, double scale, double softcap = 0);

/// Attention as Llama has it, below self_attn: x, [batch, length, hidden], has products of its own for queries, keys
/// and values, and one for the mixed values, each with a bias or none.
Tensor attendPlainly(ModelContext &model, const DecoderConfig &config, const Tensor &x, const Positions &positions,
                     bool hasBias = false);

//===----------------------------------------------------------------------===//
// The whole
//===----------------------------------------------------------------------===//

/// The ids of input_ids, [batch, length]. Empty where the config has faults, which have been reported.
Tensor declareTokens(ModelContext &model, const DecoderConfig &config);
/// A vector for each word: [vocabulary, hidden].
Tensor getWords(ModelContext &model, const DecoderConfig &config);
/// x behind all layers, each of which is made in the scope of its weights.
Tensor runLayers(ModelContext &model, const DecoderConfig &config, Tensor x,
                 llvm::function_ref<Tensor(const Tensor &x, int64_t number)> layer);
/// The output logits, [batch, length, vocabulary], or with a context [batch, vocabulary] of the last token, of x,
/// [batch, length, hidden], behind the last norm. Where `softcap` is not 0, none is above it.
void outputLogits(ModelContext &model, const DecoderConfig &config, const Tensor &x, const Tensor &words,
                  double softcap = 0);

/// A decoder whose layers add to x what `attend` makes of a norm of it, and to that what `feedForward` makes of another
/// norm: from input_ids to logits. Both get and give [batch, length, hidden]. Where `window` is not 0, the layers that
/// `windowed` names, or all of them if it is empty, see no further.
void buildPreNormDecoder(ModelContext &model, const DecoderConfig &config, const Rope &rope, int64_t window,
                         const std::vector<bool> &windowed,
                         llvm::function_ref<Tensor(const Tensor &normed, const Positions &positions)> attend,
                         llvm::function_ref<Tensor(const Tensor &normed)> feedForward);

/// Numbers of at most `limit`, as small ones are: tanh(x / limit) * limit.
Tensor capSoftly(const Tensor &x, double limit);

} // namespace tenon::huggingface

#endif // TENON_COMPILER_IMPORT_HUGGINGFACE_DECODER_H
