//===- FewQueries.cpp - attention of so few queries that keys take the time ===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/lower/tenon-to-linalg/FewQueries.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tenon;

using Values = LineWriter::Values;

FewQueriesWriter::FewQueriesWriter(LineWriter &w, KernelScope &scope, AttentionOp op, ValueRange outer)
    : AttentionWriter(w, scope, op, outer), count(*getConstant(numQueries)), tile(all(count)),
      queries(readMatrix(op.getQueries(), op.getQueryDims(), queryIndex, tile, op.getSizeIndex(), size)) {
  std::optional<SmallVector<Read>> reads = findReads();
  auto isNumber = [](const Read &read) {
    auto weight = read.value.getDefiningOp<WeightOp>();
    return weight && isa<SplatElementsAttr>(weight.getValue());
  };
  readsMemory = !reads || !llvm::all_of(*reads, isNumber);
}

int64_t FewQueriesWriter::getBlockLength() {
  int64_t most = policy.transposedElements / std::max(size, copiesKeys() ? valueSize : int64_t(1));
  int64_t length = std::clamp(most / kKeyLanes * kKeyLanes, kKeyLanes, policy.blockKeys);
  std::optional<int64_t> all = getConstant(numKeys);
  return all ? std::min<int64_t>(length, llvm::alignTo(*all, kKeyLanes)) : length;
}

