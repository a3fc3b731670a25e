//===- Attention.cpp - attention as loops over blocks of queries and keys -===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A tile is a block of queries. Blocks of keys pass by: their scores, the sums
// of the exponentials so far, and the weighted sums of the values, which are
// scaled down when a larger score comes along. Queries run along the vectors:
//
//     scores[key][query]  = sum of keys[key][size] * queries[size][query]
//     result[value][query] += values[key][value] * exp(scores[key][query] - largest[query])
//
// so that keys and values are read as they lie in memory, an element at a time,
// and everything between both products is done for each query by itself. Only
// queries and results are transposed, once for a tile.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/Kernel.h"
#include "passes/cost/AttentionPolicy.h"
#include "passes/lower/tenon-to-linalg/Blocks.h"
#include "passes/lower/tenon-to-linalg/MaskedKeyBlocks.h"
#include "passes/lower/tenon-to-linalg/Stages.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tenon;

namespace {

using Values = LineWriter::Values;

/// Queries of a tile for the remainder, which masks in memory are padded to.
constexpr int64_t kFewQueries = kQueriesTogether; // format: of packed masks

/// A tensor that the body reads an element of for each score.
struct Mask {
  Value value;
  SmallVector<AffineExpr> at;
};

class AttentionWriter : BlockWriter {
public:
  using BlockWriter::hasFailed;

  AttentionWriter(LineWriter &w, KernelScope &scope, AttentionOp op, ValueRange outer);
  /// The result with the tile of that number.
  Value writeTile(Value number, Value result);
  static AffineExpr getTileCount(AttentionOp op, const AttentionPolicy &policy = {});

private:
  // What is carried from one block of keys to the next: of each query the largest score, the sum of the exponentials,
  // and the sums of values.
  enum Carried { largest, sum, mixed };

  Value writeQueries(const Span &tile, Value result);
  Value readQueries(const Span &tile);
  Values startSums(const Span &tile);
  Values passKeys(const Span &tile, Value queries, Values carried);
  Values passLiveKeys(const Span &tile, Value queries, Values carried, Value again);
  Values addKeys(const Span &tile, const Span &block, Value queries, Values carried);
  Values scaleDown(const Span &tile, Value blockLargest, Values carried);
  Value storeResult(const Span &tile, Values carried, Value result);
  Value larger(Value number, Value other);
  Values forScores(ArrayRef<Value> inputs, ArrayRef<Value> outputs, Body body);
  Value emitScore(const Span &tile, Value scalar, ArrayRef<std::pair<Value, Value>> masked, Value query, Value key);
  bool hasRoom(const Mask &mask);
  SmallVector<std::pair<Value, Value>> readMasks(const Span &tile, const Span &block);
  Value isLive(const Span &tile, const Span &block);
  Value hasDeadQuery(Value largest);

  Matrix readMatrix(Value value, ArrayRef<int64_t> indices, int64_t rowIndex, const Span &rows, int64_t columnIndex,
                    int64_t columns);
  void findMasks(ArrayRef<AffineExpr> at);
  SmallVector<AffineExpr> placeIndices(Value value, ArrayRef<int64_t> indices, int64_t rowIndex, int64_t columnIndex);

  AttentionOp op;
  SmallVector<int64_t> outerIndices; ///< of the scores, but those of queries and keys
  int64_t queryIndex, keyIndex;
  AffineExpr numQueries, numKeys;
  int64_t size, valueSize;
  double lowest;
  SmallVector<LiveTest> tests;
  SmallVector<Mask> masks;
  AttentionPolicy policy;
};

} // namespace

//===----------------------------------------------------------------------===//
// Extents
//===----------------------------------------------------------------------===//

/// The extent of an index of an operand of attention.
static AffineExpr getExtent(Value tensor, ArrayRef<int64_t> indices, int64_t index) {
  assert(llvm::is_contained(indices, index) && "the verifier wants an operand that has the index");
  return getDim(tensor, llvm::find(indices, index) - indices.begin());
}

static Value getYielded(AttentionOp op) { return cast<YieldOp>(op.getBody().front().getTerminator()).getValues()[0]; }

static AffineExpr getNumQueries(AttentionOp op) {
  assert(op.getQueryIndex() && "attention is only fused where queries share keys");
  return getExtent(op.getScores(), op.getScoreDims(), *op.getQueryIndex());
}

