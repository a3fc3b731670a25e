//===- VectorizeContractions.cpp - register-blocked loops for matrix products ===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// The micro-kernel is the one that all fast matrix products have (Goto and
// van de Geijn, "Anatomy of High-Performance Matrix Multiplication", 2008): a
// block of rows x vectors of the result stays in registers while the summed
// loops run; each step loads a few vectors of one operand, and multiplies them
// with broadcast elements of the other.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "passes/Kernel.h"
#include "passes/Passes.h"
#include "passes/kernel/Contraction.h"

namespace tenon {
#define GEN_PASS_DEF_VECTORIZECONTRACTIONS
#include "passes/Passes.h.inc"
} // namespace tenon

using namespace mlir;
using namespace tenon;

namespace {

/// A block of the result in registers.
struct Block2D {
  int64_t rows, vectors;
};

/// Emits the loops of one contraction on buffers.
class Emitter {
public:
  Emitter(linalg::GenericOp op, const Contraction &contraction, int64_t vectorBytes, int64_t registers)
      : b(op), loc(op.getLoc()), op(op), contraction(contraction), registers(registers),
        type(getElementTypeOrSelf(op.getDpsInits()[0])),
        lanes(vectorBytes * 8 / type.getIntOrFloatBitWidth()), position(op.getNumLoops()) {}
  void emit();
  /// The sum begins with zeros, which are not in memory.
  void startFromZero() { isFromZero = true; }

private:
  Block2D chooseBlock();
  void emitLoops();
  void forParallel(ArrayRef<unsigned> loops, llvm::function_ref<void()> body);
  /// Loops over all columns, or all rows: `body` gets the first and how many vectors or rows there are at once.
  void forColumns(llvm::function_ref<void(int64_t vectors, Value active)> body);
  void forRows(llvm::function_ref<void(int64_t rows)> body);
  SmallVector<int64_t> getRowSteps();
  void emitBlock(Block2D block, Value active);
  SmallVector<Value> emitReduction(ArrayRef<unsigned> loops, Block2D block, Value active, ValueRange sums);
  SmallVector<Value> emitStep(Block2D block, Value active, ValueRange sums);
  void prefetchPanel(unsigned loop, Block2D block);

  /// The indices of an operand, `rows` and `columns` beyond the current position.
  SmallVector<Value> getIndices(OpOperand *operand, int64_t rows, int64_t columns);
  /// `active` masks the last of a block's vectors.
  Value loadVector(OpOperand *operand, int64_t row, int64_t vector, Value active);
  Value constant(int64_t value) { return arith::ConstantIndexOp::create(b, loc, value); }
  /// A loop from `begin` to `end`; `body` runs at its insertion point.
  void forLoop(Value begin, Value end, int64_t step, llvm::function_ref<void(Value)> body);

  OpBuilder b;
  Location loc;
  linalg::GenericOp op;
  const Contraction &contraction;
  int64_t registers;
  Type type;
  int64_t lanes;
  bool isFromZero = false;
  SmallVector<Value> extents, position;
  SmallVector<unsigned> outerLoops; ///< the parallel loops but rows and columns
  Block2D block;
};

} // namespace

void Emitter::forLoop(Value begin, Value end, int64_t step, llvm::function_ref<void(Value)> body) {
  std::optional<int64_t> first = getConstantIntValue(begin), last = getConstantIntValue(end);
  if (first && last && *first >= *last)
    return;
  if (first && last && *first + step == *last) {
    body(begin);
    return;
  }
  auto loop = scf::ForOp::create(b, loc, begin, end, constant(step));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  body(loop.getInductionVar());
}

