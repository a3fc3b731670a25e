//===- reader.h - bytes that are read in order ----------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_LIBRARY_READER_H
#define TENON_LIBRARY_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Past the end there are zeros, and the reader remembers that they were read.
struct Reader {
  const uint8_t *data;
  int64_t size, place;
  bool isBigEndian, hasEnded;
};

static inline uint32_t readByte(struct Reader *r) {
  if (r->place < r->size)
    return r->data[r->place++];
  r->hasEnded = true;
  return 0;
}

static inline uint32_t read16(struct Reader *r) {
  uint32_t first = readByte(r), second = readByte(r);
  return r->isBigEndian ? first << 8 | second : second << 8 | first;
}

static inline uint32_t read24(struct Reader *r) {
  uint32_t first = read16(r), second = readByte(r);
  return r->isBigEndian ? first << 8 | second : second << 16 | first;
}

static inline uint32_t read32(struct Reader *r) {
  uint32_t first = read16(r), second = read16(r);
  return r->isBigEndian ? first << 16 | second : second << 16 | first;
}

static inline int64_t bytesLeft(const struct Reader *r) { return r->size - r->place; }

/// Goes to a place in the data, or to its end if that comes first.
static inline void moveTo(struct Reader *r, int64_t place) {
  r->hasEnded |= place < 0 || place > r->size;
  r->place = place < 0 || place > r->size ? r->size : place;
}

static inline void skipBytes(struct Reader *r, int64_t count) { moveTo(r, r->place + count); }

/// A reader of the next `count` bytes, which this one skips.
static inline struct Reader takeBytes(struct Reader *r, int64_t count) {
  struct Reader part = {r->data + r->place, bytesLeft(r), 0, r->isBigEndian, false};
  skipBytes(r, count);
  if (!r->hasEnded)
    part.size = count;
  return part;
}

/// Whether the data have these bytes at a place.
static inline bool hasBytesAt(const struct Reader *r, int64_t place, const char *bytes, int64_t count) {
  if (place + count > r->size)
    return false;
  for (int64_t i = 0; i < count; ++i)
    if (r->data[place + i] != (uint8_t)bytes[i])
      return false;
  return true;
}

#endif // TENON_LIBRARY_READER_H