/// The indices of the scores but for those of queries and keys, and their extents.
static std::pair<SmallVector<int64_t>, Dims> getOuter(AttentionOp op) {
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
  SmallVector<AffineExpr> at = placeIndices(op.getScores(), op.getScoreDims(), queryIndex, keyIndex);
  tests = findLiveTests(op, at, dim(outer.size()), dim(outer.size() + 1));
  findMasks(at);
}

/// How many queries a tile has.
static int64_t getWidth(AttentionOp op, const AttentionPolicy &policy) {
  int64_t numbers = *getConstant(getExtent(op.getKeys(), op.getKeyDims(), op.getSizeIndex())) +
                    *getConstant(getExtent(op.getValues(), op.getValueDims(), op.getValueIndex()));
  if (getElementTypeOrSelf(op.getScores()).isF64())
    numbers *= 2;
  int64_t width = policy.tileQueries;
  while (width > kFewQueries && numbers * width > policy.elementsPerQuery * policy.tileQueries)
    width /= 2;
  return width;
}

/// The tiles of full width, then those of the queries that are left.
static std::pair<AffineExpr, AffineExpr> getTileCounts(AttentionOp op, const AttentionPolicy &policy) {
  AffineExpr numQueries = getNumQueries(op), width = getDimConstant(op.getContext(), getWidth(op, policy));
  AffineExpr few = getDimConstant(op.getContext(), kFewQueries);
  return {divDims(numQueries, width), ceilDivDims(modDims(numQueries, width), few)};
}

AffineExpr AttentionWriter::getTileCount(AttentionOp op, const AttentionPolicy &policy) {
  auto [full, few] = getTileCounts(op, policy);
  return addDims(full, few);
}

/// The indices at which `value` is read: loops for its outer dimensions, then for rows and columns.
SmallVector<AffineExpr> AttentionWriter::placeIndices(Value value, ArrayRef<int64_t> indices, int64_t rowIndex,
                                                      int64_t columnIndex) {
  assert(indices.size() == getDims(value).size() && "the verifier wants an index for each dimension");
  SmallVector<AffineExpr> at;
  for (auto [index, extent] : llvm::zip(indices, getDims(value))) {
    int64_t position = index == rowIndex      ? outer.size()
                       : index == columnIndex ? outer.size() + 1
                                              : llvm::find(outerIndices, index) - outerIndices.begin();
    bool isStretched = getConstant(extent) == 1 && index != rowIndex && index != columnIndex;
    at.push_back(isStretched ? getDimConstant(op.getContext(), 0) : dim(position));
  }
  return at;
}

/// Rows and columns of an operand: as they lie in memory where they are of the right type, else a copy.
Matrix AttentionWriter::readMatrix(Value value, ArrayRef<int64_t> indices, int64_t rowIndex, const Span &rows,
                                   int64_t columnIndex, int64_t columns) {
  SmallVector<AffineExpr> at = placeIndices(value, indices, rowIndex, columnIndex);
  if (getElementTypeOrSelf(value) == type)
    if (Matrix matrix = readInPlace(value, at, rows, all(columns)); matrix.tensor)
      return matrix;
  return {copy(value, at, rows, columns), false};
}

//===----------------------------------------------------------------------===//
// Queries and results
//===----------------------------------------------------------------------===//

/// The queries of a tile as [size][query]. What has no query is 0.
Value AttentionWriter::readQueries(const Span &tile) {
  Matrix matrix = readMatrix(op.getQueries(), op.getQueryDims(), queryIndex, tile, op.getSizeIndex(), size);
  Value queries = empty({size, tile.most});
  if (getConstantIntValue(tile.count) != tile.most)
    queries = fill(queries, 0);
  return transpose(matrix, tile.count, w.b.getIndexAttr(size), queries);
}

