//===- Gemma3.cpp - a decoder with windows, and norms on both sides -------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Gemma Team, https://arxiv.org/abs/2503.19786; as transformers' Gemma3ForCausalLM computes it.
//
//===----------------------------------------------------------------------===//

#include "compiler/import/huggingface/Architectures.h"
#include "compiler/import/huggingface/Rope.h"
#include <cmath>

using llvm::Twine;
using namespace tenon;
using namespace tenon::graph;
using namespace tenon::huggingface;

namespace {

struct Gemma3Config {
  explicit Gemma3Config(const Config &config);

  int64_t hidden, layers, heads, keyHeads, headSize, intermediate, vocabulary, window;
  double epsilon, scale, softcap;
  Activation activation;
  bool attentionBias, isTied;
  std::vector<bool> slides; ///< for each layer, whether it sees no further than the window
  Rope near, far;           ///< of layers that do, and of the others
};

/// What all layers of one kind use.
struct Positions {
  Tensor cosines, sines, mask;
};

} // namespace

/// A list of kinds, or in older files all layers slide but each whose number the pattern divides.
static std::vector<bool> readLayerKinds(const Config &config, int64_t layers) {
  std::vector<bool> slides;
  if (!config.has("layer_types")) {
    int64_t pattern = config.getSize("sliding_window_pattern", 6);
    for (int64_t i = 0; i < layers; ++i)
      slides.push_back((i + 1) % pattern != 0);
    return slides;
  }
  for (const std::string &kind : config.getStrings("layer_types")) {
    slides.push_back(kind == "sliding_attention");
    if (kind != "sliding_attention" && kind != "full_attention")
      config.reportUnsupported("layer_types", kind, "sliding_attention, full_attention");
  }
  if (static_cast<int64_t>(slides.size()) != layers)
    config.getReport().add(ImportFault::invalidModel, "config.json: 'layer_types' has " + Twine(slides.size()) +
                                                          " entries for " + Twine(layers) + " layers");
  return slides;
}

Gemma3Config::Gemma3Config(const Config &config)
    : hidden(config.getSize("hidden_size")), layers(config.getSize("num_hidden_layers")),
      heads(config.getSize("num_attention_heads")), keyHeads(config.getSize("num_key_value_heads", heads)),
      headSize(config.getSize("head_dim", 256)), intermediate(config.getSize("intermediate_size")),
      vocabulary(config.getSize("vocab_size")), window(config.getSize("sliding_window", 4096)),
      epsilon(config.getFloat("rms_norm_eps", 1e-6)),
      scale(1 / std::sqrt(config.getFloat("query_pre_attn_scalar", 256.0))),
      softcap(config.getFloat("final_logit_softcapping", 0.0)),
      activation(readActivation(config, "hidden_activation", "gelu_pytorch_tanh")),
      attentionBias(config.getBool("attention_bias", false)), isTied(config.getBool("tie_word_embeddings", true)),
      slides(readLayerKinds(config, layers)) {
  config.refuse("use_bidirectional_attention");
  if (config.has("attn_logit_softcapping"))
    config.reportUnsupported("attn_logit_softcapping", "a number", "null");
  checkKeyHeads(config, heads, keyHeads, headSize);
  Config parameters = config.getObject("rope_parameters");
  if (parameters.has("full_attention")) {
    Config farRope = parameters.getObject("full_attention"), nearRope = parameters.getObject("sliding_attention");
    far = readRope(config, farRope, farRope.getFloat("rope_theta", 1e6), headSize);
    near = readRope(config, nearRope, nearRope.getFloat("rope_theta", 1e4), headSize);
  } else {
    far = readRope(config, config.getObject("rope_scaling"), config.getFloat("rope_theta", 1e6), headSize);
    Config plain(Json::object(), config.getReport());
    near = readRope(config, plain, config.getFloat("rope_local_base_freq", 1e4), headSize);
  }
}

/// The file has the scale less 1.
static Tensor norm(ModelContext &m, const Tensor &x, const std::string &name, int64_t size, double epsilon) {
  ModelContext::Scope scope(m, name);
  return rmsNorm(x, m.weight("weight", size) + 1, epsilon);
}

static Tensor attend(ModelContext &m, const Gemma3Config &c, const Tensor &x, const Positions &p) {
  ModelContext::Scope scope(m, "self_attn");
  auto project = [&](const char *name, int64_t heads) {
    return splitHeads(m.linear(x, name, c.hidden, heads * c.headSize, c.attentionBias), heads);
  };
  Tensor queries = norm(m, project("q_proj", c.heads), "q_norm", c.headSize, c.epsilon);
  Tensor keys = norm(m, project("k_proj", c.keyHeads), "k_norm", c.headSize, c.epsilon);
  Tensor mixed = attention(rope(queries, p.cosines, p.sines), rope(keys, p.cosines, p.sines),
                           project("v_proj", c.keyHeads), c.scale, p.mask);
  return m.linear(mergeHeads(mixed), "o_proj", c.heads * c.headSize, c.hidden, c.attentionBias);
}

static Tensor runLayer(ModelContext &m, const Gemma3Config &c, const Tensor &x, const Positions &p) {
  auto normed = [&](const Tensor &value, const char *name) { return norm(m, value, name, c.hidden, c.epsilon); };
  Tensor attended = attend(m, c, normed(x, "input_layernorm"), p);
  Tensor middle = x + normed(attended, "post_attention_layernorm");
  Tensor wide =
      m.gated(normed(middle, "pre_feedforward_layernorm"), "mlp", c.hidden, c.intermediate, c.activation, false);
  return middle + normed(wide, "post_feedforward_layernorm");
}

/// Input: input_ids. Output: logits, [batch, length, vocabulary].
void huggingface::buildGemma3(ModelContext &m) {
  Gemma3Config c(m.config);
  m.checkLayers(c.layers);
  if (m.hasFaults())
    return;
  Tensor ids = m.tokenInputs({"input_ids"})[0];
  Dim length = ids.dim(1);
  auto makePositions = [&](const Rope &rope, int64_t window) {
    auto [cosines, sines] = makeRotations(m.graph, rope, length);
    return Positions{cosines, sines, m.graph.causalMask(length, length, window)};
  };
  Positions near = makePositions(c.near, c.window), far = makePositions(c.far, 0);
  Tensor words = m.weight("model.embed_tokens.weight", {c.vocabulary, c.hidden});
  Tensor x = embedding(words, ids) * std::sqrt(static_cast<double>(c.hidden));
  for (int64_t i = 0; i < c.layers; ++i) {
    ModelContext::Scope layer(m, "model.layers." + std::to_string(i));
    x = runLayer(m, c, x, c.slides[i] ? near : far);
  }
  x = norm(m, x, "model.norm", c.hidden, c.epsilon);
  Tensor logits = c.isTied ? linear(x, words) : m.linear(x, "lm_head", c.hidden, c.vocabulary, false);
  m.graph.output("logits", c.softcap == 0 ? logits : graph::tanh(logits / c.softcap) * c.softcap);
}
