//===- ParallelGeneration.cpp - many texts, several at a time -------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/tenon/ParallelGeneration.h"

#include "runtime/base/Clock.h"

#include <algorithm>
#include <cassert>

using namespace tenon;

/// Starts the next prompt in a free slot, if there is one.
Status ParallelGeneration::begin(uint32_t slot) {
  assert(!texts[slot] && "a slot has one text at a time");
  std::vector<uint32_t> prompt;
  TENON_TRY(read(prompt));
  isExhausted = prompt.empty();
  if (isExhausted)
    return {};
  texts[slot].emplace(Text{begun, {}, false});
  TENON_TRY(generator.setSampling(limits.sampling, limits.seed + begun, slot));
  ++begun;
  finished.emplace_back();
  int64_t start = rt::now();
  TENON_TRY(generator.follow(prompt, limits.chunk, slot));
  figures.prefill += rt::now() - start;
  figures.prompt += prompt.size();
  takeNext(slot);
  return {};
}

/// Takes the token that follows a text, which may end it.
void ParallelGeneration::takeNext(uint32_t slot) {
  Text &text = *texts[slot];
  uint32_t token = generator.getNext(slot);
  bool isEnd = std::find(limits.endTokens.begin(), limits.endTokens.end(), token) != limits.endTokens.end();
  text.hasEnded = isEnd;
  if (isEnd)
    return;
  text.generated.push_back(token);
  // The last token needs no run, because its successor is not needed.
  text.hasEnded = text.generated.size() == limits.most || generator.getLength(slot) == generator.getContext();
}

/// Writes all texts whose turn it is.
Status ParallelGeneration::finish(Text &text) {
  finished[text.number - written] = std::move(text.generated);
  size_t count = 0;
  for (; count < finished.size() && finished[count]; ++count)
    TENON_TRY(write(*finished[count]));
  finished.erase(finished.begin(), finished.begin() + static_cast<ptrdiff_t>(count));
  written += count;
  return {};
}

/// Runs the last token of each text, and takes the next ones.
Status ParallelGeneration::step() {
  std::vector<Generator::Next> next;
  for (uint32_t slot = 0; slot < texts.size(); ++slot)
    if (texts[slot])
      next.push_back({slot, texts[slot]->generated.back()});
  int64_t start = rt::now();
  TENON_TRY(generator.step(next));
  figures.decode += rt::now() - start;
  figures.steps += next.size();
  for (const Generator::Next &one : next)
    takeNext(one.text);
  return {};
}

Status ParallelGeneration::run(uint32_t numTexts) {
  texts.resize(numTexts);
  for (;;) {
    bool isBusy = false;
    for (uint32_t slot = 0; slot < texts.size(); ++slot) {
      // A text may end with its first token.
      while (texts[slot] ? texts[slot]->hasEnded : !isExhausted) {
        if (texts[slot]) {
          TENON_TRY(finish(*texts[slot]));
          texts[slot].reset();
          continue;
        }
        TENON_TRY(begin(slot));
      }
      isBusy |= texts[slot].has_value();
    }
    if (!isBusy)
      return {};
    TENON_TRY(step());
  }
}
