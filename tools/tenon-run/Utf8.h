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

/// Returns the bytes of the UTF-8 sequence at the start of `text`, or 0 if it is invalid.
size_t utf8Length(std::string_view text);

/// Removes the first code point from a nonempty text; returns U+FFFD for a byte that is not UTF-8.
uint32_t takeCodePoint(std::string_view &text);

/// Adds a code point of up to U+10FFFF.
void appendUtf8(std::string &text, uint32_t codePoint);

} // namespace tenon::run

#endif // TENON_TOOLS_TENON_RUN_UTF8_H
