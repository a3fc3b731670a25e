//===- SplitKeys.cpp - attention of few queries, a split of the keys at a time ===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A KV cache stores the keys of all heads of one token contiguously. A loop over the keys of one head has a large
// stride, with which hardware prefetchers do not reach the memory bandwidth. A split is therefore processed in blocks
// of 16 keys, with an inner loop over the heads, so that memory is read in order. All scores of a split are kept on the
// stack, so its softmax needs no online rescaling.
//
// Splits are the units of parallelism, so a model with one head of keys uses all threads. The size of a split does not
// depend on the number of threads, so neither do the results. (Dao and others, "Flash-Decoding for long-context
// inference", 2023.)
//
//===----------------------------------------------------------------------===//

#include "dialects/kernel/KernelDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/lower/tenon-to-linalg/FewQueries.h"
#include "passes/lower/tenon-to-linalg/Stages.h"

using namespace mlir;
using namespace tenon;

using Values = LineWriter::Values;

//===----------------------------------------------------------------------===//
// One place of the loops around, such as a head
//===----------------------------------------------------------------------===//

namespace {
class SplitPlace : public FewQueriesWriter {
public:
  using FewQueriesWriter::FewQueriesWriter;

  struct Softmax {
    Value weights;      ///< exponentials, [query][key]
    Value sum, largest; ///< of each query
  };

  /// The products of all queries with the keys of a block, [query][key], in `scores`.
  Value multiplyKeys(const Span &block, Value scores);
  Value multiplyAlongSizes(Value keys, Value scores);
  /// Prefetches the keys of the next block, and the values of this one, which are read after all keys of the split.
  void prefetch(const Span &block, const Span &next);
  /// Adds the values of a block to `sums`; `weights` are those of the block.
  Value multiplyValues(const Span &block, Value weights, Value sums) {
    return multiply({weights, false}, /*isOfColumns=*/false, readValues(block), sums);
  }
  Softmax takeSoftmax(const Span &split, Value scores) {
    Values changed = changeScores(split, scores);
    Value largest = joinLargest(changed[1]);
    Values weights = takeExponentials(changed[0], largest, fill(empty({count, kKeyLanes}), 0));
    return {weights[0], joinSums(weights[1]), largest};
  }
  /// Writes sums of values, or statistics, to columns of the result of a split.
  Value storePart(Value split, const Span &columns, Value rows, AffineMap map, Value result);
};
} // namespace

Value SplitPlace::multiplyKeys(const Span &block, Value scores) {
  bool isWhole = getConstantIntValue(block.count) == kKeyLanes;
  if (isWhole && size % kKeyLanes == 0 && count <= policy.maxQueriesAlongSizes) {
    Matrix keys = readMatrix(op.getKeys(), op.getKeyDims(), keyIndex, block, op.getSizeIndex(), size);
    if (!keys.isTransposed && !queries.isTransposed)
      return multiplyAlongSizes(keys.tensor, scores);
  }
  return multiply(queries, /*isOfColumns=*/false, readKeys(block), fill(scores, 0));
}

void SplitPlace::prefetch(const Span &block, const Span &next) {
  auto ask = [&](Value operand, ArrayRef<int64_t> indices, int64_t columnIndex, const Span &rows, int64_t columns) {
    Matrix matrix = readInPlace(operand, placeIndices(operand, indices, keyIndex, columnIndex), rows, all(columns));
    if (matrix.tensor && !matrix.isTransposed)
      kernel::PrefetchOp::create(w.b, w.loc, matrix.tensor);
  };
  ask(op.getKeys(), op.getKeyDims(), op.getSizeIndex(), next, size);
  ask(op.getValues(), op.getValueDims(), op.getValueIndex(), block, valueSize);
}

