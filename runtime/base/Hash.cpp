//===- Hash.cpp - the hash of bytes ---------------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/base/Hash.h"

#define XXH_INLINE_ALL
#include "xxhash.h"

uint64_t tenon::rt::hashBytes(const void *bytes, uint64_t size) { return XXH3_64bits(bytes, size); }
