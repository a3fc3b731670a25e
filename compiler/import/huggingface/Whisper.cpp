//===- Whisper.cpp - speech to text: an encoder and a decoder -------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Radford and others, https://arxiv.org/abs/2212.04356; as transformers' WhisperForConditionalGeneration computes it.
//
//===----------------------------------------------------------------------===//

#include "compiler/import/huggingface/Architectures.h"
#include <cmath>

using namespace tenon;
using namespace tenon::graph;
using namespace tenon::huggingface;

namespace {

struct WhisperConfig {
  explicit WhisperConfig(const Config &config)
      : hidden(config.getSize("d_model")), bands(config.getSize("num_mel_bins", 80)),
        frames(config.getSize("max_source_positions", 1500)), words(config.getSize("max_target_positions", 448)),
        vocabulary(config.getSize("vocab_size")), encoderLayers(config.getSize("encoder_layers")),
        encoderHeads(config.getSize("encoder_attention_heads")), encoderWidth(config.getSize("encoder_ffn_dim")),
        decoderLayers(config.getSize("decoder_layers")), decoderHeads(config.getSize("decoder_attention_heads")),
        decoderWidth(config.getSize("decoder_ffn_dim")),
        activation(readActivation(config, "activation_function", "gelu")) {}

  int64_t hidden, bands, frames, words, vocabulary;
  int64_t encoderLayers, encoderHeads, encoderWidth, decoderLayers, decoderHeads, decoderWidth;
  Activation activation;
};

} // namespace

static constexpr double kEpsilon = 1e-5;

/// Computes queries from x, and keys and values from `source`, both [batch, length, hidden].
static Tensor attend(ModelContext &m, const WhisperConfig &c, const std::string &name, int64_t heads, const Tensor &x,
                     const Tensor &source, const Tensor &mask = {}) {
  ModelContext::Scope scope(m, name);
  auto project = [&](const Tensor &value, const char *name, bool hasBias) {
    return splitHeads(m.linear(value, name, c.hidden, c.hidden, hasBias), heads);
  };
  Tensor queries = project(x, "q_proj", true), keys = project(source, "k_proj", false);
  int64_t headSize = c.hidden / heads;
  double scale = 1 / std::sqrt(static_cast<double>(headSize));
  Tensor mixed = mergeHeads(attention(queries, keys, project(source, "v_proj", true), scale, mask));
  return m.linear(mixed, "out_proj", c.hidden, c.hidden, true);
}

static Tensor feedForward(ModelContext &m, const WhisperConfig &c, const Tensor &x, int64_t width) {
  Tensor normed = m.layerNorm(x, "final_layer_norm", c.hidden, kEpsilon);
  return x + m.linear(c.activation(m.linear(normed, "fc1", c.hidden, width, true)), "fc2", width, c.hidden, true);
}

static Tensor convolveFrames(ModelContext &m, const std::string &name, const Tensor &x, int64_t in, int64_t out,
                             int64_t stride) {
  ModelContext::Scope scope(m, name);
  return gelu(convolve(x, m.weight("weight", {out, in, 3}), m.weight("bias", out), {.strides = {stride}, .low = {1}}));
}

/// Encodes a spectrogram, [batch, bands, 2 * frames], as [batch, frames, hidden].
static Tensor encode(ModelContext &m, const WhisperConfig &c, const Tensor &spectrum) {
  ModelContext::Scope scope(m, "model.encoder");
  Tensor x = convolveFrames(m, "conv1", spectrum, c.bands, c.hidden, 1);
  x = transpose(convolveFrames(m, "conv2", x, c.hidden, c.hidden, 2), {0, 2, 1});
  x = x + m.weight("embed_positions.weight", {c.frames, c.hidden});
  for (int64_t i = 0; i < c.encoderLayers; ++i) {
    ModelContext::Scope layer(m, "layers." + std::to_string(i));
    Tensor normed = m.layerNorm(x, "self_attn_layer_norm", c.hidden, kEpsilon);
    x = feedForward(m, c, x + attend(m, c, "self_attn", c.encoderHeads, normed, normed), c.encoderWidth);
  }
  return m.layerNorm(x, "layer_norm", c.hidden, kEpsilon);
}

/// Decodes the tokens so far, [batch, length], with the encoder's result, as [batch, length, hidden].
static Tensor decode(ModelContext &m, const WhisperConfig &c, const Tensor &ids, const Tensor &words,
                     const Tensor &heard) {
  ModelContext::Scope scope(m, "model.decoder");
  Dim length = ids.dim(1);
  Tensor mask = m.graph.causalMask(length, length);
  Tensor x = embedding(words, ids) + m.positions(length, "embed_positions", c.words, c.hidden);
  for (int64_t i = 0; i < c.decoderLayers; ++i) {
    ModelContext::Scope layer(m, "layers." + std::to_string(i));
    Tensor normed = m.layerNorm(x, "self_attn_layer_norm", c.hidden, kEpsilon);
    x = x + attend(m, c, "self_attn", c.decoderHeads, normed, normed, mask);
    normed = m.layerNorm(x, "encoder_attn_layer_norm", c.hidden, kEpsilon);
    x = feedForward(m, c, x + attend(m, c, "encoder_attn", c.decoderHeads, normed, heard), c.decoderWidth);
  }
  return m.layerNorm(x, "layer_norm", c.hidden, kEpsilon);
}

/// Inputs: input_features, f32[batch, bands, 2 * frames], and decoder_input_ids, i64[batch, length]. Outputs: logits,
/// [batch, length, vocabulary], and encoder_last_hidden_state, [batch, frames, hidden].
void huggingface::buildWhisper(ModelContext &m) {
  WhisperConfig c(m.config);
  m.checkLayers(c.encoderLayers);
  m.checkLayers(c.decoderLayers);
  m.checkHeads(c.hidden, c.encoderHeads);
  m.checkHeads(c.hidden, c.decoderHeads);
  if (m.hasFaults())
    return;
  auto inputs = m.inputs({{"input_features", {{"batch"}, {"", c.bands}, {"", 2 * c.frames}}, DType::f32},
                          {"decoder_input_ids", {{"batch"}, {"length"}}, DType::i64}});
  Tensor heard = encode(m, c, inputs[0]);
  Tensor words = m.weight("model.decoder.embed_tokens.weight", {c.vocabulary, c.hidden});
  Tensor x = decode(m, c, inputs[1], words, heard);
  bool isTied = m.config.getBool("tie_word_embeddings", true);
  m.graph.output("logits", isTied ? linear(x, words) : m.linear(x, "proj_out", c.hidden, c.vocabulary, false));
  m.graph.output("encoder_last_hidden_state", heard);
}
