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
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "passes/Kernel.h"
#include "passes/Passes.h"
#include "passes/kernel/Contraction.h"
#include "passes/kernel/Epilogue.h"
#include "passes/kernel/QuadProducts.h"
#include "passes/kernel/RegisterBlock.h"
#include <set>

namespace tenon {
#define GEN_PASS_DEF_VECTORIZECONTRACTIONS
#include "passes/Passes.h.inc"
} // namespace tenon

using namespace mlir;
using namespace tenon;

namespace {

/// The summed loop that moves along the input with the rows: row r reads place `stride` * r + `dilation` * tap.
struct Window {
  unsigned loop;
  int64_t stride, dilation, taps;
  bool hasBounds;
};

/// What the rows of a block see of a window: all of it, parts that are known, or parts that only the run tells.
enum class Sight { whole, known, open };

/// Emits the loops of one contraction on buffers.
class Emitter {
public:
  Emitter(linalg::GenericOp op, const Contraction &contraction, int64_t vectorBytes, int64_t registers,
          ByteProducts byteProducts)
      : b(op), loc(op.getLoc()), op(op), contraction(contraction), registers(registers), byteProducts(byteProducts),
        type(getElementTypeOrSelf(op.getDpsInits()[0])),
        lanes(vectorBytes * 8 / type.getIntOrFloatBitWidth()), position(op.getNumLoops()) {}
  void emit();
  /// The sum begins with zeros, which are not in memory.
  void startFromZero() { isFromZero = true; }
  /// Takes over the operations that follow and change the sums.
  void absorbEpilogue();

private:
  std::optional<Window> findWindow();
  void setWindow();
  bool hasFewTaps();
  BlockProblem getProblem();
  void emitLoops();
  void forParallel(ArrayRef<unsigned> loops, llvm::function_ref<void()> body);
  /// Loops over all columns, or all rows: `body` gets the first and how many vectors or rows there are at once.
  void forColumns(llvm::function_ref<void(int64_t vectors, Value active)> body);
  void forRows(llvm::function_ref<void(int64_t rows)> body);
  void emitRowsAnywhere(int64_t rows, llvm::function_ref<void(int64_t rows)> body);
  void forRowsOfKnownWindows(int64_t extent, llvm::function_ref<void(int64_t rows)> body);
  SmallVector<int64_t> getRowSteps();
  void emitBlock(RegisterBlock block, Value active);
  bool isLastColumnAlone();
  void prefetchEpilogue();
  void applyEpilogue(MutableArrayRef<Value> sums);
  /// Adds what `loops` sum to some rows of the block; `sums` are those of all rows.
  SmallVector<Value> emitReduction(ArrayRef<unsigned> loops, ArrayRef<int64_t> rows, ValueRange sums);
  SmallVector<Value> emitLoop(ArrayRef<unsigned> loops, LoopRange range, ArrayRef<int64_t> rows, ValueRange sums);
  SmallVector<Value> emitBorder(ArrayRef<unsigned> loops, ArrayRef<int64_t> rows, ValueRange sums);
  SmallVector<Value> emitOpenBorder(ArrayRef<unsigned> loops, ArrayRef<int64_t> rows, ValueRange sums);
  std::optional<int64_t> getPixelDim();
  Value getZeros(MemRefType pixel);
  void readPixels(ArrayRef<int64_t> rows);
  Value loadElement(int64_t row);
  SmallVector<Value> emitTaps(ArrayRef<unsigned> loops, ArrayRef<int64_t> rows, ValueRange sums);
  SmallVector<Value> emitStep(ArrayRef<int64_t> rows, ValueRange sums);
  SmallVector<Value> emitQuads(ArrayRef<unsigned> loops, ArrayRef<int64_t> rows, ValueRange sums);
  SmallVector<Value> emitQuadStep(ArrayRef<int64_t> rows, ValueRange sums);
  Value loadQuad(int64_t row);
  Value loadQuads(int64_t vector);
  void prefetchPanel(unsigned loop);
  void prefetchAhead(unsigned loop);

  /// The part of a summed loop in which the bounds of a row of the block hold.
  LoopRange getRange(unsigned loop, int64_t row);
  /// Whether a row of the block sees the current tap.
  Value seesTap(int64_t row);
  /// Whether the rows from the current one on see the whole window.
  Value isWhole(int64_t rows);
  /// Whether it is known what taps each row sees, and few blocks of rows see less than all.
  bool hasKnownWindows();
  bool isKnownWhole(int64_t first, int64_t rows);
  std::pair<int64_t, int64_t> getKnownRange(int64_t row);

