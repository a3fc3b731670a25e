//===- DequantizeOnLoad.cpp - weights that are dequantized by a kernel ---------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For few rows each weight is dequantized in registers, right before it is
// multiplied, and the sum of a block of weights with one scale is scaled. For many
// rows a panel is dequantized to scratch once, and read as one of f32.
//
//===----------------------------------------------------------------------===//

#include "passes/kernel/contract/DequantizeOnLoad.h"
#include "dialects/kernel/KernelDialect.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "passes/cost/CacheLines.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace tenon;

/// Returns the unroll factor: the numbers of one i32, or those of a larger group that shares words.
static int64_t countUnrolled(kernel::ContractOp op) {
  constexpr int64_t kNumbersOfWord = 8; // format: 4-bit numbers of an i32
  constexpr int64_t kLargestGroup = 16; // format: of FixedNumbers
  AffineExpr loop = getAffineDimExpr(getDequantizedLoop(op), op.getContext());
  int64_t unrolled = kNumbersOfWord;
  for (AffineMap map : op.getIndexingMapsArray())
    for (AffineExpr index : map.getResults())
      index.walk([&](AffineExpr part) {
        auto group = dyn_cast<AffineBinaryOpExpr>(part);
        auto size = group && group.getKind() == AffineExprKind::FloorDiv && group.getLHS() == loop
                        ? dyn_cast<AffineConstantExpr>(group.getRHS())
                        : AffineConstantExpr();
        if (size && size.getValue() <= kLargestGroup && size.getValue() % kNumbersOfWord == 0)
          unrolled = std::max(unrolled, size.getValue());
      });
  return unrolled;
}

DequantizeOnLoad::DequantizeOnLoad(LoopBuilder &nest, const ContractionProblem &problem, bool inRegisters)
    : EmitterPart(nest, problem), inRegisters(inRegisters), unrolled(countUnrolled(problem.op)),
      columns(nest, problem) {}

ElementRead DequantizeOnLoad::beginPanels(int64_t width) {
  unsigned loop = getDequantizedLoop(op);
  auto memory = MemRefType::get({*nest.getStaticExtent(loop), width}, type);
  panel.memory = problem.scratch.emit(b, loc, ScratchUse::dequantizedPanel, memory);
  AffineExpr step = b.getAffineDimExpr(loop), column = b.getAffineDimExpr(contraction.columnLoop);
  panel.map = AffineMap::get(op.getNumLoops(), 0, {step, column % width}, b.getContext());
  return panel;
}

/// Prefetches the weights at a fixed distance from those that are read at step `number` of the unrolled steps, which
/// begin at `first` + `index` * unrolled: a part at each step, in memory order. The end of a panel is followed by the
/// next panel; addresses beyond the last panel are harmless.
void DequantizeOnLoad::prefetchNumbers(Value first, Value index, int64_t number, int64_t vectors) {
  unsigned loop = getDequantizedLoop(op);
  auto memory = cast<MemRefType>(contraction.rhs.memory.getType());
  // Each row of the panel that the steps read has a read and a step. Several operands may be views of it.
  llvm::MapVector<int64_t, std::pair<ElementRead, int64_t>> rows;
  for (OpOperand *operand : op.getDpsInputOperands()) {
    ElementRead read = getRead(*operand);
    auto type = cast<MemRefType>(read.memory.getType());
    if (type.getElementType() != memory.getElementType() || getPanel(read.map, contraction.columnLoop) == 0)
      continue;
    for (int64_t step = 0; step < unrolled; ++step)
      for (AffineExpr index : read.map.getResults())
        if (index.isFunctionOfDim(loop))
          if (auto row =
                  dyn_cast<AffineConstantExpr>(index.replace(b.getAffineDimExpr(loop), b.getAffineConstantExpr(step))))
            rows.try_emplace(row.getValue(), read, step);
  }
  if (rows.empty())
    return;
  assert(contraction.panel > 0 && "an operand is stored in panels only where the RHS is");
  int64_t elementBytes = llvm::divideCeil(memory.getElementTypeBitWidth(), 8), vectorBytes = lanes * elementBytes;
  int64_t bytes = static_cast<int64_t>(rows.size()) * contraction.panel * elementBytes;
  int64_t ahead = llvm::divideCeil(problem.policy.quantizedBytesAhead, bytes) * unrolled;
  AffineExpr from = b.getAffineDimExpr(0), offset = b.getAffineDimExpr(1);
  for (auto &[row, place] : rows) {
    auto &[read, step] = place;
    if (step != number)
      continue;
    nest.moveTo(loop, affine::makeComposedAffineApply(
                          b, loc, AffineMap::get(2, 0, from + offset * unrolled + ahead + step), {first, index}));
    for (int64_t vector = 0; vector < vectors; ++vector)
      if (vector * vectorBytes % kCacheLineBytes == 0)
        memref::PrefetchOp::create(b, loc, read.memory, nest.getIndices(read, 0, vector * lanes), /*isWrite=*/false,
                                   /*localityHint=*/3,
                                   /*isDataCache=*/true);
  }
}