/// The block that needs least time for the whole tile, by a simple model of a core: two vector
/// multiply-adds and two loads a cycle, four cycles until a sum can be used again.
Block2D Emitter::chooseBlock() {
  std::optional<int64_t> rows = contraction.rowLoop ? getConstantIntValue(extents[*contraction.rowLoop]) : 1;
  std::optional<int64_t> columns = getConstantIntValue(extents[contraction.columnLoop]);
  int64_t numRows = rows.value_or(1 << 10), numColumns = columns.value_or(lanes << 10);
  // A panel is too long for the first cache, which takes three cycles for a vector from the second one.
  double cyclesOfVector = contraction.panel ? 3 : 0;
  // Of blocks that take the same time the one with fewer loads, which other things compete with.
  auto getCycles = [&](int64_t r, int64_t v) {
    int64_t loads = contraction.isColumnwise ? r * v + v : r + v;
    return std::max({r * v / 2.0, loads / 2.0, v * cyclesOfVector, 4.0}) + 0.05 * loads;
  };
  Block2D best{1, 1};
  double bestCycles = -1;
  for (int64_t v = 1; v <= 6; ++v)
    for (int64_t r = 1; r * v + v + 1 <= registers; ++r) {
      // Whole blocks, then one for what is left of the columns, and of the rows.
      auto getRowCycles = [&](int64_t width) {
        if (width == 0)
          return 0.0;
        return (numRows / r) * getCycles(r, width) + (numRows % r ? getCycles(numRows % r, width) : 0);
      };
      int64_t blocks = numColumns / (v * lanes), rest = llvm::divideCeil(numColumns - blocks * v * lanes, lanes);
      double cycles = blocks * getRowCycles(v) + getRowCycles(rest);
      if (bestCycles < 0 || cycles < bestCycles) {
        bestCycles = cycles;
        best = {r, v};
      }
    }
  return best;
}

void Emitter::emit() {
  for (unsigned loop = 0; loop < op.getNumLoops(); ++loop) {
    // Some operand has the loop as a dimension of its own, the way linalg itself finds its extent.
    for (OpOperand &operand : op->getOpOperands()) {
      AffineMap map = op.getMatchingIndexingMap(&operand);
      auto *it = llvm::find(map.getResults(), b.getAffineDimExpr(loop));
      if (it == map.getResults().end())
        continue;
      int64_t dim = it - map.getResults().begin();
      auto memref = cast<MemRefType>(operand.get().getType());
      extents.push_back(memref.isDynamicDim(dim) ? memref::DimOp::create(b, loc, operand.get(), dim).getResult()
                                                 : constant(memref.getDimSize(dim)));
      break;
    }
  }
  block = chooseBlock();
  SmallVector<utils::IteratorType> iterators = op.getIteratorTypesArray();
  for (unsigned loop = 0; loop < op.getNumLoops(); ++loop)
    if (iterators[loop] == utils::IteratorType::parallel && loop != contraction.columnLoop &&
        loop != contraction.rowLoop)
      outerLoops.push_back(loop);
  emitLoops();
}

void Emitter::forParallel(ArrayRef<unsigned> loops, llvm::function_ref<void()> body) {
  if (loops.empty())
    return body();
  forLoop(constant(0), extents[loops.front()], 1, [&](Value index) {
    position[loops.front()] = index;
    forParallel(loops.drop_front(), body);
  });
}

void Emitter::emitLoops() {
  auto emitRows = [&](int64_t vectors, Value active) {
    forRows([&](int64_t rows) { emitBlock({rows, vectors}, active); });
  };
  // A panel is used for all rows before the next one is.
  if (contraction.panel)
    return forColumns([&](int64_t vectors, Value active) {
      forParallel(outerLoops, [&] { emitRows(vectors, active); });
    });
  forParallel(outerLoops, [&] { forColumns(emitRows); });
}

/// Whole blocks of vectors, then what is left: at once where it is known how much that is, else single vectors.
/// The last vector may be a part.
void Emitter::forColumns(llvm::function_ref<void(int64_t vectors, Value active)> emitBody) {
  Value extent = extents[contraction.columnLoop];
  int64_t width = block.vectors * lanes;
  auto makeMask = [&](Value column) -> Value {
    Value rest = arith::SubIOp::create(b, loc, extent, column);
    return vector::CreateMaskOp::create(b, loc, VectorType::get({lanes}, b.getI1Type()), rest);
  };
  auto body = [&](Value column, int64_t vectors, Value active) {
    position[contraction.columnLoop] = column;
    emitBody(vectors, active);
  };
  if (std::optional<int64_t> known = getConstantIntValue(extent)) {
    int64_t whole = *known / width * width, rest = llvm::divideCeil(*known - whole, lanes);
    forLoop(constant(0), constant(whole), width, [&](Value column) { body(column, block.vectors, Value()); });
    if (rest == 0)
      return;
    Value column = constant(whole), last = constant(whole + (rest - 1) * lanes);
    return body(column, rest, *known % lanes ? makeMask(last) : Value());
  }
  AffineExpr size = b.getAffineSymbolExpr(0);
  Value whole = affine::AffineApplyOp::create(b, loc, size.floorDiv(width) * width, extent);
  forLoop(constant(0), whole, width, [&](Value column) { body(column, block.vectors, Value()); });
  forLoop(whole, extent, lanes, [&](Value column) { body(column, 1, makeMask(column)); });
}

