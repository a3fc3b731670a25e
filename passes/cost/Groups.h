//===- Groups.h - convolutions of several groups as products ----*- C++ -*-===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_COST_GROUPS_H
#define TENON_PASSES_COST_GROUPS_H

#include "dialects/tenon/Tenon.h"

namespace tenon {

/// Returns the panel width for the filters of a grouped convolution: all columns of a panel belong to one group. 0 if
/// vectors would be too empty to pay off, or if there is only one group.
int64_t getGroupPanel(ConvolveOp op);

} // namespace tenon

#endif // TENON_PASSES_COST_GROUPS_H
