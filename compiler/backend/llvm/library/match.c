//===- match.c - strings and an automaton ---------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "text.h"

/// Inputs are strings, the class of each byte, the transition table of states and classes, and whether each state is
/// accepting; the result is whether each string matches. The first state is 0.
KERNEL(tenon_match) {
  struct Strings strings = stringsIn(buffers, sizes, 0);
  const uint8_t *classes = buffers[2], *accepts = buffers[4];
  const int32_t *next = buffers[3];
  uint8_t *result = buffers[5];
  int64_t states = sizes[4];
  if (states <= 0)
    return TENON_KERNEL_BAD_VALUE;
  int64_t count = sizes[3] / states;
  for (int64_t i = 0; i < strings.count; ++i) {
    struct Text text;
    if (!takeText(&strings, i, &text))
      return TENON_KERNEL_BAD_VALUE;
    int32_t state = 0;
    for (int64_t k = 0; k < text.size; ++k) {
      uint8_t class = classes[text.at[k]];
      if (class >= count)
        return TENON_KERNEL_BAD_VALUE;
      state = next[state * count + class];
      if (state < 0 || state >= states)
        return TENON_KERNEL_BAD_VALUE;
    }
    result[i] = accepts[state];
  }
  return TENON_KERNEL_OK;
}
FACTS(tenon_match, 6, READS_STRINGS(0), TENON_READS(TENON_NUMBER(256)), TENON_READS(TENON_ELEMENTS(3, 4)),
      TENON_READS(TENON_ELEMENTS(4, 1)), TENON_WRITES(TENON_ELEMENTS(1, 1)));