  AffineExpr shiftRows(AffineExpr index, int64_t rows);
  /// The indices of a read, `rows` and `columns` beyond the current position.
  SmallVector<Value> getIndices(const ElementRead &read, int64_t rows, int64_t columns);
  /// Zeros where there is a condition that does not hold.
  Value loadVector(const ElementRead &read, int64_t row, int64_t vector, Value condition = {});
  Value constant(int64_t value) { return arith::ConstantIndexOp::create(b, loc, value); }
  /// A loop from `begin` to `end`; `body` runs at its insertion point.
  void forLoop(Value begin, Value end, int64_t step, llvm::function_ref<void(Value)> body);

  OpBuilder b;
  Location loc;
  linalg::GenericOp op;
  Contraction contraction;
  int64_t registers;
  ByteProducts byteProducts;
  Type type; ///< of the sums
  int64_t lanes;
  bool isFromZero = false;
  SmallVector<EpilogueStage> epilogue;
  SmallVector<Value> extents, position;
  SmallVector<unsigned> outerLoops; ///< the parallel loops but rows and columns
  std::optional<Window> window;
  /// Whether all taps of the window are at hand at once, so that what several rows read is loaded once.
  bool unrollsTaps = false;
  RegisterBlock block; ///< the one that is chosen
  RegisterBlock size;  ///< of the block that is emitted now, whose last vectors `active` masks
  Value active;
  int64_t quadBytes = 4; ///< that the current step of quads has of each
  Sight sight = Sight::whole;
  /// Where it is not known what rows see: the pixels that they read for the current tap, and what stands for one beyond
  /// the border.
  SmallVector<Value> pixels;
  Value zeros;
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

std::optional<Window> Emitter::findWindow() {
  std::optional<Window> found;
  SmallVector<AffineExpr> indices(contraction.scalars.map.getResults());
  auto *moving = llvm::find_if(indices, [&](AffineExpr index) { return index.isFunctionOfDim(*contraction.rowLoop); });
  std::optional<int64_t> stride = getStep(*moving, *contraction.rowLoop);
  for (auto [loop, iterator] : llvm::enumerate(op.getIteratorTypesArray())) {
    if (iterator == utils::IteratorType::parallel || !moving->isFunctionOfDim(loop))
      continue;
    // One loop beside the rows, or none that is known well enough.
    std::optional<int64_t> dilation = getStep(*moving, loop), taps = getConstantIntValue(extents[loop]);
    if (found || !stride || !dilation || !taps)
      return std::nullopt;
    found = Window{static_cast<unsigned>(loop), *stride, *dilation, *taps, false};
  }
  return found;
}

/// Rows whose bounds are not those of such a window are done one by one.
void Emitter::setWindow() {
  if (!contraction.rowLoop)
    return;
  window = findWindow();
  bool hasBounds = llvm::any_of(contraction.scalars.bounds, [&](const ReadBound &bound) {
    return bound.rest.isFunctionOfDim(*contraction.rowLoop);
  });
  if (window)
    window->hasBounds = hasBounds;
  else if (hasBounds)
    contraction.rowLoop.reset();
}

/// Whether a window of single columns is small enough for registers, and nothing is summed inside of it.
bool Emitter::hasFewTaps() {
  if (!contraction.isColumnwise || !window || 2 * window->taps > registers)
    return false;
  auto isOther = [&](unsigned loop) {
    return op.getIteratorTypesArray()[loop] == utils::IteratorType::reduction && loop > window->loop;
  };
  return llvm::none_of(llvm::seq(op.getNumLoops()),
                       [&](unsigned loop) { return isOther(loop) && getConstantIntValue(extents[loop]) != 1; });
}

BlockProblem Emitter::getProblem() {
  std::optional<int64_t> rows = contraction.rowLoop ? getConstantIntValue(extents[*contraction.rowLoop]) : 1;
  std::optional<int64_t> columns = getConstantIntValue(extents[contraction.columnLoop]);
  // Of open extents the ends count for little.
  BlockProblem problem{rows.value_or(1 << 20), columns.value_or(lanes << 20), lanes, registers};
  // The parts of a quad are in registers together.
  if (contraction.quadLoop && byteProducts != ByteProducts::quads)
    problem.registers -= 4;
  problem.isColumnwise = contraction.isColumnwise;
  problem.hasPanels = contraction.panel;
  if (unrollsTaps)
    std::tie(problem.taps, problem.stride, problem.dilation) = std::tie(window->taps, window->stride, window->dilation);
  return problem;
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
  setWindow();
  unrollsTaps = hasFewTaps();
  block = chooseBlock(getProblem());
  SmallVector<utils::IteratorType> iterators = op.getIteratorTypesArray();
  for (unsigned loop = 0; loop < op.getNumLoops(); ++loop)
    if (iterators[loop] == utils::IteratorType::parallel && loop != contraction.columnLoop &&
        loop != contraction.rowLoop)
      outerLoops.push_back(loop);
  emitLoops();
  for (EpilogueStage &stage : epilogue)
    stage.op.erase();
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
  position[*contraction.rowLoop] = begin;
  if (window && window->hasBounds && hasKnownWindows())
    return forRowsOfKnownWindows(*getConstantIntValue(extent), body);
  AffineExpr first = b.getAffineSymbolExpr(0), last = b.getAffineSymbolExpr(1);
  for (int64_t rows : getRowSteps()) {
    // As often as whole steps fit.
    OpFoldResult end = affine::makeComposedFoldedAffineApply(
        b, loc, first + (last - first).floorDiv(rows) * rows, {getAsOpFoldResult(begin), getAsOpFoldResult(extent)});
    Value stop = getValueOrCreateConstantIndexOp(b, loc, end);
    forLoop(begin, stop, rows, [&](Value row) {
      position[*contraction.rowLoop] = row;
      emitRowsAnywhere(rows, body);
    });
    begin = stop;
  }
}

/// Rows of which it is not known what they see: by code of its own where all see the whole window.
void Emitter::emitRowsAnywhere(int64_t rows, llvm::function_ref<void(int64_t rows)> body) {
  sight = window && window->hasBounds ? Sight::open : Sight::whole;
  if (sight == Sight::whole || rows == 1)
    return body(rows);
  auto branch = scf::IfOp::create(b, loc, isWhole(rows), /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  sight = Sight::whole;
  body(rows);
  b.setInsertionPointToStart(branch.elseBlock());
  sight = Sight::open;
  if (unrollsTaps || getPixelDim())
    return body(rows);
  Value begin = position[*contraction.rowLoop];
  Value end = arith::AddIOp::create(b, loc, begin, constant(rows));
  forLoop(begin, end, 1, [&](Value row) {
    position[*contraction.rowLoop] = row;
    body(1);
  });
}

/// Blocks at the border each have code of their own, which knows what every row sees; those between are a loop.
void Emitter::forRowsOfKnownWindows(int64_t extent, llvm::function_ref<void(int64_t rows)> body) {
  Value &row = position[*contraction.rowLoop];
  for (int64_t first = 0; first < extent;) {
    int64_t last = first;
    for (; last + block.rows <= extent && isKnownWhole(last, block.rows); last += block.rows)
      ;
    sight = Sight::whole;
    forLoop(constant(first), constant(last), block.rows, [&](Value index) {
      row = index;
      body(block.rows);
    });
    if (int64_t rows = std::min(block.rows, extent - last)) {
      sight = isKnownWhole(last, rows) ? Sight::whole : Sight::known;
      row = constant(last);
      body(rows);
      last += rows;
    }
    first = last;
  }
}

bool Emitter::hasKnownWindows() {
  constexpr int64_t kMostBorderBlocks = 8;
  std::optional<int64_t> extent = getConstantIntValue(extents[*contraction.rowLoop]);
  position[*contraction.rowLoop] = constant(0);
  sight = Sight::open;
  LoopRange range = getRange(window->loop, 0);
  if (!extent || !getConstantIntValue(range.begin) || !getConstantIntValue(range.end))
    return false;
  int64_t numBorderBlocks = 0;
  for (int64_t row = 0; row < *extent; row += block.rows)
    numBorderBlocks += !isKnownWhole(row, std::min(block.rows, *extent - row));
  return numBorderBlocks <= kMostBorderBlocks;
}

std::pair<int64_t, int64_t> Emitter::getKnownRange(int64_t row) {
  LoopRange range = getRange(window->loop, row);
  return {*getConstantIntValue(range.begin), *getConstantIntValue(range.end)};
}

bool Emitter::isKnownWhole(int64_t first, int64_t rows) {
  position[*contraction.rowLoop] = constant(first);
  sight = Sight::open;
  return getKnownRange(0).first == 0 && getKnownRange(rows - 1).second == window->taps;
}

Value Emitter::isWhole(int64_t rows) {
  sight = Sight::open;
  LoopRange first = getRange(window->loop, 0), last = getRange(window->loop, rows - 1);
  Value begin = getValueOrCreateConstantIndexOp(b, loc, first.begin), end = getValueOrCreateConstantIndexOp(b, loc, last.end);
  Value atStart = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, begin, constant(0));
  Value atEnd = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, end, constant(window->taps));
  return arith::AndIOp::create(b, loc, atStart, atEnd);
}

LoopRange Emitter::getRange(unsigned loop, int64_t row) {
  if (window && loop == window->loop && sight == Sight::whole)
    return {b.getIndexAttr(0), getAsOpFoldResult(extents[loop])};
  ElementRead shifted = contraction.scalars;
  for (ReadBound &bound : shifted.bounds)
    bound.rest = shiftRows(bound.rest, row);
  return tenon::getRange(b, loc, shifted, loop, extents[loop], position);
}

AffineExpr Emitter::shiftRows(AffineExpr index, int64_t rows) {
  if (!contraction.rowLoop || rows == 0)
    return index;
  AffineExpr row = b.getAffineDimExpr(*contraction.rowLoop);
  return index.replace(row, row + rows);
}

SmallVector<Value> Emitter::getIndices(const ElementRead &read, int64_t rows, int64_t columns) {
  SmallVector<Value> indices;
  for (AffineExpr index : read.map.getResults()) {
    // Offsets are constants: they become displacements of the address.
    AffineExpr shifted = shiftRows(index, rows), column = b.getAffineDimExpr(contraction.columnLoop);
    if (columns)
      shifted = shifted.replace(column, column + columns);
    SmallVector<Value> operands;
    SmallVector<AffineExpr> dims(read.map.getNumDims(), b.getAffineConstantExpr(0));
    for (unsigned loop = 0; loop < read.map.getNumDims(); ++loop)
      if (index.isFunctionOfDim(loop)) {
        dims[loop] = b.getAffineDimExpr(operands.size());
        operands.push_back(position[loop]);
      }
    unsigned numDims = operands.size();
    llvm::append_range(operands, read.symbols);
    AffineMap map = AffineMap::get(numDims, read.symbols.size(), shifted.replaceDims(dims));
    indices.push_back(affine::AffineApplyOp::create(b, loc, map, operands));
  }
  return indices;
}

Value Emitter::seesTap(int64_t row) {
  ElementRead shifted = contraction.scalars;
  for (ReadBound &bound : shifted.bounds)
    bound.rest = shiftRows(bound.rest, row);
  return emitBounds(b, loc, shifted, window->loop, position);
}

/// What a panel holds beyond the last column is zero: it needs no mask.
Value Emitter::loadVector(const ElementRead &read, int64_t row, int64_t vector, Value condition) {
  auto vectorType = VectorType::get({lanes}, type);
  SmallVector<Value> indices = getIndices(read, row, vector * lanes);
  bool isPanel = contraction.panel && read.memory == contraction.vectors.memory;
  Value mask = isPanel || vector + 1 != size.vectors ? Value() : active;
  if (condition) {
    Value all = vector::BroadcastOp::create(b, loc, VectorType::get({lanes}, b.getI1Type()), condition);
    mask = mask ? arith::AndIOp::create(b, loc, mask, all).getResult() : all;
  }
  if (!mask)
    return vector::LoadOp::create(b, loc, vectorType, read.memory, indices);
  Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(vectorType));
  return vector::MaskedLoadOp::create(b, loc, vectorType, read.memory, indices, mask, zero);
}

