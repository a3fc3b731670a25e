//===- Passes.td - every pass of Tenon ------------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_TD
#define TENON_PASSES_TD

include "passes/forms/Forms.td"
include "passes/fusion/Fusion.td"
include "passes/kernel/Kernel.td"
include "passes/launches/Launches.td"
include "passes/layout/Layout.td"
include "passes/lower/Lower.td"
include "passes/memory/Memory.td"
include "passes/paths/Paths.td"
include "passes/precision/Precision.td"
include "passes/shape/Shape.td"
include "passes/simplify/Simplify.td"
include "passes/state/State.td"
include "passes/verify/Verify.td"

#endif // TENON_PASSES_TD
