//===- Mistral.cpp - Llama with a window ----------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Jiang and others, https://arxiv.org/abs/2310.06825; as transformers' MistralForCausalLM computes it.
//
//===----------------------------------------------------------------------===//

#include "compiler/import/huggingface/Architectures.h"
#include "compiler/import/huggingface/Decoder.h"

using namespace tenon;
using namespace tenon::graph;
using namespace tenon::huggingface;

namespace {

struct MistralConfig : DecoderConfig {
  explicit MistralConfig(const Config &config)
      : DecoderConfig(config), window(config.isNull("sliding_window") ? 0 : config.getSize("sliding_window", 4096)),
        rope(readRope(config, headSize)) {}

  int64_t window; ///< of all layers; 0 where a token sees everything before it
  Rope rope;
};

} // namespace

/// Input: input_ids. Output: logits, [batch, length, vocabulary].
void huggingface::buildMistral(ModelContext &m) {
  MistralConfig c(m.config);
  Tensor ids = declareTokens(m, c);
  if (m.hasFaults())
    return;
  Positions positions = makePositions(m, c.rope, ids.dim(1), c.window);
  Tensor words = getWords(m, c);
  Tensor x = runLayers(m, c, embedding(words, ids), [&](const Tensor &x, int64_t) {
    Tensor middle = x + attendPlainly(m, c, m.rmsNorm(x, "input_layernorm", c.hidden, c.epsilon), positions);
    Tensor normed = m.rmsNorm(middle, "post_attention_layernorm", c.hidden, c.epsilon);
    return middle + m.gated(normed, "mlp", c.hidden, c.intermediate, c.activation, false);
  });
  outputLogits(m, c, m.rmsNorm(x, "model.norm", c.hidden, c.epsilon), words);
}
