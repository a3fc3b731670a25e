//===- ColumnValues.cpp - values of a contraction's body in vectors -------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/kernel/contract/ColumnValues.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tenon;

Value ColumnValues::emitVector(Value value, int64_t vector) {
  Value emitted = emit(value, vector);
  if (isa<VectorType>(emitted.getType()))
    return emitted;
  return vector::BroadcastOp::create(b, loc, VectorType::get({lanes}, emitted.getType()), emitted);
}

Value ColumnValues::emit(Value value, int64_t vector) {
  auto argument = dyn_cast<BlockArgument>(value);
  Operation *definition = value.getDefiningOp();
  if (definition && !op.getRegion().isAncestor(definition->getParentRegion()))
    return value;
  if (Value emitted = known.lookup({value, vector}))
    return emitted;
  Value result;
  if (argument) {
    // Panels are padded with zeros beyond the last column, so loads need no mask.
    ElementRead read = getRead(op->getOpOperand(argument.getArgNumber()));
    result =
        emitVectorRead(b, loc, read, contraction.columnLoop, nest.getIndices(read, 0, vector * lanes), lanes, Value());
  } else if (auto index = dyn_cast<linalg::IndexOp>(definition)) {
    result = nest.at(index.getDim());
  } else {
    result = emitLookup(definition, vector);
    if (!result)
      result = emitOnColumns(definition, vector);
  }
  return known[{value, vector}] = result;
}

/// Emits a 4-bit number minus a constant zero point as a lookup in a register with the sixteen results, which takes one
/// AVX-512 instruction instead of three. Null if `definition` is anything else, or if vectors are shorter.
Value ColumnValues::emitLookup(Operation *definition, int64_t vector) {
  constexpr int64_t kNumbers = 16; // format: of four bits
  auto difference = dyn_cast<arith::SubFOp>(definition);
  APFloat zero(0.0f);
  if (lanes != kNumbers || !type.isF32() || !difference || !matchPattern(difference.getRhs(), m_ConstantFloat(&zero)))
    return {};
  auto number = difference.getLhs().getDefiningOp<arith::SIToFPOp>();
  auto masked = number ? number.getIn().getDefiningOp<arith::AndIOp>() : arith::AndIOp();
  APInt mask;
  if (!masked || !masked.getType().isInteger(32) || !matchPattern(masked.getRhs(), m_ConstantInt(&mask)) ||
      mask != kNumbers - 1)
    return {};
  Value index = emit(masked.getLhs(), vector);
  auto floats = VectorType::get({lanes}, type);
  if (!isa<VectorType>(index.getType()))
    return {};
  SmallVector<float> numbers;
  for (int64_t i = 0; i < kNumbers; ++i)
    numbers.push_back(static_cast<float>(i) - zero.convertToFloat());
  Value table = arith::ConstantOp::create(b, loc, DenseElementsAttr::get(floats, ArrayRef(numbers)));
  // It reads the lowest four bits of an index.
  return LLVM::CallIntrinsicOp::create(b, loc, floats, b.getStringAttr("llvm.x86.avx512.permvar.sf.512"),
                                       ValueRange{table, index})
      .getResult(0);
}

Value ColumnValues::emitOnColumns(Operation *definition, int64_t vector) {
  assert(definition->getNumResults() == 1 && definition->getNumRegions() == 0 &&
         "a weight is computed by elementwise operations, which can be cloned with vectors");
  SmallVector<Value> operands;
  for (Value operand : definition->getOperands())
    operands.push_back(emit(operand, vector));
  bool isVector = llvm::any_of(operands, [](Value operand) { return isa<VectorType>(operand.getType()); });
  auto widen = [&](Type scalar) { return VectorType::get({lanes}, scalar); };
  for (Value &operand : operands)
    if (isVector && !isa<VectorType>(operand.getType()))
      operand = vector::BroadcastOp::create(b, loc, widen(operand.getType()), operand);
  Operation *copy = b.clone(*definition);
  copy->setOperands(operands);
  if (isVector)
    copy->getResult(0).setType(widen(copy->getResult(0).getType()));
  return copy->getResult(0);
}
