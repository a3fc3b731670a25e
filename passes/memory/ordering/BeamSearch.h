//===- BeamSearch.h - an order, from many beginnings at once --------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_MEMORY_ORDERING_BEAMSEARCH_H
#define TENON_PASSES_MEMORY_ORDERING_BEAMSEARCH_H

#include "passes/memory/ordering/Schedule.h"
#include <optional>

namespace tenon::ordering {

/// Returns an order with a peak below `limit` if beam search finds one: among the partial orders of each length, the
/// best `width` are kept, by their peak and live bytes. Of two partial orders of the same nodes, only the one with the
/// smaller peak is kept; so if at most `width` remain, this is dynamic programming, and the order is optimal.
std::optional<Order> searchOrder(const Program &program, int64_t limit, size_t width);

} // namespace tenon::ordering

#endif // TENON_PASSES_MEMORY_ORDERING_BEAMSEARCH_H
