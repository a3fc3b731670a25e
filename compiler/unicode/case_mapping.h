//===- case_mapping.h - letters in upper and lower case -------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// In UTF-8, and without a change of the number of bytes: ASCII, Latin-1, Latin Extended-A, Greek, Cyrillic
// and Armenian. Letters whose other case is longer or shorter stay as they are.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_UNICODE_CASE_MAPPING_H
#define TENON_COMPILER_UNICODE_CASE_MAPPING_H

#include <stdbool.h>
#include <stdint.h>

/// Returns the other case of a two-byte letter; the letter itself if it has the requested case, or none.
static inline uint32_t changeWideCase(uint32_t code, bool upper) {
  // Ranges of lower case letters, `from` to `to`, at a fixed `distance` after the upper case ones.
  static const struct {
    uint16_t from, to, distance;
  } ranges[] = {
      {0xe0, 0xf6, 32},   {0xf8, 0xfe, 32},   {0x3ad, 0x3af, 37}, {0x3b1, 0x3c1, 32},
      {0x3c3, 0x3cb, 32}, {0x430, 0x44f, 32}, {0x450, 0x45f, 80}, {0x561, 0x586, 48},
  };
  for (unsigned i = 0; i < sizeof ranges / sizeof ranges[0]; ++i) {
    uint32_t from = ranges[i].from, to = ranges[i].to, distance = ranges[i].distance;
    if (upper && code >= from && code <= to)
      return code - distance;
    if (!upper && code >= from - distance && code <= to - distance)
      return code + distance;
  }
  // Letters in pairs, where upper case is even in the first ranges and odd in the second.
  bool evenPairs = (code >= 0x100 && code <= 0x12f) || (code >= 0x132 && code <= 0x137) ||
                   (code >= 0x14a && code <= 0x177) || (code >= 0x3d8 && code <= 0x3ef) ||
                   (code >= 0x460 && code <= 0x481) || (code >= 0x48a && code <= 0x4bf) ||
                   (code >= 0x4d0 && code <= 0x52f);
  bool oddPairs =
      (code >= 0x139 && code <= 0x148) || (code >= 0x179 && code <= 0x17e) || (code >= 0x4c1 && code <= 0x4ce);
  if (evenPairs)
    return upper ? code & ~1u : code | 1;
  if (oddPairs)
    return upper ? (code - 1) | 1 : (code + 1) & ~1u;
  return code;
}

/// Changes the case of `count` bytes of UTF-8. Invalid bytes are unchanged.
static inline void changeCase(const uint8_t *from, uint8_t *to, int64_t count, bool upper) {
  for (int64_t i = 0; i < count; ++i) {
    uint8_t byte = from[i];
    if (byte >= 0xc2 && byte <= 0xdf && i + 1 < count && (from[i + 1] & 0xc0) == 0x80) {
      uint32_t code = changeWideCase((uint32_t)(byte & 0x1f) << 6 | (from[i + 1] & 0x3f), upper);
      to[i++] = (uint8_t)(0xc0 | code >> 6);
      to[i] = (uint8_t)(0x80 | (code & 0x3f));
      continue;
    }
    bool changes = upper ? byte >= 'a' && byte <= 'z' : byte >= 'A' && byte <= 'Z';
    to[i] = changes ? byte ^ 0x20 : byte;
  }
}

#endif // TENON_COMPILER_UNICODE_CASE_MAPPING_H