/// How many rows at a time: the block's, then what is left, where that is known at once; else half as many, and
/// half of that.
SmallVector<int64_t> Emitter::getRowSteps() {
  if (std::optional<int64_t> known = getConstantIntValue(extents[*contraction.rowLoop])) {
    int64_t rest = *known % block.rows;
    return rest ? SmallVector<int64_t>{block.rows, rest} : SmallVector<int64_t>{block.rows};
  }
  SmallVector<int64_t> steps;
  for (int64_t rows = block.rows; rows > 0; rows /= 2)
    steps.push_back(rows);
  return steps;
}

void Emitter::forRows(llvm::function_ref<void(int64_t rows)> body) {
  if (!contraction.rowLoop)
    return body(1);
  Value extent = extents[*contraction.rowLoop], begin = constant(0);
  AffineExpr first = b.getAffineSymbolExpr(0), last = b.getAffineSymbolExpr(1);
  for (int64_t rows : getRowSteps()) {
    // As often as whole steps fit.
    OpFoldResult end = affine::makeComposedFoldedAffineApply(
        b, loc, first + (last - first).floorDiv(rows) * rows, {getAsOpFoldResult(begin), getAsOpFoldResult(extent)});
    Value stop = getValueOrCreateConstantIndexOp(b, loc, end);
    forLoop(begin, stop, rows, [&](Value row) {
      position[*contraction.rowLoop] = row;
      body(rows);
    });
    begin = stop;
  }
}

SmallVector<Value> Emitter::getIndices(OpOperand *operand, int64_t rows, int64_t columns) {
  AffineMap map = op.getMatchingIndexingMap(operand);
  SmallVector<Value> point(position);
  SmallVector<Value> indices;
  for (AffineExpr index : map.getResults()) {
    // Offsets are constants: they become displacements of the address.
    AffineExpr shifted = index;
    if (contraction.rowLoop && rows)
      shifted = shifted.replace(b.getAffineDimExpr(*contraction.rowLoop),
                                b.getAffineDimExpr(*contraction.rowLoop) + rows);
    if (columns)
      shifted = shifted.replace(b.getAffineDimExpr(contraction.columnLoop),
                                b.getAffineDimExpr(contraction.columnLoop) + columns);
    SmallVector<Value> operands;
    SmallVector<AffineExpr> dims(map.getNumDims());
    for (unsigned loop = 0; loop < map.getNumDims(); ++loop) {
      dims[loop] = b.getAffineConstantExpr(0);
      if (index.isFunctionOfDim(loop)) {
        dims[loop] = b.getAffineDimExpr(operands.size());
        operands.push_back(point[loop]);
      }
    }
    shifted = shifted.replaceDims(dims);
    indices.push_back(
        affine::AffineApplyOp::create(b, loc, AffineMap::get(operands.size(), 0, shifted), operands));
  }
  return indices;
}

Value Emitter::loadVector(OpOperand *operand, int64_t row, int64_t vector, Value active) {
  auto vectorType = VectorType::get({lanes}, type);
  SmallVector<Value> indices = getIndices(operand, row, vector * lanes);
  if (!active)
    return vector::LoadOp::create(b, loc, vectorType, operand->get(), indices);
  Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(vectorType));
  return vector::MaskedLoadOp::create(b, loc, vectorType, operand->get(), indices, active, zero);
}

