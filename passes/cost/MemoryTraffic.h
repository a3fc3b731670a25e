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

/// How many bytes a region moves between memory and registers at least: all that it is computed from once, but of what
/// is sliced or looked up only as much as that gives, and all of its results. How often caches make it read again is
/// not known here. An expression of the symbols.
mlir::AffineExpr countBytes(DispatchOp dispatch);

} // namespace tenon

#endif // TENON_PASSES_COST_MEMORYTRAFFIC_H
