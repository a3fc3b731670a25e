//===- Vit.cpp - an encoder of images -------------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Dosovitskiy and others, https://arxiv.org/abs/2010.11929; as transformers' ViTModel and ViTForImageClassification
// compute it.
//
//===----------------------------------------------------------------------===//

#include "compiler/import/huggingface/Architectures.h"
#include <cmath>

using namespace tenon;
using namespace tenon::graph;
using namespace tenon::huggingface;

namespace {

struct VitConfig {
  explicit VitConfig(const Config &config)
      : hidden(config.getSize("hidden_size")), layers(config.getSize("num_hidden_layers")),
        heads(config.getSize("num_attention_heads")), intermediate(config.getSize("intermediate_size")),
        image(config.getSize("image_size", 224)), patch(config.getSize("patch_size", 16)),
        channels(config.getSize("num_channels", 3)), epsilon(config.getFloat("layer_norm_eps", 1e-12)),
        bias(config.getBool("qkv_bias", true)), activation(readActivation(config, "hidden_act", "gelu")) {
    if (image % patch != 0)
      config.getReport().add(ImportFault::invalidModel, "config.json: images of " + llvm::Twine(image) +
                                                            " pixels a side do not divide into patches of " +
                                                            llvm::Twine(patch));
  }

  int64_t hidden, layers, heads, intermediate, image, patch, channels;
  double epsilon;
  bool bias; ///< of queries, keys and values
  Activation activation;
};

} // namespace

/// Returns a vector for each patch of the images, preceded by the class token: [batch, 1 + patches, hidden].
static Tensor embed(ModelContext &m, const VitConfig &c, const Tensor &images) {
  ModelContext::Scope scope(m, "embeddings");
  Dim batch = images.dim(0);
  int64_t side = c.image / c.patch, patches = side * side, pixels = c.channels * c.patch * c.patch;
  // The patch convolution is a matmul, because patches do not overlap.
  Tensor cut = reshape(images, {batch, c.channels, side, c.patch, side, c.patch});
  cut = reshape(transpose(cut, {0, 2, 4, 1, 3, 5}), {batch, patches, pixels});
  Tensor filters = m.weight("patch_embeddings.projection.weight", {c.hidden, c.channels, c.patch, c.patch});
  Tensor vectors =
      linear(cut, reshape(filters, {c.hidden, pixels}), m.weight("patch_embeddings.projection.bias", c.hidden));
  Tensor whole = broadcast(m.weight("cls_token", {1, 1, c.hidden}), {batch, 1, c.hidden});
  return concat({whole, vectors}, 1) + m.weight("position_embeddings", {1, patches + 1, c.hidden});
}

static Tensor attend(ModelContext &m, const VitConfig &c, const Tensor &x) {
  ModelContext::Scope scope(m, "attention");
  auto project = [&](const std::string &name) {
    return splitHeads(m.linear(x, "attention." + name, c.hidden, c.hidden, c.bias), c.heads);
  };
  Tensor queries = project("query"), keys = project("key"), values = project("value");
  int64_t headSize = c.hidden / c.heads;
  double scale = 1 / std::sqrt(static_cast<double>(headSize));
  return m.linear(mergeHeads(attention(queries, keys, values, scale)), "output.dense", c.hidden, c.hidden, true);
}

static Tensor runLayer(ModelContext &m, const VitConfig &c, const Tensor &x) {
  Tensor middle = x + attend(m, c, m.layerNorm(x, "layernorm_before", c.hidden, c.epsilon));
  Tensor normed = m.layerNorm(middle, "layernorm_after", c.hidden, c.epsilon);
  Tensor wide = c.activation(m.linear(normed, "intermediate.dense", c.hidden, c.intermediate, true));
  return middle + m.linear(wide, "output.dense", c.intermediate, c.hidden, true);
}

/// Declares the input pixel_values, [batch, channels, side, side], and returns [batch, 1 + patches, hidden]. Empty
/// after errors.
static Tensor encode(ModelContext &m, const VitConfig &c) {
  m.checkLayers(c.layers);
  m.checkHeads(c.hidden, c.heads);
  if (m.hasFaults())
    return {};
  Tensor x = embed(
      m, c, m.inputs({{"pixel_values", {{"batch"}, {"", c.channels}, {"", c.image}, {"", c.image}}, DType::f32}})[0]);
  for (int64_t i = 0; i < c.layers; ++i) {
    ModelContext::Scope layer(m, "encoder.layer." + std::to_string(i));
    x = runLayer(m, c, x);
  }
  return m.layerNorm(x, "layernorm", c.hidden, c.epsilon);
}

/// Outputs: last_hidden_state, [batch, 1 + patches, hidden]; pooler_output, [batch, hidden], if the checkpoint has a
/// pooler.
void huggingface::buildVit(ModelContext &m) {
  VitConfig c(m.config);
  Tensor x = encode(m, c);
  if (m.hasFaults())
    return;
  m.graph.output("last_hidden_state", x);
  if (!m.hasWeight("pooler.dense.weight"))
    return;
  Activation activation = readActivation(m.config, "pooler_act", "tanh");
  int64_t width = m.countOutputs("pooler.dense");
  if (activation)
    m.graph.output("pooler_output", activation(m.linear(takeFirst(x), "pooler.dense", c.hidden, width, true)));
}

/// Output: logits, [batch, labels].
void huggingface::buildVitForImageClassification(ModelContext &m) {
  VitConfig c(m.config);
  Tensor x;
  {
    ModelContext::Scope root(m, "vit");
    x = encode(m, c);
  }
  if (!m.hasFaults())
    m.graph.output("logits", m.linear(takeFirst(x), "classifier", c.hidden, m.countOutputs("classifier"), true));
}
