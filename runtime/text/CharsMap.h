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

/// A compiled map from sequences of bytes to their replacements: a double-array trie (Darts-clone) and the
/// replacements, each ended by a zero. Clusters of characters of up to 5 bytes are looked up as a whole, others one
/// character at a time, as the package `tokenizers` does, and of several entries that begin a cluster the shortest
/// counts.
class CharsMap {
public:
  /// Fails where a step of the trie, on whatever text, would lead out of it, or a replacement is no UTF-8.
  Status read(std::string_view bytes);
  /// The same; `encoded` is base64.
  Status readBase64(std::string_view encoded);

  void apply(AlignedText &text) const;

  /// The replacement of the longest entry that `text` begins with, and sets `length` to that of the entry: as
  /// SentencePiece itself reads the map.
  std::optional<std::string_view> findLongest(std::string_view text, size_t &length) const;

private:
  Status check() const;
  /// Calls visit(length, replacement) for entries that `text` begins with, the shortest first, while it returns true.
  template <typename Visit> void visitPrefixes(std::string_view text, Visit visit) const;
  /// Appends the replacement of characters [begin, end), and returns whether there is one.
  bool replace(const AlignedText &text, size_t begin, size_t end, std::u32string &changed,
               std::vector<Span> &spans) const;

  std::vector<uint32_t> units;
  std::string replacements;
};

} // namespace tenon::text

#endif // TENON_RUNTIME_TEXT_CHARSMAP_H