void Emitter::emitBlock(RegisterBlock chosen, Value mask) {
  size = chosen;
  active = mask;
  ElementRead out = getRead(*op.getDpsInitOperand(0));
  SmallVector<Value> sums;
  auto vectorType = VectorType::get({lanes}, type);
  if (isFromZero)
    sums.assign(size.rows * size.vectors, arith::ConstantOp::create(b, loc, b.getZeroAttr(vectorType)));
  for (int64_t row = 0; row < size.rows && !isFromZero; ++row)
    for (int64_t v = 0; v < size.vectors; ++v)
      sums.push_back(loadVector(out, row, v));
  SmallVector<unsigned> summed;
  for (auto [loop, iterator] : llvm::enumerate(op.getIteratorTypesArray()))
    if (iterator == utils::IteratorType::reduction)
      summed.push_back(loop);
  prefetchEpilogue();
  sums = emitReduction(summed, llvm::to_vector(llvm::seq(size.rows)), sums);
  applyEpilogue(sums);
  if (!epilogue.empty())
    out.memory = epilogue.back().op.getDpsInits()[0];
  for (int64_t row = 0; row < size.rows; ++row)
    for (int64_t v = 0; v < size.vectors; ++v) {
      Value sum = sums[row * size.vectors + v];
      SmallVector<Value> indices = getIndices(out, row, v * lanes);
      if (active && v + 1 == size.vectors && isLastColumnAlone())
        memref::StoreOp::create(b, loc, vector::ExtractOp::create(b, loc, sum, ArrayRef<int64_t>{0}), out.memory, indices);
      else if (active && v + 1 == size.vectors)
        vector::MaskedStoreOp::create(b, loc, out.memory, indices, active, sum);
      else
        vector::StoreOp::create(b, loc, sum, out.memory, indices);
    }
}

