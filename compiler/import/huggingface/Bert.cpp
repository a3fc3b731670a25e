//===- Bert.cpp - an encoder of texts -------------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Devlin and others, https://arxiv.org/abs/1810.04805; as transformers' BertModel computes it.
//
//===----------------------------------------------------------------------===//

#include "compiler/import/huggingface/Architectures.h"
#include <cmath>

using namespace tenon;
using namespace tenon::graph;
using namespace tenon::huggingface;

namespace {

struct BertConfig {
  explicit BertConfig(const Config &config);

  int64_t hidden, layers, heads, intermediate, vocabulary, positions, types;
  double epsilon;
  Activation activation;
};

} // namespace

BertConfig::BertConfig(const Config &config)
    : hidden(config.getSize("hidden_size")), layers(config.getSize("num_hidden_layers")),
      heads(config.getSize("num_attention_heads")), intermediate(config.getSize("intermediate_size")),
      vocabulary(config.getSize("vocab_size")), positions(config.getSize("max_position_embeddings")),
      types(config.getSize("type_vocab_size", 2)), epsilon(config.getFloat("layer_norm_eps", 1e-12)),
      activation(readActivation(config, "hidden_act", "gelu")) {
  config.refuse("is_decoder");
  std::string kind = config.getString("position_embedding_type", "absolute");
  if (kind != "absolute")
    config.reportUnsupported("position_embedding_type", kind, "absolute");
}

static Tensor embed(ModelContext &m, const BertConfig &c, const Tensor &ids, const Tensor &types) {
  ModelContext::Scope scope(m, "embeddings");
  Tensor words = m.embedding(ids, "word_embeddings", c.vocabulary, c.hidden);
  Tensor kinds = m.embedding(types, "token_type_embeddings", c.types, c.hidden);
  Tensor places = m.positions(ids.dim(1), "position_embeddings", c.positions, c.hidden);
  return m.layerNorm(words + kinds + places, "LayerNorm", c.hidden, c.epsilon);
}

static Tensor attend(ModelContext &m, const BertConfig &c, const Tensor &x, const Tensor &mask) {
  ModelContext::Scope scope(m, "attention");
  Tensor mixed;
  {
    ModelContext::Scope self(m, "self");
    auto project = [&](const char *name) { return splitHeads(m.linear(x, name, c.hidden, c.hidden, true), c.heads); };
    Tensor queries = project("query"), keys = project("key"), values = project("value");
    double scale = 1 / std::sqrt(static_cast<double>(c.hidden / c.heads));
    mixed = mergeHeads(attention(queries, keys, values, scale, mask));
  }
  ModelContext::Scope output(m, "output");
  Tensor projected = m.linear(mixed, "dense", c.hidden, c.hidden, true);
  return m.layerNorm(projected + x, "LayerNorm", c.hidden, c.epsilon);
}

static Tensor runLayer(ModelContext &m, const BertConfig &c, const Tensor &x, const Tensor &mask) {
  Tensor attended = attend(m, c, x, mask);
  Tensor wide = c.activation(m.linear(attended, "intermediate.dense", c.hidden, c.intermediate, true));
  ModelContext::Scope output(m, "output");
  Tensor narrow = m.linear(wide, "dense", c.intermediate, c.hidden, true);
  return m.layerNorm(narrow + attended, "LayerNorm", c.hidden, c.epsilon);
}

/// Inputs: input_ids, attention_mask (0 hides a token) and token_type_ids. Outputs: last_hidden_state,
/// [batch, length, hidden]; where the checkpoint has a pooler pooler_output, and where the folder asks for
/// pooling sentence_embedding, both [batch, hidden].
void huggingface::buildBert(ModelContext &m) {
  BertConfig c(m.config);
  m.checkLayers(c.layers);
  m.checkHeads(c.hidden, c.heads);
  if (m.hasFaults())
    return;
  auto inputs = m.tokenInputs({"input_ids", "attention_mask", "token_type_ids"});
  Tensor ids = inputs[0], mask = unsqueeze(unsqueeze(inputs[1] != 0, 1), 1), types = inputs[2];
  // Checkpoints of models with a head have the encoder below its name.
  std::optional<ModelContext::Scope> root;
  if (m.hasWeight("bert.embeddings.word_embeddings.weight"))
    root.emplace(m, "bert");
  Tensor x = embed(m, c, ids, types);
  for (int64_t i = 0; i < c.layers; ++i) {
    ModelContext::Scope layer(m, "encoder.layer." + std::to_string(i));
    x = runLayer(m, c, x, mask);
  }
  m.graph.output("last_hidden_state", x);
  if (m.hasWeight("pooler.dense.weight")) {
    Tensor first = reshape(slice(x, 1, 0, 1), {x.dim(0), c.hidden});
    m.graph.output("pooler_output", graph::tanh(m.linear(first, "pooler.dense", c.hidden, c.hidden, true)));
  }
  if (m.pooling)
    m.graph.output("sentence_embedding", pool(x, inputs[1], *m.pooling));
}
