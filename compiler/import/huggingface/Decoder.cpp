//===- Decoder.cpp - what decoders with rotary positions have in common ---===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/import/huggingface/Decoder.h"
#include "compiler/import/huggingface/NextToken.h"
#include <cmath>

using llvm::ArrayRef;
using llvm::Twine;
using namespace tenon;
using namespace tenon::graph;
using namespace tenon::huggingface;

//===----------------------------------------------------------------------===//
// Configs
//===----------------------------------------------------------------------===//

DecoderConfig::DecoderConfig(const Config &config, const DecoderDefaults &defaults)
    : hidden(config.getSize("hidden_size")), layers(config.getSize("num_hidden_layers")),
      heads(config.getSize("num_attention_heads")), keyHeads(config.getSize("num_key_value_heads", heads)),
      headSize(
          config.getSize("head_dim", defaults.headSize ? defaults.headSize : std::max<int64_t>(hidden / heads, 1))),
      intermediate(config.getSize("intermediate_size")), vocabulary(config.getSize("vocab_size")),
      epsilon(config.getFloat("rms_norm_eps", defaults.epsilon)),
      activation(readActivation(config, defaults.activationKey, defaults.activation)),
      isTied(config.getBool("tie_word_embeddings", defaults.isTied)) {
  checkKeyHeads(config, heads, keyHeads, headSize);
}

double DecoderConfig::getScale() const { return 1 / std::sqrt(static_cast<double>(headSize)); }

