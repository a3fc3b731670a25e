//===- Encoding.h - the tokens of a text ----------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_TEXT_ENCODING_H
#define TENON_RUNTIME_TEXT_ENCODING_H

#include "runtime/text/AlignedText.h"

#include <optional>
#include <string>
#include <vector>

namespace tenon::text {

/// The tokens of a text or of a pair of texts; all arrays have one element per token.
struct Encoding {
  std::vector<uint32_t> ids;
  std::vector<uint32_t> typeIds;          ///< which text of a pair, as the model has been trained with
  std::vector<std::string> tokens;        ///< as the vocabulary spells them; of unknown ones maybe the text
  std::vector<Span> offsets;              ///< characters of the text; 0 to 0 of tokens that were added
  std::vector<uint8_t> specialTokensMask; ///< 1: added, by a template or by padding
  std::vector<uint8_t> attentionMask;     ///< 0: padding

  size_t size() const { return ids.size(); }
  void add(uint32_t id, uint32_t typeId, std::string token, Span span, bool isSpecial);
  void append(const Encoding &other);
  /// Keeps at most `length` tokens, and removes those at the end or at the beginning.
  void truncate(size_t length, bool isFromLeft);
};

/// The field "truncation" of a tokenizer.json.
struct Truncation {
  enum class Strategy { longestFirst, onlyFirst, onlySecond };
  size_t maxLength = 0;
  Strategy strategy = Strategy::longestFirst;
  bool isFromLeft = false;

  /// Truncates one or two texts, so that they and `added` tokens have at most maxLength tokens. Fails if that is
  /// impossible.
  Status apply(std::vector<Encoding> &encodings, size_t added) const;
};

/// The field "padding" of a tokenizer.json.
struct Padding {
  std::optional<size_t> length; ///< without one, the longest text of the batch
  size_t multiple = 1;
  bool isLeft = false;
  uint32_t id = 0, typeId = 0;
  std::string token = "[PAD]";

  /// Pads each text, to `least` tokens or more.
  void apply(std::vector<Encoding> &batch, size_t least = 0) const;
};

} // namespace tenon::text

#endif // TENON_RUNTIME_TEXT_ENCODING_H
