//===- Attention.cpp - attention as loops over blocks of queries and keys -===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Queries run along the vectors:
//
//     scores[key][query]  = sum of keys[key][size] * queries[size][query]
//     result[value][query] += values[key][value] * exp(scores[key][query] - largest[query])
//
// so that keys and values are read as they lie in memory, an element at a time,
// and everything between both products is done for each query by itself. Only
// queries and results are transposed, once for a tile.
//
// With `bf16_products` the factors are rounded to bf16, in pairs along both sums:
// queries once for a tile, keys, weights and values for each block of keys.
//
// In AMX tiles, pairs of keys and values are loaded as [key][pair] and
// [value][pair], whichever of them is contiguous in memory, in whole steps.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/Kernel.h"
#include "passes/cost/Machine.h"
#include "passes/cost/StackPolicy.h"
#include "passes/lower/tenon-to-linalg/AttentionWriter.h"
#include "passes/lower/tenon-to-linalg/Stages.h"
#include "passes/paths/split/Bf16Terms.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tenon;

namespace {

using Values = LineWriter::Values;

/// The number of queries in a tile of the remaining queries. Masks in memory are padded to a multiple of it.
constexpr int64_t kFewQueries = kQueriesTogether; // format: of packed masks

class ManyQueriesWriter : AttentionWriter {
public:
  using AttentionWriter::hasFailed;

  ManyQueriesWriter(LineWriter &w, KernelScope &scope, AttentionOp op, ValueRange outer)
      : AttentionWriter(w, scope, op, outer),
        hasAmxTiles(op.getBf16Products() && getMachine(op).amxBf16 && policy.fillsAmxTiles(size, valueSize)) {
    findMasks();
  }
  /// The result with the tile of that number.
  Value writeTile(Value number, Value result);
  static AffineExpr getTileCount(AttentionOp op, const AttentionPolicy &policy = {});

private:
  Value writeQueries(const Span &tile, Value result);
  Value readQueries(const Span &tile);
  Values startSums(const Span &tile);
  int64_t countMoved();
  int64_t countStackBytes(int64_t keys, int64_t copied);
  int64_t getBlockLength();
  Value computeScores(const Span &block, Value queries, Value scores);
  Value addValues(const Span &tile, const Span &block, Value weights, Value sums, bool isOnly);
  Values addKeys(const Span &tile, const Span &block, Value queries, Values carried);
  Values scaleDown(const Span &tile, Value blockLargest, Values carried);
  Values forScores(ArrayRef<Value> inputs, ArrayRef<Value> outputs, Body body);
  bool hasRoom(const Read &mask);
  SmallVector<std::pair<Value, Value>> readMasks(const Span &tile, const Span &block);
  void findMasks();
  std::optional<int64_t> countPairs(const Span &elements);
  Matrix placePairs(const Matrix &pairs, bool isOfColumns, const Span &rows);
  kernel::MicroKernel getMicroKernel() const {
    return hasAmxTiles ? kernel::MicroKernel::amx_bf16_pairs : kernel::MicroKernel::automatic;
  }

  const bool hasAmxTiles;
  SmallVector<Read> masks;
};

} // namespace

//===----------------------------------------------------------------------===//
// Extents
//===----------------------------------------------------------------------===//

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

/// Returns the number of full tiles, and of tiles for the remaining queries.
static std::pair<AffineExpr, AffineExpr> getTileCounts(AttentionOp op, const AttentionPolicy &policy) {
  AffineExpr numQueries = getNumQueries(op), width = getDimConstant(op.getContext(), getWidth(op, policy));
  AffineExpr few = getDimConstant(op.getContext(), kFewQueries);
  return {divDims(numQueries, width), ceilDivDims(modDims(numQueries, width), few)};
}

AffineExpr ManyQueriesWriter::getTileCount(AttentionOp op, const AttentionPolicy &policy) {
  auto [full, few] = getTileCounts(op, policy);
  return addDims(full, few);
}

//===----------------------------------------------------------------------===//
// Queries and results
//===----------------------------------------------------------------------===//

