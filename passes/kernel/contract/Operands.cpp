//===- Operands.cpp - what the products of a contraction are loaded from --===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/kernel/contract/Operands.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "passes/kernel/Epilogue.h"
#include "passes/kernel/contract/PackRows.h"

using namespace mlir;
using namespace tenon;

Operands::Operands(LoopBuilder &nest, const ContractionProblem &problem)
    : EmitterPart(nest, problem), lhs(contraction.lhs), rhs(contraction.rhs), promotesLhs(contraction.promotesLhs) {}

void Operands::setLhs(const ElementRead &packed, int64_t group) {
  assert((group == 1 || group == 4) && "elements are packed one by one, or in VNNI groups");
  lhs = packed;
  lhsGroup = group;
  promotesLhs = false;
}

void Operands::reset() {
  lhs = contraction.lhs;
  rhs = contraction.rhs;
  lhsGroup = 1;
  promotesLhs = contraction.promotesLhs;
}

SmallVector<Value> Operands::getLhsIndices(int64_t row) {
  if (pixels.empty())
    return nest.getIndices(lhs, row, 0);
  assert(problem.window && "pixels are those of a window");
  return {nest.at(problem.window->loop + 1)};
}

Value Operands::loadElement(int64_t row, int64_t blockRows) {
  if (packedRows)
    return loadPackedRow(nest, problem, packedRows, row, blockRows);
  Value element = memref::LoadOp::create(b, loc, getLhsMemory(row), getLhsIndices(row));
  return promotesLhs ? arith::ExtFOp::create(b, loc, type, element).getResult() : element;
}

Value Operands::loadNeighbours(int64_t row, VectorType type) {
  return vector::LoadOp::create(b, loc, type, getLhsMemory(row), getLhsIndices(row));
}

Value Operands::loadVector(const ElementRead &read, int64_t row, int64_t vector, const SumBlock &block,
                           Value condition) {
  // Panels are padded with zeros beyond the last column, so loads need no mask. A panel of one group ends with the
  // group's last column.
  bool isPanel = contraction.panel && !contraction.isGrouped && read.memory == rhs.memory;
  Value mask = isPanel || vector + 1 != block.vectors ? Value() : block.mask;
  if (condition) {
    Value all = vector::BroadcastOp::create(b, loc, VectorType::get({lanes}, b.getI1Type()), condition);
    mask = mask ? arith::AndIOp::create(b, loc, mask, all).getResult() : all;
  }
  Value elements =
      emitVectorRead(b, loc, read, contraction.columnLoop, nest.getIndices(read, row, vector * lanes), lanes, mask);
  auto vectorType = VectorType::get({lanes}, type);
  if (promotesLhs && read.memory == lhs.memory)
    return arith::ExtFOp::create(b, loc, vectorType, elements);
  if (!contraction.isDepthwiseInt8)
    return elements;
  bool isUnsigned = read.memory == lhs.memory;
  return isUnsigned ? arith::UIToFPOp::create(b, loc, vectorType, elements).getResult()
                    : arith::SIToFPOp::create(b, loc, vectorType, elements).getResult();
}

Value Operands::loadColumns(int64_t vector, const SumBlock &block) {
  Value columns = loadVector(rhs, 0, vector, block);
  if (!problem.summedPanel)
    return columns;
  auto read = [&](Value memory) {
    ElementRead same = rhs;
    same.memory = memory;
    return same;
  };
  const SummedPanel &panel = *problem.summedPanel;
  Value other = loadVector(read(panel.other), 0, vector, block);
  columns = panel.isDifference ? arith::SubFOp::create(b, loc, columns, other).getResult()
                               : arith::AddFOp::create(b, loc, columns, other).getResult();
  vector::StoreOp::create(b, loc, columns, panel.sum, nest.getIndices(read(panel.sum), 0, vector * lanes));
  return columns;
}
