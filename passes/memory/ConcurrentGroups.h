//===- ConcurrentGroups.h - launches that run side by side -------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_MEMORY_CONCURRENTGROUPS_H
#define TENON_PASSES_MEMORY_CONCURRENTGROUPS_H

#include "dialects/plan/Plan.h"

namespace tenon {

/// Consecutive launches become a group if none of them writes a buffer that another one uses: their tiles are
/// distributed over the threads like those of one launch, without a barrier in between. All buffers of a group are live
/// during the whole group (Lifetimes); so a launch is left out if it would raise the peak of the program, at any of
/// some samples of the symbols.
void formConcurrentGroups(plan::ProgramOp program);

} // namespace tenon

#endif // TENON_PASSES_MEMORY_CONCURRENTGROUPS_H
