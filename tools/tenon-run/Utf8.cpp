//===- Utf8.cpp - text as code points -------------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/tenon-run/Utf8.h"

namespace tenon::run {

size_t utf8Length(std::string_view text) {
  auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  unsigned lead = byte(0);
  size_t length = lead < 0x80 ? 1 : lead < 0xc2 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf5 ? 4 : 0;
  if (length > text.size())
    return 0;
  for (size_t i = 1; i < length; ++i)
    if ((byte(i) & 0xc0) != 0x80)
      return 0;
  // Rejects overlong forms, surrogates, and code points beyond U+10FFFF.
  if ((lead == 0xe0 && byte(1) < 0xa0) || (lead == 0xed && byte(1) >= 0xa0) || (lead == 0xf0 && byte(1) < 0x90) ||
      (lead == 0xf4 && byte(1) >= 0x90))
    return 0;
  return length;
}

uint32_t takeCodePoint(std::string_view &text) {
  size_t length = utf8Length(text);
  uint32_t code = length ? static_cast<unsigned char>(text[0]) : 0xfffd;
  // The lead byte of a sequence of n bytes has n ones, and then a zero.
  if (length > 1)
    code &= 0x7fu >> length;
  for (size_t i = 1; i < length; ++i)
    code = code << 6 | (static_cast<unsigned char>(text[i]) & 0x3f);
  text.remove_prefix(length ? length : 1);
  return code;
}

void appendUtf8(std::string &text, uint32_t code) {
  unsigned more = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
  text += char(more ? (0xff00u >> (more + 1) & 0xff) | code >> (6 * more) : code);
  for (; more > 0; --more)
    text += char(0x80 | (code >> (6 * (more - 1)) & 0x3f));
}

} // namespace tenon::run
