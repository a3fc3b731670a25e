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
  buildPreNormDecoder(
      m, c, c.rope, c.window, {},
      [&](const Tensor &x, const Positions &positions) { return attendPlainly(m, c, x, positions); },
      [&](const Tensor &x) { return m.gated(x, "mlp", c.hidden, c.intermediate, c.activation, false); });
}