std::vector<bool> huggingface::readWindowedLayers(const Config &config, int64_t layers,
                                                  llvm::function_ref<bool(int64_t)> otherwise) {
  std::vector<bool> windowed;
  if (!config.has("layer_types")) {
    for (int64_t i = 0; i < layers; ++i)
      windowed.push_back(otherwise(i));
    return windowed;
  }
  for (const std::string &kind : config.getStrings("layer_types")) {
    windowed.push_back(kind == "sliding_attention");
    if (kind != "sliding_attention" && kind != "full_attention")
      config.reportUnsupported("layer_types", kind, "sliding_attention, full_attention");
  }
  if (static_cast<int64_t>(windowed.size()) != layers)
    config.getReport().add(ImportFault::invalidModel, "config.json: 'layer_types' has " + Twine(windowed.size()) +
                                                          " entries for " + Twine(layers) + " layers");
  return windowed;
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

Positions huggingface::makePositions(ModelContext &m, const Rope &rope, const Dim &length, int64_t window) {
  // Cached keys were rotated with the frequencies for shorter texts.
  if (rope.threshold != 0 && m.context > rope.threshold)
    m.config.getReport().add(ImportFault::unsupported,
                             "--context: the model uses other rotary frequencies in texts of more than " +
                                 Twine(rope.threshold) + " tokens; a context has at most so many");
  Positions positions;
  m.forEachSequence([&] {
    auto [cosines, sines] = makeRotations(m.graph, rope, length, m.getPast(), m.context);
    positions.push_back({cosines, sines, {}});
  });
  return withWindow(m, positions, window);
}

Positions huggingface::withWindow(ModelContext &m, Positions positions, int64_t window) {
  m.forEachSequence([&] {
    SequencePositions &own = positions[m.getSequence()];
    Dim length = own.cosines.dim(0);
    own.mask = m.graph.causalMask(length, m.getPast() + length, window);
  });
  return positions;
}

Tensor huggingface::projectHeads(ModelContext &m, const DecoderConfig &c, const Tensor &x, const std::string &name,
                                 int64_t heads, bool hasBias) {
  return splitHeads(m.linear(x, name, c.hidden, heads * c.headSize, hasBias), heads);
}

/// x is [batch, heads, length, headSize]; features beyond those with angles are not rotated.
static Tensor turn(const Tensor &x, const SequencePositions &p) {
  Dim size = x.dim(3), turned = p.cosines.dim(1) * 2;
  if (size == turned)
    return rope(x, p.cosines, p.sines);
  return concat({rope(slice(x, 3, 0, turned), p.cosines, p.sines), slice(x, 3, turned, size - turned)}, 3);
}

Tensor huggingface::attendTurned(ModelContext &m, const Tensor &queries, const Tensor &keys, const Tensor &values,
                                 const Positions &positions, double scale, double softcap) {
  return m.forSequences({queries, keys, values}, [&](ArrayRef<Tensor> parts) {
    const SequencePositions &p = positions[m.getSequence()];
    Tensor allKeys = m.keep(turn(parts[1], p), "keys"), allValues = m.keep(parts[2], "values");
    return mergeHeads(attention(turn(parts[0], p), allKeys, allValues, scale, p.mask, softcap));
  });
}

Tensor huggingface::attendPlainly(ModelContext &m, const DecoderConfig &c, const Tensor &x, const Positions &positions,
                                  bool hasBias) {
  ModelContext::Scope scope(m, "self_attn");
  Tensor queries = projectHeads(m, c, x, "q_proj", c.heads, hasBias);
  Tensor keys = projectHeads(m, c, x, "k_proj", c.keyHeads, hasBias);
  Tensor values = projectHeads(m, c, x, "v_proj", c.keyHeads, hasBias);
  Tensor mixed = attendTurned(m, queries, keys, values, positions, c.getScale());
  return m.linear(mixed, "o_proj", c.heads * c.headSize, c.hidden, hasBias);
}

//===----------------------------------------------------------------------===//
// The whole
//===----------------------------------------------------------------------===//

Tensor huggingface::declareTokens(ModelContext &m, const DecoderConfig &c) {
  m.checkLayers(c.layers);
  return m.hasFaults() ? Tensor() : m.tokenInputs({"input_ids"})[0];
}

Tensor huggingface::getWords(ModelContext &m, const DecoderConfig &c) {
  return m.weight("model.embed_tokens.weight", {c.vocabulary, c.hidden});
}

Tensor huggingface::runLayers(ModelContext &m, const DecoderConfig &c, Tensor x,
                              llvm::function_ref<Tensor(const Tensor &x, int64_t number)> layer) {
  for (int64_t i = 0; i < c.layers; ++i) {
    ModelContext::Scope scope(m, "model.layers." + std::to_string(i));
    x = layer(x, i);
  }
  return x;
}

void huggingface::outputLogits(ModelContext &m, const DecoderConfig &c, const Tensor &ids, const Tensor &x,
                               const Tensor &words, double softcap) {
  Tensor asked = m.takeAsked(x);
  Tensor logits = c.isTied ? linear(asked, words) : m.linear(asked, "lm_head", c.hidden, c.vocabulary, false);
  outputNextToken(m, ids, softcap == 0 ? logits : capSoftly(logits, softcap));
}

void huggingface::buildPreNormDecoder(
    ModelContext &m, const DecoderConfig &c, const Rope &rope, int64_t window, const std::vector<bool> &windowed,
    llvm::function_ref<Tensor(const Tensor &normed, const Positions &positions)> attend,
    llvm::function_ref<Tensor(const Tensor &normed)> feedForward) {
  assert((windowed.empty() || static_cast<int64_t>(windowed.size()) == c.layers) && "each layer has a window or none");
  Tensor ids = declareTokens(m, c);
  if (m.hasFaults())
    return;
  Positions far = makePositions(m, rope, ids.dim(1), windowed.empty() ? window : 0);
  Positions near = windowed.empty() ? far : withWindow(m, far, window);
  Tensor words = getWords(m, c);
  Tensor x = runLayers(m, c, embedding(words, ids), [&](const Tensor &x, int64_t layer) {
    bool isNear = windowed.empty() || windowed[layer];
    Tensor middle = x + attend(m.rmsNorm(x, "input_layernorm", c.hidden, c.epsilon), isNear ? near : far);
    return middle + feedForward(m.rmsNorm(middle, "post_attention_layernorm", c.hidden, c.epsilon));
  });
  outputLogits(m, c, ids, m.rmsNorm(x, "model.norm", c.hidden, c.epsilon), words);
}

Tensor huggingface::capSoftly(const Tensor &x, double limit) { return graph::tanh(x / limit) * limit; }
