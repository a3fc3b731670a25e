//===- AttentionWriter.cpp - what kernels of attention have in common -----===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/lower/tenon-to-linalg/AttentionWriter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/lower/tenon-to-linalg/Stages.h"

using namespace mlir;
using namespace tenon;

using Values = LineWriter::Values;

//===----------------------------------------------------------------------===//
// Extents
//===----------------------------------------------------------------------===//

AffineExpr tenon::getExtent(Value tensor, ArrayRef<int64_t> indices, int64_t index) {
  assert(llvm::is_contained(indices, index) && "the verifier wants an operand that has the index");
  return getDim(tensor, llvm::find(indices, index) - indices.begin());
}

static Value getYielded(AttentionOp op) { return cast<YieldOp>(op.getBody().front().getTerminator()).getValues()[0]; }

AffineExpr tenon::getNumQueries(AttentionOp op) {
  assert(op.getQueryIndex() && "attention is only fused where queries share keys");
  return getExtent(op.getScores(), op.getScoreDims(), *op.getQueryIndex());
}

std::pair<SmallVector<int64_t>, Dims> tenon::getOuter(AttentionOp op) {
  std::pair<SmallVector<int64_t>, Dims> result;
  for (auto [index, dim] : llvm::zip(op.getScoreDims(), getDims(op.getScores())))
    if (index != op.getQueryIndex() && index != op.getKeyIndex()) {
      result.first.push_back(index);
      result.second.push_back(dim);
    }
  return result;
}

AttentionWriter::AttentionWriter(LineWriter &w, KernelScope &scope, AttentionOp op, ValueRange outer)
    : BlockWriter(w, scope, outer, getAccumulatorType(getElementTypeOrSelf(op.getScores()))), op(op),
      outerIndices(getOuter(op).first), queryIndex(*op.getQueryIndex()), keyIndex(op.getKeyIndex()),
      numQueries(getNumQueries(op)), numKeys(getExtent(op.getScores(), op.getScoreDims(), keyIndex)),
      size(*getConstant(getExtent(op.getKeys(), op.getKeyDims(), op.getSizeIndex()))),
      valueSize(*getConstant(getExtent(op.getValues(), op.getValueDims(), op.getValueIndex()))) {
  lowest = APFloat::getLargest(cast<FloatType>(type).getFloatSemantics(), /*Negative=*/true).convertToDouble();
  tests = findLiveTests(op, placeScores(), dim(outer.size()), dim(outer.size() + 1));
}

SmallVector<AffineExpr> AttentionWriter::placeIndices(ArrayRef<AffineExpr> dims, ArrayRef<int64_t> indices,
                                                      int64_t rowIndex, int64_t columnIndex) {
  assert(indices.size() == dims.size() && "the verifier wants an index for each dimension");
  SmallVector<AffineExpr> at;
  for (auto [index, extent] : llvm::zip(indices, dims)) {
    int64_t position = index == rowIndex      ? outer.size()
                       : index == columnIndex ? outer.size() + 1
                                              : llvm::find(outerIndices, index) - outerIndices.begin();
    bool isStretched = getConstant(extent) == 1 && index != rowIndex && index != columnIndex;
    at.push_back(isStretched ? getDimConstant(op.getContext(), 0) : dim(position));
  }
  return at;
}

Matrix AttentionWriter::readMatrix(Value value, ArrayRef<int64_t> indices, int64_t rowIndex, const Span &rows,
                                   int64_t columnIndex, int64_t columns) {
  SmallVector<AffineExpr> at = placeIndices(value, indices, rowIndex, columnIndex);
  if (getElementTypeOrSelf(value) == type)
    if (Matrix matrix = readInPlace(value, at, rows, all(columns)); matrix.tensor)
      return matrix;
  return {copy(value, at, rows, columns), false};
}

Matrix AttentionWriter::readPairs(Value value, ArrayRef<int64_t> indices, int64_t rowIndex, const Span &rows,
                                  int64_t columnIndex, int64_t columns, bool areOfRows,
                                  std::optional<int64_t> numPairs) {
  SmallVector<AffineExpr> at = placeIndices(value, indices, rowIndex, columnIndex);
  Matrix matrix = readInPlace(value, at, rows, all(columns));
  if (!matrix.tensor)
    matrix = {copy(value, at, rows, columns), false};
  return pairUp(matrix, rows, all(columns), areOfRows, numPairs);
}

bool AttentionWriter::copiesKeys() {
  return getElementTypeOrSelf(op.getKeys()) != type || getElementTypeOrSelf(op.getValues()) != type;
}

