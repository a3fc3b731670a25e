//===- Gemma3.cpp - a decoder with windows, and norms on both sides -------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Gemma Team, https://arxiv.org/abs/2503.19786; as transformers' Gemma3ForCausalLM computes it.
//
//===----------------------------------------------------------------------===//

#include "compiler/import/huggingface/Architectures.h"
#include "compiler/import/huggingface/Gemma.h"
#include <cmath>

using namespace tenon;
using namespace tenon::graph;
using namespace tenon::huggingface;

namespace {

struct Gemma3Config : DecoderConfig {
  explicit Gemma3Config(const Config &config);

  int64_t window;
  double scale, logitCap; ///< no cap: 0
  bool attentionBias;
  std::vector<bool> windowed;
  Rope near, far; ///< of layers with a window, and of the others
};

} // namespace

Gemma3Config::Gemma3Config(const Config &config)
    : DecoderConfig(config, kGemmaDefaults), window(config.getSize("sliding_window", 4096)),
      scale(1 / std::sqrt(config.getFloat("query_pre_attn_scalar", 256.0))),
      logitCap(config.getFloat("final_logit_softcapping", 0.0)),
      attentionBias(config.getBool("attention_bias", false)) {
  config.refuse("use_bidirectional_attention");
  if (config.has("attn_logit_softcapping"))
    config.reportUnsupported("attn_logit_softcapping", "a number", "null");
  int64_t pattern = config.getSize("sliding_window_pattern", 6);
  windowed = readWindowedLayers(config, layers, [&](int64_t i) { return (i + 1) % pattern != 0; });
  Config parameters = config.getObject("rope_parameters");
  if (parameters.has("full_attention")) {
    Config farRope = parameters.getObject("full_attention"), nearRope = parameters.getObject("sliding_attention");
    far = readRope(config, farRope, farRope.getFloat("rope_theta", 1e6), headSize);
    near = readRope(config, nearRope, nearRope.getFloat("rope_theta", 1e4), headSize);
  } else {
    far = readRope(config, config.getObject("rope_scaling"), config.getFloat("rope_theta", 1e6), headSize);
    Config plain(Json::object(), config.getReport());
    near = readRope(config, plain, config.getFloat("rope_local_base_freq", 1e4), headSize);
  }
}

static Tensor attend(ModelContext &m, const Gemma3Config &c, const Tensor &x, const Positions &positions) {
  ModelContext::Scope scope(m, "self_attn");
  Tensor queries = projectHeads(m, c, x, "q_proj", c.heads, c.attentionBias);
  Tensor keys = projectHeads(m, c, x, "k_proj", c.keyHeads, c.attentionBias);
  Tensor values = projectHeads(m, c, x, "v_proj", c.keyHeads, c.attentionBias);
  Tensor mixed = attendTurned(m, gemmaNorm(m, queries, "q_norm", c.headSize, c.epsilon),
                              gemmaNorm(m, keys, "k_norm", c.headSize, c.epsilon), values, positions, c.scale);
  return m.linear(mixed, "o_proj", c.heads * c.headSize, c.hidden, c.attentionBias);
}

/// Input: input_ids. Output: logits, [batch, length, vocabulary].
void huggingface::buildGemma3(ModelContext &m) {
  Gemma3Config c(m.config);
  Tensor ids = declareTokens(m, c);
  if (m.hasFaults())
    return;
  Positions near = makePositions(m, c.near, ids.dim(1), c.window), far = makePositions(m, c.far, ids.dim(1));
  Tensor words = getWords(m, c);
  Tensor scaled = embedding(words, ids) * std::sqrt(static_cast<double>(c.hidden));
  Tensor x = runLayers(m, c, scaled, [&](const Tensor &x, int64_t layer) {
    return runGemmaLayer(m, c, x, [&](const Tensor &x) { return attend(m, c, x, c.windowed[layer] ? near : far); });
  });
  outputLogits(m, c, ids, gemmaNorm(m, x, "model.norm", c.hidden, c.epsilon), words, c.logitCap);
}