/// Reads the queries of a tile as [size][query], padded with zeros; or pairs of bf16 along the sizes.
Value ManyQueriesWriter::readQueries(const Span &tile) {
  if (op.getBf16Products()) {
    Matrix pairs = readPairs(op.getQueries(), op.getQueryDims(), queryIndex, tile, op.getSizeIndex(), size,
                             /*areOfRows=*/false);
    int64_t numPairs = llvm::divideCeil(size, 2), numPadded = countPairs(all(size)).value_or(numPairs);
    Value queries = empty({numPadded, tile.most}, w.b.getI32Type());
    if (getConstantIntValue(tile.count) != tile.most || numPadded != numPairs)
      queries = fillPairs(queries);
    return transpose(pairs, tile.count, w.b.getIndexAttr(numPairs), queries);
  }
  Matrix matrix = readMatrix(op.getQueries(), op.getQueryDims(), queryIndex, tile, op.getSizeIndex(), size);
  Value queries = empty({size, tile.most});
  if (getConstantIntValue(tile.count) != tile.most)
    queries = fill(queries, 0);
  return transpose(matrix, tile.count, w.b.getIndexAttr(size), queries);
}

//===----------------------------------------------------------------------===//
// Products of pairs
//===----------------------------------------------------------------------===//

/// Returns the pairs of a sum in AMX tiles, which is padded to whole steps; none if products are summed in vectors.
std::optional<int64_t> ManyQueriesWriter::countPairs(const Span &elements) {
  if (!hasAmxTiles)
    return std::nullopt;
  int64_t number = getConstantIntValue(elements.count).value_or(elements.most);
  return llvm::alignTo(llvm::divideCeil(number, 2), chooseStep(number) / 2);
}

/// Returns pairs as AMX tiles load them, those of each of some rows of the result side by side; others as they are.
Matrix ManyQueriesWriter::placePairs(const Matrix &pairs, bool isOfColumns, const Span &rows) {
  if (!hasAmxTiles || pairs.isTransposed == isOfColumns)
    return pairs;
  int64_t numPairs = cast<RankedTensorType>(pairs.tensor.getType()).getDimSize(0);
  Value moved = transpose({pairs.tensor, /*isTransposed=*/false}, w.b.getIndexAttr(numPairs), rows.count,
                          empty({rows.most, numPairs}, w.b.getI32Type()));
  return {cut(moved, rows.count, w.b.getIndexAttr(numPairs)), isOfColumns};
}

//===----------------------------------------------------------------------===//
// Scores
//===----------------------------------------------------------------------===//

/// Finds the reads that have an element for each score and a single use. In the model's layout they would be gathered,
/// because keys are contiguous in memory, but vectors run along queries.
void ManyQueriesWriter::findMasks() {
  std::optional<SmallVector<Read>> reads = findReads();
  if (!reads)
    return;
  for (const Read &read : *reads) {
    auto dependsOn = [&](unsigned loop) {
      return llvm::any_of(read.at, [&](AffineExpr index) { return index.isFunctionOfDim(loop); });
    };
    bool isAlone =
        llvm::all_of(*reads, [&](const Read &other) { return other.value != read.value || other.at == read.at; });
    bool isKnown = llvm::any_of(masks, [&](const Read &mask) { return mask.value == read.value; });
    if (isAlone && !isKnown && static_cast<int64_t>(masks.size()) < policy.maxMasks && dependsOn(outer.size()) &&
        dependsOn(outer.size() + 1))
      masks.push_back(read);
  }
}

/// True if queries are contiguous in memory, and padded to the last full tile: then a block is read in place.
bool ManyQueriesWriter::hasRoom(const Read &mask) {
  std::optional<int64_t> queries = getConstant(numQueries), room = getConstant(getDims(mask.value).back());
  return queries && room && mask.at.back() == dim(outer.size()) &&
         *room >= int64_t(llvm::alignTo(*queries, kFewQueries));
}

