//===- AddedTokens.h - tokens that are found before a text is split -------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_TEXT_ADDEDTOKENS_H
#define TENON_RUNTIME_TEXT_ADDEDTOKENS_H

#include "runtime/text/Normalizers.h"
#include "runtime/text/Pieces.h"
#include "runtime/text/Vocabulary.h"

#include <unordered_set>

namespace tenon::text {

/// The tokens of the field "added_tokens", special and others, which are matched in the text itself, before or after
/// normalization. Among several matches at one position, the longest one is taken.
class AddedTokens {
public:
  /// `vocabulary` is that of the model. Fails if a token's ID differs from the one that the package `tokenizers`
  /// would assign: that of the vocabulary, or the next free one.
  Status read(const Json &tokens, const Vocabulary &vocabulary, const Normalizer &normalizer);

  /// Splits a text at tokens, which become pieces of their own, and normalizes the text in between.
  Status extract(AlignedText text, const Normalizer &normalizer, std::vector<Piece> &pieces) const;

  std::optional<uint32_t> find(std::string_view token) const { return vocabulary.find(token); }
  /// Returns a token in the form in which it is matched: normalized, if it is matched in normalized text.
  const std::string *get(uint32_t id) const { return spelled.get(id); }
  /// True if the token is omitted from decoded text.
  bool isSpecial(const std::string &token) const { return specials.count(token) != 0; }

private:
  struct AddedToken {
    std::string content;
    uint32_t id = 0;
    bool isWord = false, isLeftStripped = false, isRightStripped = false, isNormalized = false, isSpecial = false;
  };
  Status readToken(const Json &json, size_t index, AddedToken &token) const;
  uint32_t nextId(size_t modelSize) const;
  Status buildTable(bool isNormalized, const Normalizer &normalizer);
  Status split(const AlignedText &text, const PrefixTable &table, std::vector<Piece> &pieces) const;

  std::vector<AddedToken> tokens;
  std::deque<std::string> normalized; ///< contents that tables refer to
  Vocabulary vocabulary, spelled;
  std::unordered_set<std::string> specials;
  PrefixTable verbatimTable, normalizedTable; ///< of indices of `tokens`
  uint32_t largestId = 0;
};

} // namespace tenon::text

#endif // TENON_RUNTIME_TEXT_ADDEDTOKENS_H
