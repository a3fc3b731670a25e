//===- Hash.h - the hash of bytes -----------------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_BASE_HASH_H
#define TENON_RUNTIME_BASE_HASH_H

#include <cstdint>

namespace tenon::rt {

/// Returns XXH3_64bits, without inlining its code in each user. It detects accidental corruption only: bytes with a
/// given hash can be constructed.
uint64_t hashBytes(const void *bytes, uint64_t size);

} // namespace tenon::rt

#endif // TENON_RUNTIME_BASE_HASH_H
