//===- Search.h - bisection and delta debugging ---------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_TOOLS_TENON_DEBUG_SEARCH_H
#define TENON_TOOLS_TENON_DEBUG_SEARCH_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include <cstddef>
#include <vector>

namespace tenon::debug {

/// Returns the smallest number in (good, bad] for which `fails` is true, by binary search, if `fails` is monotonic; it
/// must be false for `good` and true for `bad`. Otherwise returns some number that fails while its predecessor does
/// not. Calls `fails` about log2(bad - good) times.
size_t findFirstFailing(size_t good, size_t bad, llvm::function_ref<bool(size_t)> fails);

/// Returns a minimal subset of 0 ... count - 1, in order, for which `fails` is true, while it is false once any single
/// item is removed (Zeller's ddmin). `fails` must be true for all of them, and is never called with the same subset
/// twice in a row.
std::vector<size_t> minimize(size_t count, llvm::function_ref<bool(const std::vector<size_t> &)> fails);

} // namespace tenon::debug

#endif // TENON_TOOLS_TENON_DEBUG_SEARCH_H
