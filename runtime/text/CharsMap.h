//===- CharsMap.h - the rules for characters of SentencePiece -------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_TEXT_CHARSMAP_H
#define TENON_RUNTIME_TEXT_CHARSMAP_H

#include "runtime/text/AlignedText.h"

#include <optional>

namespace tenon::text {

/// A compiled map from byte sequences to replacements: a double-array trie (Darts-clone) and the null-terminated
/// replacements. Grapheme clusters of up to 5 bytes are looked up as a whole, others one character at a time, as in the
/// package `tokenizers`, and the shortest entry that is a prefix of a cluster is used.
class CharsMap {
public:
  /// Fails if a step of the trie, on any text, would be out of bounds, or if a replacement is not UTF-8.
  Status read(std::string_view bytes);
  /// The same; `encoded` is base64.
  Status readBase64(std::string_view encoded);

  void apply(AlignedText &text) const;

  /// Returns the replacement of the longest entry that is a prefix of `text`, and sets `length` to that of the entry:
  /// this is how SentencePiece itself uses the map.
  std::optional<std::string_view> findLongest(std::string_view text, size_t &length) const;

private:
  Status check() const;
  /// Calls visit(length, replacement) for entries that are prefixes of `text`, the shortest first, while it returns
  /// true.
  template <typename Visit> void visitPrefixes(std::string_view text, Visit visit) const;
  /// Appends the replacement of characters [begin, end); returns true if there is one.
  bool replace(const AlignedText &text, size_t begin, size_t end, std::u32string &changed,
               std::vector<Span> &spans) const;

  std::vector<uint32_t> units;
  std::string replacements;
};

} // namespace tenon::text

#endif // TENON_RUNTIME_TEXT_CHARSMAP_H