Value AttentionWriter::storeResult(const Span &tile, Values carried, Value result) {
  // A sum of no values is 0.
  Value hasKeys = w.isLess(w.index(0), extent(numKeys)), zero = constant(0);
  bool zeroesQueries = op.getZeroesQueries();
  Value factors = forEach(1, {}, map(1, {0}), carried[sum], [&](ValueRange elements) {
    Value isSum = hasKeys;
    if (zeroesQueries)
      isSum = w.both(isSum, arith::CmpFOp::create(w.b, w.loc, arith::CmpFPredicate::OGT, elements[0], zero));
    return Values{w.select(isSum, arith::DivFOp::create(w.b, w.loc, constant(1), elements[0]), zero)};
  })[0];
  Value scaled = forEach(2, factors, {map(2, {1}), map(2, {0, 1})}, carried[mixed], [&](ValueRange elements) {
    Value product = arith::MulFOp::create(w.b, w.loc, elements[0], elements[1]);
    if (!zeroesQueries)
      return Values{product};
    Value isZeroed = arith::CmpFOp::create(w.b, w.loc, arith::CmpFPredicate::OEQ, elements[0], zero);
    return Values{w.select(isZeroed, zero, product)};
  })[0];
  SmallVector<AffineExpr> at = placeIndices(op.getResult(), op.getResultDims(), queryIndex, op.getValueIndex());
  Matrix target = slice(result, at, tile, all(valueSize));
  Type elementType = op.getType().getElementType();
  AffineMap to = target.isTransposed ? map(2, {1, 0}) : map(2, {0, 1});
  Value rows =
      forEach(2, cut(scaled, w.b.getIndexAttr(valueSize), tile.count), {map(2, {1, 0}), to}, target.tensor,
              [&](ValueRange elements) { return Values{castScalar(w.b, w.loc, elements[0], type, elementType)}; })[0];
  auto part = target.tensor.getDefiningOp<tensor::ExtractSliceOp>();
  assert(part && "a tile is a slice of the result");
  return tensor::InsertSliceOp::create(w.b, w.loc, rows, result, part.getMixedOffsets(), part.getMixedSizes(),
                                       part.getMixedStrides());
}

//===----------------------------------------------------------------------===//
// Scores
//===----------------------------------------------------------------------===//

/// Collects what `value`, of the body, reads from outside for a score; false where there are too many paths to tell.
static bool collectReads(AttentionOp op, Value value, ArrayRef<AffineExpr> at, int64_t &steps,
                         SmallVectorImpl<Mask> &reads) {
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
    return collectReads(op, source->value, source->indices, steps, reads);
  return !definition->hasTrait<Elementwise>() || llvm::all_of(definition->getOperands(), [&](Value operand) {
    return collectReads(op, operand, getOperandIndices(operand, value, at), steps, reads);
  });
}

/// Finds what has an element for each score, and is read at one place alone. Read as it lies it would be gathered:
/// memory has the keys side by side, and vectors the queries.
void AttentionWriter::findMasks(ArrayRef<AffineExpr> at) {
  SmallVector<Mask> reads;
  int64_t steps = 512;
  if (!collectReads(op, getYielded(op), at, steps, reads))
    return;
  for (const Mask &read : reads) {
    auto dependsOn = [&](unsigned loop) {
      return llvm::any_of(read.at, [&](AffineExpr index) { return index.isFunctionOfDim(loop); });
    };
    bool isAlone =
        llvm::all_of(reads, [&](const Mask &other) { return other.value != read.value || other.at == read.at; });
    bool isKnown = llvm::any_of(masks, [&](const Mask &mask) { return mask.value == read.value; });
    if (isAlone && !isKnown && static_cast<int64_t>(masks.size()) < policy.maxMasks && dependsOn(outer.size()) &&
        dependsOn(outer.size() + 1))
      masks.push_back(read);
  }
}

/// Whether memory has queries side by side, and room for all of the last tile: then a block is read where it lies.
bool AttentionWriter::hasRoom(const Mask &mask) {
  std::optional<int64_t> queries = getConstant(numQueries), room = getConstant(getDims(mask.value).back());
  return queries && room && mask.at.back() == dim(outer.size()) &&
         *room >= int64_t(llvm::alignTo(*queries, kFewQueries));
}

/// Blocks of masks as [key][query], each with the value it is of. What has no query is left undefined.
SmallVector<std::pair<Value, Value>> AttentionWriter::readMasks(const Span &tile, const Span &block) {
  SmallVector<std::pair<Value, Value>> blocks;
  for (const Mask &mask : masks) {
    if (hasRoom(mask)) {
      Span all{tile.first, tile.most, w.b.getIndexAttr(tile.most)};
      if (Matrix matrix = readInPlace(mask.value, mask.at, all, block); matrix.tensor && matrix.isTransposed) {
        blocks.push_back({mask.value, matrix.tensor});
        continue;
      }
    }
    Matrix matrix = readInPlace(mask.value, mask.at, tile, block);
    if (!matrix.tensor)
      continue;
    Value memory = empty({block.most, tile.most}, getElementTypeOrSelf(matrix.tensor));
    Value whole = transpose(matrix, tile.count, block.count, memory);
    blocks.push_back({mask.value, cut(whole, block.count, w.b.getIndexAttr(tile.most))});
  }
  return blocks;
}

