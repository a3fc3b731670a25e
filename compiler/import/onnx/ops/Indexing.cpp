//===- Indexing.cpp - gathers, scatters, and what compares positions ------===//
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

LogicalResult importGather(Node &n) {
  Value x = n.input(0), indices = n.input(1);
  std::optional<int64_t> axis = n.normalizeAxis(n.getInt("axis", 0), n.rank(x));
  return axis ? n.setIndexed(n.gather(x, indices, *axis)) : failure();
}

/// Along all dimensions but `axis`, the positions of indices are those of `x`, and must be within it.
void requireWithin(Node &n, Value indices, Value x, int64_t axis) {
  if (n.rank(indices) != n.rank(x))
    return;
  for (int64_t i = 0; i < n.rank(x); ++i)
    if (i != axis)
      n.require(subDims(n.dim(x, i), n.dim(indices, i)),
                "has more indices along dimension " + Twine(i) + " than elements");
}

LogicalResult importGatherElements(Node &n) {
  Value x = n.input(0), indices = n.input(1);
  std::optional<int64_t> axis = n.normalizeAxis(n.getInt("axis", 0), n.rank(x));
  if (!axis)
    return failure();
  requireWithin(n, indices, x, *axis);
  return n.setIndexed(n.gatherElements(x, indices, *axis));
}

LogicalResult importGatherND(Node &n) {
  return n.setIndexed(n.gatherND(n.input(0), n.input(1), n.getInt("batch_dims", 0)));
}

/// Returns the dialect's name for a `reduction`; empty if there is none.
std::string readScatterKind(Node &n) {
  std::string reduction = n.getString("reduction", "none");
  if (reduction == "none")
    return "assign";
  if (reduction == "add" || reduction == "mul" || reduction == "max" || reduction == "min")
    return reduction;
  (void)n.invalid("'reduction' has to be none, add, mul, max or min, not '" + reduction + "'");
  return "";
}

LogicalResult importScatterElements(Node &n) {
  Value x = n.input(0), indices = n.input(1), updates = n.input(2);
  std::optional<int64_t> axis = n.normalizeAxis(n.getInt("axis", 0), n.rank(x));
  std::string kind = readScatterKind(n);
  if (!axis || kind.empty())
    return failure();
  requireWithin(n, indices, x, *axis);
  return n.setIndexed(n.scatterElements(kind, x, indices, updates, *axis));
}

LogicalResult importScatterND(Node &n) {
  std::string kind = readScatterKind(n);
  return kind.empty() ? failure() : n.setIndexed(n.scatterND(kind, n.input(0), n.input(1), n.input(2)));
}

LogicalResult importTopK(Node &n) {
  Value x = n.input(0);
  std::optional<int64_t> axis = n.normalizeAxis(n.getInt("axis", -1), n.rank(x));
  if (!axis)
    return failure();
  std::optional<Dims> k = n.hasInput(1) ? n.sizesOperand(1, "k", n.dim(x, *axis)) : n.constantDims(n.getInt("k", 1));
  if (!k)
    return failure();
  if (k->size() != 1)
    return n.invalid("'k' has " + Twine(k->size()) + " elements, but has to have one");
  n.require(subDims(n.dim(x, *axis), k->front()), "TopK requests more elements than there are");
  auto [values, indices] = n.topK(x, *axis, k->front(), n.getBool("largest", true));
  return success(succeeded(n.setOutput(0, values)) && succeeded(n.setOutput(1, indices)));
}

/// The result is 1 where the position along a new axis equals the index; negative indices count from the end.
LogicalResult importOneHot(Node &n) {
  Value indices = n.cast(n.input(0), n.i64()), values = n.input(2);
  std::optional<Dims> depths = n.sizesOperand(1, "depth");
  if (!depths)
    return failure();
  if (depths->size() != 1)
    return n.invalid("'depth' has " + Twine(depths->size()) + " elements, but has to have one");
  AffineExpr depth = depths->front();
  n.require(depth, "'depth' is negative");
  std::optional<int64_t> axis = n.normalizeAxis(n.getInt("axis", -1), n.rank(indices) + 1);
  if (!axis)
    return failure();
  Value zero = n.scalar(0, n.i64());
  indices = n.select(n.less(indices, zero), n.add(indices, n.size(depth, n.i64())), indices);
  Value positions = n.alongAxis(n.iota(depth, 0, n.i64()), *axis, n.rank(indices) + 1);
  auto value = [&](int64_t i) {
    return n.reshape(n.sliceAxis(values, 0, n.constantDim(i), n.constantDim(1)), IntsRef());
  };
  return n.setResult(n.select(n.equal(n.unsqueeze(indices, *axis), positions), value(1), value(0)));
}