/// Whether the vector of what is left of the columns has a single one. (LLVM 22 makes of a masked store of one lane, whose
/// elements it truncates on the way, one of elements as wide as they were before.)
bool Emitter::isLastColumnAlone() {
  std::optional<int64_t> columns = getConstantIntValue(extents[contraction.columnLoop]);
  return columns && *columns % lanes == 1;
}

void Emitter::absorbEpilogue() {
  AffineMap place = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  epilogue = matchEpilogue(op, op.getDpsInits()[0], place, contraction.columnLoop);
  // What it reads is defined there.
  if (!epilogue.empty())
    b.setInsertionPoint(epilogue.back().op);
}

/// What the epilogue reads for each row comes from afar, and is asked for while the block is summed.
void Emitter::prefetchEpilogue() {
  constexpr int64_t kLineBits = 512;
  for (const EpilogueStage &stage : epilogue)
    for (const ElementRead &read : stage.reads) {
      if (!contraction.rowLoop || !isAlongColumns(read, contraction.columnLoop) ||
          !read.map.isFunctionOfDim(*contraction.rowLoop))
        continue;
      int64_t perLine = kLineBits / getElementTypeOrSelf(read.memory).getIntOrFloatBitWidth();
      for (int64_t row = 0; row < size.rows; ++row)
        for (int64_t column = 0; column < size.vectors * lanes; column += perLine)
          memref::PrefetchOp::create(b, loc, read.memory, getIndices(read, row, column), /*isWrite=*/false,
                                     /*localityHint=*/3, /*isDataCache=*/true);
    }
}

