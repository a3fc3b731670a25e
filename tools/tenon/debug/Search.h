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

/// The least number in (good, bad] for which `fails` is true, where it is false of all smaller ones; it is known to be
/// false of `good` and true of `bad`. Where it changes more often than once, a number that fails while the one before
/// it does not. Asks about log2(bad - good) times.
size_t findFirstFailing(size_t good, size_t bad, llvm::function_ref<bool(size_t)> fails);

/// Items of which none can be left out: a subset of 0 ... count - 1, in order, for which `fails` is true, while it is
/// false once any single item is removed (Zeller's ddmin). It is known to be true of all of them, and is never asked
/// about the same subset twice in a row.
std::vector<size_t> minimize(size_t count, llvm::function_ref<bool(const std::vector<size_t> &)> fails);

} // namespace tenon::debug

#endif // TENON_TOOLS_TENON_DEBUG_SEARCH_H
