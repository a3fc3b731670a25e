//===- Perplexity.cpp - how well logits predict a text ---------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/tenon/Perplexity.h"

#include <algorithm>
#include <cassert>
#include <cmath>

using namespace tenon;

std::vector<TextWindow> tenon::makeWindows(size_t tokens, size_t length, size_t stride) {
  assert(length > 1 && stride > 0 && stride <= length && "windows leave no gaps");
  std::vector<TextWindow> windows;
  size_t done = 1;
  for (size_t begin = 0; begin + 1 < tokens; begin += stride) {
    size_t end = std::min(begin + length, tokens), first = std::max(done, begin + 1);
    if (first < end)
      windows.push_back({begin, end, first});
    done = std::max(done, end);
    if (end == tokens)
      break;
  }
  return windows;
}

std::vector<double> tenon::getLogProbabilities(const float *logits, size_t vocabulary) {
  double largest = *std::max_element(logits, logits + vocabulary), sum = 0;
  for (size_t i = 0; i < vocabulary; ++i)
    sum += std::exp(logits[i] - largest);
  double shift = largest + std::log(sum);
  std::vector<double> result(vocabulary);
  std::transform(logits, logits + vocabulary, result.begin(), [&](float x) { return x - shift; });
  return result;
}

void Perplexity::add(double logProbability) {
  ++count;
  sum -= logProbability;
  squares += logProbability * logProbability;
}

double Perplexity::get() const { return count ? std::exp(sum / static_cast<double>(count)) : 1; }

double Perplexity::getStandardError() const {
  if (count < 2)
    return 0;
  double n = static_cast<double>(count), mean = sum / n;
  double variance = std::max(squares / n - mean * mean, 0.0) * n / (n - 1);
  return get() * std::sqrt(variance / n);
}

void Divergence::add(const std::vector<double> &reference, const std::vector<double> &other) {
  double divergence = 0;
  for (size_t i = 0; i < reference.size(); ++i)
    if (double p = std::exp(reference[i]); p > 0)
      divergence += p * (reference[i] - other[i]);
  ++count;
  agreed += std::max_element(reference.begin(), reference.end()) - reference.begin() ==
            std::max_element(other.begin(), other.end()) - other.begin();
  sum += divergence;
  largest = std::max(largest, divergence);
}
