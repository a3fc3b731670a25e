//===- memory.c - memcpy, memmove, memset, memcmp -------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compiled with -fno-builtin, and that attribute stays on them: else the loops
// below would be recognised as what they are, and become calls of themselves.
//
//===----------------------------------------------------------------------===//

#include <stddef.h>
#include <stdint.h>

#include "functions.h"

/// 32 bytes at any address, of any type.
typedef uint8_t Block __attribute__((vector_size(32), aligned(1), may_alias));

void *memcpy(void *restrict to, const void *restrict from, size_t count) {
  uint8_t *t = to;
  const uint8_t *f = from;
  for (; count >= sizeof(Block); count -= sizeof(Block), t += sizeof(Block), f += sizeof(Block))
    *(Block *)t = *(const Block *)f;
  for (; count; count--)
    *t++ = *f++;
  return to;
}

void *memmove(void *to, const void *from, size_t count) {
  uint8_t *t = to;
  const uint8_t *f = from;
  // Copying forwards is safe unless the target begins inside the source.
  if ((uintptr_t)t - (uintptr_t)f >= count) {
    for (; count >= sizeof(Block); count -= sizeof(Block), t += sizeof(Block), f += sizeof(Block))
      *(Block *)t = *(const Block *)f;
    for (; count; count--)
      *t++ = *f++;
    return to;
  }
  while (count >= sizeof(Block)) {
    count -= sizeof(Block);
    *(Block *)(t + count) = *(const Block *)(f + count);
  }
  while (count) {
    count--;
    t[count] = f[count];
  }
  return to;
}

void *memset(void *to, int value, size_t count) {
  uint8_t *t = to;
  Block block = (Block){0} + (uint8_t)value;
  for (; count >= sizeof(Block); count -= sizeof(Block), t += sizeof(Block))
    *(Block *)t = block;
  for (; count; count--)
    *t++ = (uint8_t)value;
  return to;
}

int memcmp(const void *left, const void *right, size_t count) {
  const uint8_t *l = left, *r = right;
  for (; count; count--, l++, r++)
    if (*l != *r)
      return *l - *r;
  return 0;
}
