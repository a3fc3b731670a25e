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

bool makeCode(struct Code *code, const uint8_t *lengths, int count, bool *isComplete) {
  uint16_t places[CODE_MAX_LENGTH + 1] = {0};
  for (int i = 0; i <= CODE_MAX_LENGTH; ++i)
    code->counts[i] = 0;
  for (int i = 0; i < count; ++i)
    ++code->counts[lengths[i]];
  code->counts[0] = 0;
  int32_t left = 1;
  for (int i = 1; i <= CODE_MAX_LENGTH; ++i) {
    left = left * 2 - code->counts[i];
    if (left < 0)
      return false;
    places[i] = places[i - 1] + code->counts[i - 1];
  }
  *isComplete = left == 0;
  for (int i = 0; i < count; ++i)
    if (lengths[i])
      code->symbols[places[lengths[i]]++] = i;
  return true;
}

bool makeFastCode(struct FastCode *fast, const uint8_t *lengths, int count, bool *isComplete) {
  if (!makeCode(&fast->code, lengths, count, isComplete))
    return false;
  for (int i = 0; i < 1 << CODE_TABLE_BITS; ++i)
    fast->lengths[i] = 0;
  uint32_t value = 0;
  const uint16_t *symbol = fast->code.symbols;
  for (int length = 1; length <= CODE_TABLE_BITS; ++length, value <<= 1)
    for (int i = 0; i < fast->code.counts[length]; ++i, ++value, ++symbol)
      // All places that begin with the code.
      for (uint32_t at = reverseBits(value, length); at < 1 << CODE_TABLE_BITS; at += 1u << length) {
        fast->symbols[at] = *symbol;
        fast->lengths[at] = length;
      }
  return true;
}

bool makeWholeCode(struct Code *code, const uint8_t *lengths, int count) {
  bool isComplete;
  int used = 0;
  for (int i = 0; i < count; ++i)
    used += lengths[i] != 0;
  if (!makeCode(code, lengths, count, &isComplete))
    return false;
  if (used == 1) {
    for (int i = 1; i <= CODE_MAX_LENGTH; ++i)
      code->counts[i] = 0;
    code->counts[0] = 1;
  }
  return isComplete || used == 1;
}
