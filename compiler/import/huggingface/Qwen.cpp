//===- Qwen.cpp - Qwen 2, 2.5 and 3 ---------------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Yang and others, https://arxiv.org/abs/2407.10671 and https://arxiv.org/abs/2505.09388; as transformers'
// Qwen2ForCausalLM and Qwen3ForCausalLM compute it.
//
//===----------------------------------------------------------------------===//

#include "compiler/import/huggingface/Architectures.h"
#include "compiler/import/huggingface/Decoder.h"

using namespace tenon;
using namespace tenon::graph;
using namespace tenon::huggingface;

namespace {

struct QwenConfig : DecoderConfig {
  QwenConfig(const Config &config, const DecoderDefaults &defaults)
      : DecoderConfig(config, defaults), rope(readRope(config, headSize)) {
    bool hasWindow = config.getBool("use_sliding_window", false) && !config.isNull("sliding_window");
    window = hasWindow ? config.getSize("sliding_window", 4096) : 0;
    int64_t first = config.getIndex("max_window_layers", 28);
    windowed = readWindowedLayers(config, layers, [&](int64_t i) { return hasWindow && i >= first; });
  }

  int64_t window; ///< 0 where no layer has one
  std::vector<bool> windowed;
  Rope rope;
  bool inputBias = false, outputBias = false; ///< of queries, keys and values; of what attention gives
  bool normsHeads = false;                    ///< each head of queries and keys is normalized
};

} // namespace

static Tensor attend(ModelContext &m, const QwenConfig &c, const Tensor &x, const Positions &positions) {
  ModelContext::Scope scope(m, "self_attn");
  Tensor queries = projectHeads(m, c, x, "q_proj", c.heads, c.inputBias);
  Tensor keys = projectHeads(m, c, x, "k_proj", c.keyHeads, c.inputBias);
  Tensor values = projectHeads(m, c, x, "v_proj", c.keyHeads, c.inputBias);
  if (c.normsHeads) {
    queries = m.rmsNorm(queries, "q_norm", c.headSize, c.epsilon);
    keys = m.rmsNorm(keys, "k_norm", c.headSize, c.epsilon);
  }
  Tensor mixed = attendTurned(m, queries, keys, values, positions, c.getScale());
  return m.linear(mixed, "o_proj", c.heads * c.headSize, c.hidden, c.outputBias);
}

static void build(ModelContext &m, const QwenConfig &c) {
  buildPreNormDecoder(
      m, c, c.rope, c.window, c.windowed,
      [&](const Tensor &x, const Positions &positions) { return attend(m, c, x, positions); },
      [&](const Tensor &x) { return m.gated(x, "mlp", c.hidden, c.intermediate, c.activation, false); });
}

/// Input: input_ids. Output: logits, [batch, length, vocabulary].
void huggingface::buildQwen2(ModelContext &m) {
  QwenConfig c(m.config, {});
  c.inputBias = true;
  build(m, c);
}

/// The same.
void huggingface::buildQwen3(ModelContext &m) {
  QwenConfig c(m.config, {.headSize = 128});
  c.inputBias = c.outputBias = m.config.getBool("attention_bias", false);
  c.normsHeads = true;
  build(m, c);
}
