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

static AffineExpr getBytes(Value value) {
  int64_t width = llvm::divideCeil(getElementTypeOrSelf(value).getIntOrFloatBitWidth(), 8);
  return mulSaturating(getElementCount(value), getDimConstant(value.getContext(), width));
}

/// Returns the smaller one if both are constants, otherwise `b`.
static AffineExpr getMin(AffineExpr a, AffineExpr b) {
  std::optional<int64_t> left = getConstant(a), right = getConstant(b);
  return left && right && *left < *right ? a : b;
}

/// Returns the bytes that a use reads of a value: a gather or slice reads no more of its first operand than its result
/// has.
static AffineExpr getReadBytes(OpOperand &use) {
  AffineExpr whole = getBytes(use.get());
  if (!isa<GatherOp, SliceOp>(use.getOwner()) || use.getOperandNumber() != 0)
    return whole;
  return getMin(whole, getBytes(use.getOwner()->getResult(0)));
}

AffineExpr tenon::countBytes(DispatchOp dispatch) {
  SetVector<Value> operands;
  getUsedValuesDefinedAbove(dispatch.getBody(), operands);
  AffineExpr sum = getDimConstant(dispatch.getContext(), 0);
  for (Value operand : operands) {
    SmallVector<AffineExpr> reads;
    for (OpOperand &use : operand.getUses())
      if (dispatch->isProperAncestor(use.getOwner()))
        reads.push_back(getReadBytes(use));
    assert(!reads.empty() && "what a region uses of values above has a use in it");
    AffineExpr read = reads.front();
    for (AffineExpr more : ArrayRef(reads).drop_front())
      read = addDims(read, more);
    // Several uses read no byte twice from memory.
    sum = addDims(sum, reads.size() == 1 ? read : getMin(read, getBytes(operand)));
  }
  for (Value result : dispatch.getResults())
    sum = addDims(sum, getBytes(result));
  return sum;
}