//===----------------------------------------------------------------------===//
// Scores
//===----------------------------------------------------------------------===//

bool AttentionWriter::collectReads(Value value, ArrayRef<AffineExpr> at, int64_t &steps, SmallVectorImpl<Read> &reads) {
  Operation *definition = value.getDefiningOp();
  if (value == op.getScores())
    return true;
  if (--steps < 0)
    return false;
  if (!definition || !op->isProperAncestor(definition)) {
    reads.push_back({value, SmallVector<AffineExpr>(at)});
    return true;
  }
  if (std::optional<ElementSource> source = getMovedElement(value, at))
    return collectReads(source->value, source->indices, steps, reads);
  return !definition->hasTrait<Elementwise>() || llvm::all_of(definition->getOperands(), [&](Value operand) {
    return collectReads(operand, getOperandIndices(operand, value, at), steps, reads);
  });
}

std::optional<SmallVector<AttentionWriter::Read>> AttentionWriter::findReads() {
  SmallVector<Read> reads;
  int64_t steps = 512;
  if (!collectReads(getYielded(op), placeScores(), steps, reads))
    return std::nullopt;
  return reads;
}

Value AttentionWriter::emitScore(const Span &tile, Value scalar, ArrayRef<std::pair<Value, Value>> masked, Value query,
                                 Value key) {
  // Padding queries get the mask of the last query.
  if (getConstantIntValue(tile.count) != tile.most)
    query = arith::MinUIOp::create(w.b, w.loc, query, w.sub(extent(numQueries), w.index(1)));
  Values loops(outer);
  loops.append({query, key});
  ElementEmitter emitter(scope, w.b, w.loc, loops);
  emitter.bindElement(op.getScores(), fromAccumulator(w.b, w.loc, scalar, getElementTypeOrSelf(op.getScores())));
  for (auto [value, element] : masked)
    emitter.bindElement(value, fromStorage(w.b, w.loc, element, getElementTypeOrSelf(value)));
  Value yielded = getYielded(op);
  FailureOr<Value> score = emitter.emit(yielded, placeScores());
  hasFailed |= failed(score);
  return hasFailed ? scalar : castScalar(w.b, w.loc, *score, getElementTypeOrSelf(yielded), type);
}

Value AttentionWriter::larger(Value number, Value other) {
  Value isLarger = arith::CmpFOp::create(w.b, w.loc, arith::CmpFPredicate::OGT, other, number);
  return w.select(isLarger, other, number);
}

/// Emits a condition that is true if some key of a block is unmasked for some query of a tile.
Value AttentionWriter::isLive(const Span &tile, const Span &block) {
  auto getLast = [&](Value first, OpFoldResult count) {
    return w.sub(w.add(first, getValueOrCreateConstantIndexOp(w.b, w.loc, count)), w.index(1));
  };
  Value live;
  for (const LiveTest &test : tests) {
    Values loops(outer);
    loops.push_back(test.atLastQuery ? getLast(tile.first, tile.count) : tile.first);
    loops.push_back(test.atLastKey ? getLast(block.first, block.count) : block.first);
    ElementEmitter emitter(scope, w.b, w.loc, loops);
    FailureOr<Value> holds = emitter.emit(test.condition, test.indices);
    hasFailed |= failed(holds);
    if (hasFailed)
      return arith::ConstantOp::create(w.b, w.loc, w.b.getBoolAttr(true));
    Value counts = test.wanted ? *holds : w.isNot(*holds);
    live = live ? w.both(live, counts) : counts;
  }
  return live;
}

/// Emits a condition that is true if all keys were masked for some query. Then masked keys count for it after all.
Value AttentionWriter::hasDeadQuery(Value largest) {
  Value start = fill(empty({}), -lowest);
  Value least = forEach(1, largest, {map(1, {0}), map(1, {})}, start, [&](ValueRange elements) {
    return Values{arith::MinimumFOp::create(w.b, w.loc, elements[0], elements[1])};
  })[0];
  Value number = tensor::ExtractOp::create(w.b, w.loc, least, ValueRange());
  return w.isNot(arith::CmpFOp::create(w.b, w.loc, arith::CmpFPredicate::OGT, number, constant(kMaskedScore)));
}

//===----------------------------------------------------------------------===//
// Blocks of keys
//===----------------------------------------------------------------------===//

