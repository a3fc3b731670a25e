//===- AlignedText.h - a text that remembers what it was made of ----------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_TEXT_ALIGNEDTEXT_H
#define TENON_RUNTIME_TEXT_ALIGNEDTEXT_H

#include "runtime/base/Status.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tenon::text {

using rt::Status;

/// Characters [begin, end) of the user's text.
struct Span {
  uint32_t begin = 0, end = 0;
  bool operator==(const Span &) const = default;
};

/// A part of a text that is a match of a pattern, or lies between two matches. Parts are contiguous.
struct Part {
  size_t begin, end;
  bool isMatch;
};

/// How the matches at which a text is split are handled: "the-final--countdown" at '-'.
enum class SplitBehavior {
  removed,            ///< the final countdown
  isolated,           ///< the - final - - countdown
  mergedWithPrevious, ///< the- final- - countdown
  mergedWithNext,     ///< the -final - -countdown
  contiguous          ///< the - final -- countdown
};

/// A character of a changed text, and its origin.
struct Change {
  char32_t character;
  /// 0: it replaces a character; positive: it is inserted, and originates from the character before; -n: it replaces a
  /// character, and the n characters after that are removed.
  int64_t count;
};

/// The characters of a text or of a part of it, each with its span in the original. Spans follow the rules of the
/// package `tokenizers` (NormalizedString), so that offsets of tokens are the same.
class AlignedText {
public:
  AlignedText() = default;
  /// Every character is itself.
  explicit AlignedText(std::u32string text);

  std::u32string_view chars() const { return characters; }
  size_t size() const { return characters.size(); }
  bool empty() const { return characters.empty(); }
  /// Where the part begins in the original.
  uint32_t getOrigin() const { return origin; }

  /// Returns the span of characters [begin, end), which must not be empty.
  Span getSpan(size_t begin, size_t end) const { return {spans[begin].begin, spans[end - 1].end}; }

  AlignedText slice(size_t begin, size_t end) const;

  /// Replaces the text by the characters of `changes`, in order; the first one follows `skipped` removed characters.
  void transform(const std::vector<Change> &changes, size_t skipped = 0);

  /// Replaces the text by other characters, each of which has a span of this text.
  void assign(std::u32string text, std::vector<Span> itsSpans) {
    characters = std::move(text);
    spans = std::move(itsSpans);
  }

  /// Keeps the characters for which `isKept`.
  template <typename Predicate> void filter(Predicate isKept) {
    size_t kept = 0;
    for (size_t i = 0; i < size(); ++i)
      if (isKept(characters[i])) {
        characters[kept] = characters[i];
        spans[kept++] = spans[i];
      }
    characters.resize(kept);
    spans.resize(kept);
  }

  /// Replaces each character by those that `append(character, text)` appends, which inherit its span.
  template <typename Append> void map(Append append) {
    std::u32string changed;
    std::vector<Span> changedSpans;
    changed.reserve(size());
    changedSpans.reserve(size());
    for (size_t i = 0; i < size(); ++i) {
      append(characters[i], changed);
      changedSpans.resize(changed.size(), spans[i]);
    }
    characters.swap(changed);
    spans.swap(changedSpans);
  }

  /// Inserts `text` before the first character, with its span. Does nothing to an empty text.
  void prepend(std::u32string_view text);

  /// Replaces every match of `parts` by `content`, with the span of the last replaced character.
  void replace(const std::vector<Part> &parts, std::u32string_view content);

  /// Keeps [begin, end).
  void trim(size_t begin, size_t end);

private:
  std::u32string characters;
  std::vector<Span> spans; ///< one a character
  uint32_t origin = 0;
};

/// Returns the parts of a text for a single character or a predicate on characters.
template <typename Predicate> std::vector<Part> findCharacters(std::u32string_view text, Predicate isMatch) {
  std::vector<Part> parts;
  size_t begin = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (!isMatch(text[i]))
      continue;
    if (begin < i)
      parts.push_back({begin, i, false});
    parts.push_back({i, i + 1, true});
    begin = i + 1;
  }
  if (begin < text.size())
    parts.push_back({begin, text.size(), false});
  return parts;
}

/// Splits a text into its nonempty parts.
std::vector<AlignedText> split(const AlignedText &text, std::vector<Part> parts, SplitBehavior behavior);

} // namespace tenon::text

#endif // TENON_RUNTIME_TEXT_ALIGNEDTEXT_H
