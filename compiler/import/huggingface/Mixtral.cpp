//===- Mixtral.cpp - Mistral with a mixture of experts --------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Jiang and others, https://arxiv.org/abs/2401.04088; as transformers' MixtralForCausalLM computes it.
//
// Every token goes through the few feed-forward layers, the experts, that a router gives the most weight. An expert is
// computed for all tokens of the run or, where none of them goes there, not at all: a token that is generated passes by
// the weights of all others.
//
//===----------------------------------------------------------------------===//

#include "compiler/import/huggingface/Architectures.h"
#include "compiler/import/huggingface/Decoder.h"

using llvm::Twine;
using namespace tenon;
using namespace tenon::graph;
using namespace tenon::huggingface;

namespace {

/// A limit for untrusted configs: each expert becomes a branch of each layer.
constexpr int64_t kMaxExperts = 1024;

struct MixtralConfig : DecoderConfig {
  explicit MixtralConfig(const Config &config);

  int64_t window; ///< of all layers; 0 where a token sees everything before it
  int64_t experts, expertsPerToken;
  Rope rope;
};

} // namespace

MixtralConfig::MixtralConfig(const Config &config)
    : DecoderConfig(config, {.epsilon = 1e-5}),
      window(config.has("sliding_window") && !config.isNull("sliding_window") ? config.getSize("sliding_window") : 0),
      experts(config.getSize("num_local_experts", 8)), expertsPerToken(config.getSize("num_experts_per_tok", 2)),
      rope(readRope(config, headSize, /*allowsPart=*/false, /*theta=*/1e6)) {
  auto refuse = [&](const Twine &text) {
    config.getReport().add(ImportFault::invalidModel, "config.json asks for " + text);
  };
  if (expertsPerToken > experts)
    refuse(Twine(expertsPerToken) + " experts for each token, of " + Twine(experts));
  if (experts > kMaxExperts)
    refuse(Twine(experts) + " experts; there may be at most " + Twine(kMaxExperts));
}

/// Applies one expert to x. Its matrices are separate weights, or `gatesAndUps`, [experts, 2 * intermediate, hidden],
/// and `downs`, [experts, hidden, intermediate], have those of all experts, as in newer versions of transformers.
static Tensor runExpert(ModelContext &m, const MixtralConfig &c, const Tensor &x, int64_t number,
                        const Tensor &gatesAndUps, const Tensor &downs) {
  if (gatesAndUps.getGraph()) {
    auto halves = split(linear(x, gatesAndUps[{number}]), -1, 2);
    return linear(c.activation(halves[0]) * halves[1], downs[{number}]);
  }
  ModelContext::Scope scope(m, "experts." + std::to_string(number));
  Tensor gates = c.activation(m.linear(x, "w1", c.hidden, c.intermediate, false));
  return m.linear(gates * m.linear(x, "w3", c.hidden, c.intermediate, false), "w2", c.intermediate, c.hidden, false);
}

/// Returns the sum of each token's experts, weighted by the router, for x, [batch, length, hidden].
static Tensor mixExperts(ModelContext &m, const MixtralConfig &c, const Tensor &x) {
  bool isFused = m.hasWeight("mlp.experts.gate_up_proj");
  ModelContext::Scope scope(m, isFused ? "mlp" : "block_sparse_moe");
  Tensor gatesAndUps, downs;
  if (isFused) {
    gatesAndUps = m.weight("experts.gate_up_proj", {c.experts, 2 * c.intermediate, c.hidden});
    downs = m.weight("experts.down_proj", {c.experts, c.hidden, c.intermediate});
  }
  Tensor shares = softmax(m.linear(x, "gate", c.hidden, c.experts, false), -1);
  auto [largest, chosen] = topK(shares, c.expertsPerToken);
  Tensor weights = largest / sum(largest, -1, /*keepdims=*/true);
  Tensor result = broadcast(m.graph.scalar(0), x.shape());
  for (int64_t expert = 0; expert < c.experts; ++expert) {
    // One of a token's choices at most is this expert.
    Tensor isChoice = chosen == static_cast<double>(expert);
    Tensor weight = sum(where(isChoice, weights, 0), -1, /*keepdims=*/true);
    Tensor isRouted = amax(cast(isChoice, DType::i32), -1, /*keepdims=*/true) > 0;
    Tensor isUsed = amax(cast(isRouted, DType::i32), {0, 1, 2}) > 0;
    result = cond(
        isUsed,
        [&] {
          // The result of an expert for a token that is not routed to it may be infinite, so it is replaced by 0, not
          // multiplied.
          return result + where(isRouted, runExpert(m, c, x, expert, gatesAndUps, downs) * weight, 0);
        },
        [&] { return result; });
  }
  return result;
}

/// Input: input_ids. Output: logits, [batch, length, vocabulary].
void huggingface::buildMixtral(ModelContext &m) {
  MixtralConfig c(m.config);
  buildPreNormDecoder(
      m, c, c.rope, c.window, {},
      [&](const Tensor &x, const Positions &positions) { return attendPlainly(m, c, x, positions); },
      [&](const Tensor &x) { return mixExperts(m, c, x); });
}