Values AttentionWriter::passLiveKeys(const Span &tile, int64_t length, Values carried, Value again, AddKeys add) {
  auto addWanted = [&](Value first, OpFoldResult count, Values sums) {
    Span block{first, length, count};
    if (!again)
      return add(block, sums);
    Value isWanted = arith::XOrIOp::create(w.b, w.loc, isLive(tile, block), again);
    return w.branch(isWanted, [&] { return add(block, sums); }, [&] { return sums; });
  };
  AffineExpr step = getDimConstant(op.getContext(), std::max<int64_t>(length, 1));
  AffineExpr numWhole = divDims(numKeys, step), rest = modDims(numKeys, step);
  AffineExpr whole = mulDims(numWhole, step);
  if (getConstant(numWhole) == 1)
    carried = addWanted(w.index(0), w.b.getIndexAttr(length), carried);
  else if (getConstant(numWhole) != 0)
    carried = w.repeat(w.index(0), extent(numWhole), carried, [&](Value i, ValueRange sums) {
      Value first = arith::MulIOp::create(w.b, w.loc, i, w.index(length));
      return addWanted(first, w.b.getIndexAttr(length), Values(sums));
    });
  if (getConstant(rest) == 0)
    return carried;
  OpFoldResult count = scope.getDimOrConstant(w.b, w.loc, rest);
  if (getConstant(rest))
    return addWanted(extent(whole), count, carried);
  return w.branch(
      w.isLess(w.index(0), extent(rest)), [&] { return addWanted(extent(whole), count, carried); },
      [&] { return carried; });
}

Values AttentionWriter::passKeys(const Span &tile, int64_t length, Values carried, AddKeys add) {
  if (tests.empty())
    return passLiveKeys(tile, length, carried, Value(), add);
  // The first pass is over blocks with unmasked keys. The second pass is over the others, and only runs if all keys of
  // some query are masked, so that all weigh the same.
  return w.repeat(w.index(0), w.index(2), carried, [&](Value round, ValueRange sums) {
    Value again = arith::CmpIOp::create(w.b, w.loc, arith::CmpIPredicate::ne, round, w.index(0));
    Value isWanted = w.either(w.isNot(again), hasDeadQuery(sums[largest]));
    return w.branch(
        isWanted, [&] { return passLiveKeys(tile, length, Values(sums), again, add); }, [&] { return Values(sums); });
  });
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

Value AttentionWriter::divide(Values carried, AffineMap mapOfSums) {
  // A sum of no values is 0.
  Value hasKeys = w.isLess(w.index(0), extent(numKeys)), zero = constant(0);
  bool zeroesQueries = op.getZeroesQueries();
  Value factors = forEach(1, {}, map(1, {0}), carried[sum], [&](ValueRange elements) {
    Value isSum = hasKeys;
    if (zeroesQueries)
      isSum = w.both(isSum, arith::CmpFOp::create(w.b, w.loc, arith::CmpFPredicate::OGT, elements[0], zero));
    return Values{w.select(isSum, arith::DivFOp::create(w.b, w.loc, constant(1), elements[0]), zero)};
  })[0];
  return forEach(2, factors, {mapOfSums, map(2, {0, 1})}, carried[mixed], [&](ValueRange elements) {
    Value product = arith::MulFOp::create(w.b, w.loc, elements[0], elements[1]);
    if (!zeroesQueries)
      return Values{product};
    Value isZeroed = arith::CmpFOp::create(w.b, w.loc, arith::CmpFPredicate::OEQ, elements[0], zero);
    return Values{w.select(isZeroed, zero, product)};
  })[0];
}

Value AttentionWriter::store(const Span &tile, Value rows, bool isTransposed, Value result) {
  SmallVector<AffineExpr> at = placeIndices(op.getResult(), op.getResultDims(), queryIndex, op.getValueIndex());
  Matrix target = slice(result, at, tile, all(valueSize));
  Type elementType = op.getType().getElementType();
  AffineMap from = isTransposed ? map(2, {1, 0}) : map(2, {0, 1}),
            to = target.isTransposed ? map(2, {1, 0}) : map(2, {0, 1});
  OpFoldResult values = w.b.getIndexAttr(valueSize);
  Value part = isTransposed ? cut(rows, values, tile.count) : cut(rows, tile.count, values);
  Value stored = forEach(2, part, {from, to}, target.tensor, [&](ValueRange elements) {
    return Values{castScalar(w.b, w.loc, elements[0], type, elementType)};
  })[0];
  auto place = target.tensor.getDefiningOp<tensor::ExtractSliceOp>();
  assert(place && "a tile is a slice of the result");
  return tensor::InsertSliceOp::create(w.b, w.loc, stored, result, place.getMixedOffsets(), place.getMixedSizes(),
                                       place.getMixedStrides());
}
