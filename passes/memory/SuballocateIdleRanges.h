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

/// The operands of a concat are computed directly in its result, which is live from the first part that is computed to
/// the last one that is read. In between, parts of it are idle. Activations that fit into such a part, in space and
/// time, become named aliases of it, because placement only handles whole buffers.
void suballocateIdleRanges(plan::ProgramOp program);

} // namespace tenon

#endif // TENON_PASSES_MEMORY_SUBALLOCATEIDLERANGES_H
