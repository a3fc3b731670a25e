//===- Gpt2.cpp - a decoder with learned positions ------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Radford and others, "Language Models are Unsupervised Multitask Learners", 2019; as transformers'
// GPT2LMHeadModel computes it.
//
//===----------------------------------------------------------------------===//

#include "compiler/import/huggingface/Architectures.h"
#include "compiler/import/huggingface/NextToken.h"
#include <cmath>

using llvm::ArrayRef;
using namespace tenon;
using namespace tenon::graph;
using namespace tenon::huggingface;

namespace {

struct Gpt2Config {
  explicit Gpt2Config(const Config &config);
  /// What scores are multiplied with in a layer.
  double getScale(int64_t layer) const;

  int64_t hidden, layers, heads, intermediate, vocabulary, positions;
  double epsilon;
  Activation activation;
  bool scalesByHead, scalesByLayer, isTied;
};

} // namespace

Gpt2Config::Gpt2Config(const Config &config)
    : hidden(config.getSize("n_embd")), layers(config.getSize("n_layer")), heads(config.getSize("n_head")),
      intermediate(config.getSize("n_inner", 4 * hidden)), vocabulary(config.getSize("vocab_size")),
      positions(config.getSize("n_positions")), epsilon(config.getFloat("layer_norm_epsilon", 1e-5)),
      activation(readActivation(config, "activation_function", "gelu_new")),
      scalesByHead(config.getBool("scale_attn_weights", true)),
      scalesByLayer(config.getBool("scale_attn_by_inverse_layer_idx", false)),
      isTied(config.getBool("tie_word_embeddings", true)) {
  config.refuse("add_cross_attention");
}

double Gpt2Config::getScale(int64_t layer) const {
  int64_t headSize = hidden / heads;
  double scale = scalesByHead ? 1 / std::sqrt(static_cast<double>(headSize)) : 1;
  return scalesByLayer ? scale / static_cast<double>(layer + 1) : scale;
}

/// A linear layer with a weight [in, out], which is transposed relative to other models.
static Tensor convolve(ModelContext &m, const Tensor &x, const std::string &name, int64_t in, int64_t out) {
  ModelContext::Scope scope(m, name);
  Tensor weight = m.weight("weight", {in, out});
  return matmul(x, weight) + m.weight("bias", out);
}

static Tensor attend(ModelContext &m, const Gpt2Config &c, const Tensor &x, double scale, ArrayRef<Tensor> masks) {
  ModelContext::Scope scope(m, "attn");
  Tensor mixed = m.forSequences(convolve(m, x, "c_attn", c.hidden, 3 * c.hidden), [&](ArrayRef<Tensor> all) {
    auto parts = split(all[0], -1, 3);
    Tensor keys = m.keep(splitHeads(parts[1], c.heads), "keys");
    Tensor values = m.keep(splitHeads(parts[2], c.heads), "values");
    return mergeHeads(attention(splitHeads(parts[0], c.heads), keys, values, scale, masks[m.getSequence()]));
  });
  return convolve(m, mixed, "c_proj", c.hidden, c.hidden);
}

static Tensor widen(ModelContext &m, const Gpt2Config &c, const Tensor &x) {
  ModelContext::Scope scope(m, "mlp");
  Tensor wide = c.activation(convolve(m, x, "c_fc", c.hidden, c.intermediate));
  return convolve(m, wide, "c_proj", c.intermediate, c.hidden);
}

/// Input: input_ids. Output: logits, [batch, length, vocabulary], or with a context [batch, vocabulary], and token
/// (NextToken.h).
void huggingface::buildGpt2(ModelContext &m) {
  Gpt2Config c(m.config);
  m.checkLayers(c.layers);
  m.checkHeads(c.hidden, c.heads);
  if (m.hasFaults())
    return;
  Tensor ids = m.tokenInputs({"input_ids"})[0];
  Dim length = ids.dim(1);
  llvm::SmallVector<Tensor> masks; // of each sequence
  m.forEachSequence([&] { masks.push_back(m.graph.causalMask(length, m.getPast() + length)); });
  // Checkpoints of the decoder without a head store its weights at the top level.
  std::optional<ModelContext::Scope> root;
  if (!m.hasWeight("wte.weight"))
    root.emplace(m, "transformer");
  Tensor words = m.weight("wte.weight", {c.vocabulary, c.hidden});
  Tensor x = embedding(words, ids) + m.positions(length, "wpe", c.positions, c.hidden);
  for (int64_t i = 0; i < c.layers; ++i) {
    ModelContext::Scope layer(m, "h." + std::to_string(i));
    x = x + attend(m, c, m.layerNorm(x, "ln_1", c.hidden, c.epsilon), c.getScale(i), masks);
    x = x + widen(m, c, m.layerNorm(x, "ln_2", c.hidden, c.epsilon));
  }
  x = m.takeAsked(m.layerNorm(x, "ln_f", c.hidden, c.epsilon));
  root.reset();
  outputNextToken(m, ids, c.isTied ? linear(x, words) : m.linear(x, "lm_head", c.hidden, c.vocabulary, false));
}
