//===- Rope.cpp - rotary positions, as configs describe them --------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The formulas are those of transformers (modeling_rope_utils.py); yarn is from
// https://arxiv.org/abs/2309.00071.
//
//===----------------------------------------------------------------------===//

#include "compiler/import/huggingface/Rope.h"
#include <algorithm>
#include <cmath>
#include <numbers>

using namespace tenon;
using namespace tenon::graph;
using namespace tenon::huggingface;

static constexpr double kTurn = 2 * std::numbers::pi;

/// Low frequencies, with few rotations in the original context length, are divided by a factor; high ones are
/// unchanged; in between, the two are interpolated.
static void scaleAsLlama3(const Config &parameters, Rope &rope) {
  double factor = parameters.getFloat("factor"), low = parameters.getFloat("low_freq_factor"),
         high = parameters.getFloat("high_freq_factor");
  double length = static_cast<double>(parameters.getSize("original_max_position_embeddings"));
  for (double &frequency : rope.frequencies) {
    double turns = length * frequency / kTurn;
    double kept = high == low ? (turns < low ? 0 : 1) : std::clamp((turns - low) / (high - low), 0.0, 1.0);
    frequency = (1 - kept) * frequency / factor + kept * frequency;
  }
}

/// The length that a model was first trained for.
static int64_t getTrainedLength(const Config &config, const Config &parameters) {
  for (const Config *fields : {&parameters, &config})
    if (fields->has("original_max_position_embeddings"))
      return fields->getSize("original_max_position_embeddings");
  return config.getSize("max_position_embeddings");
}

/// The factor by which yarn sharpens attention.
static double getYarnScale(const Config &parameters, double factor) {
  if (parameters.has("attention_factor"))
    return parameters.getFloat("attention_factor");
  auto scale = [&](double multiple) { return factor <= 1 ? 1.0 : 0.1 * multiple * std::log(factor) + 1; };
  double all = parameters.getFloat("mscale_all_dim", 0.0), some = parameters.getFloat("mscale", 0.0);
  return all != 0 && some != 0 ? scale(some) / scale(all) : scale(1);
}

/// Like llama3, but the interpolation depends on the index of the feature.
static void scaleAsYarn(const Config &config, const Config &parameters, double theta, Rope &rope) {
  double longest = static_cast<double>(config.getSize("max_position_embeddings"));
  double length = static_cast<double>(getTrainedLength(config, parameters));
  double factor = parameters.getFloat("factor", longest / length);
  double pairs = static_cast<double>(rope.frequencies.size());
  bool truncate = parameters.getBool("truncate", true);
  // The feature that makes this number of rotations in the original context length.
  auto findFeature = [&](double turns) { return pairs * std::log(length / (turns * kTurn)) / std::log(theta); };
  double first = findFeature(parameters.getFloat("beta_fast", 32.0)),
         last = findFeature(parameters.getFloat("beta_slow", 1.0));
  first = std::max(truncate ? std::floor(first) : first, 0.0);
  last = std::min(truncate ? std::ceil(last) : last, 2 * pairs - 1);
  last += first == last ? 0.001 : 0;
  for (auto [i, frequency] : llvm::enumerate(rope.frequencies)) {
    double slowed = std::clamp((static_cast<double>(i) - first) / (last - first), 0.0, 1.0);
    frequency = slowed * frequency / factor + (1 - slowed) * frequency;
  }
  rope.scale = getYarnScale(parameters, factor);
}

/// Texts beyond the original context length have separate factors.
static void scaleAsLongRope(const Config &config, const Config &parameters, Rope &rope) {
  rope.threshold = getTrainedLength(config, parameters);
  double trained = static_cast<double>(rope.threshold);
  double factor =
      parameters.getFloat("factor", static_cast<double>(config.getSize("max_position_embeddings")) / trained);
  double scale = factor <= 1 ? 1 : std::sqrt(1 + std::log(factor) / std::log(trained));
  rope.scale = parameters.getFloat("attention_factor", scale);
  auto divide = [&](const char *key) {
    std::vector<double> factors = parameters.getFloats(key), result;
    if (factors.size() != rope.frequencies.size())
      parameters.getReport().add(ImportFault::invalidModel, llvm::Twine("config.json: '") + key + "' has " +
                                                                llvm::Twine(factors.size()) + " entries, wanted " +
                                                                llvm::Twine(rope.frequencies.size()));
    for (auto [frequency, factor] : llvm::zip(rope.frequencies, factors))
      result.push_back(frequency / factor);
    return result;
  };
  rope.longFrequencies = divide("long_factor");
  rope.frequencies = divide("short_factor");
}

static constexpr char kKinds[] = "default, dynamic, linear, llama3, longrope, yarn";

/// Applies `rope_type` to plain rotary positions.
static void scaleAsConfigured(const Config &config, const Config &parameters, double theta, Rope &rope) {
  // Older files call it `type`.
  std::string key = parameters.has("rope_type") ? "rope_type" : "type";
  std::string kind = parameters.getString(key, "default");
  if (kind == "dynamic") {
    rope.threshold = config.getSize("max_position_embeddings");
    rope.factor = parameters.getFloat("factor");
  } else if (kind == "linear") {
    double factor = parameters.getFloat("factor");
    for (double &frequency : rope.frequencies)
      frequency /= factor;
  } else if (kind == "llama3") {
    scaleAsLlama3(parameters, rope);
  } else if (kind == "longrope" || kind == "su") { // as older files call it
    scaleAsLongRope(config, parameters, rope);
  } else if (kind == "yarn") {
    scaleAsYarn(config, parameters, theta, rope);
  } else if (kind != "default") {
    parameters.reportUnsupported(key, kind, kKinds);
  }
}

