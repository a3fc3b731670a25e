//===- MemoryPlan.h - the memory that a run will need ----------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_TOOLS_TENON_RUN_MEMORYPLAN_H
#define TENON_TOOLS_TENON_RUN_MEMORYPLAN_H

#include "tools/tenon-run/Model.h"

namespace tenon::run {

/// Prints the memory that a model with bound input sizes needs on its device. Runs nothing, and fails if it exceeds the
/// memory limit.
Status printMemoryPlan(const Options &options, Model &model);

} // namespace tenon::run

#endif // TENON_TOOLS_TENON_RUN_MEMORYPLAN_H
