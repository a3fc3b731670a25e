//===- KBlocking.cpp - contractions that are summed in K-blocks ---------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/kernel/contract/KBlocking.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "passes/cost/EmitterChoices.h"

using namespace mlir;
using namespace tenon;

/// Returns the K-blocks of the schedule, otherwise those of the policy; none if one block covers the whole sum. Groups
/// of integers are not divided, and have K-blocks only where the schedule says so.
static std::optional<KBlocks> getKBlocks(const ContractionProblem &problem, int64_t steps, int64_t elementBytes) {
  int64_t size = problem.schedule.getKBlock();
  const std::optional<IntegerGroups> &groups = problem.contraction.integerGroups;
  if (size == 0)
    return groups ? std::nullopt : chooseKBlocks(steps, elementBytes, problem.policy);
  if (groups)
    size = llvm::alignTo(size, groups->block);
  if (size >= steps)
    return std::nullopt;
  return KBlocks{int64_t(llvm::divideCeil(steps, size)), size};
}

SmallVector<int64_t> tenon::getTermSumShape(kernel::ContractOp op, const Contraction &contraction) {
  constexpr int64_t kBlock = 32; // format: rows and columns of two AMX tiles, which are stored as a whole
  kernel::ScheduleAttr schedule = kernel::getSchedule(op);
  if (!contraction.terms || schedule.getKBlock() == 0)
    return {};
  ArrayRef<int64_t> tile = schedule.getTile();
  return {int64_t(llvm::alignTo(tile[*contraction.rowLoop], kBlock)),
          int64_t(llvm::alignTo(tile[contraction.columnLoop], kBlock))};
}

int64_t tenon::getTermSumBytes(kernel::ContractOp op, const Contraction &contraction) {
  SmallVector<int64_t> shape = getTermSumShape(op, contraction);
  return shape.empty() ? 0 : computeProduct(shape) * int64_t(sizeof(float));
}

void KBlocking::chooseForVectors(int64_t blockRows, bool hasStaticRows) {
  state.reset();
  if (!contraction.panel || contraction.isGrouped || !contraction.rowLoop || !problem.isFromZero ||
      op.getNumReductionLoops() != 1)
    return;
  if (llvm::any_of(nest.getOuterLoops(), [&](unsigned loop) { return nest.getStaticExtent(loop) != 1; }))
    return;
  SmallVector<unsigned> summed;
  op.getReductionDims(summed);
  std::optional<int64_t> steps = nest.getStaticExtent(summed.front());
  int64_t elementBytes = type.getIntOrFloatBitWidth() / 8;
  std::optional<KBlocks> split = steps ? getKBlocks(problem, *steps, elementBytes) : std::nullopt;
  if (!split)
    return;
  std::optional<int64_t> rows = getUpperBound(nest.getExtent(*contraction.rowLoop)),
                         columns = getUpperBound(nest.getExtent(contraction.columnLoop));
  // A single block of rows reads each page once.
  if (!rows || !columns || *rows <= blockRows)
    return;
  State blocks{summed.front(), split->count, split->size, Value()};
  // Dynamic rows are computed in whole blocks; the last block begins earlier so that it ends with the last row.
  int64_t rowStep = hasStaticRows ? 1 : blockRows;
  SmallVector<int64_t> shape{int64_t(llvm::alignTo(std::max<int64_t>(*rows, 1), rowStep)),
                             int64_t(llvm::alignTo(std::max<int64_t>(*columns, 1), lanes))};
  if (shape[0] * shape[1] * elementBytes > problem.policy.maxSumBytes)
    return;
  // Whole tiles, which are the first, need most.
  if (!versionedSums) {
    OpBuilder::InsertionGuard guard(b);
    if (versions)
      b.setInsertionPoint(versions);
    versionedSums = memref::AllocOp::create(b, loc, MemRefType::get(shape, type));
  }
  blocks.sums = versionedSums;
  state = blocks;
}

void KBlocking::chooseForAmx() {
  state.reset();
  int64_t size = problem.schedule.getKBlock();
  if (!contraction.terms || size == 0)
    return;
  int64_t steps = *nest.getStaticExtent(contraction.terms->loop);
  State blocks{contraction.terms->loop, int64_t(llvm::divideCeil(steps, size)), size, Value()};
  blocks.sums =
      problem.scratch.emit(b, loc, ScratchUse::termSums, MemRefType::get(getTermSumShape(op, contraction), type));
  state = blocks;
}

void KBlocking::forBlocks(llvm::function_ref<void()> body) {
  assert(state && state->count > 1 && "a sum that is done at once has no K-blocks");
  Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(type));
  linalg::FillOp::create(b, loc, zero, state->sums);
  Value lastBegin = nest.constant((state->count - 1) * state->size);
  state->length = state->size;
  nest.forLoop(nest.constant(0), lastBegin, state->size, [&](Value begin) {
    state->begin = begin;
    body();
  });
  state->begin = lastBegin;
  state->length = *nest.getStaticExtent(state->loop) - *getConstantIntValue(lastBegin);
  state->isLast = true;
  body();
}

SmallVector<Value> KBlocking::getPlaceOfSum(Value firstRow, int64_t row, int64_t vector) {
  return {arith::AddIOp::create(b, loc, firstRow, nest.constant(row)),
          arith::AddIOp::create(b, loc, nest.at(contraction.columnLoop), nest.constant(vector * lanes))};
}

Value KBlocking::loadSum(Value firstRow, int64_t row, int64_t vector) {
  return vector::LoadOp::create(b, loc, VectorType::get({lanes}, type), state->sums,
                                getPlaceOfSum(firstRow, row, vector));
}

void KBlocking::storeSums(Value firstRow, ValueRange sums, int64_t vectors) {
  assert(vectors > 0 && sums.size() % vectors == 0 && "a row has a sum for each vector");
  for (auto [i, sum] : llvm::enumerate(sums))
    vector::StoreOp::create(b, loc, sum, state->sums, getPlaceOfSum(firstRow, i / vectors, i % vectors));
}
