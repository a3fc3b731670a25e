//===- text.h - what kernels on text share --------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_BACKEND_LLVM_LIBRARY_TEXT_H
#define TENON_COMPILER_BACKEND_LLVM_LIBRARY_TEXT_H

#include "kernel.h"

int memcmp(const void *left, const void *right, size_t count);

/// A list of strings: their contiguous bytes, and the end of each. Both come from the caller, so ends are checked.
struct Strings {
  const uint8_t *bytes;
  const int64_t *ends;
  int64_t total, count;
};

struct Text {
  const uint8_t *at;
  int64_t size;
};

/// The strings in buffers `first` and `first` + 1.
static inline struct Strings stringsIn(void *const *buffers, const int64_t *sizes, int first) {
  return (struct Strings){buffers[first], buffers[first + 1], sizes[first], sizes[first + 1]};
}

/// Reads string `i`; returns false if it is out of bounds.
static inline bool takeText(const struct Strings *strings, int64_t i, struct Text *text) {
  int64_t begin = i ? strings->ends[i - 1] : 0, end = strings->ends[i];
  if (begin < 0 || end < begin || end > strings->total)
    return false;
  *text = (struct Text){strings->bytes + begin, end - begin};
  return true;
}

/// Declares that a kernel reads the two buffers of a list of strings, the first of which is number `first`.
#define READS_STRINGS(first) TENON_READS(TENON_ELEMENTS(first, 1)), TENON_READS(TENON_ELEMENTS(first + 1, 8))

#endif // TENON_COMPILER_BACKEND_LLVM_LIBRARY_TEXT_H