/// Returns the number of a head's first features that are rotated; all of them if the config does not say.
static int64_t getTurnedSize(const Config &config, const Config &parameters, int64_t headSize, bool allowsPart) {
  constexpr char kKey[] = "partial_rotary_factor";
  const Config &fields = parameters.has(kKey) ? parameters : config;
  double part = fields.getFloat(kKey, 1.0);
  if (part != 1 && !allowsPart)
    fields.reportUnsupported(kKey, std::to_string(part), "1");
  auto size = static_cast<int64_t>(static_cast<double>(headSize) * std::clamp(part, 0.0, 1.0));
  if (part > 1 || size < 2 || size % 2 != 0)
    fields.getReport().add(ImportFault::invalidModel, llvm::Twine("config.json: '") + kKey + "' makes " +
                                                          llvm::Twine(size) + " of " + llvm::Twine(headSize) +
                                                          " features turn; they turn in pairs");
  return size;
}

Rope huggingface::readRope(const Config &config, const Config &parameters, double theta, int64_t headSize,
                           bool allowsPart) {
  Rope rope;
  constexpr int64_t kMaxHeadSize = 1 << 16;
  if (headSize > kMaxHeadSize) {
    parameters.getReport().add(ImportFault::invalidModel, "config.json asks for heads of " + llvm::Twine(headSize) +
                                                              " features; rotary positions allow 65536");
    return rope;
  }
  int64_t size = getTurnedSize(config, parameters, headSize, allowsPart);
  for (int64_t i = 0; i < size / 2; ++i)
    rope.frequencies.push_back(std::pow(theta, -2.0 * static_cast<double>(i) / static_cast<double>(size)));
  scaleAsConfigured(config, parameters, theta, rope);
  auto isFinite = [](double number) { return std::isfinite(number); };
  if (!isFinite(rope.scale) || !llvm::all_of(rope.frequencies, isFinite) ||
      !llvm::all_of(rope.longFrequencies, isFinite))
    parameters.getReport().add(ImportFault::invalidModel,
                               "config.json: the parameters of rotary positions give no finite numbers");
  return rope;
}

Rope huggingface::readRope(const Config &config, int64_t headSize, bool allowsPart, double theta) {
  Config parameters = config.getObject(config.has("rope_parameters") ? "rope_parameters" : "rope_scaling");
  theta = parameters.has("rope_theta") ? parameters.getFloat("rope_theta") : config.getFloat("rope_theta", theta);
  return readRope(config, parameters, theta, headSize, allowsPart);
}

//===----------------------------------------------------------------------===//
// Angles
//===----------------------------------------------------------------------===//

/// The frequencies for texts of this length.
static Tensor makeFrequencies(Graph &graph, const Rope &rope, const Dim &length) {
  Tensor frequencies = graph.vector(rope.frequencies);
  if (rope.threshold == 0)
    return frequencies;
  Tensor size = graph.size(length, DType::f32);
  double threshold = static_cast<double>(rope.threshold);
  if (!rope.longFrequencies.empty())
    return where(size > threshold, graph.vector(rope.longFrequencies), frequencies);
  // The base grows with the length; frequency i is base^(-2i / headSize).
  std::vector<double> exponents;
  size_t pairs = rope.frequencies.size();
  for (size_t i = 0; i < pairs; ++i)
    exponents.push_back(pairs > 1 ? -static_cast<double>(i) / static_cast<double>(pairs - 1) : 0);
  Tensor stretch = maximum(size, graph.scalar(threshold)) * (rope.factor / threshold) - (rope.factor - 1);
  return frequencies * pow(stretch, graph.vector(exponents));
}

/// Returns a function of the angles of the first `count` positions: [count, pairs]. Angles are f32 products, like those
/// that are computed at run time.
static Tensor makeTable(Graph &graph, const Rope &rope, int64_t count, const char *name, double (*function)(double)) {
  std::vector<float> table;
  table.reserve(count * rope.frequencies.size());
  for (int64_t place = 0; place < count; ++place)
    for (double frequency : rope.frequencies) {
      float angle = static_cast<float>(place) * static_cast<float>(frequency);
      table.push_back(static_cast<float>(function(angle) * rope.scale));
    }
  return graph.weight(name, {count, static_cast<int64_t>(rope.frequencies.size())}, table);
}

std::pair<Tensor, Tensor> huggingface::makeRotations(Graph &graph, const Rope &rope, const Dim &length, const Dim &past,
                                                     int64_t context) {
  Graph::Scope scope(graph, "rotary");
  // default: 16 MiB for both tables in the artifact; longer ones are computed in each run
  constexpr int64_t kMaxTable = 1 << 21;
  if (context && context * static_cast<int64_t>(rope.frequencies.size()) <= kMaxTable) {
    auto makeRows = [&](const char *name, double (*function)(double)) {
      return slice(makeTable(graph, rope, context, name, function), 0, past, length);
    };
    return {makeRows("cosines", std::cos), makeRows("sines", std::sin)};
  }
  Tensor places = graph.iota({length, 1}, 0, DType::f32);
  if (!(past == Dim(0)))
    places = places + graph.size(past, DType::f32);
  Tensor angles = places * makeFrequencies(graph, rope, past + length);
  return {cos(angles) * rope.scale, sin(angles) * rope.scale};
}