/// Multiplies without transposing keys: each key is multiplied elementwise with a query, one vector of partial sums per
/// key. These vectors are transposed instead, and added.
Value SplitPlace::multiplyAlongSizes(Value keys, Value scores) {
  auto split = [&](Value matrix) -> Value {
    auto type = cast<RankedTensorType>(matrix.getType());
    return tensor::ExpandShapeOp::create(w.b, w.loc, type.clone({type.getDimSize(0), size / kKeyLanes, kKeyLanes}),
                                         matrix, ArrayRef<ReassociationIndices>{{0}, {1, 2}});
  };
  // Targets without fused multiply-adds would call a function for one that is demanded.
  auto contracted = arith::FastMathFlagsAttr::get(w.b.getContext(), arith::FastMathFlags::contract);
  // Loops: keys, queries, vectors of sizes, their elements.
  Value products =
      forEach(4, {split(queries.tensor), split(keys)}, {map(4, {1, 2, 3}), map(4, {0, 2, 3}), map(4, {1, 0, 3})},
              fill(empty({count, kKeyLanes, kKeyLanes}), 0), [&](ValueRange elements) {
                Value product = arith::MulFOp::create(w.b, w.loc, elements[0], elements[1], contracted);
                return Values{arith::AddFOp::create(w.b, w.loc, elements[2], product, contracted)};
              })[0];
  AffineMap each = map(3, {0, 1, 2});
  Value transposed = forEach(3, products, {map(3, {0, 2, 1}), each}, empty({count, kKeyLanes, kKeyLanes}),
                             [](ValueRange elements) { return Values{elements[0]}; })[0];
  return forEach(3, transposed, {each, map(3, {0, 2})}, fill(scores, 0), [&](ValueRange elements) {
    return Values{arith::AddFOp::create(w.b, w.loc, elements[1], elements[0])};
  })[0];
}

Value SplitPlace::storePart(Value split, const Span &columns, Value rows, AffineMap map, Value result) {
  assert(outer.size() == outerIndices.size() && "the split is the last of the loops around");
  outer.push_back(split);
  SmallVector<AffineExpr> at{dim(outer.size() - 1)};
  llvm::append_range(at, placeIndices(ArrayRef(getDims(op.getResult())).drop_front(), op.getResultDims(), queryIndex,
                                      op.getValueIndex()));
  Matrix target = slice(result, at, tile, columns);
  outer.pop_back();
  assert(!target.isTransposed && "values are the last dimension of a part");
  Value stored = forEach(2, rows, {map, AffineMap::getMultiDimIdentityMap(2, w.b.getContext())}, target.tensor,
                         [&](ValueRange elements) { return Values{elements[0]}; })[0];
  auto place = target.tensor.getDefiningOp<tensor::ExtractSliceOp>();
  return tensor::InsertSliceOp::create(w.b, w.loc, stored, result, place.getMixedOffsets(), place.getMixedSizes(),
                                       place.getMixedStrides());
}

//===----------------------------------------------------------------------===//
// A split
//===----------------------------------------------------------------------===//

namespace {
class SplitWriter : BlockWriter {
public:
  using BlockWriter::hasFailed;

  SplitWriter(LineWriter &w, KernelScope &scope, AttentionOp op, Value number)
      : BlockWriter(w, scope, {}, getAccumulatorType(getElementTypeOrSelf(op.getScores()))), op(op), number(number) {
    for (AffineExpr extent : getOuter(op).second) {
      extents.push_back(*getConstant(extent));
      numPlaces *= extents.back();
    }
    count = *getConstant(getNumQueries(op));
    valueSize = *getConstant(getExtent(op.getValues(), op.getValueDims(), op.getValueIndex()));
    length = *op.getSplitKeys();
    first = arith::MulIOp::create(w.b, w.loc, number, w.index(length));
    numAllKeys = extent(getExtent(op.getKeys(), op.getKeyDims(), op.getKeyIndex()));
    Value left = w.sub(numAllKeys, first);
    numKeys = arith::MinSIOp::create(w.b, w.loc, left, w.index(length));
  }

  Value write(Value result);

private:
  /// Takes a block of keys into what is carried; `offset` keys of the split come before it.
  using AddBlock = llvm::function_ref<Values(const Span &block, Value offset, ValueRange carried)>;
  /// Does something at one place, of which `index` come before it.
  using AddPlace = llvm::function_ref<Values(SplitPlace &place, Value index, ValueRange carried)>;

