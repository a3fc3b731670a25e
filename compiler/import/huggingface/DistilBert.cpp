//===- DistilBert.cpp - an encoder of texts with fewer layers -------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Sanh and others, https://arxiv.org/abs/1910.01108; as transformers' classes of DistilBert compute it.
//
//===----------------------------------------------------------------------===//

#include "compiler/import/huggingface/Architectures.h"
#include <cmath>

using namespace tenon;
using namespace tenon::graph;
using namespace tenon::huggingface;

namespace {

struct DistilBertConfig {
  explicit DistilBertConfig(const Config &config)
      : hidden(config.getSize("dim")), layers(config.getSize("n_layers")), heads(config.getSize("n_heads")),
        intermediate(config.getSize("hidden_dim")), vocabulary(config.getSize("vocab_size")),
        positions(config.getSize("max_position_embeddings", 512)),
        activation(readActivation(config, "activation", "gelu")) {}

  int64_t hidden, layers, heads, intermediate, vocabulary, positions;
  Activation activation;
};

} // namespace

static constexpr double kEpsilon = 1e-12;

static Tensor embed(ModelContext &m, const DistilBertConfig &c, const Tensor &ids) {
  ModelContext::Scope scope(m, "embeddings");
  Tensor words = m.embedding(ids, "word_embeddings", c.vocabulary, c.hidden);
  Tensor places = m.positions(ids.dim(1), "position_embeddings", c.positions, c.hidden);
  return m.layerNorm(words + places, "LayerNorm", c.hidden, kEpsilon);
}

static Tensor attend(ModelContext &m, const DistilBertConfig &c, const Tensor &x, const Tensor &mask) {
  ModelContext::Scope scope(m, "attention");
  auto project = [&](const char *name) { return splitHeads(m.linear(x, name, c.hidden, c.hidden, true), c.heads); };
  Tensor queries = project("q_lin"), keys = project("k_lin"), values = project("v_lin");
  int64_t headSize = c.hidden / c.heads;
  double scale = 1 / std::sqrt(static_cast<double>(headSize));
  return m.linear(mergeHeads(attention(queries, keys, values, scale, mask)), "out_lin", c.hidden, c.hidden, true);
}

/// Returns the vectors of all tokens, [batch, length, hidden], and the input attention_mask.
static std::pair<Tensor, Tensor> encode(ModelContext &m, const DistilBertConfig &c) {
  m.checkLayers(c.layers);
  m.checkHeads(c.hidden, c.heads);
  if (m.hasFaults())
    return {};
  auto inputs = m.tokenInputs({"input_ids", "attention_mask"});
  Tensor mask = unsqueeze(unsqueeze(inputs[1] != 0, 1), 1);
  std::optional<ModelContext::Scope> root;
  if (m.hasWeight("distilbert.embeddings.word_embeddings.weight"))
    root.emplace(m, "distilbert");
  Tensor x = embed(m, c, inputs[0]);
  for (int64_t i = 0; i < c.layers; ++i) {
    ModelContext::Scope layer(m, "transformer.layer." + std::to_string(i));
    x = m.layerNorm(attend(m, c, x, mask) + x, "sa_layer_norm", c.hidden, kEpsilon);
    Tensor wide = c.activation(m.linear(x, "ffn.lin1", c.hidden, c.intermediate, true));
    x = m.layerNorm(m.linear(wide, "ffn.lin2", c.intermediate, c.hidden, true) + x, "output_layer_norm", c.hidden,
                    kEpsilon);
  }
  return {x, inputs[1]};
}

/// Inputs: input_ids and attention_mask. Outputs: last_hidden_state, [batch, length, hidden]; sentence_embedding,
/// [batch, hidden], if the folder configures pooling.
void huggingface::buildDistilBert(ModelContext &m) {
  auto [x, mask] = encode(m, DistilBertConfig(m.config));
  if (m.hasFaults())
    return;
  m.graph.output("last_hidden_state", x);
  if (m.pooling)
    m.graph.output("sentence_embedding", pool(x, mask, *m.pooling));
}

/// Output: logits, [batch, labels].
void huggingface::buildDistilBertForSequenceClassification(ModelContext &m) {
  DistilBertConfig c(m.config);
  Tensor x = encode(m, c).first;
  if (m.hasFaults())
    return;
  Tensor wide = relu(m.linear(takeFirst(x), "pre_classifier", c.hidden, c.hidden, true));
  m.graph.output("logits", m.linear(wide, "classifier", c.hidden, m.countOutputs("classifier"), true));
}