void Emitter::emitBlock(Block2D size, Value active) {
  OpOperand *out = op.getDpsInitOperand(0);
  SmallVector<Value> sums;
  auto vectorType = VectorType::get({lanes}, type);
  if (isFromZero)
    sums.assign(size.rows * size.vectors, arith::ConstantOp::create(b, loc, b.getZeroAttr(vectorType)));
  for (int64_t row = 0; row < size.rows && !isFromZero; ++row)
    for (int64_t v = 0; v < size.vectors; ++v)
      sums.push_back(loadVector(out, row, v, v + 1 == size.vectors ? active : Value()));
  SmallVector<unsigned> summed;
  for (auto [loop, iterator] : llvm::enumerate(op.getIteratorTypesArray()))
    if (iterator == utils::IteratorType::reduction)
      summed.push_back(loop);
  sums = emitReduction(summed, size, active, sums);
  for (int64_t row = 0; row < size.rows; ++row)
    for (int64_t v = 0; v < size.vectors; ++v) {
      Value sum = sums[row * size.vectors + v];
      SmallVector<Value> indices = getIndices(out, row, v * lanes);
      if (active && v + 1 == size.vectors)
        vector::MaskedStoreOp::create(b, loc, out->get(), indices, active, sum);
      else
        vector::StoreOp::create(b, loc, sum, out->get(), indices);
    }
}

SmallVector<Value> Emitter::emitReduction(ArrayRef<unsigned> loops, Block2D size, Value active, ValueRange sums) {
  if (loops.empty())
    return emitStep(size, active, sums);
  unsigned current = loops.front();
  if (getConstantIntValue(extents[current]) == 1) {
    position[current] = constant(0);
    return emitReduction(loops.drop_front(), size, active, sums);
  }
  // Two steps of a matrix product at a time, so that the loop itself costs half as much. (Windows got slower by it.)
  std::optional<int64_t> extent = getConstantIntValue(extents[current]);
  int64_t steps = op.getNumReductionLoops() == 1 && extent && *extent % 2 == 0 ? 2 : 1;
  auto loop = scf::ForOp::create(b, loc, constant(0), extents[current], constant(steps), sums);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  SmallVector<Value> results(loop.getRegionIterArgs());
  for (int64_t step = 0; step < steps; ++step) {
    position[current] = step == 0 ? loop.getInductionVar()
                                  : arith::AddIOp::create(b, loc, loop.getInductionVar(), constant(step)).getResult();
    if (loops.size() == 1)
      prefetchPanel(current, size);
    results = emitReduction(loops.drop_front(), size, active, results);
  }
  scf::YieldOp::create(b, loc, results);
  return loop.getResults();
}

