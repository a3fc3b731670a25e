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
#include "compiler/import/huggingface/NextToken.h"
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

/// Projects x, [batch, length, hidden], to heads: [batch, heads, length, size].
static Tensor project(ModelContext &m, const WhisperConfig &c, const Tensor &x, const char *name, int64_t heads) {
  bool hasBias = llvm::StringRef(name) != "k_proj";
  return splitHeads(m.linear(x, name, c.hidden, c.hidden, hasBias), heads);
}

/// Attends to keys and values with queries of x, [batch, length, hidden].
static Tensor attend(ModelContext &m, const WhisperConfig &c, int64_t heads, const Tensor &x, const Tensor &keys,
                     const Tensor &values, const Tensor &mask = {}) {
  double scale = 1 / std::sqrt(static_cast<double>(c.hidden / heads));
  Tensor mixed = mergeHeads(attention(project(m, c, x, "q_proj", heads), keys, values, scale, mask));
  return m.linear(mixed, "out_proj", c.hidden, c.hidden, true);
}

/// Self-attention of the encoder, in which all positions see each other.
static Tensor attendToFrames(ModelContext &m, const WhisperConfig &c, const Tensor &x) {
  ModelContext::Scope scope(m, "self_attn");
  Tensor keys = project(m, c, x, "k_proj", c.encoderHeads);
  return attend(m, c, c.encoderHeads, x, keys, project(m, c, x, "v_proj", c.encoderHeads));
}

/// Self-attention of the decoder, to the tokens of earlier runs, too.
static Tensor attendToTokens(ModelContext &m, const WhisperConfig &c, const Tensor &x, const Tensor &mask) {
  ModelContext::Scope scope(m, "self_attn");
  Tensor keys = m.keep(project(m, c, x, "k_proj", c.decoderHeads), "keys");
  Tensor values = m.keep(project(m, c, x, "v_proj", c.decoderHeads), "values");
  return attend(m, c, c.decoderHeads, x, keys, values, mask);
}

/// Cross attention to the encoder's result, [batch, frames, hidden], of which later runs have the keys and values
/// alone.
static Tensor attendToAudio(ModelContext &m, const WhisperConfig &c, const Tensor &x, const Tensor &heard) {
  ModelContext::Scope scope(m, "encoder_attn");
  auto keep = [&](const char *name, const char *projection) {
    return m.keepOfFirstRun(name, {1, c.decoderHeads, c.frames, c.hidden / c.decoderHeads},
                            [&] { return project(m, c, heard, projection, c.decoderHeads); });
  };
  Tensor keys = keep("keys", "k_proj");
  return attend(m, c, c.decoderHeads, x, keys, keep("values", "v_proj"));
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
    x = feedForward(m, c, x + attendToFrames(m, c, normed), c.encoderWidth);
  }
  return m.layerNorm(x, "layer_norm", c.hidden, kEpsilon);
}

/// Decodes tokens, [batch, length], with the encoder's result, as [batch, length, hidden].
static Tensor decode(ModelContext &m, const WhisperConfig &c, const Tensor &ids, const Tensor &words,
                     const Tensor &heard) {
  ModelContext::Scope scope(m, "model.decoder");
  Dim length = ids.dim(1);
  Tensor mask = m.graph.causalMask(length, m.getPast() + length);
  Tensor x = embedding(words, ids) + m.positions(length, "embed_positions", c.words, c.hidden);
  for (int64_t i = 0; i < c.decoderLayers; ++i) {
    ModelContext::Scope layer(m, "layers." + std::to_string(i));
    Tensor normed = m.layerNorm(x, "self_attn_layer_norm", c.hidden, kEpsilon);
    x = x + attendToTokens(m, c, normed, mask);
    normed = m.layerNorm(x, "encoder_attn_layer_norm", c.hidden, kEpsilon);
    x = feedForward(m, c, x + attendToAudio(m, c, normed, heard), c.decoderWidth);
  }
  return m.layerNorm(x, "layer_norm", c.hidden, kEpsilon);
}

/// Declares the inputs: the spectrogram, [batch, bands, 2 * frames], and the tokens, [batch, length].
static std::pair<Tensor, Tensor> declareInputs(ModelContext &m, const WhisperConfig &c) {
  auto features = m.declareForFirstRun("input_features", {c.bands, 2 * c.frames}, DType::f32);
  if (!m.context) {
    auto inputs = m.inputs({features, m.declareTokens("decoder_input_ids")});
    return {inputs[0], inputs[1]};
  }
  // The tokens of a text are the first input of all models with a context.
  auto inputs = m.inputs({m.declareTokens("input_ids"), features});
  m.requireTokens(inputs[0]);
  if (m.runs != ModelContext::Runs::any)
    m.graph.require(m.getPast() - 1, "there is no audio yet: the first run of a text takes input_features");
  return {inputs[1], inputs[0]};
}

/// Without a context, the inputs are input_features, f32[batch, bands, 2 * frames], and decoder_input_ids, i64[batch,
/// length], and the outputs logits, [batch, length, vocabulary], and encoder_last_hidden_state, [batch, frames,
/// hidden].
///
/// With a context, they are input_ids, i64[1, length], and input_features, f32[1, bands, 2 * frames] in the first run
/// of a text and f32[0, bands, 2 * frames] in others, which have keys and values of the audio from that run; the
/// outputs are logits, [1, vocabulary], and token (NextToken.h).
void huggingface::buildWhisper(ModelContext &m) {
  WhisperConfig c(m.config);
  m.checkLayers(c.encoderLayers);
  m.checkLayers(c.decoderLayers);
  m.checkHeads(c.hidden, c.encoderHeads);
  m.checkHeads(c.hidden, c.decoderHeads);
  if (m.hasFaults())
    return;
  auto [spectrum, ids] = declareInputs(m, c);
  Tensor heard = m.runs == ModelContext::Runs::any ? encode(m, c, spectrum) : Tensor();
  Tensor words = m.weight("model.decoder.embed_tokens.weight", {c.vocabulary, c.hidden});
  Tensor x = m.takeAsked(decode(m, c, ids, words, heard));
  bool isTied = m.config.getBool("tie_word_embeddings", true);
  outputNextToken(m, ids, isTied ? linear(x, words) : m.linear(x, "proj_out", c.hidden, c.vocabulary, false));
  if (!m.context)
    m.graph.output("encoder_last_hidden_state", heard);
}