/// What the body makes of a score. `masked` are elements of masks, as they are stored.
Value AttentionWriter::emitScore(const Span &tile, Value scalar, ArrayRef<std::pair<Value, Value>> masked, Value query,
                                 Value key) {
  // What has no query is given the mask of the last one.
  if (getConstantIntValue(tile.count) != tile.most)
    query = arith::MinUIOp::create(w.b, w.loc, query, w.sub(extent(numQueries), w.index(1)));
  Values loops(outer);
  loops.append({query, key});
  ElementEmitter emitter(scope, w.b, w.loc, loops);
  emitter.bindElement(op.getScores(), fromAccumulator(w.b, w.loc, scalar, getElementTypeOrSelf(op.getScores())));
  for (auto [value, element] : masked)
    emitter.bindElement(value, fromStorage(w.b, w.loc, element, getElementTypeOrSelf(value)));
  Value yielded = getYielded(op);
  FailureOr<Value> score = emitter.emit(yielded, placeIndices(op.getScores(), op.getScoreDims(), queryIndex, keyIndex));
  hasFailed |= failed(score);
  return hasFailed ? scalar : castScalar(w.b, w.loc, *score, getElementTypeOrSelf(yielded), type);
}

/// Whether some key of a block may count for some query of a tile.
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

/// Whether some query has found no key yet that counts. Then keys that do not count do after all.
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

Values AttentionWriter::startSums(const Span &tile) {
  // The largest score starts with a finite number: what is subtracted from -inf must not be -inf.
  return {fill(empty({tile.most}), lowest), fill(empty({tile.most}), 0), fill(empty({valueSize, tile.most}), 0)};
}

/// The larger one of two numbers, of which the first is none that is not a number; so is the result. The weight of a
/// score that is not a number is none either, which is how one reaches the result.
Value AttentionWriter::larger(Value number, Value other) {
  Value isLarger = arith::CmpFOp::create(w.b, w.loc, arith::CmpFPredicate::OGT, other, number);
  return w.select(isLarger, other, number);
}

/// Changes scores and a number of each query: a vector of queries at a time, whose number stays in a register. Inputs
/// have an element for each score, or for each query.
Values AttentionWriter::forScores(ArrayRef<Value> inputs, ArrayRef<Value> outputs, Body body) {
  auto split = [&](Value tensor) -> Value {
    auto shape = cast<RankedTensorType>(tensor.getType());
    SmallVector<int64_t> parts(shape.getShape().drop_back());
    parts.append({shape.getShape().back() / kFewQueries, kFewQueries});
    SmallVector<ReassociationIndices> groups(shape.getRank());
    for (auto [i, group] : llvm::enumerate(groups))
      group.push_back(i);
    groups.back().push_back(shape.getRank());
    return tensor::ExpandShapeOp::create(w.b, w.loc, shape.clone(parts), tensor, groups);
  };
  auto join = [&](Value tensor, Value like) -> Value {
    SmallVector<ReassociationIndices> groups(cast<RankedTensorType>(like.getType()).getRank());
    for (auto [i, group] : llvm::enumerate(groups))
      group.push_back(i);
    groups.back().push_back(groups.size());
    return tensor::CollapseShapeOp::create(w.b, w.loc, like.getType(), tensor, groups);
  };
  SmallVector<AffineMap> maps;
  for (Value tensor : llvm::concat<const Value>(inputs, outputs))
    maps.push_back(cast<RankedTensorType>(tensor.getType()).getRank() == 1 ? map(3, {0, 2}) : map(3, {1, 0, 2}));
  Values changed = forEach(3, llvm::map_to_vector(inputs, split), maps, llvm::map_to_vector(outputs, split), body);
  return {join(changed[0], outputs[0]), join(changed[1], outputs[1])};
}

