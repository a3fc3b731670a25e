//===- Bytes.h - bytes as letters -----------------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_TEXT_BYTES_H
#define TENON_RUNTIME_TEXT_BYTES_H

#include "runtime/text/AlignedText.h"

#include <optional>

namespace tenon::text {

/// Returns the letter for a byte in byte-level vocabularies (GPT-2's bytes_to_unicode): printable Latin-1 characters
/// represent themselves, and others follow from U+0100 on.
char32_t getByteLetter(unsigned char byte);

/// The byte of such a letter.
std::optional<unsigned char> getLetterByte(char32_t letter);

/// Replaces each character by the letters of its bytes.
void toByteLetters(AlignedText &text);

/// Returns "<0xE2>", the name of a byte in vocabularies with byte fallback.
std::string getByteToken(unsigned char byte);

/// Returns the byte that such a token names, in upper or lower case.
std::optional<unsigned char> getTokenByte(std::string_view token);

} // namespace tenon::text

#endif // TENON_RUNTIME_TEXT_BYTES_H
