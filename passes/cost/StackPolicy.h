//===- StackPolicy.h - what kernels take from the stack -------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_COST_STACKPOLICY_H
#define TENON_PASSES_COST_STACKPOLICY_H

#include <cstdint>

namespace tenon {

/// The stack memory of kernels (passes/kernel/PlaceAllocations.cpp).
struct StackPolicy {
  /// Upper bound in bytes for the stack of a kernel: the results of a tile, and the sums between K-blocks
  /// (EmitterPolicy). Threads have a stack of 512 KiB.
  int64_t kernelBytes = 288 * 1024;
};

} // namespace tenon

#endif // TENON_PASSES_COST_STACKPOLICY_H