/// Takes the largest scores of a block in. Sums so far are of exponentials that were larger than they are now.
Values AttentionWriter::scaleDown(const Span &tile, Value blockLargest, Values carried) {
  AffineMap each = map(1, {0});
  Value outputs[] = {empty({tile.most}), carried[largest], carried[sum]};
  Values scaled = forEach(1, blockLargest, {each, each, each, each}, outputs, [&](ValueRange elements) {
    Value before = elements[2], now = larger(before, elements[0]);
    Value factor = math::ExpOp::create(w.b, w.loc, arith::SubFOp::create(w.b, w.loc, before, now));
    return Values{factor, now, arith::MulFOp::create(w.b, w.loc, elements[3], factor)};
  });
  Value values = forEach(2, scaled[0], {map(2, {1}), map(2, {0, 1})}, carried[mixed], [&](ValueRange elements) {
    return Values{arith::MulFOp::create(w.b, w.loc, elements[0], elements[1])};
  })[0];
  return {scaled[1], scaled[2], values};
}

Values AttentionWriter::addKeys(const Span &tile, const Span &block, Value queries, Values carried) {
  Matrix keys = readMatrix(op.getKeys(), op.getKeyDims(), keyIndex, block, op.getSizeIndex(), size);
  Value scores = cut(empty({block.most, tile.most}), block.count, w.b.getIndexAttr(tile.most));
  scores = multiply(keys, /*isOfColumns=*/false, queries, fill(scores, 0));

  bool isOnly = getConstant(numKeys) == block.most;
  Value start = isOnly ? carried[largest] : fill(empty({tile.most}), -std::numeric_limits<double>::infinity());
  SmallVector<std::pair<Value, Value>> blocks = readMasks(tile, block);
  SmallVector<Value> maskBlocks = llvm::map_to_vector(blocks, [](auto &pair) { return pair.second; });
  Values changed = forScores(maskBlocks, {scores, start}, [&](ValueRange elements) {
    SmallVector<std::pair<Value, Value>> masked;
    for (auto [i, pair] : llvm::enumerate(blocks))
      masked.push_back({pair.first, elements[i]});
    elements = elements.drop_front(blocks.size());
    Value part = arith::MulIOp::create(w.b, w.loc, linalg::IndexOp::create(w.b, w.loc, 0), w.index(kFewQueries));
    Value query = w.add(tile.first, w.add(part, linalg::IndexOp::create(w.b, w.loc, 2)));
    Value key = w.add(block.first, linalg::IndexOp::create(w.b, w.loc, 1));
    Value score = emitScore(tile, elements[0], masked, query, key);
    return Values{score, larger(elements[1], score)};
  });
  if (isOnly)
    carried = {changed[1], carried[sum], fill(empty({valueSize, tile.most}), 0)};
  else
    carried = scaleDown(tile, changed[1], carried);
  Values weights = forScores(carried[largest], {changed[0], carried[sum]}, [&](ValueRange elements) {
    Value weight = emitSoftmaxWeight(w.b, w.loc, arith::SubFOp::create(w.b, w.loc, elements[1], elements[0]));
    return Values{weight, arith::AddFOp::create(w.b, w.loc, elements[2], weight)};
  });
  Matrix values = readMatrix(op.getValues(), op.getValueDims(), keyIndex, block, op.getValueIndex(), valueSize);
  return {carried[largest], weights[1], multiply(values, /*isOfColumns=*/true, weights[0], carried[mixed])};
}

