//===- VectorizeTransposes.cpp - transpose blocks in registers ------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "passes/Passes.h"

namespace tenon {
#define GEN_PASS_DEF_VECTORIZETRANSPOSES
#include "passes/Passes.h.inc"
} // namespace tenon

using namespace mlir;
using namespace tenon;

//===----------------------------------------------------------------------===//
// What is a transpose
//===----------------------------------------------------------------------===//

namespace {
/// The loops along which input and output of a copy are contiguous.
struct Transpose {
  unsigned inputLoop, outputLoop;
};
} // namespace

static bool isContiguous(Value memref) {
  SmallVector<int64_t> strides;
  int64_t offset;
  return succeeded(cast<MemRefType>(memref.getType()).getStridesAndOffset(strides, offset)) && !strides.empty() &&
         strides.back() == 1;
}

static std::optional<Transpose> matchTranspose(linalg::GenericOp op, int64_t lanes) {
  if (op.getNumDpsInputs() != 1 || op.getNumReductionLoops() != 0 || op.getNumLoops() < 2)
    return std::nullopt;
  auto yield = cast<linalg::YieldOp>(op.getBody()->getTerminator());
  if (yield.getOperand(0) != op.getBody()->getArgument(0) || op.getBody()->getOperations().size() != 1)
    return std::nullopt;
  Value input = op.getDpsInputs()[0], output = op.getDpsInits()[0];
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  if (!isContiguous(input) || !isContiguous(output) ||
      !llvm::all_of(maps, [&](AffineMap map) { return map.isProjectedPermutation() && map.getNumResults() > 0; }))
    return std::nullopt;
  Transpose transpose{maps[0].getDimPosition(maps[0].getNumResults() - 1),
                      maps[1].getDimPosition(maps[1].getNumResults() - 1)};
  if (transpose.inputLoop == transpose.outputLoop || !maps[0].isFunctionOfDim(transpose.outputLoop))
    return std::nullopt;
  // A block of which the most part is empty costs more than its elements.
  for (unsigned loop : {transpose.inputLoop, transpose.outputLoop})
    if (int64_t range = op.getStaticLoopRanges()[loop]; !ShapedType::isDynamic(range) && 2 * range < lanes)
      return std::nullopt;
  return transpose;
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

namespace {
class TransposeEmitter {
public:
  TransposeEmitter(linalg::GenericOp op, const Transpose &transpose, int64_t lanes)
      : b(op), loc(op.getLoc()), op(op), transpose(transpose), lanes(lanes), position(op.getNumLoops()),
        vectorType(VectorType::get({lanes}, getElementTypeOrSelf(op.getDpsInits()[0]))) {}
  void emit() { forLoops(0); }

private:
  void forLoops(unsigned loop);
  void emitBlock(Value rows, Value columns);
  SmallVector<Value> transposeRows(SmallVector<Value> rows);
  SmallVector<Value> getIndices(OpOperand &operand, unsigned loop, Value index);
  Value getExtent(unsigned loop);
  Value constant(int64_t value) { return arith::ConstantIndexOp::create(b, loc, value); }
  Value makeMask(Value count) {
    return vector::CreateMaskOp::create(b, loc, VectorType::get({lanes}, b.getI1Type()), count);
  }
  bool isWhole(Value count) { return getConstantIntValue(count) == lanes; }

  OpBuilder b;
  Location loc;
  linalg::GenericOp op;
  Transpose transpose;
  int64_t lanes;
  SmallVector<Value> position;
  VectorType vectorType;
};
} // namespace

Value TransposeEmitter::getExtent(unsigned loop) {
  OpOperand &output = op.getDpsInitsMutable()[0];
  AffineMap map = op.getMatchingIndexingMap(&output);
  int64_t dim = *map.getResultPosition(b.getAffineDimExpr(loop));
  return b.createOrFold<memref::DimOp>(loc, output.get(), dim);
}

/// Blocks that are whole, then what is left, in both directions.
void TransposeEmitter::forLoops(unsigned loop) {
  if (loop == op.getNumLoops()) {
    auto getCount = [&](unsigned of) -> Value {
      std::optional<int64_t> extent = getConstantIntValue(getExtent(of));
      if (extent && *extent % lanes == 0)
        return constant(lanes);
      return arith::SubIOp::create(b, loc, getExtent(of), position[of]);
    };
    return emitBlock(getCount(transpose.outputLoop), getCount(transpose.inputLoop));
  }
  bool isBlocked = loop == transpose.inputLoop || loop == transpose.outputLoop;
  auto next = scf::ForOp::create(b, loc, constant(0), getExtent(loop), constant(isBlocked ? lanes : 1));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(next.getBody());
  position[loop] = next.getInductionVar();
  forLoops(loop + 1);
}

SmallVector<Value> TransposeEmitter::getIndices(OpOperand &operand, unsigned loop, Value index) {
  SmallVector<Value> indices;
  for (AffineExpr result : op.getMatchingIndexingMap(&operand).getResults()) {
    unsigned of = cast<AffineDimExpr>(result).getPosition();
    indices.push_back(of == loop ? index : position[of]);
  }
  return indices;
}

/// Each round puts the elements of two rows, half of all rows apart, beside each other: after as many rounds as the
/// number of rows has bits, rows are columns.
SmallVector<Value> TransposeEmitter::transposeRows(SmallVector<Value> rows) {
  SmallVector<int64_t> low, high;
  for (int64_t i = 0; i < lanes; ++i) {
    low.push_back(i / 2 + i % 2 * lanes);
    high.push_back(low.back() + lanes / 2);
  }
  for (int64_t round = 1; round < lanes; round *= 2) {
    SmallVector<Value> mixed;
    for (int64_t i = 0; i < lanes / 2; ++i)
      for (ArrayRef<int64_t> order : {low, high})
        mixed.push_back(vector::ShuffleOp::create(b, loc, rows[i], rows[i + lanes / 2], order));
    rows = std::move(mixed);
  }
  return rows;
}

/// `rows` of the input, of which `columns` are read. Rows beyond the last one are read from that again.
void TransposeEmitter::emitBlock(Value rows, Value columns) {
  OpOperand &input = *op.getDpsInputOperand(0), &output = op.getDpsInitsMutable()[0];
  SmallVector<Value> block;
  Value inputMask = isWhole(columns) ? Value() : makeMask(columns);
  Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(vectorType));
  for (int64_t row = 0; row < lanes; ++row) {
    Value offset = constant(row);
    if (!isWhole(rows))
      offset = arith::MinSIOp::create(b, loc, offset, arith::SubIOp::create(b, loc, rows, constant(1)));
    Value index = arith::AddIOp::create(b, loc, position[transpose.outputLoop], offset);
    SmallVector<Value> indices = getIndices(input, transpose.outputLoop, index);
    if (inputMask)
      block.push_back(vector::MaskedLoadOp::create(b, loc, vectorType, input.get(), indices, inputMask, zero));
    else
      block.push_back(vector::LoadOp::create(b, loc, vectorType, input.get(), indices));
  }
  block = transposeRows(std::move(block));
  for (int64_t column = 0; column < lanes; ++column) {
    Value index = arith::AddIOp::create(b, loc, position[transpose.inputLoop], constant(column));
    SmallVector<Value> indices = getIndices(output, transpose.inputLoop, index);
    if (isWhole(rows) && isWhole(columns)) {
      vector::StoreOp::create(b, loc, block[column], output.get(), indices);
      continue;
    }
    // Columns beyond the last one are not written at all.
    Value exists = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, constant(column), columns);
    Value count = arith::SelectOp::create(b, loc, exists, rows, constant(0));
    vector::MaskedStoreOp::create(b, loc, output.get(), indices, makeMask(count), block[column]);
  }
}

namespace {
struct VectorizeTransposes : public tenon::impl::VectorizeTransposesBase<VectorizeTransposes> {
  using VectorizeTransposesBase::VectorizeTransposesBase;
  void runOnOperation() override {
    SmallVector<linalg::GenericOp> operations;
    getOperation().walk([&](linalg::GenericOp op) {
      if (op.hasPureBufferSemantics())
        operations.push_back(op);
    });
    for (linalg::GenericOp op : operations) {
      if (op.getNumDpsInits() != 1)
        continue;
      // Elements of a byte or two would make blocks that few matrices fill.
      int64_t bits = std::max(getElementTypeOrSelf(op.getDpsInits()[0]).getIntOrFloatBitWidth(), 32u);
      int64_t lanes = vectorBytes * 8 / bits;
      if (std::optional<Transpose> transpose = matchTranspose(op, lanes)) {
        TransposeEmitter(op, *transpose, lanes).emit();
        op.erase();
      }
    }
  }
};
} // namespace