  Values forBlocks(ValueRange carried, AddBlock add);
  /// Returns the block after a whole one, clamped to the last keys of all splits.
  Span getNext(const Span &block) {
    Value length = w.index(block.most), last = w.sub(numAllKeys, length);
    return {arith::MinSIOp::create(w.b, w.loc, w.add(block.first, length), last), block.most, block.count};
  }
  Values forPlaces(ValueRange carried, AddPlace add);
  Values forPlaces(Values &place, Value index, ValueRange carried, AddPlace add);
  Value takePart(Value all, Value index, OpFoldResult firstColumn, OpFoldResult numColumns);
  Value putPart(Value part, Value all, Value index, OpFoldResult firstColumn, OpFoldResult numColumns);
  Values multiplyKeys();
  Values takeSoftmax(Value scores, Value result);
  Value multiplyValues(Value weights);

  AttentionOp op;
  Value number;                     ///< of the split
  SmallVector<int64_t> extents;     ///< of the loops around queries and keys
  int64_t numPlaces = 1;            ///< their product
  int64_t count, valueSize, length; ///< of queries; of values; of keys of a whole split
  Value first, numKeys, numAllKeys; ///< of the split, and of all splits
};
} // namespace

/// Loops over the keys of the split in blocks of `kKeyLanes`; the last block may have fewer keys.
Values SplitWriter::forBlocks(ValueRange carried, AddBlock add) {
  Value lanes = w.index(kKeyLanes);
  Value numWhole = arith::DivUIOp::create(w.b, w.loc, numKeys, lanes);
  auto getOffset = [&](Value i) { return arith::MulIOp::create(w.b, w.loc, i, lanes); };
  Values sums = w.repeat(w.index(0), numWhole, carried, [&](Value i, ValueRange sums) {
    Value offset = getOffset(i);
    return add({w.add(first, offset), kKeyLanes, w.b.getIndexAttr(kKeyLanes)}, offset, sums);
  });
  Value offset = getOffset(numWhole), rest = w.sub(numKeys, offset);
  return w.branch(
      w.isLess(w.index(0), rest), [&] { return add({w.add(first, offset), kKeyLanes, rest}, offset, sums); },
      [&] { return sums; });
}

Values SplitWriter::forPlaces(ValueRange carried, AddPlace add) {
  Values place;
  return forPlaces(place, w.index(0), carried, add);
}

Values SplitWriter::forPlaces(Values &place, Value index, ValueRange carried, AddPlace add) {
  if (place.size() == extents.size()) {
    SplitPlace writer(w, scope, op, place);
    Values next = add(writer, index, carried);
    hasFailed |= writer.hasFailed;
    return next;
  }
  int64_t extent = extents[place.size()];
  auto visit = [&](Value i, ValueRange sums) {
    place.push_back(i);
    Value inner = w.add(arith::MulIOp::create(w.b, w.loc, index, w.index(extent)), i);
    Values next = forPlaces(place, inner, sums, add);
    place.pop_back();
    return next;
  };
  return extent == 1 ? visit(w.index(0), carried) : w.repeat(w.index(0), w.index(extent), carried, visit);
}

/// The rows of one place, and some of their columns, in a tensor of [place][query][column].
Value SplitWriter::takePart(Value all, Value index, OpFoldResult firstColumn, OpFoldResult numColumns) {
  OpFoldResult zero = w.b.getIndexAttr(0), one = w.b.getIndexAttr(1), rows = w.b.getIndexAttr(count);
  int64_t columns = getConstantIntValue(numColumns).value_or(ShapedType::kDynamic);
  return tensor::ExtractSliceOp::create(w.b, w.loc, RankedTensorType::get({count, columns}, type), all,
                                        ArrayRef<OpFoldResult>{index, zero, firstColumn},
                                        ArrayRef{one, rows, numColumns}, ArrayRef{one, one, one});
}

Value SplitWriter::putPart(Value part, Value all, Value index, OpFoldResult firstColumn, OpFoldResult numColumns) {
  OpFoldResult zero = w.b.getIndexAttr(0), one = w.b.getIndexAttr(1), rows = w.b.getIndexAttr(count);
  return tensor::InsertSliceOp::create(w.b, w.loc, part, all, ArrayRef<OpFoldResult>{index, zero, firstColumn},
                                       ArrayRef{one, rows, numColumns}, ArrayRef{one, one, one});
}

