//===- IndexUses.cpp - the indices by which operations read and write -----===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/tenon/IndexUses.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tenon;

static AffineExpr getLast(AffineExpr size) { return addDims(size, getDimConstant(size.getContext(), -1)); }

/// Counted from the start.
static IndexLimits getPositions(AffineExpr size) { return {getDimConstant(size.getContext(), 0), getLast(size)}; }

/// Indices count from the start, or from the end if they are negative.
static IndexLimits getLimits(AffineExpr size) {
  return {mulDims(size, getDimConstant(size.getContext(), -1)), getLast(size)};
}

static AffineExpr countElements(Value value) { return getElementCount(value.getContext(), getDims(value)); }

static IndexUse getUse(Value indices, AffineExpr size, bool isInRange) {
  return {indices, false, {getLimits(size)}, countElements(indices), isInRange};
}

/// Describes tuples of coordinates for the dimensions of `input` from `batch` on.
static IndexUse getTuples(Value indices, Value input, int64_t batch, bool isInRange) {
  Dims tuples = getDims(indices), dims = getDims(input);
  assert(!tuples.empty() && getConstant(tuples.back()) && "the verifier wants a constant number of coordinates");
  int64_t count = *getConstant(tuples.pop_back_val());
  IndexUse use{indices, true, {}, getElementCount(indices.getContext(), tuples), isInRange};
  for (AffineExpr size : ArrayRef(dims).slice(batch, count))
    use.limits.push_back(getLimits(size));
  return use;
}

/// All modes but `constant` repeat elements of the input, so each padded dimension must have one.
static SmallVector<IndexUse, 2> getPadUses(PadOp op) {
  IndexUse use{{}, false, {}, countElements(op.getResult()), true};
  Dims dims = getDims(op.getInput()), result = getDims(op.getResult());
  for (auto [size, padded, low] : llvm::zip(dims, result, op.getLow().getDims()))
    if (op.getMode() != PadMode::constant && (size != padded || getConstant(low) != 0))
      use.limits.push_back(getPositions(size));
  return {use};
}

static SmallVector<IndexUse, 2> getRoiAlignUses(RoiAlignOp op) {
  Dims in = getDims(op.getInput());
  IndexUse batches{op.getBatches(), false, {getPositions(in[0])}, countElements(op.getBatches()), false};
  IndexUse samples{{}, false, {getPositions(in[2]), getPositions(in[3])}, countElements(op.getResult()), true};
  return {batches, samples};
}

SmallVector<IndexUse, 2> tenon::getIndexUses(Operation *op) {
  using Uses = SmallVector<IndexUse, 2>;
  return llvm::TypeSwitch<Operation *, Uses>(op)
      .Case<GatherOp>([](auto gather) -> Uses {
        return {getUse(gather.getIndices(), getDim(gather.getInput(), gather.getAxis()), gather.getInRange())};
      })
      .Case<GatherElementsOp, ScatterElementsOp>([](auto op) -> Uses {
        return {getUse(op.getIndices(), getDim(op.getInput(), op.getAxis()), op.getInRange())};
      })
      .Case<GatherNDOp>([](auto gather) -> Uses {
        return {getTuples(gather.getIndices(), gather.getInput(), gather.getBatchDims(), gather.getInRange())};
      })
      .Case<ScatterNDOp>([](auto scatter) -> Uses {
        return {getTuples(scatter.getIndices(), scatter.getInput(), 0, scatter.getInRange())};
      })
      .Case<CheckRangeOp>([](auto check) -> Uses {
        ArrayRef<AffineExpr> limits = check.getLimits().getDims();
        assert(limits.size() == 2 && "the verifier wants a smallest and a largest index");
        return {IndexUse{check.getInput(), false, {{limits[0], limits[1]}}, countElements(check.getInput()), false}};
      })
      .Case<PadOp>([](auto pad) { return getPadUses(pad); })
      .Case<RoiAlignOp>([](auto align) { return getRoiAlignUses(align); })
      .Default([](Operation *) { return Uses(); });
}
