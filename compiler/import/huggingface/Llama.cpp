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
#include "compiler/import/huggingface/Decoder.h"

using namespace tenon;
using namespace tenon::graph;
using namespace tenon::huggingface;

namespace {

struct LlamaConfig : DecoderConfig {
  explicit LlamaConfig(const Config &config)
      : DecoderConfig(config), attentionBias(config.getBool("attention_bias", false)),
        mlpBias(config.getBool("mlp_bias", false)), rope(readRope(config, headSize)) {}

  bool attentionBias, mlpBias;
  Rope rope;
};

} // namespace

/// Input: input_ids. Output: logits, [batch, length, vocabulary].
void huggingface::buildLlama(ModelContext &m) {
  LlamaConfig c(m.config);
  Tensor ids = declareTokens(m, c);
  if (m.hasFaults())
    return;
  Positions positions = makePositions(m, c.rope, ids.dim(1));
  Tensor words = getWords(m, c);
  Tensor x = runLayers(m, c, embedding(words, ids), [&](const Tensor &x, int64_t) {
    Tensor middle =
        x + attendPlainly(m, c, m.rmsNorm(x, "input_layernorm", c.hidden, c.epsilon), positions, c.attentionBias);
    Tensor normed = m.rmsNorm(middle, "post_attention_layernorm", c.hidden, c.epsilon);
    return middle + m.gated(normed, "mlp", c.hidden, c.intermediate, c.activation, c.mlpBias);
  });
  outputLogits(m, c, m.rmsNorm(x, "model.norm", c.hidden, c.epsilon), words);
}
