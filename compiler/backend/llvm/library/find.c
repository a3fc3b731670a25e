//===- find.c - strings among sorted keys ---------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "text.h"

static int compare(struct Text left, struct Text right) {
  int order = memcmp(left.at, right.at, left.size < right.size ? left.size : right.size);
  return order ? order : (left.size > right.size) - (left.size < right.size);
}

/// Inputs are strings, then keys sorted by their bytes; the result is the number of the key that each string equals, or
/// -1.
KERNEL(tenon_find_strings) {
  struct Strings strings = stringsIn(buffers, sizes, 0), keys = stringsIn(buffers, sizes, 2);
  int64_t *found = buffers[4];
  for (int64_t i = 0; i < strings.count; ++i) {
    struct Text text, key;
    if (!takeText(&strings, i, &text))
      return TENON_KERNEL_BAD_VALUE;
    found[i] = -1;
    for (int64_t low = 0, high = keys.count; low < high;) {
      int64_t middle = low + (high - low) / 2;
      if (!takeText(&keys, middle, &key))
        return TENON_KERNEL_BAD_VALUE;
      int order = compare(text, key);
      if (order == 0) {
        found[i] = middle;
        break;
      }
      if (order < 0)
        high = middle;
      else
        low = middle + 1;
    }
  }
  return TENON_KERNEL_OK;
}
FACTS(tenon_find_strings, 5, READS_STRINGS(0), READS_STRINGS(2), TENON_WRITES(TENON_ELEMENTS(1, 8)));