/// Reads blocks of masks as [key][query], each with the value that it belongs to. Padding is left undefined.
SmallVector<std::pair<Value, Value>> ManyQueriesWriter::readMasks(const Span &tile, const Span &block) {
  SmallVector<std::pair<Value, Value>> blocks;
  for (const Read &mask : masks) {
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

//===----------------------------------------------------------------------===//
// Blocks of keys
//===----------------------------------------------------------------------===//

Values ManyQueriesWriter::startSums(const Span &tile) {
  // The largest score is initialized to a finite number, because -inf - -inf would be NaN.
  return {fill(empty({tile.most}), lowest), fill(empty({tile.most}), 0), fill(empty({valueSize, tile.most}), 0)};
}

/// Updates scores and a number per query, one vector of queries at a time; the number stays in a register. Inputs have
/// an element for each score, or for each query.
Values ManyQueriesWriter::forScores(ArrayRef<Value> inputs, ArrayRef<Value> outputs, Body body) {
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

/// Merges the largest scores of a block into the running maximum, and rescales the sums of exponentials accordingly
/// (online softmax).
Values ManyQueriesWriter::scaleDown(const Span &tile, Value blockLargest, Values carried) {
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

/// Returns the products of the keys of a block with the queries, in `scores`. It is zeroed last, so that the product
/// begins with zeros instead of reading them.
Value ManyQueriesWriter::computeScores(const Span &block, Value queries, Value scores) {
  if (!op.getBf16Products()) {
    Matrix keys = readMatrix(op.getKeys(), op.getKeyDims(), keyIndex, block, op.getSizeIndex(), size);
    return multiply(keys, /*isOfColumns=*/false, queries, fill(scores, 0));
  }
  Matrix keys = readPairs(op.getKeys(), op.getKeyDims(), keyIndex, block, op.getSizeIndex(), size, /*areOfRows=*/false,
                          countPairs(all(size)));
  keys = placePairs(keys, /*isOfColumns=*/false, block);
  return multiplyPairs(keys, /*isOfColumns=*/false, queries, fill(scores, 0), getMicroKernel());
}

/// Adds the values of a block, weighted, to the sums of a tile, which begin with zeros if the block is the only one.
Value ManyQueriesWriter::addValues(const Span &tile, const Span &block, Value weights, Value sums, bool isOnly) {
  if (!op.getBf16Products()) {
    Matrix values = readMatrix(op.getValues(), op.getValueDims(), keyIndex, block, op.getValueIndex(), valueSize);
    return multiply(values, /*isOfColumns=*/true, weights, isOnly ? fill(sums, 0) : sums);
  }
  std::optional<int64_t> numPairs = countPairs(block);
  Matrix values = readPairs(op.getValues(), op.getValueDims(), keyIndex, block, op.getValueIndex(), valueSize,
                            /*areOfRows=*/true, numPairs);
  Matrix pairs = pairUp({weights, /*isTransposed=*/false}, block, all(tile.most), /*areOfRows=*/true, numPairs);
  values = placePairs(values, /*isOfColumns=*/true, all(valueSize));
  return multiplyPairs(values, /*isOfColumns=*/true, pairs.tensor, isOnly ? fill(sums, 0) : sums, getMicroKernel());
}

Values ManyQueriesWriter::addKeys(const Span &tile, const Span &block, Value queries, Values carried) {
  Value scores = cut(empty({block.most, tile.most}), block.count, w.b.getIndexAttr(tile.most));
  scores = computeScores(block, queries, scores);

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
    carried = {changed[1], carried[sum], empty({valueSize, tile.most})};
  else
    carried = scaleDown(tile, changed[1], carried);
  Values weights = forScores(carried[largest], {changed[0], carried[sum]}, [&](ValueRange elements) {
    Value weight = emitSoftmaxWeight(w.b, w.loc, arith::SubFOp::create(w.b, w.loc, elements[1], elements[0]));
    return Values{weight, arith::AddFOp::create(w.b, w.loc, elements[2], weight)};
  });
  return {carried[largest], weights[1], addValues(tile, block, weights[0], carried[mixed], isOnly)};
}

/// Returns the elements of each key and value that have another copy, since AMX tiles load them the other way around.
int64_t ManyQueriesWriter::countMoved() {
  if (!hasAmxTiles)
    return 0;
  auto isAlongKeys = [&](Value value, ArrayRef<int64_t> indices, int64_t sizeIndex) {
    std::optional<ElementSource> source = findTensor(value, placeIndices(value, indices, keyIndex, sizeIndex));
    auto find = [&](unsigned loop) {
      return llvm::find_if(source->indices, [&](AffineExpr index) { return index.isFunctionOfDim(loop); });
    };
    return source && find(outer.size() + 1) < find(outer.size());
  };
  return (isAlongKeys(op.getKeys(), op.getKeyDims(), op.getSizeIndex()) ? size : 0) +
         (isAlongKeys(op.getValues(), op.getValueDims(), op.getValueIndex()) ? 0 : valueSize);
}

/// Returns the bytes that a kernel with products of pairs keeps at most for blocks of `keys` keys, of which `copied`
/// elements each are stored in pairs. Full tiles and those of the remaining queries have memory of their own, and in
/// both of them whole blocks and the last one.
int64_t ManyQueriesWriter::countStackBytes(int64_t keys, int64_t copied) {
  constexpr int64_t kBlocks = 2, kWordBytes = 4;        // format: whole blocks and the last one; f32, and pairs of bf16
  constexpr int64_t kNumbers = 16, kTileSums = 32 * 32; // limit: numbers for each query, and sums of AMX tiles
  int64_t words = 0, ofScores = 1 + static_cast<int64_t>(masks.size());
  for (int64_t width : {getWidth(op, policy), kFewQueries}) {
    int64_t ofBlock = keys * (copied / 2 + ofScores * width + width / 2) + (hasAmxTiles ? 2 * kTileSums : 0);
    words += (size + valueSize + kNumbers) * width + kBlocks * ofBlock;
  }
  return words * kWordBytes;
}

/// How many keys a block has.
int64_t ManyQueriesWriter::getBlockLength() {
  bool isMasked = !tests.empty() || !masks.empty();
  int64_t length = isMasked ? policy.maskedBlockKeys : policy.blockKeys;
  if (op.getBf16Products()) {
    // Pairs take half the memory of copies in f32, and do not straddle blocks, nor the two steps of a sum in AMX tiles.
    int64_t copied = size + valueSize + countMoved(), step = hasAmxTiles ? 4 : 2;
    length = std::min(policy.bf16BlockKeys, policy.maxCopiedElements / (2 * copied));
    while (length > step && countStackBytes(length, copied) > StackPolicy().kernelBytes)
      length -= step;
    return std::max<int64_t>(2, llvm::alignDown(length, step));
  }
  if (copiesKeys())
    return std::max<int64_t>(1, std::min(length, policy.maxCopiedElements / (4 * (size + valueSize))));
  std::optional<int64_t> all = getConstant(numKeys);
  return all && *all <= (isMasked ? policy.maskedBlockKeys : policy.maxUnblockedKeys) ? *all : length;
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

Value ManyQueriesWriter::writeQueries(const Span &tile, Value result) {
  Value queries = readQueries(tile);
  Values sums = passKeys(tile, getBlockLength(), startSums(tile), [&](const Span &block, Values carried) {
    return addKeys(tile, block, queries, std::move(carried));
  });
  return store(tile, divide(sums, map(2, {1})), /*isTransposed=*/true, result);
}

Value ManyQueriesWriter::writeTile(Value number, Value result) {
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
  if (op.getSplitKeys())
    return lowerSplitKeys(op, destination);
  Dims lines = getOuter(op).second;
  bool isOfFew = !op.getBf16Products() && AttentionPolicy().isFew(getConstant(getNumQueries(op)));
  if (!isOfFew)
    lines.push_back(ManyQueriesWriter::getTileCount(op));
  bool hasFailed = false;
  FailureOr<SmallVector<Value>> results = buildLines(
      builder, scope, loc, lines, destination, [&](LineWriter &w, ValueRange place, ValueRange tensors) -> Values {
        if (isOfFew)
          return {writeFewQueries(w, scope, op, place, tensors[0], hasFailed)};
        ManyQueriesWriter writer(w, scope, op, place.drop_back());
        Value result = writer.writeTile(place.back(), tensors[0]);
        hasFailed = writer.hasFailed;
        return {result};
      });
  if (failed(results) || hasFailed)
    return failure();
  return results->front();
}
