//===- ColumnLoops.cpp - loops over columns in vectors --------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/kernel/contract/ColumnLoops.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tenon;

ColumnLoops::ColumnLoops(LoopBuilder &nest, const ContractionProblem &problem)
    : EmitterPart(nest, problem), isPacked(problem.schedule.getPacking() == kernel::Packing::tile &&
                                           tenon::packsColumns(problem.op, problem.contraction, problem.packing)) {}

Value ColumnLoops::getExtent() {
  if (isPacked)
    return nest.constant(problem.packing.columns);
  return contraction.isGrouped ? nest.constant(contraction.panel) : nest.getExtent(contraction.columnLoop);
}

/// LLVM 22 miscompiles a masked store of one lane whose elements are truncated: it stores elements of the wider type.
/// Such a column is stored separately.
bool ColumnLoops::isLastColumnAlone() {
  std::optional<int64_t> columns = getConstantIntValue(getExtent());
  return columns && *columns % lanes == 1;
}

void ColumnLoops::forGroups(llvm::function_ref<void(Value firstColumn)> body) {
  int64_t step = isPacked ? problem.packing.columns : contraction.panel;
  assert(step > 0 && "groups have a panel each, and what is packed has columns");
  nest.forLoop(nest.constant(0), nest.getExtent(contraction.columnLoop), step, [&](Value column) {
    firstColumn = column;
    body(column);
  });
}

void ColumnLoops::forVectors(RegisterBlock block, llvm::function_ref<void(int64_t vectors, Value mask)> emitBody) {
  Value extent = getExtent();
  int64_t width = block.vectors * lanes;
  assert(width > 0 && "a register block has a vector");
  auto makeMask = [&](Value column) -> Value {
    Value rest = arith::SubIOp::create(b, loc, extent, column);
    return vector::CreateMaskOp::create(b, loc, VectorType::get({lanes}, b.getI1Type()), rest);
  };
  auto body = [&](Value column, int64_t vectors, Value mask) {
    nest.moveTo(contraction.columnLoop,
                firstColumn ? arith::AddIOp::create(b, loc, firstColumn, column).getResult() : column);
    emitBody(vectors, mask);
  };
  if (std::optional<int64_t> known = getConstantIntValue(extent)) {
    int64_t whole = *known / width * width, rest = llvm::divideCeil(*known - whole, lanes);
    nest.forLoop(nest.constant(0), nest.constant(whole), width,
                 [&](Value column) { body(column, block.vectors, Value()); });
    if (rest == 0)
      return;
    Value column = nest.constant(whole), last = nest.constant(whole + (rest - 1) * lanes);
    return body(column, rest, *known % lanes ? makeMask(last) : Value());
  }
  Value begin = nest.constant(0);
  // A single vector of few rows has too few independent sums to hide the latency of a multiply-add, and each narrower
  // block would halve their number. With more rows there are enough sums, and narrower blocks only add code.
  bool hidesLatency = block.rows >= kIndependentSums;
  for (int64_t vectors = block.vectors; vectors > 1; vectors = hidesLatency ? 1 : vectors / 2)
    begin = nest.forWholeBlocks(begin, extent, vectors * lanes, [&](Value column) { body(column, vectors, Value()); });
  nest.forLoop(begin, extent, lanes, [&](Value column) { body(column, 1, makeMask(column)); });
}
