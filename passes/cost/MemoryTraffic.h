//===- MemoryTraffic.h - how many bytes a region reads and writes -----------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_COST_MEMORYTRAFFIC_H
#define TENON_PASSES_COST_MEMORYTRAFFIC_H

#include "dialects/tenon/Tenon.h"

namespace tenon {

/// Returns a lower bound for the bytes that a region moves between memory and registers: each input once, but of a
/// sliced or gathered input only as much as the result has, and all results. It does not account for cache misses that
/// make the region read data again. The bound is an expression over symbols.
mlir::AffineExpr countBytes(DispatchOp dispatch);

} // namespace tenon

#endif // TENON_PASSES_COST_MEMORYTRAFFIC_H