/// All blocks, or where tests tell those that count from the others, one kind of them.
Values AttentionWriter::passLiveKeys(const Span &tile, Value queries, Values carried, Value again) {
  bool isMasked = !tests.empty() || !masks.empty();
  int64_t length = isMasked ? policy.maskedBlockKeys : policy.blockKeys;
  auto isCopied = [&](Value value) { return getElementTypeOrSelf(value) != type; };
  if (isCopied(op.getKeys()) || isCopied(op.getValues()))
    length = std::max<int64_t>(1, std::min(length, policy.maxCopiedElements / (4 * (size + valueSize))));
  else if (std::optional<int64_t> all = getConstant(numKeys);
           all && *all <= (isMasked ? policy.maskedBlockKeys : policy.maxUnblockedKeys))
    length = *all;
  auto add = [&](Value first, OpFoldResult count, Values sums) {
    Span block{first, length, count};
    if (!again)
      return addKeys(tile, block, queries, sums);
    Value isWanted = arith::XOrIOp::create(w.b, w.loc, isLive(tile, block), again);
    return w.branch(isWanted, [&] { return addKeys(tile, block, queries, sums); }, [&] { return sums; });
  };
  AffineExpr step = getDimConstant(op.getContext(), std::max<int64_t>(length, 1));
  AffineExpr numWhole = divDims(numKeys, step), rest = modDims(numKeys, step);
  AffineExpr whole = mulDims(numWhole, step);
  if (getConstant(numWhole) == 1)
    carried = add(w.index(0), w.b.getIndexAttr(length), carried);
  else if (getConstant(numWhole) != 0)
    carried = w.repeat(w.index(0), extent(numWhole), carried, [&](Value i, ValueRange sums) {
      Value first = arith::MulIOp::create(w.b, w.loc, i, w.index(length));
      return add(first, w.b.getIndexAttr(length), Values(sums));
    });
  if (getConstant(rest) == 0)
    return carried;
  OpFoldResult count = scope.getDimOrConstant(w.b, w.loc, rest);
  if (getConstant(rest))
    return add(extent(whole), count, carried);
  return w.branch(
      w.isLess(w.index(0), extent(rest)), [&] { return add(extent(whole), count, carried); }, [&] { return carried; });
}

Values AttentionWriter::passKeys(const Span &tile, Value queries, Values carried) {
  if (tests.empty())
    return passLiveKeys(tile, queries, carried, Value());
  // First those that count. The others only where a query has none that does, and all are alike.
  return w.repeat(w.index(0), w.index(2), carried, [&](Value round, ValueRange sums) {
    Value again = arith::CmpIOp::create(w.b, w.loc, arith::CmpIPredicate::ne, round, w.index(0));
    Value isWanted = w.either(w.isNot(again), hasDeadQuery(sums[largest]));
    return w.branch(
        isWanted, [&] { return passLiveKeys(tile, queries, Values(sums), again); }, [&] { return Values(sums); });
  });
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

Value AttentionWriter::writeQueries(const Span &tile, Value result) {
  Value queries = readQueries(tile);
  return storeResult(tile, passKeys(tile, queries, startSums(tile)), result);
}

Value AttentionWriter::writeTile(Value number, Value result) {
  auto [numFull, numFew] = getTileCounts(op, policy);
  int64_t width = getWidth(op, policy);
  auto writeFull = [&] {
    Value first = arith::MulIOp::create(w.b, w.loc, number, w.index(width));
    return Values{writeQueries({first, width, w.b.getIndexAttr(width)}, result)};
  };
  auto writeFew = [&] {
    Value start = extent(mulDims(numFull, getDimConstant(op.getContext(), width)));
    Value offset = arith::MulIOp::create(w.b, w.loc, w.sub(number, extent(numFull)), w.index(kFewQueries));
    Value first = w.add(start, offset);
    Value rest = w.sub(extent(numQueries), first);
    OpFoldResult rows = arith::MinUIOp::create(w.b, w.loc, rest, w.index(kFewQueries)).getResult();
    if (std::optional<int64_t> all = getConstant(numQueries); all && *all % kFewQueries == 0)
      rows = w.b.getIndexAttr(kFewQueries);
    return Values{writeQueries({first, kFewQueries, rows}, result)};
  };
  if (getConstant(numFew) == 0)
    return writeFull()[0];
  if (getConstant(numFull) == 0)
    return writeFew()[0];
  return w.branch(w.isLess(number, extent(numFull)), writeFull, writeFew)[0];
}

FailureOr<Value> StageBuilder::lowerAttention(AttentionOp op, Value destination) {
  Location loc = op.getLoc();
  if (!destination)
    destination =
        scope.createEmpty(builder, loc, getDims(op.getResult()), getStorageType(op.getType().getElementType()));
  Dims lines = getOuter(op).second;
  lines.push_back(AttentionWriter::getTileCount(op));
  bool hasFailed = false;
  FailureOr<SmallVector<Value>> results = buildLines(
      builder, scope, loc, lines, destination, [&](LineWriter &w, ValueRange place, ValueRange tensors) -> Values {
        AttentionWriter writer(w, scope, op, place.drop_back());
        Value result = writer.writeTile(place.back(), tensors[0]);
        hasFailed = writer.hasFailed;
        return {result};
      });
  if (failed(results) || hasFailed)
    return failure();
  return results->front();
}
