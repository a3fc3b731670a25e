//===- LoopNest.cpp - which operations are computed by loops of their own -===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/tenon/LoopNest.h"
#include "dialects/tenon/Tenon.h"

bool tenon::hasLoopNest(mlir::Operation *op) {
  return mlir::isa<ContractOp, AttentionOp, ConvolveOp, WinogradOp, PoolOp, ReduceOp, ArgReduceOp, SoftmaxOp,
                   LayerNormOp, RmsNormOp, ScanOp, ScatterElementsOp, ScatterNDOp, TopKOp, SuppressOp, LuOp>(op);
}
