//===- Unicode.h - UTF-8, and properties of characters --------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_TEXT_UNICODE_H
#define TENON_RUNTIME_TEXT_UNICODE_H

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace tenon::text {

/// Decodes UTF-8. On failure returns the position of the first invalid byte.
std::optional<size_t> decodeUtf8(std::string_view bytes, std::u32string &text);

void appendUtf8(char32_t character, std::string &bytes);
std::string toUtf8(std::u32string_view text);

/// Replaces invalid UTF-8 by U+FFFD, once for each maximal subpart of a character (Unicode 15, section 3.9, "U+FFFD
/// Substitution of Maximal Subparts"), like Rust's standard library.
std::string replaceInvalidUtf8(std::string_view bytes);

// The package `tokenizers` takes each property from a table of a certain Unicode version. Characters that were added
// later are treated as unassigned here, too, so that both agree; ICU has the values. Tested over all characters.

/// White_Space.
bool isWhitespace(char32_t character);
/// The categories P* of Unicode 8, and ASCII's other symbols.
bool isPunctuation(char32_t character);
/// The categories N*.
bool isNumeric(char32_t character);
/// What \w is in Rust's regular expressions.
bool isWordCharacter(char32_t character);
/// The categories Cc, Cf and Co of Unicode 7.
bool isControl(char32_t character);
/// The categories M* of Unicode 9.
bool isMark(char32_t character);
/// The category Mn of Unicode 8.
bool isNonspacingMark(char32_t character);
/// Ideographs, as BERT knows them.
bool isIdeograph(char32_t character);

/// Appends the lower case of a letter, independently of its context.
void appendLowercase(char32_t character, std::u32string &text);

} // namespace tenon::text

#endif // TENON_RUNTIME_TEXT_UNICODE_H
