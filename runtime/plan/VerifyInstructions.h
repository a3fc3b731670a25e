//===- VerifyInstructions.h - the part of verifyPlan about instructions ---===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_PLAN_VERIFYINSTRUCTIONS_H
#define TENON_RUNTIME_PLAN_VERIFYINSTRUCTIONS_H

#include "runtime/base/Status.h"
#include "runtime/plan/Plan.h"

#include <cstddef>

namespace tenon::fmt {
struct Plan;
}

namespace tenon::rt {

/// Fills the instructions of `plan`, whose other tables are verified. At most `maxIndices` operands in total are
/// allowed.
Status verifyInstructions(const fmt::Plan &in, size_t maxIndices, Plan &plan);

} // namespace tenon::rt

#endif // TENON_RUNTIME_PLAN_VERIFYINSTRUCTIONS_H
