//===- MemoryTraffic.cpp - how many bytes a region reads and writes ---------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/cost/MemoryTraffic.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace tenon;

static std::optional<int64_t> getBytes(Value value) {
  std::optional<int64_t> count = getConstant(getElementCount(value.getContext(), getDims(value)));
  int64_t width = llvm::divideCeil(getElementTypeOrSelf(value).getIntOrFloatBitWidth(), 8);
  return count ? std::optional(*count * width) : std::nullopt;
}

/// What a use takes of a value: of the first operand of these no more than their result has.
static std::optional<int64_t> getReadBytes(OpOperand &use) {
  std::optional<int64_t> whole = getBytes(use.get());
  if (!isa<GatherOp, SliceOp>(use.getOwner()) || use.getOperandNumber() != 0)
    return whole;
  std::optional<int64_t> part = getBytes(use.getOwner()->getResult(0));
  return whole && part ? std::optional(std::min(*whole, *part)) : std::nullopt;
}

std::optional<int64_t> tenon::countBytes(DispatchOp dispatch) {
  SetVector<Value> operands;
  getUsedValuesDefinedAbove(dispatch.getBody(), operands);
  int64_t sum = 0;
  for (Value operand : operands) {
    std::optional<int64_t> whole = getBytes(operand);
    int64_t read = 0;
    for (OpOperand &use : operand.getUses()) {
      if (!dispatch->isProperAncestor(use.getOwner()))
        continue;
      std::optional<int64_t> bytes = getReadBytes(use);
      if (!bytes || !whole)
        return std::nullopt;
      read += *bytes;
    }
    sum += std::min(read, *whole);
  }
  for (Value result : dispatch.getResults()) {
    std::optional<int64_t> bytes = getBytes(result);
    if (!bytes)
      return std::nullopt;
    sum += *bytes;
  }
  return sum;
}
