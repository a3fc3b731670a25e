//===- Detection.cpp - boxes that are worth keeping ----------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/import/onnx/Node.h"
#include "compiler/import/onnx/OpTable.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::onnx_import;

namespace {

/// Returns an upper bound for the boxes that are selected for a pair of batch and class, of `count`.
AffineExpr getMostBoxes(Node &n, AffineExpr count) {
  if (!n.isConstantOperand(2))
    return n.hasInput(2) ? count : n.constantDim(0);
  Dims most = *n.known(2)->getIntegers();
  if (most.size() != 1)
    return count;
  int64_t limit = std::max<int64_t>(*getConstant(most.front()), 0);
  return getConstant(count).value_or(INT64_MAX) < limit ? count : n.constantDim(limit);
}

/// Selects boxes in the order of their scores, without those that overlap better ones. Their number is known only at
/// run time: rows (batch, class, box), batch by batch and class by class.
LogicalResult importNonMaxSuppression(Node &n) {
  Value boxes = n.input(0), scores = n.input(1);
  if (n.rank(boxes) != 3 || n.rank(scores) != 3)
    return n.invalid("needs boxes [batch, box, 4] and scores [batch, class, box], found " +
                     dimsToString(n.dims(boxes)) + " and " + dimsToString(n.dims(scores)));
  auto scalar = [&](size_t i, Type type) {
    return n.hasInput(i) ? n.reshape(n.input(i), IntsRef()) : n.scalar(0, type);
  };
  AffineExpr batches = n.dim(scores, 0), classes = n.dim(scores, 1), count = n.dim(scores, 2);
  AffineExpr pairs = mulDims(batches, classes);
  n.require(subDims(n.dim(boxes, 1), count), "NonMaxSuppression has more scores than boxes");
  Value threshold = n.hasInput(4) ? scalar(4, n.f32()) : Value();
  auto [selected, counts] =
      n.nms(boxes, scores, scalar(2, n.i64()), scalar(3, n.f32()), threshold, n.getBool("center_point_box", false));

  // Row r belongs to the first pair of batch and class up to which more than r boxes were taken.
  counts = n.reshape(counts, pairs);
  Value ends = n.cumulativeSum(counts, 0), one = n.scalar(1, n.i64());
  Dims rows = n.bindSizes(n.reduceSum(counts, 0), 0, mulDims(pairs, getMostBoxes(n, count)));
  if (rows.size() != 1)
    return failure();
  Value row = n.iota(rows, 0, n.i64()), pair = n.searchSorted(n.add(row, one), ends);
  Value place = n.sub(row, n.gather(n.sub(ends, counts), pair, 0));
  Value flat = n.reshape(selected, mulDims(pairs, count));
  Value box = n.gather(flat, n.add(n.mul(pair, n.size(count, n.i64())), place), 0), width = n.size(classes, n.i64());
  return n.setResult(
      n.concat({n.unsqueeze(n.div(pair, width), 1), n.unsqueeze(n.rem(pair, width), 1), n.unsqueeze(box, 1)}, 1));
}

} // namespace

ArrayRef<OpEntry> onnx_import::getDetectionOps() {
  static const OpEntry ops[] = {
      {"NonMaxSuppression", importNonMaxSuppression},
  };
  return ops;
}