void Emitter::applyEpilogue(MutableArrayRef<Value> sums) {
  for (const EpilogueStage &stage : epilogue) {
    // What is the same for all rows is read once.
    llvm::SmallDenseMap<std::pair<unsigned, int64_t>, Value> shared;
    for (auto [i, sum] : llvm::enumerate(sums)) {
      int64_t row = i / size.vectors, v = i % size.vectors;
      sum = emitStage(b, stage, sum, [&](unsigned number) {
        const ElementRead &read = stage.reads[number];
        bool isAlong = isAlongColumns(read, contraction.columnLoop);
        bool hasRows = contraction.rowLoop && read.map.isFunctionOfDim(*contraction.rowLoop);
        Value &known = shared[{number, isAlong ? v : -1}];
        if (known && !hasRows)
          return known;
        return known = emitVectorRead(b, loc, read, contraction.columnLoop, getIndices(read, row, v * lanes), lanes,
                                      v + 1 == size.vectors ? active : Value());
      });
    }
  }
}

SmallVector<Value> Emitter::emitReduction(ArrayRef<unsigned> loops, ArrayRef<int64_t> rows, ValueRange sums) {
  if (loops.empty())
    return contraction.quadLoop ? emitQuadStep(rows, sums) : emitStep(rows, sums);
  if (loops.front() == contraction.quadLoop)
    return emitQuads(loops, rows, sums);
  if (window && loops.front() == window->loop && unrollsTaps)
    return emitTaps(loops, rows, sums);
  if (window && loops.front() == window->loop && rows.size() > 1 && sight != Sight::whole)
    return sight == Sight::known ? emitBorder(loops, rows, sums) : emitOpenBorder(loops, rows, sums);
  return emitLoop(loops, getRange(loops.front(), rows.front()), rows, sums);
}

SmallVector<Value> Emitter::emitLoop(ArrayRef<unsigned> loops, LoopRange range, ArrayRef<int64_t> rows,
                                     ValueRange sums) {
  unsigned current = loops.front();
  Value begin = getValueOrCreateConstantIndexOp(b, loc, range.begin);
  std::optional<int64_t> first = getConstantIntValue(range.begin), last = getConstantIntValue(range.end);
  bool readsZeros = window && current == window->loop && rows.size() > 1 && sight == Sight::open;
  if (first && last && *first + 1 == *last) {
    position[current] = begin;
    if (readsZeros)
      readPixels(rows);
    return emitReduction(loops.drop_front(), rows, sums);
  }
  Value end = getValueOrCreateConstantIndexOp(b, loc, range.end);
  // Two steps of a matrix product at a time, so that the loop itself costs half as much. (Windows got slower by it.)
  int64_t steps = op.getNumReductionLoops() == 1 && first && last && (*last - *first) % 2 == 0 ? 2 : 1;
  auto loop = scf::ForOp::create(b, loc, begin, end, constant(steps), sums);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  SmallVector<Value> results(loop.getRegionIterArgs());
  for (int64_t step = 0; step < steps; ++step) {
    position[current] = step == 0 ? loop.getInductionVar()
                                  : arith::AddIOp::create(b, loc, loop.getInductionVar(), constant(step)).getResult();
    if (loops.size() == 1) {
      prefetchPanel(current);
      prefetchAhead(current);
    }
    if (readsZeros)
      readPixels(rows);
    results = emitReduction(loops.drop_front(), rows, results);
  }
  scf::YieldOp::create(b, loc, results);
  return loop.getResults();
}