/// Writes `update` into the cache, at each batch's index.
LogicalResult importTensorScatter(Node &n) {
  Value cache = n.input(0), update = n.input(1);
  std::string mode = n.getString("mode", "linear");
  std::optional<int64_t> axis = n.normalizeAxis(n.getInt("axis", -2), n.rank(cache));
  if (!axis)
    return failure();
  if (mode != "linear" && mode != "circular")
    return n.invalid("'mode' has to be linear or circular, not '" + mode + "'");
  if (*axis == 0 || n.rank(update) != n.rank(cache))
    return n.invalid("needs an update of the cache's rank, and an axis after the batch");
  Value place = n.iota(n.dims(cache), *axis, n.i64()), zero = n.scalar(0, n.i64());
  AffineExpr room = subDims(n.dim(cache, *axis), n.dim(update, *axis));
  n.require(room, "its update is longer than the cache");
  if (n.hasInput(2)) {
    AffineExpr last = mode == "circular" ? subDims(n.dim(cache, *axis), n.constantDim(1)) : room;
    Value starts = n.checkRange(n.cast(n.input(2), n.i64()), n.constantDim(0), last);
    place = n.sub(place, n.alongAxis(starts, 0, n.rank(cache)));
  }
  if (mode == "circular")
    place = n.mod(place, n.size(n.dim(cache, *axis), n.i64()));
  Value count = n.size(n.dim(update, *axis), n.i64());
  Value isNew = n.bitAnd(n.greaterOrEqual(place, zero), n.less(place, count));
  Value taken = n.gatherElements(update, n.select(isNew, place, zero), *axis);
  return n.setResult(n.select(isNew, taken, cache));
}

/// Keeps the elements on one side of diagonal k.
LogicalResult importTrilu(Node &n) {
  Value x = n.input(0);
  if (n.rank(x) < 2)
    return n.invalid("needs a matrix, found " + dimsToString(n.dims(x)));
  Dims matrix = n.dims(x);
  matrix.erase(matrix.begin(), matrix.end() - 2);
  Value k = n.hasInput(1) ? n.reshape(n.input(1), IntsRef()) : n.scalar(0, n.i64());
  // The number of an element's diagonal, which does not overflow for any k.
  Value diagonal = n.sub(n.iota(matrix, 1, n.i64()), n.iota(matrix, 0, n.i64()));
  Value keeps = n.getBool("upper", true) ? n.greaterOrEqual(diagonal, k) : n.lessOrEqual(diagonal, k);
  return n.setResult(n.select(keeps, x, n.scalarLike(0, x)));
}

/// Reads element len - 1 - i of the time axis if i < len, otherwise element i.
LogicalResult importReverseSequence(Node &n) {
  Value x = n.input(0);
  int64_t time = n.getInt("time_axis", 0), batch = n.getInt("batch_axis", 1);
  if (n.rank(x) < 2 || time + batch != 1 || (time != 0 && time != 1))
    return n.invalid("needs an input of 2 dimensions or more, and the axes 0 and 1 for time and batch");
  Value lengths = n.checkRange(n.input(1), n.constantDim(0), n.dim(x, time));
  Value length = n.alongAxis(lengths, batch, n.rank(x)), i = n.iota(n.dims(x), time, n.i64());
  Value mirrored = n.sub(n.sub(length, n.scalar(1, n.i64())), i);
  return n.setResult(n.gatherElements(x, n.select(n.less(i, length), mirrored, i), time));
}

} // namespace

ArrayRef<OpEntry> onnx_import::getIndexingOps() {
  static const OpEntry ops[] = {
      {"Gather", importGather},
      {"GatherElements", importGatherElements},
      {"GatherND", importGatherND},
      {"OneHot", importOneHot},
      {"ReverseSequence", importReverseSequence},
      {"Scatter", importScatterElements, 9, 10},
      {"ScatterElements", importScatterElements},
      {"ScatterND", importScatterND},
      {"TensorScatter", importTensorScatter},
      {"TopK", importTopK},
      {"Trilu", importTrilu},
  };
  return ops;
}
