//===- Selection.cpp - elements that data picks ---------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/import/onnx/ops/Selection.h"
#include "compiler/import/onnx/ControlBuilder.h"
#include "compiler/import/onnx/OpTable.h"
#include "compiler/import/onnx/ops/RuntimeOperands.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::onnx_import;

static Value flatten(Node &n, Value x) { return n.reshape(x, getElementCount(n.getContext(), n.dims(x))); }

Value onnx_import::findTrue(Node &n, Value mask) {
  Value isTrue = toInt(n, mask), one = intScalar(n, 1);
  Value place = n.cumulativeSum(isTrue, 0, /*exclusive=*/true);
  AffineExpr count = n.bindSizes(n.reduceSum(isTrue, 0), 0, n.dim(mask, 0)).front();
  // Elements that are not selected are moved to a position after all others.
  Value end = n.size(count, n.i64());
  Dims room{addDims(count, n.constantDim(1))};
  Value numbers = n.iota(n.dims(mask), 0, n.i64());
  Value places = n.select(n.equal(isTrue, one), place, end);
  Value all = n.scatterElements("assign", n.broadcast(intScalar(n, 0), room), places, numbers, 0);
  return n.sliceAxis(all, 0, n.constantDim(0), count);
}

namespace {

/// Computes the coordinates of all nonzero elements, one row for each dimension.
LogicalResult importNonZero(Node &n) {
  Value x = n.input(0);
  if (n.rank(x) == 0)
    x = n.reshape(x, IntsRef(1));
  Dims dims = n.dims(x);
  Value found = findTrue(n, flatten(n, n.notEqual(x, n.scalarLike(0, x))));
  SmallVector<Value> rows;
  AffineExpr inner = getElementCount(n.getContext(), dims);
  for (AffineExpr dim : dims) {
    inner = divDims(inner, dim);
    // The divisor is at least 1, because an empty tensor has no elements anyway.
    Value extent = n.max(n.size(dim, n.i64()), intScalar(n, 1)),
          stride = n.max(n.size(inner, n.i64()), intScalar(n, 1));
    rows.push_back(n.unsqueeze(n.rem(n.div(found, stride), extent), 0));
  }
  return n.setResult(n.concat(rows, 0));
}

LogicalResult importCompress(Node &n) {
  Value x = n.input(0), condition = n.input(1);
  std::optional<int64_t> axis = 0;
  if (n.hasAttr("axis"))
    axis = n.normalizeAxis(n.getInt("axis", 0), n.rank(x));
  else
    x = flatten(n, x);
  if (!axis)
    return failure();
  n.require(subDims(n.dim(x, *axis), n.dim(condition, 0)), "has a condition for more elements than there are");
  return n.setResult(n.gather(x, findTrue(n, condition), *axis));
}

//===----------------------------------------------------------------------===//
// Unique
//===----------------------------------------------------------------------===//

/// Returns the stable ascending order of a vector's elements.
Value orderOf(Node &n, Value keys) { return n.topK(keys, 0, n.dim(keys, 0), /*largest=*/false).second; }

/// Returns the lexicographic order of a matrix's rows, by stable sorts from the last column on.
Value orderOfRows(Node &n, Value rows) {
  AffineExpr columns = n.dim(rows, 1);
  auto body = [&](Value number, ArrayRef<Value> carried) -> std::optional<LoopBody> {
    Value column = n.sub(n.size(subDims(columns, n.constantDim(1)), n.i64()), number);
    Value keys = n.gather(n.gather(rows, column, 1), carried[0], 0);
    return LoopBody{{}, {n.gather(carried[0], orderOf(n, keys), 0)}, {}};
  };
  std::optional<SmallVector<Value>> results = buildCountedLoop(n, columns, n.iota(n.dim(rows, 0), 0, n.i64()), body);
  return results ? results->front() : Value();
}

/// The distinct rows of a matrix in sorted order: the first occurrence of each, the group of each row, and the number
/// of rows in each group.
struct Groups {
  Value first, inverse, counts;
};

Groups groupRows(Node &n, Value rows) {
  bool isVector = getConstant(n.dim(rows, 1)) == 1;
  AffineExpr count = n.dim(rows, 0);
  Value order = isVector ? orderOf(n, flatten(n, rows)) : orderOfRows(n, rows);
  Value sorted = n.gather(rows, order, 0), zero = intScalar(n, 0);
  // A row begins a group if it differs from the one before; the first row always does.
  Value numbers = n.iota(count, 0, n.i64()), before = n.max(n.sub(numbers, intScalar(n, 1)), zero);
  Value differs = toInt(n, n.notEqual(sorted, n.gather(sorted, before, 0)));
  Value begins = n.bitOr(n.greater(n.reduceSum(differs, 1, false), zero), n.equal(numbers, zero));
  Value group = n.sub(n.cumulativeSum(toInt(n, begins), 0), intScalar(n, 1));
  Groups g;
  g.first = n.gather(order, findTrue(n, begins), 0);
  Value none = n.broadcast(zero, count), noGroups = n.broadcast(zero, n.dims(g.first));
  g.inverse = n.scatterElements("assign", none, order, group, 0);
  g.counts = n.scatterElements("add", noGroups, group, n.broadcast(intScalar(n, 1), count), 0);
  return g;
}

/// The groups in the order in which they are found.
Groups inOrderOfAppearance(Node &n, const Groups &g) {
  Value order = orderOf(n, g.first);
  Value place = n.scatterElements("assign", order, order, n.iota(n.dims(order), 0, n.i64()), 0);
  return {n.gather(g.first, order, 0), n.gather(place, g.inverse, 0), n.gather(g.counts, order, 0)};
}

LogicalResult importUnique(Node &n) {
  Value x = n.input(0);
  std::optional<int64_t> axis = 0;
  if (n.hasAttr("axis"))
    axis = n.normalizeAxis(n.getInt("axis", 0), n.rank(x));
  else
    x = flatten(n, x);
  if (!axis)
    return failure();
  Ints order = rangeOf(0, n.rank(x));
  std::swap(order[0], order[*axis]);
  Value rows = n.transpose(x, order);
  AffineExpr count = n.dim(rows, 0);
  rows = n.reshape(rows, {count, getElementCount(n.getContext(), ArrayRef(n.dims(rows)).drop_front())});
  if (n.isBool(rows))
    rows = n.cast(rows, n.i32());
  Groups g = groupRows(n, rows);
  if (!n.getBool("sorted", true))
    g = inOrderOfAppearance(n, g);
  bool isGood = succeeded(n.setOutput(0, n.gather(x, g.first, *axis)));
  for (auto [i, value] : {std::pair(1, g.first), std::pair(2, g.inverse), std::pair(3, g.counts)})
    isGood = isGood && succeeded(n.setOutput(i, value));
  return success(isGood);
}

} // namespace

ArrayRef<OpEntry> onnx_import::getSelectionOps() {
  static const OpEntry ops[] = {
      {"Compress", importCompress},
      {"NonZero", importNonZero},
      {"Unique", importUnique},
  };
  return ops;
}