Values FewQueriesWriter::startSums() {
  // The largest score starts with a finite number: what is subtracted from -inf must not be -inf. Sums are of every
  // sixteenth key until the end.
  return {fill(empty({count}), lowest), fill(empty({count, kKeyLanes}), 0), fill(empty({count, valueSize}), 0)};
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

Value FewQueriesWriter::readKeys(const Span &block) {
  Matrix keys = readMatrix(op.getKeys(), op.getKeyDims(), keyIndex, block, op.getSizeIndex(), size);
  bool isWhole = getConstantIntValue(block.count) == block.most;
  if (keys.isTransposed && isWhole)
    return keys.tensor;
  return transpose(keys, block.count, w.b.getIndexAttr(size), empty({size, block.most}));
}

Value FewQueriesWriter::readValues(const Span &block) {
  Matrix values = readMatrix(op.getValues(), op.getValueDims(), keyIndex, block, op.getValueIndex(), valueSize);
  if (!values.isTransposed)
    return values.tensor;
  OpFoldResult columns = w.b.getIndexAttr(valueSize);
  Value target = cut(empty({block.most, valueSize}), block.count, columns);
  return transpose({values.tensor, false}, columns, block.count, target);
}

//===----------------------------------------------------------------------===//
// Scores
//===----------------------------------------------------------------------===//

/// Updates the scores of a block, and the per-lane numbers of each query, one vector of both at a time. The loops are
/// queries, groups of keys, and keys of a group.
Values FewQueriesWriter::forLanes(ValueRange inputs, ArrayRef<AffineMap> maps, Value scores, Value ofLanes, Body body) {
  auto type = cast<RankedTensorType>(scores.getType());
  SmallVector<ReassociationIndices> groups{{0}, {1, 2}};
  auto split = tensor::ExpandShapeOp::create(w.b, w.loc, type.clone({count, type.getDimSize(1) / kKeyLanes, kKeyLanes}),
                                             scores, groups);
  SmallVector<AffineMap> all(maps);
  all.append({map(3, {0, 1, 2}), map(3, {0, 2})});
  Values changed = forEach(3, inputs, all, {split, ofLanes}, body);
  return {tensor::CollapseShapeOp::create(w.b, w.loc, type, changed[0], groups), changed[1]};
}

/// Applies the body to scores if it reads masks, which are contiguous along keys.
Value FewQueriesWriter::maskScores(const Span &block, Value scores) {
  OpFoldResult rows = w.b.getIndexAttr(count), zero = w.b.getIndexAttr(0), one = w.b.getIndexAttr(1);
  Value part = cut(scores, rows, block.count);
  Value masked = forEach(2, {}, map(2, {0, 1}), part, [&](ValueRange elements) {
    Value query = linalg::IndexOp::create(w.b, w.loc, 0);
    Value key = w.add(block.first, linalg::IndexOp::create(w.b, w.loc, 1));
    return Values{emitScore(tile, elements[0], {}, query, key)};
  })[0];
  return part == scores ? masked
                        : tensor::InsertSliceOp::create(w.b, w.loc, masked, scores, ArrayRef{zero, zero},
                                                        ArrayRef{rows, block.count}, ArrayRef{one, one})
                              .getResult();
}

Values FewQueriesWriter::changeScores(const Span &block, Value scores) {
  constexpr double kNone = -std::numeric_limits<double>::infinity(); // math: exp(-inf) is 0
  if (readsMemory)
    scores = maskScores(block, scores);
  bool isWhole = getConstantIntValue(block.count) == block.most;
  Value known = isWhole ? Value() : getValueOrCreateConstantIndexOp(w.b, w.loc, block.count);
  return forLanes({}, {}, scores, fill(empty({count, kKeyLanes}), kNone), [&](ValueRange elements) {
    Value group = arith::MulIOp::create(w.b, w.loc, linalg::IndexOp::create(w.b, w.loc, 1), w.index(kKeyLanes));
    Value place = w.add(group, linalg::IndexOp::create(w.b, w.loc, 2));
    Value score = elements[0];
    if (!readsMemory)
      score = emitScore(tile, score, {}, linalg::IndexOp::create(w.b, w.loc, 0), w.add(block.first, place));
    if (!isWhole)
      score = w.select(w.isLess(place, known), score, constant(kNone));
    return Values{score, larger(elements[1], score)};
  });
}

/// Merges the largest scores of a block into the running maximum, and rescales the sums of exponentials accordingly
/// (online softmax).
Values FewQueriesWriter::scaleDown(Value blockLargest, Values carried) {
  AffineMap each = map(1, {0});
  Value outputs[] = {empty({count}), carried[largest]};
  Values scaled = forEach(1, blockLargest, {each, each, each}, outputs, [&](ValueRange elements) {
    Value before = elements[2], now = larger(before, elements[0]);
    return Values{math::ExpOp::create(w.b, w.loc, arith::SubFOp::create(w.b, w.loc, before, now)), now};
  });
  auto scale = [&](Value sums) {
    return forEach(2, scaled[0], {map(2, {0}), map(2, {0, 1})}, sums, [&](ValueRange elements) {
      return Values{arith::MulFOp::create(w.b, w.loc, elements[0], elements[1])};
    })[0];
  };
  return {scaled[1], scale(carried[sum]), scale(carried[mixed])};
}

//===----------------------------------------------------------------------===//
// Blocks of keys
//===----------------------------------------------------------------------===//

Value FewQueriesWriter::joinLargest(Value ofLanes) {
  return forEach(2, ofLanes, {map(2, {0, 1}), map(2, {0})}, fill(empty({count}), lowest),
                 [&](ValueRange elements) { return Values{larger(elements[1], elements[0])}; })[0];
}

Values FewQueriesWriter::takeExponentials(Value scores, Value largest, Value sums) {
  return forLanes(largest, map(3, {0}), scores, sums, [&](ValueRange elements) {
    Value weight = emitSoftmaxWeight(w.b, w.loc, arith::SubFOp::create(w.b, w.loc, elements[1], elements[0]));
    return Values{weight, arith::AddFOp::create(w.b, w.loc, elements[2], weight)};
  });
}

Value FewQueriesWriter::joinSums(Value ofLanes) {
  return forEach(2, ofLanes, {map(2, {0, 1}), map(2, {0})}, fill(empty({count}), 0), [&](ValueRange elements) {
    return Values{arith::AddFOp::create(w.b, w.loc, elements[1], elements[0])};
  })[0];
}

Values FewQueriesWriter::addKeys(const Span &block, Values carried) {
  Value scores = multiply(queries, /*isOfColumns=*/false, readKeys(block), fill(empty({count, block.most}), 0));
  Values changed = changeScores(block, scores);
  carried = scaleDown(joinLargest(changed[1]), carried);
  Values weights = takeExponentials(changed[0], carried[largest], carried[sum]);
  Value known = cut(weights[0], w.b.getIndexAttr(count), block.count);
  return {carried[largest], weights[1],
          multiply({known, false}, /*isOfColumns=*/false, readValues(block), carried[mixed])};
}

Value FewQueriesWriter::write(Value result) {
  Values sums = passKeys(tile, getBlockLength(), startSums(),
                         [&](const Span &block, Values carried) { return addKeys(block, std::move(carried)); });
  sums[sum] = joinSums(sums[sum]);
  return store(tile, divide(sums, map(2, {0})), /*isTransposed=*/false, result);
}

Value tenon::writeFewQueries(LineWriter &w, KernelScope &scope, AttentionOp op, ValueRange outer, Value result,
                             bool &hasFailed) {
  FewQueriesWriter writer(w, scope, op, outer);
  result = writer.write(result);
  hasFailed |= writer.hasFailed;
  return result;
}
