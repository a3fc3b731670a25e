//===- TileAccess.cpp - what the tiles of a kernel read and write --------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A tiled kernel is a loop over the numbers of its tiles. A tile is a slice of a tensor whose offsets and sizes are
// computed from that number, and tiling computes equal ones by equal operations.
//
//===----------------------------------------------------------------------===//

#include "passes/launches/TileAccess.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/Kernel.h"

using namespace mlir;
using namespace tenon;

/// Returns the loop over the tiles of a kernel: from the last but one of its arguments to the last one.
static scf::ForOp findTileLoop(func::FuncOp kernel) {
  unsigned count = kernel.getNumArguments();
  for (auto loop : kernel.getBody().front().getOps<scf::ForOp>())
    if (loop.getLowerBound() == kernel.getArgument(count - 2) &&
        loop.getUpperBound() == kernel.getArgument(count - 1) && getConstantIntValue(loop.getStep()) == 1)
      return loop;
  return {};
}

namespace {
/// Compares values of two loops: equal operations on equal values, where the loops' indices count as equal.
class LoopComparison {
public:
  LoopComparison(scf::ForOp first, scf::ForOp second)
      : firstTile(first.getInductionVar()), secondTile(second.getInductionVar()) {}

  bool areEqual(Value a, Value b) const {
    if (a == firstTile || b == secondTile)
      return a == firstTile && b == secondTile;
    Operation *x = a.getDefiningOp(), *y = b.getDefiningOp();
    return x && y && x->getName() == y->getName() && x->getAttrDictionary() == y->getAttrDictionary() && isPure(x) &&
           x->getNumRegions() == 0 && cast<OpResult>(a).getResultNumber() == cast<OpResult>(b).getResultNumber() &&
           llvm::equal(x->getOperands(), y->getOperands(), [&](Value u, Value v) { return areEqual(u, v); });
  }

  bool areEqual(ArrayRef<OpFoldResult> a, ArrayRef<OpFoldResult> b) const {
    return llvm::equal(a, b, [&](OpFoldResult u, OpFoldResult v) {
      std::optional<int64_t> x = getConstantIntValue(u), y = getConstantIntValue(v);
      if (x || y)
        return x == y;
      return areEqual(cast<Value>(u), cast<Value>(v));
    });
  }

private:
  Value firstTile, secondTile;
};
} // namespace

/// Returns the only slice that a tile writes to the destination `written`; null if it writes others.
static tensor::InsertSliceOp findWrittenSlice(func::FuncOp kernel, scf::ForOp loop, unsigned written) {
  for (auto [init, result, yielded] : llvm::zip(loop.getRegionIterArgs(), loop.getResults(), loop.getYieldedValues())) {
    if (loop.getTiedLoopInit(init)->get() != kernel.getArgument(written))
      continue;
    auto terminator = cast<func::ReturnOp>(kernel.getBody().front().getTerminator());
    auto slice = yielded.getDefiningOp<tensor::InsertSliceOp>();
    if (slice && slice.getDest() == init && slice.hasUnitStride() &&
        llvm::is_contained(terminator.getOperands(), result))
      return slice;
  }
  return {};
}

bool tenon::readsOwnTile(func::FuncOp first, unsigned written, func::FuncOp second, unsigned read) {
  if (first.isExternal() || second.isExternal() ||
      first.getArgumentTypes()[written] != second.getArgumentTypes()[read] ||
      first->getAttr(kTilesAttr) != second->getAttr(kTilesAttr))
    return false;
  scf::ForOp writing = findTileLoop(first), reading = findTileLoop(second);
  if (!writing || !reading)
    return false;
  tensor::InsertSliceOp tile = findWrittenSlice(first, writing, written);
  LoopComparison comparison(writing, reading);
  return tile && llvm::all_of(second.getArgument(read).getUsers(), [&](Operation *user) {
           auto slice = dyn_cast<tensor::ExtractSliceOp>(user);
           return slice && slice->getBlock() == reading.getBody() && slice.hasUnitStride() &&
                  comparison.areEqual(tile.getMixedOffsets(), slice.getMixedOffsets()) &&
                  comparison.areEqual(tile.getMixedSizes(), slice.getMixedSizes());
         });
}
