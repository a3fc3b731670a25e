//===- Gemma2.cpp - a decoder with windows, norms on both sides, and scores that are capped ===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Gemma Team, https://arxiv.org/abs/2408.00118; as transformers' Gemma2ForCausalLM computes it.
//
//===----------------------------------------------------------------------===//

#include "compiler/import/huggingface/Architectures.h"
#include "compiler/import/huggingface/Gemma.h"
#include <cmath>

using namespace tenon;
using namespace tenon::graph;
using namespace tenon::huggingface;

namespace {

struct Gemma2Config : DecoderConfig {
  explicit Gemma2Config(const Config &config)
      : DecoderConfig(config, kGemmaDefaults), window(config.getSize("sliding_window", 4096)),
        scale(1 / std::sqrt(config.getFloat("query_pre_attn_scalar", 256.0))),
        scoreCap(config.isNull("attn_logit_softcapping") ? 0 : config.getFloat("attn_logit_softcapping", 50.0)),
        logitCap(config.isNull("final_logit_softcapping") ? 0 : config.getFloat("final_logit_softcapping", 30.0)),
        attentionBias(config.getBool("attention_bias", false)),
        windowed(readWindowedLayers(config, layers, [](int64_t i) { return i % 2 == 0; })),
        rope(readRope(config, headSize)) {
    config.refuse("use_bidirectional_attention");
  }

  int64_t window;
  double scale, scoreCap, logitCap; ///< no cap: 0
  bool attentionBias;
  std::vector<bool> windowed;
  Rope rope;
};

} // namespace

static Tensor attend(ModelContext &m, const Gemma2Config &c, const Tensor &x, const Positions &positions) {
  ModelContext::Scope scope(m, "self_attn");
  Tensor queries = projectHeads(m, c, x, "q_proj", c.heads, c.attentionBias);
  Tensor keys = projectHeads(m, c, x, "k_proj", c.keyHeads, c.attentionBias);
  Tensor values = projectHeads(m, c, x, "v_proj", c.keyHeads, c.attentionBias);
  Tensor mixed = attendTurned(m, queries, keys, values, positions, c.scale, c.scoreCap);
  return m.linear(mixed, "o_proj", c.heads * c.headSize, c.hidden, c.attentionBias);
}

/// Input: input_ids. Output: logits, [batch, length, vocabulary].
void huggingface::buildGemma2(ModelContext &m) {
  Gemma2Config c(m.config);
  Tensor ids = declareTokens(m, c);
  if (m.hasFaults())
    return;
  Positions far = makePositions(m, c.rope, ids.dim(1)), near = withWindow(m, far, c.window);
  Tensor words = getWords(m, c);
  Tensor scaled = embedding(words, ids) * std::sqrt(static_cast<double>(c.hidden));
  Tensor x = runLayers(m, c, scaled, [&](const Tensor &x, int64_t layer) {
    return runGemmaLayer(m, c, x, [&](const Tensor &x) { return attend(m, c, x, c.windowed[layer] ? near : far); });
  });
  outputLogits(m, c, ids, gemmaNorm(m, x, "model.norm", c.hidden, c.epsilon), words, c.logitCap);
}
