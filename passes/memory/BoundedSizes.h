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

/// Moves activations whose size has a bound, but is known late, from `late` to `early`. Where only branches and loops
/// decide it, the bound is what most runs need. Where data does, that may be far above any size that there will be (all
/// pairs of boxes and classes, of which a detector keeps a few), and would be paid for in every run: so these move as
/// long as they leave the arena about as large as it is. The smallest bounds go first.
void moveBounded(plan::ProgramOp program, std::vector<Activation> &inBlocks, std::vector<Activation> &inArena,
                 const MemoryPolicy &policy);

} // namespace tenon

#endif // TENON_PASSES_MEMORY_BOUNDEDSIZES_H
