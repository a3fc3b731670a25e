//===- CacheLines.h - what L1 caches have in common -----------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_COST_CACHELINES_H
#define TENON_PASSES_COST_CACHELINES_H

#include <cstdint>

namespace tenon {

/// Bytes of a cache line, on all targets.
inline constexpr int64_t kCacheLineBytes = 64;

/// Cache lines whose addresses differ by a multiple of this many bytes are in the same set of L1, on all processors
/// with a virtually indexed L1 and pages of 4 KiB.
inline constexpr int64_t kL1SetBytes = 4096;

} // namespace tenon

#endif // TENON_PASSES_COST_CACHELINES_H
