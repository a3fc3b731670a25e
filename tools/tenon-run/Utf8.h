//===- Utf8.h - text as code points ---------------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_TOOLS_TENON_RUN_UTF8_H
#define TENON_TOOLS_TENON_RUN_UTF8_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace tenon::run {

/// Bytes of the UTF-8 sequence that `text` begins with, or 0 where it is none.
size_t utf8Length(std::string_view text);

/// Takes the first code point off a text that is not empty; U+FFFD for a byte that is no UTF-8.
uint32_t takeCodePoint(std::string_view &text);

/// Adds a code point of up to U+10FFFF.
void appendUtf8(std::string &text, uint32_t codePoint);

} // namespace tenon::run

#endif // TENON_TOOLS_TENON_RUN_UTF8_H
