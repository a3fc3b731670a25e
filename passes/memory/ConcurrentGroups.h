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

/// Launches that follow each other become a group where none of them writes what another uses: their tiles are shared
/// out as if they were those of one launch, and nobody waits in between. All that a group uses is live during all of it
/// (Lifetimes); so a launch stays out where that would make more bytes live at one time than the program needs anyway,
/// at any of some values of the symbols.
void formConcurrentGroups(plan::ProgramOp program);

} // namespace tenon

#endif // TENON_PASSES_MEMORY_CONCURRENTGROUPS_H
