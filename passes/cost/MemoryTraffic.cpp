//===- MemoryTraffic.cpp - how many bytes a region reads and writes ---------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/cost/MemoryTraffic.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/MapVector.h"

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
  // The uses in the dispatch alone: a weight may have as many others as the model has layers.
  llvm::MapVector<Value, SmallVector<AffineExpr>> reads;
  visitUsedValuesDefinedAbove(dispatch.getBody(), dispatch.getBody(),
                              [&](OpOperand *use) { reads[use->get()].push_back(getReadBytes(*use)); });
  AffineExpr sum = getDimConstant(dispatch.getContext(), 0);
  for (const auto &[operand, bytes] : reads) {
    AffineExpr read = bytes.front();
    for (AffineExpr more : ArrayRef(bytes).drop_front())
      read = addDims(read, more);
    // Several uses read no byte twice from memory.
    sum = addDims(sum, bytes.size() == 1 ? read : getMin(read, getBytes(operand)));
  }
  for (Value result : dispatch.getResults())
    sum = addDims(sum, getBytes(result));
  return sum;
}
