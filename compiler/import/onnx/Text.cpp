//===- Text.cpp - tensors of strings --------------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/import/onnx/Text.h"
#include "compiler/unicode/case_mapping.h"
#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::onnx_import;

static Type byteType(GraphBuilder &b) { return IntegerType::get(b.getContext(), 8, IntegerType::Unsigned); }

Strings onnx_import::makeStrings(GraphBuilder &b, ArrayRef<std::string> texts, IntsRef shape) {
  Ints ends;
  std::string bytes;
  for (const std::string &text : texts)
    ends.push_back(static_cast<int64_t>((bytes += text).size()));
  auto type = RankedTensorType::get(static_cast<int64_t>(bytes.size()), byteType(b));
  auto data = DenseElementsAttr::getFromRawBuffer(type, ArrayRef(bytes.data(), bytes.size()));
  return {b.weight(data), b.constantInts(ends, shape, b.i64())};
}

std::optional<Strings> onnx_import::stringsInput(Node &n, size_t i) {
  ImportedValue *value = n.imported(i);
  if (value && value->strings)
    return *value->strings;
  (void)n.invalid("needs strings as input '" + n.inputName(i) + "'");
  return std::nullopt;
}

LogicalResult onnx_import::setStrings(Node &n, size_t i, const Strings &strings) {
  if (n.hasFailed() || n.hasFault())
    return failure();
  n.setImported(i, toImported(n, strings));
  return success();
}

//===----------------------------------------------------------------------===//
// Ranges
//===----------------------------------------------------------------------===//

AffineExpr onnx_import::countStrings(GraphBuilder &b, const Strings &s) {
  return getElementCount(b.getContext(), b.dims(s.ends));
}

Value onnx_import::listEnds(GraphBuilder &b, const Strings &s) { return b.reshape(s.ends, countStrings(b, s)); }

Value onnx_import::listLengths(GraphBuilder &b, const Strings &s) {
  Value ends = listEnds(b, s), number = b.iota(b.dims(ends), 0, b.i64()), zero = b.scalarLike(0, ends);
  Value before = b.gather(ends, b.max(b.sub(number, b.scalarLike(1, number)), zero), 0);
  return b.sub(ends, b.select(b.equal(number, zero), zero, before));
}

Spread onnx_import::spread(Node &n, Value lengths) {
  Value ends = n.cumulativeSum(lengths, 0);
  AffineExpr total = n.bindSizes(n.reduceSum(lengths, 0)).front();
  Value number = n.iota(total, 0, n.i64());
  // The number of ranges that end at or before an element is the number of its range.
  Value part = n.searchSorted(n.add(number, n.scalarLike(1, number)), ends);
  return {ends, part, n.sub(number, n.gather(n.sub(ends, lengths), part, 0))};
}

Strings onnx_import::gatherRanges(Node &n, Value bytes, Value begins, Value lengths, ArrayRef<AffineExpr> shape) {
  Spread all = spread(n, lengths);
  Value from = n.add(n.gather(begins, all.part, 0), all.place);
  return {n.gather(bytes, from, 0), n.reshape(all.ends, shape)};
}

Strings onnx_import::takeStrings(Node &n, const Strings &table, Value numbers) {
  Value list = n.reshape(numbers, getElementCount(n.getContext(), n.dims(numbers)));
  Value lengths = listLengths(n, table), begins = n.sub(listEnds(n, table), lengths);
  return gatherRanges(n, table.bytes, n.gather(begins, list, 0), n.gather(lengths, list, 0), n.dims(numbers));
}

Strings onnx_import::joinStrings(Node &n, const Strings &first, const Strings &second) {
  Value moved = n.add(listEnds(n, second), n.size(n.dim(first.bytes, 0), n.i64()));
  return {n.concat({first.bytes, second.bytes}, 0), n.concat({listEnds(n, first), moved}, 0)};
}

//===----------------------------------------------------------------------===//
// By kernels of the library
//===----------------------------------------------------------------------===//

Value onnx_import::findStrings(Node &n, const Strings &s, ArrayRef<std::string> keys) {
  Strings table = makeStrings(n, keys, static_cast<int64_t>(keys.size()));
  Value found =
      n.call("tenon_find_strings", {s.bytes, listEnds(n, s), table.bytes, table.ends}, {{countStrings(n, s), n.i64()}})
          .front();
  return n.reshape(found, n.dims(s.ends));
}

Strings onnx_import::changeCase(Node &n, const Strings &s, bool upper) {
  const char *kernel = upper ? "tenon_upper_case" : "tenon_lower_case";
  return {n.call(kernel, s.bytes, {{n.dim(s.bytes, 0), byteType(n)}}).front(), s.ends};
}

std::string onnx_import::changeCase(StringRef text, bool upper) {
  std::string result(text);
  ::changeCase(text.bytes_begin(), reinterpret_cast<uint8_t *>(result.data()), static_cast<int64_t>(text.size()),
               upper);
  return result;
}