Values SplitWriter::multiplyKeys() {
  return forBlocks(empty({numPlaces, count, length}), [&](const Span &block, Value offset, ValueRange all) {
    OpFoldResult columns = w.b.getIndexAttr(block.most);
    bool isWhole = getConstantIntValue(block.count) == block.most;
    Span next = isWhole ? getNext(block) : block;
    return forPlaces(all, [&](SplitPlace &place, Value index, ValueRange all) {
      if (isWhole)
        place.prefetch(block, next);
      Value scores = place.multiplyKeys(block, takePart(all[0], index, offset, columns));
      return Values{putPart(scores, all[0], index, offset, columns)};
    });
  });
}

/// Replaces all scores by their exponentials, and writes sum and maximum of each place to the result.
Values SplitWriter::takeSoftmax(Value scores, Value result) {
  OpFoldResult zero = w.b.getIndexAttr(0), all = w.b.getIndexAttr(length);
  return forPlaces({scores, result}, [&](SplitPlace &place, Value index, ValueRange carried) {
    SplitPlace::Softmax softmax = place.takeSoftmax({first, length, numKeys}, takePart(carried[0], index, zero, all));
    Value weights = putPart(softmax.weights, carried[0], index, zero, all), result = carried[1];
    for (auto [i, statistic] : llvm::enumerate(ArrayRef{softmax.sum, softmax.largest}))
      result =
          place.storePart(number, {w.index(valueSize + i), 1, w.b.getIndexAttr(1)}, statistic, map(2, {0}), result);
    return Values{weights, result};
  });
}

Value SplitWriter::multiplyValues(Value weights) {
  OpFoldResult zero = w.b.getIndexAttr(0), values = w.b.getIndexAttr(valueSize);
  Value start = fill(empty({numPlaces, count, valueSize}), 0);
  return forBlocks(start, [&](const Span &block, Value offset, ValueRange all) {
    return forPlaces(all, [&](SplitPlace &place, Value index, ValueRange all) {
      Value sums = place.multiplyValues(block, takePart(weights, index, offset, block.count),
                                        takePart(all[0], index, zero, values));
      return Values{putPart(sums, all[0], index, zero, values)};
    });
  })[0];
}

Value SplitWriter::write(Value result) {
  Values taken = takeSoftmax(multiplyKeys()[0], result);
  Value sums = multiplyValues(taken[0]);
  OpFoldResult zero = w.b.getIndexAttr(0), values = w.b.getIndexAttr(valueSize);
  return forPlaces(taken[1], [&](SplitPlace &place, Value index, ValueRange result) {
    Value rows = takePart(sums, index, zero, values);
    return Values{place.storePart(number, all(valueSize), rows, map(2, {0, 1}), result[0])};
  })[0];
}

FailureOr<Value> StageBuilder::lowerSplitKeys(AttentionOp op, Value destination) {
  bool hasFailed = false;
  FailureOr<SmallVector<Value>> results =
      buildLines(builder, scope, op.getLoc(), getDims(op.getResult()).front(), destination,
                 [&](LineWriter &w, ValueRange place, ValueRange tensors) -> Values {
                   SplitWriter writer(w, scope, op, place[0]);
                   Value result = writer.write(tensors[0]);
                   hasFailed = writer.hasFailed;
                   return {result};
                 });
  if (failed(results) || hasFailed)
    return failure();
  return results->front();
}

//===----------------------------------------------------------------------===//
// All splits
//===----------------------------------------------------------------------===//

namespace {
/// Writes the result of one place from the parts of all splits.
class CombineWriter : BlockWriter {
public:
  CombineWriter(LineWriter &w, KernelScope &scope, CombineSplitsOp op, ValueRange outer)
      : BlockWriter(w, scope, outer, getAccumulatorType(getElementTypeOrSelf(op.getParts()))), op(op),
        valueSize(*getConstant(getDims(op.getResult()).back())) {}

  Value write(Value result);

private:
  /// An element of what split `i` gives.
  Value read(Value i, Value column) {
    Values at{i};
    at.append(outer);
    at.push_back(column);
    return w.read(op.getParts(), at);
  }
  Value exponential(Value largest, Value i) {
    Value less = arith::SubFOp::create(w.b, w.loc, read(i, w.index(valueSize + 1)), largest);
    return math::ExpOp::create(w.b, w.loc, less);
  }
  Value findLargest(Value numSplits);
  Value divide(Value sum, Value values);
  Value store(Value values, Value result);

