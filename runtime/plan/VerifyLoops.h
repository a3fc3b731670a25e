//===- VerifyLoops.h - the part of verifyPlan about loops -----------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_PLAN_VERIFYLOOPS_H
#define TENON_RUNTIME_PLAN_VERIFYLOOPS_H

#include "runtime/base/Status.h"
#include "runtime/plan/Plan.h"

namespace tenon::rt {

/// That loops can end: a jump backwards closes a loop, which begins with the branch that leaves it, and something in
/// the loop writes the condition of that branch, or makes it another one. What a kernel computes is not known here; but
/// where no iteration passes anything on to the next that the condition depends on, the two instructions say so
/// (Instruction::iterations), and a run that goes on for longer is refused.
Status verifyLoops(Plan &plan);

} // namespace tenon::rt

#endif // TENON_RUNTIME_PLAN_VERIFYLOOPS_H
