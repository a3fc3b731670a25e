//===- Groups.cpp - convolutions of several groups as products ------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/cost/Groups.h"
#include "passes/cost/Machine.h"
#include "passes/cost/PackedDims.h"

using namespace mlir;
using namespace tenon;

int64_t tenon::getGroupPanel(ConvolveOp op) {
  auto filter = cast<RankedTensorType>(op.getFilter().getType());
  int64_t groups = op.getGroups(), filters = filter.getDimSize(op.getFilterDim());
  if (groups == 1 || !op.getChannelsLast() || !filter.getElementType().isF32() || filters < kFewColumns * groups)
    return 0;
  assert(groups > 0 && filters % groups == 0 && "the verifier wants as many filters in each group");
  filters /= groups;
  int64_t columns = getMachine(op).panelColumns;
  return filters % columns == 0 ? columns : filters;
}