  CombineSplitsOp op;
  int64_t valueSize;
};
} // namespace

Value CombineWriter::findLargest(Value numSplits) {
  double lowest = APFloat::getLargest(cast<FloatType>(type).getFloatSemantics(), /*Negative=*/true).convertToDouble();
  return w.repeat(w.index(0), numSplits, constant(lowest), [&](Value i, ValueRange largest) {
    // A largest score is always a number.
    return Values{arith::MaximumFOp::create(w.b, w.loc, largest[0], read(i, w.index(valueSize + 1)))};
  })[0];
}

Value CombineWriter::divide(Value sum, Value values) {
  // Without a split, and without a key that counts where that gives 0, there is nothing to divide by.
  Value zero = constant(0), hasSum = w.isLess(w.index(0), extent(getDims(op.getParts()).front()));
  bool zeroesQueries = op.getZeroesQueries();
  if (zeroesQueries)
    hasSum = w.both(hasSum, arith::CmpFOp::create(w.b, w.loc, arith::CmpFPredicate::OGT, sum, zero));
  Value factor = w.select(hasSum, arith::DivFOp::create(w.b, w.loc, constant(1), sum), zero);
  return forEach(1, {}, map(1, {0}), values, [&](ValueRange elements) {
    Value product = arith::MulFOp::create(w.b, w.loc, elements[0], factor);
    if (!zeroesQueries)
      return Values{product};
    Value isZeroed = arith::CmpFOp::create(w.b, w.loc, arith::CmpFPredicate::OEQ, factor, zero);
    return Values{w.select(isZeroed, zero, product)};
  })[0];
}

Value CombineWriter::store(Value values, Value result) {
  Type elementType = op.getType().getElementType();
  SmallVector<OpFoldResult> offsets(outer.begin(), outer.end()), sizes(outer.size(), w.b.getIndexAttr(1)),
      strides(outer.size() + 1, w.b.getIndexAttr(1));
  offsets.push_back(w.b.getIndexAttr(0));
  sizes.push_back(w.b.getIndexAttr(valueSize));
  auto type = RankedTensorType::get(valueSize, cast<RankedTensorType>(result.getType()).getElementType());
  Value target = tensor::ExtractSliceOp::create(w.b, w.loc, type, result, offsets, sizes, strides);
  Value stored = forEach(1, values, {map(1, {0}), map(1, {0})}, target, [&](ValueRange elements) {
    return Values{castScalar(w.b, w.loc, elements[0], this->type, elementType)};
  })[0];
  return tensor::InsertSliceOp::create(w.b, w.loc, stored, result, offsets, sizes, strides);
}

Value CombineWriter::write(Value result) {
  Value numSplits = extent(getDims(op.getParts()).front());
  Value largest = findLargest(numSplits);
  Value start[] = {constant(0), fill(empty(valueSize), 0)};
  Values sums = w.repeat(w.index(0), numSplits, start, [&](Value i, ValueRange sums) {
    Value scale = exponential(largest, i);
    Value sum = arith::AddFOp::create(w.b, w.loc, sums[0],
                                      arith::MulFOp::create(w.b, w.loc, scale, read(i, w.index(valueSize))));
    Value values = forEach(1, {}, map(1, {0}), sums[1], [&](ValueRange elements) {
      Value scaled = arith::MulFOp::create(w.b, w.loc, scale, read(i, linalg::IndexOp::create(w.b, w.loc, 0)));
      return Values{arith::AddFOp::create(w.b, w.loc, elements[0], scaled)};
    })[0];
    return Values{sum, values};
  });
  return store(divide(sums[0], sums[1]), result);
}

FailureOr<Value> StageBuilder::lowerCombineSplits(CombineSplitsOp op, Value destination) {
  Location loc = op.getLoc();
  if (!destination)
    destination =
        scope.createEmpty(builder, loc, getDims(op.getResult()), getStorageType(op.getType().getElementType()));
  Dims lines = getDims(op.getResult());
  lines.pop_back();
  FailureOr<SmallVector<Value>> results = buildLines(
      builder, scope, loc, lines, destination, [&](LineWriter &w, ValueRange place, ValueRange tensors) -> Values {
        return {CombineWriter(w, scope, op, place).write(tensors[0])};
      });
  if (failed(results))
    return failure();
  return results->front();
}
