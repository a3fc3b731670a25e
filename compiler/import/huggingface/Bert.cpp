//===- Bert.cpp - an encoder of texts -------------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Devlin and others, https://arxiv.org/abs/1810.04805; as transformers' BertModel computes it. RoBERTa (Liu and others,
// https://arxiv.org/abs/1907.11692) and its descendants have the same layers: their positions count tokens that are no
// padding, and they know one kind of text.
//
//===----------------------------------------------------------------------===//

#include "compiler/import/huggingface/Bert.h"
#include "compiler/import/huggingface/Architectures.h"
#include <cmath>

using namespace tenon;
using namespace tenon::graph;
using namespace tenon::huggingface;

BertConfig::BertConfig(const Config &config, BertFamily family)
    : family(family), hidden(config.getSize("hidden_size")), layers(config.getSize("num_hidden_layers")),
      heads(config.getSize("num_attention_heads")), intermediate(config.getSize("intermediate_size")),
      vocabulary(config.getSize("vocab_size")), positions(config.getSize("max_position_embeddings")),
      types(config.getSize("type_vocab_size", 2)), epsilon(config.getFloat("layer_norm_eps", 1e-12)),
      activation(readActivation(config, "hidden_act", "gelu")) {
  config.refuse("is_decoder");
  std::string kind = config.getString("position_embedding_type", "absolute");
  if (kind != "absolute")
    config.reportUnsupported("position_embedding_type", kind, "absolute");
  if (family == BertFamily::roberta)
    padding = config.getIndex("pad_token_id", 1);
}

/// Returns the position of each token, from 0 on; for RoBERTa, from the padding position + 1 on, without counting
/// padding tokens.
static Tensor placeTokens(ModelContext &m, const BertConfig &c, const Tensor &ids) {
  if (c.family == BertFamily::bert)
    return m.positions(ids.dim(1), "position_embeddings", c.positions, c.hidden);
  Tensor isText = cast(ids != static_cast<double>(c.padding), DType::i64);
  Tensor places = cumulativeSum(isText, 1) * isText + static_cast<double>(c.padding);
  m.requireLength(ids.dim(1), "position_embeddings", c.positions - c.padding - 1);
  return m.embedding(places, "position_embeddings", c.positions, c.hidden);
}

static Tensor embed(ModelContext &m, const BertConfig &c, const Tensor &ids, const Tensor &types) {
  ModelContext::Scope scope(m, "embeddings");
  Tensor words = m.embedding(ids, "word_embeddings", c.vocabulary, c.hidden), kinds;
  if (c.family == BertFamily::bert)
    kinds = m.embedding(types, "token_type_embeddings", c.types, c.hidden);
  else
    kinds = slice(m.weight("token_type_embeddings.weight", {c.types, c.hidden}), 0, 0, 1);
  return m.layerNorm(words + kinds + placeTokens(m, c, ids), "LayerNorm", c.hidden, c.epsilon);
}

static Tensor attend(ModelContext &m, const BertConfig &c, const Tensor &x, const Tensor &mask) {
  ModelContext::Scope scope(m, "attention");
  Tensor mixed;
  {
    ModelContext::Scope self(m, "self");
    auto project = [&](const char *name) { return splitHeads(m.linear(x, name, c.hidden, c.hidden, true), c.heads); };
    Tensor queries = project("query"), keys = project("key"), values = project("value");
    int64_t headSize = c.hidden / c.heads;
    double scale = 1 / std::sqrt(static_cast<double>(headSize));
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

EncodedText huggingface::encodeText(ModelContext &m, const BertConfig &c) {
  m.checkLayers(c.layers);
  m.checkHeads(c.hidden, c.heads);
  if (m.hasFaults())
    return {};
  bool isBert = c.family == BertFamily::bert;
  auto inputs = isBert ? m.tokenInputs({"input_ids", "attention_mask", "token_type_ids"})
                       : m.tokenInputs({"input_ids", "attention_mask"});
  Tensor mask = unsqueeze(unsqueeze(inputs[1] != 0, 1), 1);
  // Checkpoints of models with a head store the encoder under its name.
  std::string name = isBert ? "bert" : "roberta";
  std::optional<ModelContext::Scope> root;
  if (m.hasWeight(name + ".embeddings.word_embeddings.weight"))
    root.emplace(m, name);
  EncodedText text;
  text.mask = inputs[1];
  text.tokens = embed(m, c, inputs[0], isBert ? inputs[2] : Tensor());
  for (int64_t i = 0; i < c.layers; ++i) {
    ModelContext::Scope layer(m, "encoder.layer." + std::to_string(i));
    text.tokens = runLayer(m, c, text.tokens, mask);
  }
  if (m.hasWeight("pooler.dense.weight"))
    text.pooled = graph::tanh(m.linear(takeFirst(text.tokens), "pooler.dense", c.hidden, c.hidden, true));
  return text;
}

/// Inputs: input_ids, attention_mask (0 masks a token) and, for BERT, token_type_ids. Outputs: last_hidden_state,
/// [batch, length, hidden]; pooler_output if the checkpoint has a pooler, and sentence_embedding if the folder
/// configures pooling, both [batch, hidden].
static void buildModel(ModelContext &m, BertFamily family) {
  EncodedText text = encodeText(m, BertConfig(m.config, family));
  if (m.hasFaults())
    return;
  m.graph.output("last_hidden_state", text.tokens);
  if (text.pooled.getGraph())
    m.graph.output("pooler_output", text.pooled);
  if (m.pooling)
    m.graph.output("sentence_embedding", pool(text.tokens, text.mask, *m.pooling));
}

void huggingface::buildBert(ModelContext &m) { buildModel(m, BertFamily::bert); }
void huggingface::buildRoberta(ModelContext &m) { buildModel(m, BertFamily::roberta); }