/// Runs `body` for `vectors` vectors at each of `steps` steps of the sum from `first` on; it updates the loop-carried
/// values. Among unrolled steps, all vectors of a step come before the next step.
void DequantizeOnLoad::forSteps(Value first, int64_t steps, int64_t vectors, MutableArrayRef<Value> carried,
                                llvm::function_ref<void(int64_t vector, int64_t step, MutableArrayRef<Value>)> body) {
  AffineExpr from = b.getAffineDimExpr(0), offset = b.getAffineDimExpr(1);
  assert(steps > 0 && vectors > 0 && "a block of weights with one scale has a step");
  auto runAll = [&](Value start, Value index, int64_t count, MutableArrayRef<Value> values) {
    for (int64_t number = 0; number < count; ++number) {
      // If operands of a later step were loaded early, they would occupy registers. What steps share is in L1 by then.
      if (number > 0 && (inRegisters || problem.hasFewRegisters()))
        LLVM::FenceOp::create(b, loc, LLVM::AtomicOrdering::seq_cst, "singlethread");
      if (inRegisters && count == unrolled)
        prefetchNumbers(start, index, number, vectors);
      nest.moveTo(getDequantizedLoop(op),
                  affine::makeComposedAffineApply(b, loc, AffineMap::get(2, 0, from + offset * unrolled + number),
                                                  {start, index}));
      columns.clear();
      for (int64_t vector = 0; vector < vectors; ++vector)
        body(vector, number, values);
    }
  };
  int64_t whole = steps / unrolled;
  if (whole > 0) {
    auto loop = scf::ForOp::create(b, loc, nest.constant(0), nest.constant(whole), nest.constant(1), carried);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    SmallVector<Value> values(loop.getRegionIterArgs());
    runAll(first, loop.getInductionVar(), unrolled, values);
    if (carried.empty())
      b.setInsertionPoint(loop.getBody()->getTerminator());
    else
      scf::YieldOp::create(b, loc, values);
    llvm::copy(loop.getResults(), carried.begin());
  }
  if (steps % unrolled)
    runAll(first, nest.constant(whole), steps % unrolled, carried);
}

/// Runs `body` for each block of steps that share one scale; the last block may be shorter.
void DequantizeOnLoad::forBlocks(MutableArrayRef<Value> carried,
                                 llvm::function_ref<void(Value first, int64_t steps, MutableArrayRef<Value>)> body) {
  int64_t depth = *nest.getStaticExtent(getDequantizedLoop(op));
  assert(contraction.dequantization->block > 0 && "a scale is that of some weights");
  int64_t block = std::min(contraction.dequantization->block, depth), whole = depth / block;
  if (whole > 1) {
    auto loop = scf::ForOp::create(b, loc, nest.constant(0), nest.constant(whole), nest.constant(1), carried);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    SmallVector<Value> values(loop.getRegionIterArgs());
    AffineMap begin = AffineMap::get(1, 0, b.getAffineDimExpr(0) * block);
    body(affine::AffineApplyOp::create(b, loc, begin, loop.getInductionVar()), block, values);
    if (!carried.empty())
      scf::YieldOp::create(b, loc, values);
    llvm::copy(loop.getResults(), carried.begin());
  } else if (whole == 1) {
    body(nest.constant(0), block, carried);
  }
  if (depth % block != 0)
    body(nest.constant(whole * block), depth % block, carried);
}

