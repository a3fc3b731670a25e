//===- FindOrder.h - an order with a small peak ---------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_MEMORY_ORDERING_FINDORDER_H
#define TENON_PASSES_MEMORY_ORDERING_FINDORDER_H

#include "passes/memory/ordering/Graph.h"

namespace tenon::ordering {

struct FoundOrder {
  Order order;
  int64_t peak;
};

/// Searches an order with a small peak in at most `steps` steps of some nanoseconds each, by list scheduling and then
/// beam search. Returns the given order unless another one is better. The result is deterministic.
FoundOrder findOrder(const Graph &graph, int64_t steps);

} // namespace tenon::ordering

#endif // TENON_PASSES_MEMORY_ORDERING_FINDORDER_H