/// While a panel is multiplied with all rows, the next one comes from memory: each block of rows asks for its part.
/// `loop` is the innermost one that sums. Nothing is asked for where there are few blocks. What lies beyond the last
/// panel may be asked for, too: that reads nothing.
void Emitter::prefetchPanel(unsigned loop, Block2D size) {
  if (contraction.panel == 0 || !contraction.rowLoop || size.rows != block.rows)
    return;
  std::optional<int64_t> rows = getConstantIntValue(extents[*contraction.rowLoop]), steps = getConstantIntValue(extents[loop]);
  int64_t lines = contraction.panel * type.getIntOrFloatBitWidth() / 8 / 64;
  // The blocks of rows that a panel is used for, and the number of this one. Of unknown rows there may be fewer than
  // is taken for granted, or more.
  int64_t count = rows.value_or(8 * block.rows) / block.rows;
  AffineExpr number = b.getAffineDimExpr(0).floorDiv(block.rows);
  SmallVector<Value> places{position[*contraction.rowLoop]};
  for (unsigned outer : llvm::reverse(outerLoops))
    if (std::optional<int64_t> extent = getConstantIntValue(extents[outer]); extent && *extent > 1) {
      number = number + b.getAffineDimExpr(places.size()) * count;
      places.push_back(position[outer]);
      count *= *extent;
    }
  // A power of two, so that no step divides.
  int64_t blocks = llvm::bit_floor(uint64_t(std::max<int64_t>(count, 1)));
  if (!steps || blocks < lines || *steps < blocks)
    return;
  // Block number r touches steps [r * steps / blocks, ...) of the panel, each of their lines once or more.
  AffineMap map = op.getMatchingIndexingMap(contraction.vectors);
  int64_t stepDim = -1, panelDim = -1;
  for (auto [dim, index] : llvm::enumerate(map.getResults())) {
    if (index == b.getAffineDimExpr(loop))
      stepDim = dim;
    if (index.getKind() == AffineExprKind::FloorDiv)
      panelDim = dim;
  }
  if (stepDim < 0)
    return;
  SmallVector<Value> indices = getIndices(contraction.vectors, 0, 0);
  int64_t share = llvm::divideCeil(*steps, blocks);
  AffineExpr step = b.getAffineDimExpr(places.size()), panel = b.getAffineDimExpr(0);
  places.push_back(position[loop]);
  indices[stepDim] = affine::AffineApplyOp::create(
      b, loc, AffineMap::get(places.size(), 0, number * share + step.floorDiv(blocks)), places);
  int64_t numPanels = llvm::divideCeil(size.vectors * lanes, contraction.panel);
  indices[panelDim] = affine::AffineApplyOp::create(b, loc, AffineMap::get(1, 0, panel + numPanels), indices[panelDim]);
  int64_t perLine = contraction.panel / lines;
  indices.back() = affine::AffineApplyOp::create(b, loc, AffineMap::get(1, 0, (b.getAffineDimExpr(0) % lines) * perLine),
                                                 position[loop]);
  memref::PrefetchOp::create(b, loc, contraction.vectors->get(), indices, /*isWrite=*/false, /*localityHint=*/2,
                             /*isDataCache=*/true);
}

SmallVector<Value> Emitter::emitStep(Block2D size, Value active, ValueRange sums) {
  SmallVector<Value> columns, results;
  // What a panel holds beyond the last column is zero.
  if (contraction.panel)
    active = Value();
  for (int64_t v = 0; v < size.vectors; ++v)
    columns.push_back(loadVector(contraction.vectors, 0, v, v + 1 == size.vectors ? active : Value()));
  auto vectorType = VectorType::get({lanes}, type);
  for (int64_t row = 0; row < size.rows; ++row) {
    Value element;
    if (!contraction.isColumnwise) {
      SmallVector<Value> indices = getIndices(contraction.scalars, row, 0);
      element = memref::LoadOp::create(b, loc, contraction.scalars->get(), indices);
      element = vector::BroadcastOp::create(b, loc, vectorType, element);
    }
    for (int64_t v = 0; v < size.vectors; ++v) {
      Value factor = element ? element : loadVector(contraction.scalars, row, v, v + 1 == size.vectors ? active : Value());
      results.push_back(vector::FMAOp::create(b, loc, factor, columns[v], sums[row * size.vectors + v]));
    }
  }
  return results;
}

/// The operation that fills the memory of the sums with zeros, where nothing comes between it and them.
static linalg::FillOp getZeroFill(linalg::GenericOp op) {
  Value out = op.getDpsInits()[0];
  for (Operation *before = op->getPrevNode(); before; before = before->getPrevNode()) {
    if (auto fill = dyn_cast<linalg::FillOp>(before); fill && fill.getOutputs()[0] == out)
      return matchPattern(fill.getInputs()[0], m_AnyZeroFloat()) ? fill : linalg::FillOp();
    if (!isPure(before))
      break;
  }
  return {};
}

namespace {
struct VectorizeContractions : public tenon::impl::VectorizeContractionsBase<VectorizeContractions> {
  using VectorizeContractionsBase::VectorizeContractionsBase;
  void runOnOperation() override {
    SmallVector<linalg::GenericOp> operations;
    getOperation().walk([&](linalg::GenericOp op) {
      if (op.hasPureBufferSemantics())
        operations.push_back(op);
    });
    for (linalg::GenericOp op : operations)
      if (std::optional<Contraction> contraction = matchContraction(op)) {
        Emitter emitter(op, *contraction, vectorBytes, registers);
        if (linalg::FillOp fill = getZeroFill(op)) {
          emitter.startFromZero();
          fill.erase();
        }
        emitter.emit();
        op.erase();
      }
  }
};
} // namespace