SmallVector<Value> DequantizeOnLoad::emitProducts(int64_t vectors, ArrayRef<int64_t> rows, ValueRange sums,
                                                  llvm::function_ref<Value(int64_t row)> loadLhs) {
  assert(!sums.empty() && sums.size() % vectors == 0 && "a row of the block has a sum for each vector");
  SmallVector<Value> results(sums);
  bool scalesWeights = contraction.dequantization->scale && static_cast<int64_t>(rows.size()) > kMaxScaledSums;
  Value scale = scalesWeights ? Value() : contraction.dequantization->scale;
  size_t chains = llvm::divideCeil<size_t>(kIndependentSums, sums.size());
  forBlocks(results, [&](Value first, int64_t steps, MutableArrayRef<Value> values) {
    SmallVector<Value> scales;
    if (scalesWeights) {
      nest.moveTo(getDequantizedLoop(op), first);
      columns.clear();
      for (int64_t v = 0; v < vectors; ++v)
        scales.push_back(emitScale(v));
    }
    size_t count = values.size(), own = scale ? 0 : count;
    SmallVector<Value> parts(values.take_front(own));
    parts.append(chains * count - own,
                 arith::ConstantOp::create(b, loc, b.getZeroAttr(VectorType::get({lanes}, type))));
    forSteps(first, steps, vectors, parts, [&](int64_t vector, int64_t step, MutableArrayRef<Value> all) {
      Value column = columns.emit(contraction.dequantization->number, vector);
      if (scalesWeights)
        column = arith::MulFOp::create(b, loc, column, scales[vector]);
      for (int64_t row : rows) {
        Value element = vector::BroadcastOp::create(b, loc, VectorType::get({lanes}, type), loadLhs(row));
        Value &sum = all[step % chains * count + row * vectors + vector];
        sum = vector::FMAOp::create(b, loc, element, column, sum);
      }
    });
    for (size_t i = count; i < parts.size(); ++i)
      parts[i % count] = arith::AddFOp::create(b, loc, parts[i % count], parts[i]);
    if (!scale)
      return (void)llvm::copy(ArrayRef(parts).take_front(count), values.begin());
    nest.moveTo(getDequantizedLoop(op), first);
    columns.clear();
    for (auto [i, value] : llvm::enumerate(values))
      value = vector::FMAOp::create(b, loc, parts[i], emitScale(i % vectors), value);
  });
  return results;
}

/// Emits the scale of the current block for a vector of columns.
Value DequantizeOnLoad::emitScale(int64_t vector) {
  return columns.emitVector(contraction.dequantization->scale, vector);
}

void DequantizeOnLoad::packPanel(int64_t vectors) {
  assert(panel.memory && "beginPanels reserves the scratch of a panel");
  Value scale = contraction.dequantization->scale;
  forBlocks({}, [&](Value first, int64_t steps, MutableArrayRef<Value>) {
    nest.moveTo(getDequantizedLoop(op), first);
    columns.clear();
    SmallVector<Value> scales;
    for (int64_t v = 0; v < vectors && scale; ++v)
      scales.push_back(emitScale(v));
    forSteps(first, steps, vectors, {}, [&](int64_t v, int64_t, MutableArrayRef<Value>) {
      Value factor = columns.emit(contraction.dequantization->number, v);
      if (scale)
        factor = arith::MulFOp::create(b, loc, factor, scales[v]);
      vector::StoreOp::create(b, loc, factor, panel.memory, nest.getIndices(panel, 0, v * lanes));
    });
  });
}
