//===- Work.h - how much arithmetic and memory traffic a launch is ---------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_PLAN_WORK_H
#define TENON_RUNTIME_PLAN_WORK_H

#include "runtime/plan/Plan.h"

#include <optional>

namespace tenon::rt {

/// Of one launch.
struct Work {
  uint64_t flops, bytes;
};

/// Returns the work of a launch; none for other instructions, if the plan does not specify it, or if it depends on an
/// unknown size. `exprs` and `exprKnown` are results of evaluate(); both null means that no size is known.
std::optional<Work> getWork(const Plan &plan, const Instruction &instruction, const int64_t *exprs,
                            const uint8_t *exprKnown);

} // namespace tenon::rt

#endif // TENON_RUNTIME_PLAN_WORK_H
