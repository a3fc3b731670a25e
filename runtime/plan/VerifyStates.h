//===- VerifyStates.h - what a session keeps from run to run ---------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_PLAN_VERIFYSTATES_H
#define TENON_RUNTIME_PLAN_VERIFYSTATES_H

#include "runtime/base/Status.h"
#include "runtime/plan/Plan.h"

namespace tenon::fmt {
struct Plan;
}

namespace tenon::rt {

/// Adds the states of `in` to `plan`, which has its symbols and expressions, and marks the symbols that they bind.
/// `maxDims` limits the total number of their dimensions.
Status verifyStates(const fmt::Plan &in, size_t maxDims, Plan &plan);

/// Checks that the states of two programs of one artifact match, because one session takes over the other's memory.
Status compareStates(const Plan &plan, const Plan &other);

} // namespace tenon::rt

#endif // TENON_RUNTIME_PLAN_VERIFYSTATES_H
