//===- NextToken.cpp - the token that follows a text ----------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/import/huggingface/NextToken.h"
#include <limits>

using namespace tenon;
using namespace tenon::graph;
using namespace tenon::huggingface;

namespace {
/// The columns of the state `sampling`; the last three are the filters of tenon.sample.
enum Setting : int64_t { kTemperature, kPenalty, kTopK, kTopP, kMinP, kSettings };

/// What the states of all sequences hold, as batches.
struct Sampling {
  Tensor settings, seen, uniform;

  Tensor get(Setting column) const { return slice(settings, 1, column, 1); }
};
} // namespace

/// Returns whether the text of the current sequence has each token, [1, vocabulary].
static Tensor noteSeen(ModelContext &m, const Tensor &ids, int64_t vocabulary) {
  State state = m.graph.state("seen", {1, vocabulary}, DType::u8, m.getSequence());
  Tensor ones = cast(ids * 0 + 1, DType::u8), seen = scatter(state.read(1), ids, ones, 1);
  state.write(0, seen);
  return seen != 0;
}

/// A number in [0, 1) for the current sequence, [1], which follows from its seed and the length of its text.
static Tensor drawUniform(ModelContext &m, const Dim &length) {
  Tensor seed = reshape(m.graph.state("seed", {1}, DType::i64, m.getSequence()).read(1), {});
  // The length is hashed into the upper half of the key, by the golden ratio, so that the numbers of one seed are no
  // shifted ones of another.
  constexpr auto kFactor = static_cast<int64_t>(0x9e3779b900000000);
  Tensor place = m.graph.size(m.getPast() + length) * m.graph.scalar(static_cast<double>(kFactor), DType::i64);
  return m.graph.randomUniform({1}, seed ^ place);
}

static Sampling readSampling(ModelContext &m, const Tensor &ids, int64_t vocabulary) {
  llvm::SmallVector<Tensor> settings, seen, uniform;
  m.forEachSequence([&] {
    settings.push_back(m.graph.state("sampling", {1, kSettings}, DType::f32, m.getSequence()).read(1));
    seen.push_back(noteSeen(m, m.numSequences == 1 ? ids : slice(ids, 0, m.getSequence(), 1), vocabulary));
    uniform.push_back(drawUniform(m, ids.dim(1)));
  });
  auto join = [](llvm::ArrayRef<Tensor> parts) { return parts.size() == 1 ? parts[0] : concat(parts, 0); };
  return {join(settings), join(seen), join(uniform)};
}

/// Returns 0 for each token that may be sampled and -infinity for the others, [vocabulary].
static Tensor makeBias(ModelContext &m, llvm::ArrayRef<int64_t> suppressed, int64_t vocabulary) {
  std::vector<double> bias(vocabulary);
  for (int64_t token : suppressed)
    if (token < vocabulary)
      bias[token] = -std::numeric_limits<double>::infinity();
  return m.graph.vector(bias);
}

/// Returns whether the text of each sequence is its prompt, [batch, 1].
static Tensor isPrompt(ModelContext &m, const Dim &length) {
  llvm::SmallVector<Tensor> parts;
  m.forEachSequence([&] {
    Tensor begin = m.graph.state("begin", {1}, DType::i64, m.getSequence()).read(1);
    parts.push_back(reshape(begin == m.graph.size(m.getPast() + length), {1, 1}));
  });
  return parts.size() == 1 ? parts[0] : concat(parts, 0);
}

static Tensor suppress(ModelContext &m, const Tensor &scores, const Dim &length) {
  Tensor allowed = scores;
  int64_t vocabulary = scores.dim(1).getNumber();
  if (!m.tokenRules.suppressed.empty())
    allowed = allowed + makeBias(m, m.tokenRules.suppressed, vocabulary);
  if (!m.tokenRules.suppressedAtBegin.empty())
    allowed = allowed + where(isPrompt(m, length), makeBias(m, m.tokenRules.suppressedAtBegin, vocabulary), 0);
  return allowed;
}

void huggingface::outputNextToken(ModelContext &m, const Tensor &ids, const Tensor &logits) {
  m.graph.output("logits", logits);
  if (!m.context || !bool(logits))
    return;
  Graph::Scope scope(m.graph, "sample");
  Sampling sampling = readSampling(m, ids, logits.dim(1).getNumber());
  Tensor penalty = sampling.get(kPenalty), temperature = sampling.get(kTemperature);
  Tensor penalized = where(logits > 0, logits / penalty, logits * penalty);
  Tensor scores = where(sampling.seen & (penalty > 0), penalized, logits);
  scores = suppress(m, scores, ids.dim(1));
  scores = where(!isNaN(scores), scores, -std::numeric_limits<double>::infinity());
  Tensor isWarm = temperature > 0;
  Tensor weights = softmax(scores / where(isWarm, temperature, 1), 1);
  Tensor drawn = sample(weights, slice(sampling.settings, 1, kTopK, kSettings - kTopK), sampling.uniform);
  // Several tokens may have the largest logit; greedy decoding takes the first one of them.
  Tensor isSampled = isWarm & (sampling.get(kTopK) != 1);
  m.graph.output("token", where(reshape(isSampled, {logits.dim(0)}), drawn, argMax(scores, 1)));
}
