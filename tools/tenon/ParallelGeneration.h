//===- ParallelGeneration.h - many texts, several at a time ---------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_TOOLS_TENON_PARALLELGENERATION_H
#define TENON_TOOLS_TENON_PARALLELGENERATION_H

#include "runtime/text/SamplingOptions.h"
#include "tools/tenon/Generator.h"

#include <functional>
#include <optional>

namespace tenon {

struct GenerationLimits {
  uint64_t most = 256;             ///< tokens to generate for a text
  uint64_t chunk = 512;            ///< tokens of a prompt in one run
  std::vector<uint32_t> endTokens; ///< which end a text; they are not part of it
  text::SamplingOptions sampling;  ///< of every text
  uint64_t seed = 0;               ///< of the first text; that of each later one is the next number
};

/// What was generated, and how long it took.
struct GenerationFigures {
  size_t prompt = 0, steps = 0;    ///< tokens
  int64_t prefill = 0, decode = 0; ///< nanoseconds
};

/// Goes on with texts, as many at a time as the generator has. As soon as one ends, the next one takes its place
/// (Yu and others, "Orca: A Distributed Serving System for Transformer-Based Generative Models", 2022: iteration-level
/// scheduling).
class ParallelGeneration {
public:
  /// Sets `tokens` to those of the next prompt, at least one; leaves them empty after the last.
  using Read = std::function<Status(std::vector<uint32_t> &tokens)>;
  /// Takes the generated tokens of a text. Texts come in the order of their prompts.
  using Write = std::function<Status(const std::vector<uint32_t> &tokens)>;

  /// Keeps references to all arguments.
  ParallelGeneration(Generator &generator, const GenerationLimits &limits, const Read &read, const Write &write)
      : generator(generator), limits(limits), read(read), write(write) {}

  Status run(uint32_t numTexts);
  const GenerationFigures &getFigures() const { return figures; }

private:
  struct Text {
    size_t number = 0; ///< of its prompt
    std::vector<uint32_t> generated;
    bool hasEnded = false;
  };

  Status begin(uint32_t slot);
  Status finish(Text &text);
  void takeNext(uint32_t slot);
  Status step();

  Generator &generator;
  const GenerationLimits &limits;
  const Read &read;
  const Write &write;
  std::vector<std::optional<Text>> texts;                     ///< by slot
  std::vector<std::optional<std::vector<uint32_t>>> finished; ///< by number, from `written` on
  size_t begun = 0, written = 0;
  bool isExhausted = false;
  GenerationFigures figures;
};

} // namespace tenon

#endif // TENON_TOOLS_TENON_PARALLELGENERATION_H
