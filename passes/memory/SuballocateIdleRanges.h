//===- SuballocateIdleRanges.h - activations in idle parts of others ------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_MEMORY_SUBALLOCATEIDLERANGES_H
#define TENON_PASSES_MEMORY_SUBALLOCATEIDLERANGES_H

#include "dialects/plan/Plan.h"

namespace tenon {

/// What a concat joins lies where its result does, from the first part that is computed to the last that is read.
/// In between, parts of it hold nothing. Activations that fit into such a part, in space and in time, become
/// aliases of it, with a name: placement knows of whole buffers alone.
void suballocateIdleRanges(plan::ProgramOp program);

} // namespace tenon

#endif // TENON_PASSES_MEMORY_SUBALLOCATEIDLERANGES_H
