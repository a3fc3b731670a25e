//===- lzw.c - what LZW compressed, as TIFF has it ------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lzw.h"

enum { lzwClear = 256, lzwEnd = 257, lzwFirst = 258, lzwCodes = 4096 };

/// Each code stands for bytes that were written before: where, and how many.
struct Strings {
  int64_t begins[lzwCodes];
  int64_t lengths[lzwCodes];
};

bool unpackLzw(struct Reader r, uint8_t *to, int64_t size) {
  struct Strings strings;
  uint32_t bits = 0, next = lzwFirst;
  int count = 0;
  int64_t place = 0, lastBegin = 0, lastLength = 0;
  while (place < size) {
    // Codes become longer one code early.
    int width = next < 511 ? 9 : next < 1023 ? 10 : next < 2047 ? 11 : 12;
    for (; count < width; count += 8)
      bits = bits << 8 | readByte(&r);
    count -= width;
    uint32_t code = bits >> count & ((1u << width) - 1);
    if (r.hasEnded || code == lzwEnd)
      return false;
    if (code == lzwClear) {
      next = lzwFirst;
      lastLength = 0;
      continue;
    }
    // A new code is the last string and the byte behind it, which this string begins with.
    if (lastLength && next < lzwCodes) {
      strings.begins[next] = lastBegin;
      strings.lengths[next++] = lastLength + 1;
    }
    if (code >= next)
      return false;
    lastBegin = place;
    lastLength = code < lzwClear ? 1 : strings.lengths[code];
    if (code < lzwClear)
      to[place++] = code;
    for (int64_t i = 0; code >= lzwFirst && i < lastLength && place < size; ++i)
      to[place++] = to[strings.begins[code] + i];
  }
  return true;
}
