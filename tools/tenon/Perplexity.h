//===- Perplexity.h - how well logits predict a text -----------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_TOOLS_TENON_PERPLEXITY_H
#define TENON_TOOLS_TENON_PERPLEXITY_H

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tenon {

/// A part of a text that a model processes separately; the tokens from `first` on are predicted, each from those before
/// it in the window.
struct TextWindow {
  size_t begin, end, first;
};

/// Returns windows of `length` tokens at a distance of `stride` tokens; each token but the first is predicted at most
/// once, in the first window with a token before it, as on transformers' page about perplexity.
std::vector<TextWindow> makeWindows(size_t tokens, size_t length, size_t stride);

/// Returns the logarithms of the probabilities for logits.
std::vector<double> getLogProbabilities(const float *logits, size_t vocabulary);

/// Accumulates the mean of -log p over tokens, whose exponential is the perplexity.
class Perplexity {
public:
  void add(double logProbability);
  uint64_t getCount() const { return count; }
  double get() const;
  /// Returns the standard error of the perplexity, assuming independent tokens.
  double getStandardError() const;

private:
  uint64_t count = 0;
  double sum = 0, squares = 0;
};

/// How the predictions of two models differ.
struct Divergence {
  uint64_t count = 0, agreed = 0; ///< positions; those whose most probable token is the same
  double sum = 0, largest = 0;    ///< of the Kullback-Leibler divergence of a position, in nats

  /// Adds a token's log-probabilities; the divergence is that of `other` from `reference`.
  void add(const std::vector<double> &reference, const std::vector<double> &other);
  double getMean() const { return count ? sum / static_cast<double>(count) : 0; }
};

} // namespace tenon

#endif // TENON_TOOLS_TENON_PERPLEXITY_H
