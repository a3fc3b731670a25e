//===- lzw.h - what LZW compressed, as TIFF has it ------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_LIBRARY_LZW_H
#define TENON_LIBRARY_LZW_H

#include "reader.h"

/// Writes the first `size` bytes that a stream holds. False where it is damaged or holds fewer.
bool unpackLzw(struct Reader stream, uint8_t *to, int64_t size);

#endif // TENON_LIBRARY_LZW_H
