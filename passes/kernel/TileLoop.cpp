//===- TileLoop.cpp - the loop over the tiles of a call --------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/kernel/TileLoop.h"
#include "dialects/kernel/KernelDialect.h"
#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace tenon;

std::optional<SmallVector<Value>> tenon::findTileOffsets(Value memory) {
  SmallVector<Value> offsets;
  while (auto view = memory.getDefiningOp<memref::SubViewOp>()) {
    llvm::append_range(offsets, view.getOffsets());
    memory = view.getSource();
  }
  auto argument = dyn_cast<BlockArgument>(memory);
  return argument && isa<FunctionOpInterface>(argument.getOwner()->getParentOp()) ? std::optional(offsets)
                                                                                  : std::nullopt;
}

/// Emits the value that `value` has in the iteration of `loop` at `place`; null if it cannot be recomputed.
static Value cloneForIteration(OpBuilder &b, scf::ForOp loop, Value place, Value value) {
  SetVector<Operation *> slice;
  BackwardSliceOptions options;
  options.filter = [&](Operation *op) { return loop->isProperAncestor(op); };
  options.inclusive = true;
  if (failed(getBackwardSlice(value, &slice, options)) || !llvm::all_of(slice, isPure))
    return {};
  IRMapping mapping;
  mapping.map(loop.getInductionVar(), place);
  for (Operation *op : slice)
    b.clone(*op, mapping);
  return mapping.lookupOrDefault(value);
}

Value tenon::emitIsNew(OpBuilder &b, Operation *op, ValueRange places) {
  auto loop = dyn_cast<scf::ForOp>(op->getParentOp());
  if (!loop)
    return {};
  Location loc = op->getLoc();
  using arith::CmpIPredicate;
  Value tile = loop.getInductionVar(), zero = arith::ConstantIndexOp::create(b, loc, 0);
  Value isFirst = arith::CmpIOp::create(b, loc, CmpIPredicate::eq, tile, loop.getLowerBound());
  Value lastEnd = arith::SelectOp::create(b, loc, isFirst, kernel::LastEndOp::create(b, loc, b.getIndexType()), tile);
  Value isNew = arith::CmpIOp::create(b, loc, CmpIPredicate::slt, lastEnd, zero);
  Value before = arith::SubIOp::create(b, loc, lastEnd, arith::ConstantIndexOp::create(b, loc, 1));
  for (Value place : places) {
    Value last = cloneForIteration(b, loop, before, place);
    if (!last)
      return {};
    Value isOther = arith::CmpIOp::create(b, loc, CmpIPredicate::ne, place, last);
    isNew = b.createOrFold<arith::OrIOp>(loc, isNew, isOther);
  }
  return isNew;
}
