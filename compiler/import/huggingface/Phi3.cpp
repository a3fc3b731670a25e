//===- Phi3.cpp - a decoder whose products are merged ---------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Abdin and others, https://arxiv.org/abs/2404.14219; as transformers' Phi3ForCausalLM computes it.
//
//===----------------------------------------------------------------------===//

#include "compiler/import/huggingface/Architectures.h"
#include "compiler/import/huggingface/Decoder.h"

using namespace tenon;
using namespace tenon::graph;
using namespace tenon::huggingface;

namespace {

struct Phi3Config : DecoderConfig {
  explicit Phi3Config(const Config &config)
      : DecoderConfig(config, {.epsilon = 1e-5}),
        window(config.has("sliding_window") ? config.getSize("sliding_window") : 0),
        rope(readRope(config, headSize, /*allowsPart=*/true)) {}

  int64_t window; ///< of all layers; 0 where a token sees everything before it
  Rope rope;      ///< of the first features of a head, or of all
};

} // namespace

/// Queries, keys and values are slices of one projection.
static Tensor attend(ModelContext &m, const Phi3Config &c, const Tensor &x, const Positions &positions) {
  ModelContext::Scope scope(m, "self_attn");
  int64_t queries = c.heads * c.headSize, keys = c.keyHeads * c.headSize;
  Tensor all = m.linear(x, "qkv_proj", c.hidden, queries + 2 * keys, false);
  Tensor mixed = attendTurned(m, splitHeads(slice(all, 2, 0, queries), c.heads),
                              splitHeads(slice(all, 2, queries, keys), c.keyHeads),
                              splitHeads(slice(all, 2, queries + keys, keys), c.keyHeads), positions, c.getScale());
  return m.linear(mixed, "o_proj", queries, c.hidden, false);
}

/// The gates and the gated values are halves of one projection.
static Tensor feedForward(ModelContext &m, const Phi3Config &c, const Tensor &x) {
  ModelContext::Scope scope(m, "mlp");
  auto halves = split(m.linear(x, "gate_up_proj", c.hidden, 2 * c.intermediate, false), 2, 2);
  return m.linear(c.activation(halves[0]) * halves[1], "down_proj", c.intermediate, c.hidden, false);
}

/// Input: input_ids. Output: logits, [batch, length, vocabulary].
void huggingface::buildPhi3(ModelContext &m) {
  Phi3Config c(m.config);
  buildPreNormDecoder(
      m, c, c.rope, c.window, {},
      [&](const Tensor &x, const Positions &positions) { return attend(m, c, x, positions); },
      [&](const Tensor &x) { return feedForward(m, c, x); });
}
