//===- BertHeads.cpp - what is asked of encoded texts ---------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// As the classes of transformers compute it that are named after their tasks.
//
//===----------------------------------------------------------------------===//

#include "compiler/import/huggingface/Architectures.h"
#include "compiler/import/huggingface/Bert.h"

using namespace tenon;
using namespace tenon::graph;
using namespace tenon::huggingface;

/// Output: logits, [batch, labels].
static void classifyText(ModelContext &m, BertFamily family) {
  BertConfig c(m.config, family);
  EncodedText text = encodeText(m, c);
  if (m.hasFaults())
    return;
  if (family == BertFamily::bert) {
    // If the checkpoint lacks the pooler, the report names its weights.
    Tensor pooled = text.pooled.getGraph()
                        ? text.pooled
                        : m.linear(takeFirst(text.tokens), "bert.pooler.dense", c.hidden, c.hidden, true);
    return m.graph.output("logits", m.linear(pooled, "classifier", c.hidden, m.countOutputs("classifier"), true));
  }
  ModelContext::Scope scope(m, "classifier");
  Tensor wide = graph::tanh(m.linear(takeFirst(text.tokens), "dense", c.hidden, c.hidden, true));
  m.graph.output("logits", m.linear(wide, "out_proj", c.hidden, m.countOutputs("out_proj"), true));
}

/// Output: logits, [batch, length, labels].
static void classifyTokens(ModelContext &m, BertFamily family) {
  BertConfig c(m.config, family);
  Tensor x = encodeText(m, c).tokens;
  if (!m.hasFaults())
    m.graph.output("logits", m.linear(x, "classifier", c.hidden, m.countOutputs("classifier"), true));
}

/// Outputs: start_logits and end_logits, [batch, length]: scores for each token as the start and end of an answer.
static void findAnswers(ModelContext &m, BertFamily family) {
  BertConfig c(m.config, family);
  Tensor x = encodeText(m, c).tokens;
  if (m.hasFaults())
    return;
  auto ends = split(m.linear(x, "qa_outputs", c.hidden, 2, true), 2, 2);
  Shape shape{x.dim(0), x.dim(1)};
  m.graph.output("start_logits", reshape(ends[0], shape));
  m.graph.output("end_logits", reshape(ends[1], shape));
}

/// Output: logits, [batch, length, vocabulary]: scores for each word at a masked token.
static void fillMasks(ModelContext &m, BertFamily family) {
  BertConfig c(m.config, family);
  Tensor x = encodeText(m, c).tokens;
  if (m.hasFaults())
    return;
  bool isBert = family == BertFamily::bert;
  std::string words = isBert ? "bert.embeddings.word_embeddings.weight" : "roberta.embeddings.word_embeddings.weight";
  std::string decoder = isBert ? "cls.predictions.decoder.weight" : "lm_head.decoder.weight";
  bool isTied = m.config.getBool("tie_word_embeddings", true);
  Tensor matrix = m.weight(isTied ? words : decoder, {c.vocabulary, c.hidden});
  ModelContext::Scope head(m, isBert ? "cls.predictions" : "lm_head");
  {
    std::optional<ModelContext::Scope> transform;
    if (isBert)
      transform.emplace(m, "transform");
    x = m.linear(x, "dense", c.hidden, c.hidden, true);
    x = isBert ? c.activation(x) : gelu(x);
    x = m.layerNorm(x, isBert ? "LayerNorm" : "layer_norm", c.hidden, c.epsilon);
  }
  Tensor bias = m.weight(m.hasWeight("bias") ? "bias" : "decoder.bias", c.vocabulary);
  m.graph.output("logits", linear(x, matrix, bias));
}

void huggingface::buildBertForSequenceClassification(ModelContext &m) { classifyText(m, BertFamily::bert); }
void huggingface::buildBertForTokenClassification(ModelContext &m) { classifyTokens(m, BertFamily::bert); }
void huggingface::buildBertForQuestionAnswering(ModelContext &m) { findAnswers(m, BertFamily::bert); }
void huggingface::buildBertForMaskedLM(ModelContext &m) { fillMasks(m, BertFamily::bert); }
void huggingface::buildRobertaForSequenceClassification(ModelContext &m) { classifyText(m, BertFamily::roberta); }
void huggingface::buildRobertaForTokenClassification(ModelContext &m) { classifyTokens(m, BertFamily::roberta); }
void huggingface::buildRobertaForQuestionAnswering(ModelContext &m) { findAnswers(m, BertFamily::roberta); }
void huggingface::buildRobertaForMaskedLM(ModelContext &m) { fillMasks(m, BertFamily::roberta); }
