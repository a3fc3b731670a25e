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

/// Returns the largest number of bytes that a run with one thread needs for any sizes in the symbols' ranges;
/// UINT64_MAX if there is no upper bound.
uint64_t boundMemory(const rt::Plan &plan, uint64_t weightBytes);

/// Explains why a run may need more than `limit` bytes: by how much it exceeds the limit, or why there is no bound, and
/// which ranges would keep it. The plan is the best of `numPlans`.
std::string explainMemoryLimit(const rt::Plan &plan, uint64_t weightBytes, uint64_t limit, size_t numPlans);

} // namespace tenon

#endif // TENON_COMPILER_REPORT_MEMORYLIMIT_H
