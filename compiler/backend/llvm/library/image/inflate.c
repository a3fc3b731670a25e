//===- inflate.c - what deflate compressed --------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// RFC 1950 and 1951.
//
//===----------------------------------------------------------------------===//

#include "inflate.h"
#include "huffman.h"

enum { literalCount = 288, distanceCount = 32, lengthCodeCount = 19, endOfBlock = 256 };

struct Inflater {
  struct BitReader in;
  uint8_t *to;
  int64_t size, place;
  struct FastCode literals, distances;
  uint16_t literalSymbols[literalCount], distanceSymbols[distanceCount];
};

static bool copyStored(struct Inflater *s) {
  dropBits(&s->in, s->in.count % 8);
  uint32_t length = readBits(&s->in, 16), inverse = readBits(&s->in, 16);
  if (s->in.bytes.hasEnded || (length ^ inverse) != 0xffff)
    return false;
  for (uint32_t i = 0; i < length && s->place < s->size; ++i)
    s->to[s->place++] = readBits(&s->in, 8);
  return !s->in.bytes.hasEnded;
}

static void setFixedCodes(struct Inflater *s) {
  uint8_t lengths[literalCount];
  bool isComplete;
  for (int i = 0; i < literalCount; ++i)
    lengths[i] = i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8;
  makeFastCode(&s->literals, lengths, literalCount, &isComplete);
  for (int i = 0; i < distanceCount; ++i)
    lengths[i] = 5;
  makeFastCode(&s->distances, lengths, distanceCount, &isComplete);
}

/// Reads the lengths of both codes, which are a sequence with repeats.
static bool readLengths(struct Inflater *s, const struct FastCode *code, uint8_t *lengths, int count) {
  for (int i = 0; i < count;) {
    int symbol = readFastSymbol(&s->in, code);
    if (symbol < 0 || (symbol == 16 && i == 0))
      return false;
    uint8_t value = symbol < 16 ? symbol : symbol == 16 ? lengths[i - 1] : 0;
    int repeat = symbol < 16    ? 1
                 : symbol == 16 ? 3 + readBits(&s->in, 2)
                 : symbol == 17 ? 3 + readBits(&s->in, 3)
                                : 11 + readBits(&s->in, 7);
    if (repeat > count - i)
      return false;
    while (repeat--)
      lengths[i++] = value;
  }
  return !s->in.bytes.hasEnded;
}

static bool readCodes(struct Inflater *s) {
  static const uint8_t order[lengthCodeCount] = {16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15};
  int literals = 257 + readBits(&s->in, 5), distances = 1 + readBits(&s->in, 5), count = 4 + readBits(&s->in, 4);
  uint8_t lengths[literalCount + distanceCount] = {0};
  bool isComplete;
  for (int i = 0; i < count; ++i)
    lengths[order[i]] = readBits(&s->in, 3);
  // The code of lengths takes the place of that of distances, which is not known yet.
  if (literals > 286 || !makeFastCode(&s->distances, lengths, lengthCodeCount, &isComplete) || !isComplete)
    return false;
  if (!readLengths(s, &s->distances, lengths, literals + distances) || !lengths[endOfBlock])
    return false;
  // Where there is one symbol alone its code may be incomplete; reading a code that means nothing is a fault then.
  return makeFastCode(&s->literals, lengths, literals, &isComplete) &&
         makeFastCode(&s->distances, lengths + literals, distances, &isComplete);
}

/// Lengths from symbol 257 on, or distances from 0 on: each has a base, and extra bits to add.
static int64_t readExtra(struct Inflater *s, int symbol, int symbolsPerBit, int first) {
  if (symbol < 2 * symbolsPerBit)
    return first + symbol;
  int bits = symbol / symbolsPerBit - 1;
  return first + ((int64_t)(symbolsPerBit + symbol % symbolsPerBit) << bits) + readBits(&s->in, bits);
}

static bool copyMatch(struct Inflater *s, int lengthSymbol) {
  int64_t length = lengthSymbol == 28 ? 258 : readExtra(s, lengthSymbol, 4, 3);
  int symbol = readFastSymbol(&s->in, &s->distances);
  if (lengthSymbol > 28 || symbol < 0 || symbol > 29)
    return false;
  int64_t distance = readExtra(s, symbol, 2, 1);
  if (distance > s->place)
    return false;
  for (; length && s->place < s->size; --length, ++s->place)
    s->to[s->place] = s->to[s->place - distance];
  return true;
}

static bool copyCoded(struct Inflater *s) {
  while (s->place < s->size) {
    int symbol = readFastSymbol(&s->in, &s->literals);
    if (symbol == endOfBlock)
      return !s->in.bytes.hasEnded;
    if (symbol < 0 || s->in.bytes.hasEnded)
      return false;
    if (symbol < endOfBlock)
      s->to[s->place++] = symbol;
    else if (!copyMatch(s, symbol - 257))
      return false;
  }
  return !s->in.bytes.hasEnded;
}

bool inflate(struct Reader stream, uint8_t *to, int64_t size) {
  struct Inflater s;
  stream.isBigEndian = true;
  uint32_t header = read16(&stream);
  if ((header >> 8 & 15) != 8 || header % 31 || header & 0x20)
    return false;
  s.in = (struct BitReader){stream, 0, 0};
  s.to = to;
  s.size = size;
  s.place = 0;
  s.literals.code.symbols = s.literalSymbols;
  s.distances.code.symbols = s.distanceSymbols;
  for (bool isLast = false; !isLast && s.place < size;) {
    isLast = readBits(&s.in, 1);
    uint32_t kind = readBits(&s.in, 2);
    if (kind == 1)
      setFixedCodes(&s);
    if (kind == 3 || (kind == 2 && !readCodes(&s)) || !(kind == 0 ? copyStored(&s) : copyCoded(&s)))
      return false;
  }
  return s.place == size;
}
