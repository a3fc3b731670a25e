//===- BoundedSizes.h - late activations that the arena has room for ------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_MEMORY_BOUNDEDSIZES_H
#define TENON_PASSES_MEMORY_BOUNDEDSIZES_H

#include "passes/cost/MemoryPolicy.h"
#include "passes/memory/Lifetimes.h"

namespace tenon {

/// Moves activations of bounded, data-dependent size from `late` to `early`, so that they are placed in the arena. If
/// only branches and loops decide the size, most runs need as much as the bound. If data decides it, the bound may be
/// far above any actual size (all pairs of boxes and classes, of which a detector keeps a few), and every run would pay
/// for it; so these move only as long as the arena stays about as large as it is, smallest bounds first.
void moveBounded(plan::ProgramOp program, std::vector<Activation> &inBlocks, std::vector<Activation> &inArena,
                 const MemoryPolicy &policy);

} // namespace tenon

#endif // TENON_PASSES_MEMORY_BOUNDEDSIZES_H
