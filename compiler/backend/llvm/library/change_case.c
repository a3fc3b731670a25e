//===- change_case.c - text in upper or lower case ------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/unicode/case_mapping.h"
#include "text.h"

// The bytes of all strings are contiguous. The last byte of a string cannot combine with the first byte of the next
// one, unless both strings are invalid UTF-8.

KERNEL(tenon_lower_case) {
  changeCase(buffers[0], buffers[1], sizes[0], false);
  return TENON_KERNEL_OK;
}
FACTS(tenon_lower_case, 2, TENON_READS(TENON_ELEMENTS(0, 1)), TENON_WRITES(TENON_ELEMENTS(0, 1)));

KERNEL(tenon_upper_case) {
  changeCase(buffers[0], buffers[1], sizes[0], true);
  return TENON_KERNEL_OK;
}
FACTS(tenon_upper_case, 2, TENON_READS(TENON_ELEMENTS(0, 1)), TENON_WRITES(TENON_ELEMENTS(0, 1)));
