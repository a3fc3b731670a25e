//===- huffman.h - canonical codes, least significant bit first -----------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The codes of deflate and of lossless WebP.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_LIBRARY_HUFFMAN_H
#define TENON_LIBRARY_HUFFMAN_H

#include "reader.h"

#define CODE_MAX_LENGTH 15
#define CODE_TABLE_BITS 9

/// Bits of a reader, least significant first.
struct BitReader {
  struct Reader bytes;
  uint64_t bits;
  int count;
};

/// Makes at least 32 bits available; past the end they are zeros.
static inline void fillBits(struct BitReader *r) {
  for (; r->count <= 56 && bytesLeft(&r->bytes) > 0; r->count += 8)
    r->bits |= (uint64_t)readByte(&r->bytes) << r->count;
}

static inline void dropBits(struct BitReader *r, int count) {
  r->bytes.hasEnded |= count > r->count;
  r->bits >>= count;
  r->count = count > r->count ? 0 : r->count - count;
}

/// The next bits, up to 32.
static inline uint32_t readBits(struct BitReader *r, int count) {
  fillBits(r);
  uint32_t value = r->bits & (((uint64_t)1 << count) - 1);
  dropBits(r, count);
  return value;
}

/// A code: its symbols in the order of their codes, and how many have each length. A code of one symbol alone may
/// need no bits: then one has length 0.
struct Code {
  uint16_t *symbols;
  uint16_t counts[CODE_MAX_LENGTH + 1];
};

/// And by the next bits: the symbol and the length, which is 0 where the code is longer.
struct FastCode {
  struct Code code;
  uint16_t symbols[1 << CODE_TABLE_BITS];
  uint8_t lengths[1 << CODE_TABLE_BITS];
};

/// Makes a code of the lengths of each symbol's, 0 for one that has none. There is room for all that have one. False
/// where the lengths are too short for all to differ; `*isComplete` tells whether every sequence of bits means one.
bool makeCode(struct Code *code, const uint8_t *lengths, int count, bool *isComplete);
bool makeFastCode(struct FastCode *fast, const uint8_t *lengths, int count, bool *isComplete);

/// Makes a code that is complete, or has one symbol that needs no bits. False where the lengths give none.
bool makeWholeCode(struct Code *code, const uint8_t *lengths, int count);

/// The next symbol; -1 where the bits mean none.
static inline int readSymbol(struct BitReader *r, const struct Code *code) {
  if (code->counts[0])
    return code->symbols[0];
  fillBits(r);
  int32_t value = 0, first = 0, index = 0;
  for (int length = 1; length <= CODE_MAX_LENGTH; ++length) {
    value |= r->bits >> (length - 1) & 1;
    int32_t count = code->counts[length];
    if (value - first < count) {
      dropBits(r, length);
      return code->symbols[index + value - first];
    }
    index += count;
    first = (first + count) << 1;
    value <<= 1;
  }
  return -1;
}

static inline int readFastSymbol(struct BitReader *r, const struct FastCode *fast) {
  fillBits(r);
  uint32_t next = r->bits & ((1 << CODE_TABLE_BITS) - 1);
  if (!fast->lengths[next])
    return readSymbol(r, &fast->code);
  dropBits(r, fast->lengths[next]);
  return fast->symbols[next];
}

#endif // TENON_LIBRARY_HUFFMAN_H
