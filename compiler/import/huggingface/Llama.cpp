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
  buildPreNormDecoder(
      m, c, c.rope, /*window=*/0, {},
      [&](const Tensor &x, const Positions &positions) { return attendPlainly(m, c, x, positions, c.attentionBias); },
      [&](const Tensor &x) { return m.gated(x, "mlp", c.hidden, c.intermediate, c.activation, c.mlpBias); });
}
