//===- ConstantValue.cpp - what constant folding will make a weight of ----===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/simplify/ConstantValue.h"
#include "dialects/tenon/Tenon.h"

using namespace mlir;
using namespace tenon;

bool tenon::isConstantValue(Value value, int depth) {
  Operation *op = value.getDefiningOp();
  if (!op || depth == 0)
    return false;
  if (isa<WeightOp>(op))
    return true;
  return isa<TenonDialect>(op->getDialect()) && op->getNumRegions() == 0 && op->getNumOperands() > 0 &&
         llvm::all_of(op->getOperands(), [&](Value operand) { return isConstantValue(operand, depth - 1); });
}
