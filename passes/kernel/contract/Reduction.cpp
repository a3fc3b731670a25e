//===- Reduction.cpp - the summed loops of a register block ---------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/kernel/contract/Reduction.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "passes/cost/EmitterChoices.h"

using namespace mlir;
using namespace tenon;

SmallVector<Value> Reduction::emitAll(const SumBlock &block, ValueRange sums) {
  assert(sums.size() == static_cast<size_t>(block.rows * block.vectors) && "a block has a sum for each row and vector");
  return emit(nest.getSummedLoops(), block, llvm::to_vector(llvm::seq(block.rows)), sums);
}

SmallVector<Value> Reduction::emit(ArrayRef<unsigned> loops, const SumBlock &block, ArrayRef<int64_t> rows,
                                   ValueRange sums) {
  if (loops.empty())
    return kernel.emitStep(block, rows, sums);
  if (kernel.emitsLoop(loops.front()))
    return kernel.emitLoops(*this, loops, block, rows, sums);
  if (parts.border.isWindow(loops.front()) && rows.size() > 1 && parts.border.getMode() != BorderMode::interior)
    return parts.border.emitWindow(rows, sums, [&](LoopRange range, ArrayRef<int64_t> reading, ValueRange before) {
      return emitLoop(loops, range, block, reading, before);
    });
  return emitLoop(loops, parts.border.getRange(loops.front(), rows.front()), block, rows, sums);
}

/// Emits the first of `loops` over `range`, in which only `rows` have products.
SmallVector<Value> Reduction::emitLoop(ArrayRef<unsigned> loops, LoopRange range, const SumBlock &block,
                                       ArrayRef<int64_t> rows, ValueRange sums) {
  std::optional<int64_t> first = getConstantIntValue(range.begin), last = getConstantIntValue(range.end), steps;
  if (first && last)
    steps = *last - *first;
  Value begin = getValueOrCreateConstantIndexOp(b, loc, range.begin);
  if (steps == 1) {
    nest.moveTo(loops.front(), begin);
    if (parts.border.readsZeros(loops.front(), rows))
      parts.border.loadPixels(rows, block.rows);
    return emit(loops.drop_front(), block, rows, sums);
  }
  Value end = getValueOrCreateConstantIndexOp(b, loc, range.end);
  int64_t unrolled = 1;
  if (loops.size() == 1 && problem.schedule.getUnroll() != 0)
    unrolled =
        steps ? std::min<int64_t>(problem.schedule.getUnroll(), llvm::bit_floor(uint64_t(std::max<int64_t>(*steps, 1))))
              : problem.schedule.getUnroll();
  else if (loops.size() == 1)
    unrolled = chooseUnrolledSteps(
        {steps, block.rows * block.vectors, op.getNumReductionLoops() > 1, problem.hasFewRegisters()}, problem.policy);
  if (unrolled == 1 || (steps && *steps % unrolled == 0))
    return emitSteps(loops, begin, end, unrolled, block, rows, sums);
  // A window that lies outside ends before it begins.
  AffineExpr from = b.getAffineSymbolExpr(0), to = b.getAffineSymbolExpr(1);
  AffineMap whole = AffineMap::get(0, 2, {(to - from).floorDiv(unrolled), b.getAffineConstantExpr(0)}, b.getContext());
  OpFoldResult count = affine::makeComposedFoldedAffineMax(b, loc, whole, {range.begin, range.end});
  Value middle = getValueOrCreateConstantIndexOp(
      b, loc, affine::makeComposedFoldedAffineApply(b, loc, from + to * unrolled, {range.begin, count}));
  SmallVector<Value> results = emitSteps(loops, begin, middle, unrolled, block, rows, sums);
  return emitSteps(loops, middle, end, 1, block, rows, results);
}

/// Emits the first of `loops` from `begin` to `end`, `unrolled` steps at a time.
SmallVector<Value> Reduction::emitSteps(ArrayRef<unsigned> loops, Value begin, Value end, int64_t unrolled,
                                        const SumBlock &block, ArrayRef<int64_t> rows, ValueRange sums) {
  unsigned current = loops.front();
  assert(unrolled > 0 && "a loop has a step");
  const KBlocking &kBlocking = parts.kBlocking;
  auto loop = scf::ForOp::create(b, loc, begin, end, nest.constant(unrolled), sums);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  SmallVector<Value> results(loop.getRegionIterArgs());
  for (int64_t number = 0; number < unrolled; ++number) {
    // With few registers, the sums take nearly all of them. Operands of a later step, if they were loaded early, would
    // take the rest.
    if (number > 0 && problem.hasFewRegisters())
      LLVM::FenceOp::create(b, loc, LLVM::AtomicOrdering::seq_cst, "singlethread");
    Value step = number == 0 ? loop.getInductionVar()
                             : arith::AddIOp::create(b, loc, loop.getInductionVar(), nest.constant(number)).getResult();
    nest.moveTo(current, kBlocking ? arith::AddIOp::create(b, loc, kBlocking.getBegin(), step).getResult() : step);
    nest.moveToUnrolledStep({loop.getInductionVar(), number, unrolled});
    if (loops.size() == 1)
      parts.prefetch.prefetchPanels(current, nest.getUnrolledStep(), block);
    if (parts.border.readsZeros(current, rows))
      parts.border.loadPixels(rows, block.rows);
    results = emit(loops.drop_front(), block, rows, results);
  }
  scf::YieldOp::create(b, loc, results);
  return loop.getResults();
}
