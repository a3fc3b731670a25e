//===- MemoryLimit.h - whether a plan keeps a memory limit -----------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_REPORT_MEMORYLIMIT_H
#define TENON_COMPILER_REPORT_MEMORYLIMIT_H

#include "runtime/plan/Plan.h"
#include <string>

namespace tenon {

/// The most bytes that a run with one thread needs, whatever the sizes that the ranges of the symbols allow;
/// UINT64_MAX where not all sizes have an upper bound.
uint64_t boundMemory(const rt::Plan &plan, uint64_t weightBytes);

/// Why a run may need more than `limit` bytes: by how much it misses, or why that cannot be told, and which ranges
/// would keep it. The plan is the best of `numPlans`.
std::string explainMemoryLimit(const rt::Plan &plan, uint64_t weightBytes, uint64_t limit, size_t numPlans);

} // namespace tenon

#endif // TENON_COMPILER_REPORT_MEMORYLIMIT_H
