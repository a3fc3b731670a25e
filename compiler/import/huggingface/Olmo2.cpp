//===- Olmo2.cpp - a decoder with norms behind its layers -----------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Walsh and others, https://arxiv.org/abs/2501.00656; as transformers' Olmo2ForCausalLM computes it.
//
//===----------------------------------------------------------------------===//

#include "compiler/import/huggingface/Architectures.h"
#include "compiler/import/huggingface/Decoder.h"

using namespace tenon;
using namespace tenon::graph;
using namespace tenon::huggingface;

namespace {

struct Olmo2Config : DecoderConfig {
  explicit Olmo2Config(const Config &config)
      : DecoderConfig(config, {.epsilon = 1e-5}), attentionBias(config.getBool("attention_bias", false)),
        rope(readRope(config, headSize)) {}

  bool attentionBias;
  Rope rope;
};

} // namespace

/// All query heads share one norm, and so do all key heads.
static Tensor attend(ModelContext &m, const Olmo2Config &c, const Tensor &x, const Positions &positions) {
  ModelContext::Scope scope(m, "self_attn");
  int64_t queries = c.heads * c.headSize, keys = c.keyHeads * c.headSize;
  auto project = [&](const char *name, const char *norm, int64_t size) {
    return m.rmsNorm(m.linear(x, name, c.hidden, size, c.attentionBias), norm, size, c.epsilon);
  };
  Tensor mixed = attendTurned(m, splitHeads(project("q_proj", "q_norm", queries), c.heads),
                              splitHeads(project("k_proj", "k_norm", keys), c.keyHeads),
                              projectHeads(m, c, x, "v_proj", c.keyHeads, c.attentionBias), positions, c.getScale());
  return m.linear(mixed, "o_proj", queries, c.hidden, c.attentionBias);
}

/// Input: input_ids. Output: logits, [batch, length, vocabulary].
void huggingface::buildOlmo2(ModelContext &m) {
  Olmo2Config c(m.config);
  Tensor ids = declareTokens(m, c);
  if (m.hasFaults())
    return;
  Positions positions = makePositions(m, c.rope, ids.dim(1));
  Tensor words = getWords(m, c);
  Tensor x = runLayers(m, c, embedding(words, ids), [&](const Tensor &x, int64_t) {
    Tensor middle = x + m.rmsNorm(attend(m, c, x, positions), "post_attention_layernorm", c.hidden, c.epsilon);
    Tensor wide = m.gated(middle, "mlp", c.hidden, c.intermediate, c.activation, false);
    return middle + m.rmsNorm(wide, "post_feedforward_layernorm", c.hidden, c.epsilon);
  });
  outputLogits(m, c, ids, m.rmsNorm(x, "model.norm", c.hidden, c.epsilon), words);
}
