//===- ListOrder.h - an order, one node after the other -------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_MEMORY_ORDERING_LISTORDER_H
#define TENON_PASSES_MEMORY_ORDERING_LISTORDER_H

#include "passes/memory/ordering/Schedule.h"

namespace tenon::ordering {

/// What the next node has the least of.
enum class Preference {
  delta,     ///< bytes that are live after it, less those before
  allocated, ///< bytes that are live while it runs
  depth,     ///< like `delta`, but where it adds bytes what became ready last comes first
};

/// List scheduling: greedily picks the best one of the ready nodes. O((nodes + uses) log nodes) if few nodes are ready
/// at a time.
Order makeListOrder(const Program &program, Preference preference);

} // namespace tenon::ordering

#endif // TENON_PASSES_MEMORY_ORDERING_LISTORDER_H
