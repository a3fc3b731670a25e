//===- Verify.h - checks a plan once, so that it can be trusted ----------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// After success every index of the plan is in range, expressions name earlier ones
// only, every instruction has the operands that Instructions.def asks for, jumps
// stay inside and nothing writes weights or inputs.
//
// What is not known before sizes are bound is checked then: that buffers lie within
// their storage, that sizes are not negative. What kernels do is not checked at all:
// an artifact is code.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_PLAN_VERIFY_H
#define TENON_RUNTIME_PLAN_VERIFY_H

#include "runtime/base/Status.h"
#include "runtime/plan/Plan.h"

#include <cstddef>

namespace tenon::rt {

/// Reads the FlatBuffers plan of `size` bytes. Time and memory are linear in `size`, whatever it contains.
Status verifyPlan(const void *bytes, size_t size, Plan *plan);

} // namespace tenon::rt

#endif // TENON_RUNTIME_PLAN_VERIFY_H
