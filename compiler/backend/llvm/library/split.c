//===- split.c - strings in parts -----------------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Splits like Python's str.split: at each delimiter or, if that is empty, at runs of ASCII white space, without empty
// parts at the ends. The limit is the maximum number of splits per string; a negative limit means no limit.
//
// ===----------------------------------------------------------------------===//

#include "text.h"

/// A string that is being split.
struct Splitter {
  struct Text rest, delimiter;
  int64_t left; ///< how often it may be split still
  bool ended;
};

static bool isSpace(uint8_t c) { return c == ' ' || (c >= 9 && c <= 13) || (c >= 0x1c && c <= 0x1f); }

static void skip(struct Text *text, int64_t count) {
  text->at += count;
  text->size -= count;
}

static bool startsWith(struct Text text, struct Text start) {
  return text.size >= start.size && memcmp(text.at, start.at, start.size) == 0;
}

/// The next part; false after the last.
static bool nextPart(struct Splitter *s, struct Text *part) {
  bool bySpace = s->delimiter.size == 0;
  while (bySpace && s->rest.size && isSpace(*s->rest.at))
    skip(&s->rest, 1);
  if (s->ended || (bySpace && !s->rest.size))
    return false;
  *part = s->rest;
  part->size = 0;
  if (s->left == 0) {
    part->size = s->rest.size;
    s->ended = true;
    return true;
  }
  for (; s->rest.size; skip(&s->rest, 1), ++part->size) {
    if (bySpace ? !isSpace(*s->rest.at) : !startsWith(s->rest, s->delimiter))
      continue;
    skip(&s->rest, bySpace ? 1 : s->delimiter.size);
    --s->left;
    return true;
  }
  s->ended = true;
  return true;
}

static struct Splitter splitterOf(struct Text text, void *const *buffers, const int64_t *sizes) {
  return (struct Splitter){text, {buffers[2], sizes[2]}, *(const int64_t *)buffers[3], false};
}

/// Inputs are strings, a delimiter and a limit; the result is the number of parts of each string.
KERNEL(tenon_split_counts) {
  struct Strings strings = stringsIn(buffers, sizes, 0);
  int64_t *counts = buffers[4];
  for (int64_t i = 0; i < strings.count; ++i) {
    struct Text text, part;
    if (!takeText(&strings, i, &text))
      return TENON_KERNEL_BAD_VALUE;
    struct Splitter splitter = splitterOf(text, buffers, sizes);
    for (counts[i] = 0; nextPart(&splitter, &part);)
      ++counts[i];
  }
  return TENON_KERNEL_OK;
}
FACTS(tenon_split_counts, 5, READS_STRINGS(0), TENON_READS(TENON_ELEMENTS(2, 1)), TENON_READS(TENON_NUMBER(8)),
      TENON_WRITES(TENON_ELEMENTS(1, 8)));

/// The same inputs; the results are the start and the length of each part. Each string has as many parts as the results
/// have room for, the last ones empty.
KERNEL(tenon_split) {
  struct Strings strings = stringsIn(buffers, sizes, 0);
  int64_t *begins = buffers[4], *lengths = buffers[5];
  int64_t width = strings.count ? sizes[4] / strings.count : 0;
  for (int64_t i = 0; i < strings.count; ++i) {
    struct Text text, part;
    if (!takeText(&strings, i, &text))
      return TENON_KERNEL_BAD_VALUE;
    struct Splitter splitter = splitterOf(text, buffers, sizes);
    for (int64_t k = i * width; k < (i + 1) * width; ++k) {
      bool isThere = nextPart(&splitter, &part);
      begins[k] = isThere ? part.at - strings.bytes : 0;
      lengths[k] = isThere ? part.size : 0;
    }
  }
  return TENON_KERNEL_OK;
}
FACTS(tenon_split, 6, READS_STRINGS(0), TENON_READS(TENON_ELEMENTS(2, 1)), TENON_READS(TENON_NUMBER(8)),
      TENON_WRITES(TENON_ELEMENTS(4, 8)), TENON_WRITES(TENON_ELEMENTS(4, 8)));
