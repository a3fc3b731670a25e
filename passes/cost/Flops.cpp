//===- Flops.cpp - how much arithmetic an operation is ----------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/cost/Flops.h"
#include "dialects/tenon/Tenon.h"

using namespace mlir;
using namespace tenon;

AffineExpr tenon::countFlops(Operation *op) {
  if (auto nest = dyn_cast<LoopNestOpInterface>(op))
    return nest.countFlops();
  // A cast is no arithmetic.
  return op->hasTrait<Elementwise>() && !isa<CastOp>(op) ? getElementCount(op->getResult(0))
                                                         : getDimConstant(op->getContext(), 0);
}
