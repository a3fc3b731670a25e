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

/// Verifies that loops can terminate: a backward jump closes a loop, which begins with its exit branch, and something
/// in the loop writes or rebinds the condition of that branch. What kernels compute is unknown here; but if an
/// iteration passes nothing to the next one that the condition depends on, the two instructions record this
/// (Instruction::iterations), and a run that exceeds the bound fails.
Status verifyLoops(Plan &plan);

} // namespace tenon::rt

#endif // TENON_RUNTIME_PLAN_VERIFYLOOPS_H
