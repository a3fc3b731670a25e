//===- Llama.cpp - a decoder with rotary positions and gated layers -------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Touvron and others, https://arxiv.org/abs/2302.13971; as transformers' LlamaForCausalLM computes it.
//
//===----------------------------------------------------------------------===//

#include "compiler/import/huggingface/Architectures.h"
#include "compiler/import/huggingface/Rope.h"
#include <cmath>

using namespace tenon;
using namespace tenon::graph;
using namespace tenon::huggingface;

namespace {

struct LlamaConfig {
  explicit LlamaConfig(const Config &config);

  int64_t hidden, layers, heads, keyHeads, headSize, intermediate, vocabulary;
  double epsilon;
  Activation activation;
  bool attentionBias, mlpBias, isTied;
  Rope rope;
};

/// What all layers use.
struct Positions {
  Tensor cosines, sines, mask;
};

} // namespace

LlamaConfig::LlamaConfig(const Config &config)
    : hidden(config.getSize("hidden_size")), layers(config.getSize("num_hidden_layers")),
      heads(config.getSize("num_attention_heads")), keyHeads(config.getSize("num_key_value_heads", heads)),
      headSize(config.getSize("head_dim", std::max<int64_t>(hidden / heads, 1))),
      intermediate(config.getSize("intermediate_size")), vocabulary(config.getSize("vocab_size")),
      epsilon(config.getFloat("rms_norm_eps", 1e-6)), activation(readActivation(config, "hidden_act", "silu")),
      attentionBias(config.getBool("attention_bias", false)), mlpBias(config.getBool("mlp_bias", false)),
      isTied(config.getBool("tie_word_embeddings", false)), rope(readRope(config, headSize)) {
  checkKeyHeads(config, heads, keyHeads, headSize);
}

static Tensor attend(ModelContext &m, const LlamaConfig &c, const Tensor &x, const Positions &p) {
  ModelContext::Scope scope(m, "self_attn");
  auto project = [&](const char *name, int64_t heads) {
    return splitHeads(m.linear(x, name, c.hidden, heads * c.headSize, c.attentionBias), heads);
  };
  Tensor queries = rope(project("q_proj", c.heads), p.cosines, p.sines);
  Tensor keys = rope(project("k_proj", c.keyHeads), p.cosines, p.sines);
  Tensor values = project("v_proj", c.keyHeads);
  double scale = 1 / std::sqrt(static_cast<double>(c.headSize));
  Tensor mixed = mergeHeads(attention(queries, keys, values, scale, p.mask));
  return m.linear(mixed, "o_proj", c.heads * c.headSize, c.hidden, c.attentionBias);
}

/// Input: input_ids. Output: logits, [batch, length, vocabulary].
void huggingface::buildLlama(ModelContext &m) {
  LlamaConfig c(m.config);
  m.checkLayers(c.layers);
  if (m.hasFaults())
    return;
  Tensor ids = m.tokenInputs({"input_ids"})[0];
  Dim length = ids.dim(1);
  auto [cosines, sines] = makeRotations(m.graph, c.rope, length);
  Positions positions{cosines, sines, m.graph.causalMask(length, length)};
  Tensor words = m.weight("model.embed_tokens.weight", {c.vocabulary, c.hidden});
  Tensor x = embedding(words, ids);
  for (int64_t i = 0; i < c.layers; ++i) {
    ModelContext::Scope layer(m, "model.layers." + std::to_string(i));
    x = x + attend(m, c, m.rmsNorm(x, "input_layernorm", c.hidden, c.epsilon), positions);
    Tensor normed = m.rmsNorm(x, "post_attention_layernorm", c.hidden, c.epsilon);
    x = x + m.gated(normed, "mlp", c.hidden, c.intermediate, c.activation, c.mlpBias);
  }
  x = m.rmsNorm(x, "model.norm", c.hidden, c.epsilon);
  m.graph.output("logits", c.isTied ? linear(x, words) : m.linear(x, "lm_head", c.hidden, c.vocabulary, false));
}
