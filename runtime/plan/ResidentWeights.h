//===- ResidentWeights.h - how much of the weights a run has in memory ----===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_PLAN_RESIDENTWEIGHTS_H
#define TENON_RUNTIME_PLAN_RESIDENTWEIGHTS_H

#include "runtime/plan/Plan.h"

namespace tenon::rt {

/// Returns how many of the `weightBytes` bytes of weights the plan has buffers in, including padding between them.
/// Weights of other plans of the artifact are not read.
uint64_t addUpWeights(const Plan &plan, uint64_t weightBytes);

/// Returns an upper bound for the weights that a run needs in memory at a time: all that the plan has buffers in, minus
/// what instructions release. A weight is resident from its first use to its release, and one that is never released
/// stays.
uint64_t boundWeights(const Plan &plan, uint64_t weightBytes);

} // namespace tenon::rt

#endif // TENON_RUNTIME_PLAN_RESIDENTWEIGHTS_H