/// Whole quads, then what is left.
SmallVector<Value> Emitter::emitQuads(ArrayRef<unsigned> loops, ArrayRef<int64_t> rows, ValueRange sums) {
  Value &place = position[loops.front()];
  int64_t depth = *getConstantIntValue(extents[loops.front()]), whole = depth / 4;
  SmallVector<Value> results(sums);
  if (whole > 0) {
    int64_t steps = whole % 2 == 0 ? 2 : 1;
    auto loop = scf::ForOp::create(b, loc, constant(0), constant(whole), constant(steps), sums);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    results.assign(loop.getRegionIterArgs().begin(), loop.getRegionIterArgs().end());
    for (int64_t step = 0; step < steps; ++step) {
      place = affine::AffineApplyOp::create(b, loc, AffineMap::get(1, 0, (b.getAffineDimExpr(0) + step) * 4),
                                            loop.getInductionVar());
      if (loops.size() == 1)
        prefetchPanel(loops.front());
      results = emitReduction(loops.drop_front(), rows, results);
    }
    scf::YieldOp::create(b, loc, results);
    results.assign(loop.getResults().begin(), loop.getResults().end());
  }
  if (depth % 4 == 0)
    return results;
  place = constant(4 * whole);
  quadBytes = depth % 4;
  results = emitReduction(loops.drop_front(), rows, results);
  quadBytes = 4;
  return results;
}

/// Rows that see different parts of the window: a loop for each run of taps that the same rows see.
SmallVector<Value> Emitter::emitBorder(ArrayRef<unsigned> loops, ArrayRef<int64_t> rows, ValueRange sums) {
  std::set<int64_t> ends;
  for (int64_t row : rows) {
    auto [begin, end] = getKnownRange(row);
    ends.insert({begin, end});
  }
  SmallVector<Value> results(sums);
  for (auto [begin, end] : llvm::zip(ends, llvm::drop_begin(ends))) {
    SmallVector<int64_t> seeing = llvm::filter_to_vector(rows, [&](int64_t row) {
      auto [first, last] = getKnownRange(row);
      return first <= begin && end <= last;
    });
    if (!seeing.empty())
      results = emitLoop(loops, {b.getIndexAttr(begin), b.getIndexAttr(end)}, seeing, results);
  }
  return results;
}

/// The dimension of the pixels' memory that is summed inside of a window, where that is the last one and all that is
/// summed there: then zeros can stand for a pixel.
std::optional<int64_t> Emitter::getPixelDim() {
  unsigned loop = window->loop + 1;
  auto type = cast<MemRefType>(contraction.scalars.memory.getType());
  bool isLast = loop < op.getNumLoops() && op.getIteratorTypesArray()[loop] == utils::IteratorType::reduction &&
                op.getIteratorTypesArray()[loop + 1] == utils::IteratorType::parallel;
  auto moves = [&](AffineExpr index) { return index.isFunctionOfDim(loop); };
  ArrayRef<AffineExpr> indices = contraction.scalars.map.getResults();
  if (contraction.isColumnwise || !isLast || !getConstantIntValue(extents[loop]) || !type.isLastDimUnitStride() ||
      llvm::count_if(indices, moves) != 1 || getStep(indices.back(), loop) != 1)
    return std::nullopt;
  return indices.size() - 1;
}

Value Emitter::getZeros(MemRefType pixel) {
  if (zeros)
    return zeros;
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(&op->getParentOfType<func::FuncOp>().front());
  Type element = pixel.getElementType();
  auto memory = memref::AllocOp::create(b, loc, MemRefType::get(pixel.getShape(), element));
  Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(element));
  linalg::FillOp::create(b, loc, zero, memory.getResult());
  return zeros = memref::CastOp::create(b, loc, pixel, memory);
}

/// The pixels that rows read for the current tap: zeros where one does not see it.
void Emitter::readPixels(ArrayRef<int64_t> rows) {
  const ElementRead &read = contraction.scalars;
  Value &channel = position[window->loop + 1];
  channel = constant(0);
  pixels.assign(size.rows, Value());
  for (int64_t row : rows) {
    SmallVector<Value> indices = getIndices(read, row, 0);
    SmallVector<OpFoldResult> offsets = getAsOpFoldResult(indices), sizes(indices.size(), b.getIndexAttr(1)),
                              strides(indices.size(), b.getIndexAttr(1));
    int64_t channels = *getConstantIntValue(extents[window->loop + 1]);
    sizes[*getPixelDim()] = b.getIndexAttr(channels);
    auto pixel = cast<MemRefType>(memref::SubViewOp::inferRankReducedResultType(
        {channels}, cast<MemRefType>(read.memory.getType()), offsets, sizes, strides));
    Value view = memref::SubViewOp::create(b, loc, pixel, read.memory, offsets, sizes, strides);
    pixels[row] = arith::SelectOp::create(b, loc, seesTap(row), view, getZeros(pixel));
  }
}

/// Rows that see parts of the window which are not known: all taps that some of them see, with zeros for those that
/// do not.
SmallVector<Value> Emitter::emitOpenBorder(ArrayRef<unsigned> loops, ArrayRef<int64_t> rows, ValueRange sums) {
  LoopRange first = getRange(window->loop, rows.front()), last = getRange(window->loop, rows.back());
  SmallVector<Value> results = emitLoop(loops, {last.begin, first.end}, rows, sums);
  pixels.clear();
  return results;
}

