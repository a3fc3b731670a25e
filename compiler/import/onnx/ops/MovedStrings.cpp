//===- MovedStrings.cpp - operators of numbers, on strings ----------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What moves the elements of tensors moves numbers of strings instead; then the strings with these numbers
// are taken. What gives tensors another shape does that to the list of ends.
//
//===----------------------------------------------------------------------===//

#include "compiler/import/onnx/OpTable.h"
#include "compiler/import/onnx/Text.h"
#include "compiler/import/onnx/ops/RuntimeOperands.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::onnx_import;

namespace {

/// Imports the node with the ends of the strings as operands. Returns the outputs.
std::optional<SmallVector<ImportedValue>> importOnEnds(Node &n) {
  std::optional<Strings> s = stringsInput(n, 0);
  if (!s)
    return std::nullopt;
  return n.importer.importInstead(n, {{n.inputName(0), toImported(n, s->ends)}});
}

LogicalResult importShaped(Node &n) {
  std::optional<SmallVector<ImportedValue>> outputs = importOnEnds(n);
  if (!outputs)
    return failure();
  return setStrings(n, 0, {n.imported(0)->strings->bytes, n.importer.materialize(outputs->front())});
}

LogicalResult importMeasured(Node &n) {
  std::optional<SmallVector<ImportedValue>> outputs = importOnEnds(n);
  if (!outputs)
    return failure();
  n.setImported(0, outputs->front());
  return success();
}

/// Returns a tensor of the shape of `s` that numbers its strings from `first` on, in row-major order.
Value numbersOf(Node &n, const Strings &s, AffineExpr first) {
  Value number = n.reshape(n.iota(countStrings(n, s), 0, n.i64()), n.dims(s.ends));
  return getConstant(first) == 0 ? number : n.add(number, n.size(first, n.i64()));
}

LogicalResult importMoved(Node &n) {
  std::optional<Strings> table;
  std::vector<std::pair<StringRef, ImportedValue>> inputs;
  for (size_t i = 0; i < n.getNumInputs(); ++i) {
    ImportedValue *value = n.imported(i);
    if (!value || !value->strings)
      continue;
    AffineExpr first = table ? countStrings(n, *table) : n.constantDim(0);
    inputs.emplace_back(n.inputName(i), toImported(n, numbersOf(n, *value->strings, first)));
    table = table ? joinStrings(n, *table, *value->strings) : *value->strings;
  }
  if (n.hasFailed())
    return failure();
  std::optional<SmallVector<ImportedValue>> outputs = n.importer.importInstead(n, inputs);
  if (!outputs)
    return failure();
  for (auto [i, output] : llvm::enumerate(*outputs))
    if (n.wantsOutput(i) && failed(setStrings(n, i, takeStrings(n, *table, n.importer.materialize(output)))))
      return failure();
  return success();
}

/// Strings are equal if their lengths are, and no byte differs.
LogicalResult importEqual(Node &n) {
  std::optional<Strings> x = stringsInput(n, 0), y = stringsInput(n, 1);
  if (!x || !y)
    return failure();
  Value zero = n.constantInts(0, {}, n.i64());
  Value a = numbersOf(n, *x, n.constantDim(0)), b = numbersOf(n, *y, n.constantDim(0));
  Value i = n.add(a, n.mul(b, zero)), k = n.add(b, n.mul(a, zero));
  Dims shape = n.dims(i);
  AffineExpr count = getElementCount(n.getContext(), shape);
  i = n.reshape(i, count);
  k = n.reshape(k, count);
  auto describe = [&](const Strings &s, Value number) {
    Value lengths = listLengths(n, s), begins = n.sub(listEnds(n, s), lengths);
    return std::pair(n.gather(begins, number, 0), n.gather(lengths, number, 0));
  };
  auto [xBegin, xLength] = describe(*x, i);
  auto [yBegin, yLength] = describe(*y, k);
  Value sameLength = n.equal(xLength, yLength);
  Spread all = spread(n, n.select(sameLength, xLength, zero));
  auto byteOf = [&](const Strings &s, Value begin) {
    return n.gather(s.bytes, n.add(n.gather(begin, all.part, 0), all.place), 0);
  };
  Value differs = toInt(n, n.notEqual(byteOf(*x, xBegin), byteOf(*y, yBegin)));
  Value differing = n.scatterElements("add", n.broadcast(zero, count), all.part, differs, 0);
  return n.setResult(n.reshape(n.bitAnd(sameLength, n.equal(differing, zero)), shape));
}

} // namespace

ArrayRef<OpEntry> onnx_import::getMovedStringOps() {
  static const OpEntry ops[] = {
      {"ArrayFeatureExtractor", importMoved},
      {"Compress", importMoved},
      {"Concat", importMoved},
      {"Equal", importEqual},
      {"Expand", importMoved},
      {"Flatten", importShaped},
      {"Gather", importMoved},
      {"GatherElements", importMoved},
      {"GatherND", importMoved},
      {"Reshape", importShaped},
      {"ReverseSequence", importMoved},
      {"ScatterElements", importMoved},
      {"ScatterND", importMoved},
      {"Shape", importMeasured},
      {"Size", importMeasured},
      {"Slice", importMoved},
      {"Split", importMoved},
      {"Squeeze", importShaped},
      {"Tile", importMoved},
      {"Transpose", importMoved},
      {"Unsqueeze", importShaped},
      {"Where", importMoved},
  };
  return ops;
}
