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

/// The bytes of the weights, of which there are `weightBytes`, that the plan has buffers in. Those of other plans of
/// the artifact are not read. What lies between two buffers of a plan for their alignment counts.
uint64_t addUpWeights(const Plan &plan, uint64_t weightBytes);

/// The most bytes of the weights that a run needs in memory at one time: all that the plan has buffers in, less what
/// instructions let go of. A weight is there from its first use on to where it is let go of, and one that nothing
/// lets go of stays.
uint64_t boundWeights(const Plan &plan, uint64_t weightBytes);

} // namespace tenon::rt

#endif // TENON_RUNTIME_PLAN_RESIDENTWEIGHTS_H