/// All taps of a window, in the order of the places that they read, each of which is loaded once.
SmallVector<Value> Emitter::emitTaps(ArrayRef<unsigned> loops, ArrayRef<int64_t> rows, ValueRange sums) {
  struct Tap {
    int64_t place, row, number;
  };
  SmallVector<Tap> taps;
  for (int64_t row : rows) {
    auto [first, last] = sight == Sight::open ? std::pair<int64_t, int64_t>(0, window->taps) : getKnownRange(row);
    for (int64_t tap = first; tap < last; ++tap)
      taps.push_back({row * window->stride + tap * window->dilation, row, tap});
  }
  llvm::sort(taps, [](const Tap &a, const Tap &b) { return std::pair(a.place, a.row) < std::pair(b.place, b.row); });
  for (unsigned loop : loops)
    position[loop] = constant(0);
  SmallVector<Value> results(sums), pixel(size.vectors);
  llvm::SmallDenseMap<std::pair<int64_t, int64_t>, Value> columns;
  std::optional<int64_t> place;
  for (const Tap &tap : taps) {
    position[window->loop] = constant(tap.number);
    for (int64_t v = 0; v < size.vectors; ++v) {
      Value &column = columns[{tap.number, v}], &sum = results[tap.row * size.vectors + v];
      if (!column)
        column = loadVector(contraction.vectors, 0, v);
      if (place != tap.place)
        pixel[v] = loadVector(contraction.scalars, tap.row, v, sight == Sight::open ? seesTap(tap.row) : Value());
      sum = vector::FMAOp::create(b, loc, pixel[v], column, sum);
    }
    place = tap.place;
  }
  return results;
}

/// Asks for what the vectors of a later step will be.
void Emitter::prefetchAhead(unsigned loop) {
  auto steps = op->getAttrOfType<IntegerAttr>(kPrefetchAttr);
  if (!steps)
    return;
  constexpr int64_t kLine = 64;
  int64_t perLine = kLine * 8 / type.getIntOrFloatBitWidth();
  Value later = affine::AffineApplyOp::create(
      b, loc, AffineMap::get(1, 0, b.getAffineDimExpr(0) + steps.getInt()), position[loop]);
  for (int64_t column = 0; column < size.vectors * lanes; column += perLine) {
    Value at = affine::AffineApplyOp::create(b, loc, AffineMap::get(1, 0, b.getAffineDimExpr(0) + column),
                                             position[contraction.columnLoop]);
    memref::PrefetchOp::create(b, loc, contraction.vectors.memory, ValueRange{later, at}, /*isWrite=*/false,
                               /*localityHint=*/2, /*isDataCache=*/true);
  }
}

/// While a panel is multiplied with all rows, the next one comes from memory: each block of rows asks for its part.
/// `loop` is the innermost one that sums. Nothing is asked for where there are few blocks. What lies beyond the last
/// panel may be asked for, too: that reads nothing.
void Emitter::prefetchPanel(unsigned loop) {
  if (contraction.panel == 0 || !contraction.rowLoop || size.rows != block.rows)
    return;
  std::optional<int64_t> rows = getConstantIntValue(extents[*contraction.rowLoop]), steps = getConstantIntValue(extents[loop]);
  int64_t perStep = loop == contraction.quadLoop ? 4 : 1;
  if (steps)
    *steps /= perStep;
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
  AffineMap map = contraction.vectors.map;
  int64_t stepDim = -1, panelDim = -1;
  for (auto [dim, index] : llvm::enumerate(map.getResults())) {
    if (index.isFunctionOfDim(loop) && dim + 1 < map.getNumResults())
      stepDim = dim;
    if (index.getKind() == AffineExprKind::FloorDiv && index.isFunctionOfDim(contraction.columnLoop))
      panelDim = dim;
  }
  if (stepDim < 0)
    return;
  int64_t share = llvm::divideCeil(*steps, blocks), perLine = perStep * contraction.panel / lines;
  AffineExpr step = b.getAffineDimExpr(places.size()).floorDiv(perStep), column = b.getAffineDimExpr(0);
  places.push_back(position[loop]);
  SmallVector<Value> indices = getIndices(contraction.vectors, 0, 0);
  auto replace = [&](unsigned dim, AffineExpr expr, ValueRange operands) {
    indices[dim] = affine::AffineApplyOp::create(b, loc, AffineMap::get(operands.size(), 0, expr), operands);
  };
  replace(stepDim, number * share + step.floorDiv(blocks), places);
  replace(indices.size() - 1, b.getAffineDimExpr(0).floorDiv(perStep) % lines * perLine, position[loop]);
  // The block has some panels side by side, and after them come as many.
  int64_t numPanels = llvm::divideCeil(size.vectors * lanes, contraction.panel);
  Value current = position[contraction.columnLoop];
  for (int64_t panel = numPanels; panel < 2 * numPanels; ++panel) {
    replace(panelDim, column.floorDiv(contraction.panel) + panel, current);
    memref::PrefetchOp::create(b, loc, contraction.vectors.memory, indices, /*isWrite=*/false, /*localityHint=*/2,
                               /*isDataCache=*/true);
  }
}

