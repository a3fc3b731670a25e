//===- MemoryLimit.h - whether a plan keeps a memory limit -----------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_REPORT_MEMORYLIMIT_H
#define TENON_COMPILER_REPORT_MEMORYLIMIT_H

#include "runtime/core/Plan.h"
#include <string>

namespace tenon {

/// Empty where a run with one thread needs no more than `limit` bytes, whatever the sizes that the ranges of the
/// symbols allow. Otherwise by how much it misses, or why that cannot be told, and which ranges would keep it.
std::string explainMemoryLimit(const rt::Plan &plan, uint64_t weightBytes, uint64_t limit);

} // namespace tenon

#endif // TENON_COMPILER_REPORT_MEMORYLIMIT_H
