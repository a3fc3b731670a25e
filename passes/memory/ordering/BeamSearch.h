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

/// An order with a peak below `limit`, if one is found: of all beginnings of one length the best so many are
/// kept, by peak and by what is live. Of two that have run the same nodes the one with the smaller peak is all
/// that is needed, so where no more than `width` are left this is dynamic programming, and the order is best.
std::optional<Order> searchOrder(const Program &program, int64_t limit, size_t width);

} // namespace tenon::ordering

#endif // TENON_PASSES_MEMORY_ORDERING_BEAMSEARCH_H