Value Emitter::loadElement(int64_t row) {
  if (!pixels.empty())
    return memref::LoadOp::create(b, loc, pixels[row], position[window->loop + 1]);
  return memref::LoadOp::create(b, loc, contraction.scalars.memory, getIndices(contraction.scalars, row, 0));
}

SmallVector<Value> Emitter::emitStep(ArrayRef<int64_t> rows, ValueRange sums) {
  SmallVector<Value> columns, results(sums);
  for (int64_t v = 0; v < size.vectors; ++v)
    columns.push_back(loadVector(contraction.vectors, 0, v));
  auto vectorType = VectorType::get({lanes}, type);
  for (int64_t row : rows) {
    Value element;
    if (!contraction.isColumnwise) {
      element = loadElement(row);
      element = vector::BroadcastOp::create(b, loc, vectorType, element);
    }
    for (int64_t v = 0; v < size.vectors; ++v) {
      Value factor = element ? element : loadVector(contraction.scalars, row, v);
      Value &sum = results[row * size.vectors + v];
      sum = vector::FMAOp::create(b, loc, factor, columns[v], sum);
    }
  }
  return results;
}

/// The quad of a row, with zeros for what there is not.
Value Emitter::loadQuad(int64_t row) {
  Value memory = pixels.empty() ? contraction.scalars.memory : pixels[row];
  SmallVector<Value> indices = pixels.empty() ? getIndices(contraction.scalars, row, 0)
                                              : SmallVector<Value>{position[window->loop + 1]};
  Value bytes = vector::LoadOp::create(b, loc, VectorType::get({quadBytes}, b.getI8Type()), memory, indices);
  auto quadType = VectorType::get({4}, b.getI8Type());
  if (quadBytes < 4) {
    Value zeros = arith::ConstantOp::create(b, loc, b.getZeroAttr(quadType));
    bytes = vector::InsertStridedSliceOp::create(b, loc, bytes, zeros, ArrayRef<int64_t>{0}, ArrayRef<int64_t>{1});
  }
  Value word = vector::BitCastOp::create(b, loc, VectorType::get({1}, type), bytes);
  return vector::ExtractOp::create(b, loc, word, ArrayRef<int64_t>{0});
}

/// Of a vector of columns. Panels hold zeros beyond the last column, and beyond what is summed.
Value Emitter::loadQuads(int64_t vector) {
  return vector::LoadOp::create(b, loc, VectorType::get({4 * lanes}, b.getI8Type()), contraction.vectors.memory,
                                getIndices(contraction.vectors, 0, vector * lanes));
}

SmallVector<Value> Emitter::emitQuadStep(ArrayRef<int64_t> rows, ValueRange sums) {
  SmallVector<SmallVector<Value>> columns;
  for (int64_t v = 0; v < size.vectors; ++v)
    columns.push_back(splitSigned(b, loc, byteProducts, loadQuads(v)));
  SmallVector<Value> results(sums);
  for (int64_t row : rows) {
    SmallVector<Value> element = splitUnsigned(b, loc, byteProducts, loadQuad(row), lanes);
    for (int64_t v = 0; v < size.vectors; ++v)
      for (auto [factor, column] : llvm::zip(element, columns[v])) {
        Value &sum = results[row * size.vectors + v];
        sum = addProducts(b, loc, byteProducts, sum, factor, column);
      }
  }
  return results;
}

/// The operation that fills the memory of the sums with zeros, where nothing comes between it and them.
static linalg::FillOp getZeroFill(linalg::GenericOp op) {
  Value out = op.getDpsInits()[0];
  for (Operation *before = op->getPrevNode(); before; before = before->getPrevNode()) {
    if (auto fill = dyn_cast<linalg::FillOp>(before); fill && fill.getOutputs()[0] == out)
      return isZero(fill.getInputs()[0]) ? fill : linalg::FillOp();
    if (!isPure(before))
      break;
  }
  return {};
}

namespace {
struct VectorizeContractions : public tenon::impl::VectorizeContractionsBase<VectorizeContractions> {
  using VectorizeContractionsBase::VectorizeContractionsBase;
  void runOnOperation() override {
    std::vector<std::pair<linalg::GenericOp, Contraction>> contractions;
    getOperation().walk([&](linalg::GenericOp op) {
      if (!op.hasPureBufferSemantics())
        return;
      if (std::optional<Contraction> contraction = matchContraction(op))
        contractions.emplace_back(op, *contraction);
    });
    for (auto &[op, contraction] : contractions) {
      Emitter emitter(op, contraction, vectorBytes, registers, byteProducts);
      if (linalg::FillOp fill = getZeroFill(op)) {
        emitter.startFromZero();
        fill.erase();
      }
      emitter.absorbEpilogue();
      emitter.emit();
      op.erase();
    }
  }
};
} // namespace
