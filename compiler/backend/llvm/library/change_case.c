//===- change_case.c - text in upper or lower case ------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/unicode/case_mapping.h"
#include "text.h"

// Bytes of any number of strings, end to end: no string's last byte joins the next one's first, unless both
// are no text.

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
