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

/// Columns of the panels that the filters of a convolution of several groups are packed in, so that all of a panel are
/// of one group; 0 where vectors would be too empty for that to pay, or there is one group alone.
int64_t getGroupPanel(ConvolveOp op);

} // namespace tenon

#endif // TENON_PASSES_COST_GROUPS_H
