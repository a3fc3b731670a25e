//===- huffman.c - canonical codes, least significant bit first -----------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "huffman.h"

static uint32_t reverseBits(uint32_t value, int count) {
  uint32_t result = 0;
  for (int i = 0; i < count; ++i)
    result |= (value >> i & 1) << (count - 1 - i);
  return result;
}

/// Enters a code into all places of the table that begin with it.
static void enterShort(struct Code *code, uint32_t value, int length, int symbol) {
  for (uint32_t at = reverseBits(value, length); at < 1 << CODE_TABLE_BITS; at += 1u << length) {
    code->shortSymbols[at] = symbol;
    code->shortLengths[at] = length;
  }
}

bool makeCode(struct Code *code, const uint8_t *lengths, int count, bool *isComplete) {
  uint32_t next[CODE_MAX_LENGTH + 1];
  uint16_t places[CODE_MAX_LENGTH + 1];
  for (int i = 0; i <= CODE_MAX_LENGTH; ++i)
    code->counts[i] = 0;
  for (int i = 0; i < 1 << CODE_TABLE_BITS; ++i)
    code->shortLengths[i] = 0;
  for (int i = 0; i < count; ++i)
    ++code->counts[lengths[i]];
  code->counts[0] = 0;
  int32_t left = 1;
  uint32_t value = 0;
  places[0] = 0;
  for (int i = 1; i <= CODE_MAX_LENGTH; ++i) {
    left = left * 2 - code->counts[i];
    if (left < 0)
      return false;
    value = (value + code->counts[i - 1]) << 1;
    next[i] = value;
    places[i] = places[i - 1] + code->counts[i - 1];
  }
  *isComplete = left == 0;
  for (int i = 0; i < count; ++i) {
    int length = lengths[i];
    if (!length)
      continue;
    code->symbols[places[length]++] = i;
    if (length <= CODE_TABLE_BITS)
      enterShort(code, next[length], length, i);
    ++next[length];
  }
  return true;
}
