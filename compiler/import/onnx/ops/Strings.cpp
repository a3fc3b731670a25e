//===- Strings.cpp - operators on strings ---------------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/errors/CompileError.h"
#include "compiler/import/onnx/OpTable.h"
#include "compiler/import/onnx/Regex.h"
#include "compiler/import/onnx/Text.h"
#include "compiler/import/onnx/ops/RuntimeOperands.h"
#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::onnx_import;

namespace {

/// Ranges of both, in turn.
LogicalResult importStringConcat(Node &n) {
  std::optional<Strings> x = stringsInput(n, 0), y = stringsInput(n, 1);
  if (!x || !y)
    return failure();
  Strings table = joinStrings(n, *x, *y);
  auto numbersOf = [&](const Strings &s) { return n.reshape(n.iota(countStrings(n, s), 0, n.i64()), n.dims(s.ends)); };
  Value zero = n.constantInts(0, {}, n.i64()), a = numbersOf(*x);
  Value b = n.add(numbersOf(*y), n.size(countStrings(n, *x), n.i64()));
  Value first = n.add(a, n.mul(b, zero)), second = n.add(b, n.mul(a, zero));
  int64_t rank = n.rank(first);
  Value pairs = n.concat({n.unsqueeze(first, rank), n.unsqueeze(second, rank)}, rank);
  Strings halves = takeStrings(n, table, pairs);
  // A string ends where its second half does.
  Value ends = n.sliceAxis(halves.ends, rank, n.constantDim(1), n.constantDim(1));
  return setStrings(n, 0, {halves.bytes, n.squeeze(ends, rank)});
}

/// Puts the parts along a new last dimension, whose extent is the largest number of parts; shorter lists are padded
/// with empty strings.
LogicalResult importStringSplit(Node &n) {
  std::optional<Strings> s = stringsInput(n, 0);
  if (!s)
    return failure();
  AffineExpr count = countStrings(n, *s);
  Strings delimiter = makeStrings(n, n.getString("delimiter", ""), 1);
  SmallVector<Value> inputs{s->bytes, listEnds(n, *s), delimiter.bytes,
                            n.constantInts(n.getInt("maxsplit", -1), 1, n.i64())};
  Value counts = n.call("tenon_split_counts", inputs, {{count, n.i64()}}).front();
  // There may be no strings at all.
  Value most = n.reduceMax(n.concat({counts, n.constantInts(0, 1, n.i64())}, 0), 0);
  AffineExpr width = n.bindSizes(most).front(), total = mulDims(count, width);
  SmallVector<Value> parts = n.call("tenon_split", inputs, {{total, n.i64()}, {total, n.i64()}});
  Dims shape = n.dims(s->ends);
  Value shaped = n.reshape(counts, shape);
  shape.push_back(width);
  if (failed(setStrings(n, 0, gatherRanges(n, s->bytes, parts[0], parts[1], shape))))
    return failure();
  return n.wantsOutput(1) ? n.setOutput(1, shaped) : success();
}

/// Returns the strings of a list for which `keep` holds; one empty string if there are none.
Strings keepStrings(Node &n, const Strings &s, Value keep) {
  Value kept = toInt(n, keep), one = n.constantInts(1, {}, n.i64());
  AffineExpr size = n.bindSizes(n.max(n.reduceSum(kept, 0), one), 1).front();
  // Number i is that of the string at which i + 1 strings are kept; the list's length if there is none.
  Value numbers = n.searchSorted(n.add(n.iota(size, 0, n.i64()), one), n.cumulativeSum(kept, 0));
  Strings empty{n.sliceAxis(s.bytes, 0, n.constantDim(0), n.constantDim(0)), n.constantInts(0, 1, n.i64())};
  return takeStrings(n, joinStrings(n, s, empty), numbers);
}

LogicalResult importStringNormalizer(Node &n) {
  std::optional<Strings> s = stringsInput(n, 0);
  if (!s)
    return failure();
  std::string change = n.getString("case_change_action", "NONE");
  bool isSensitive = n.getBool("is_case_sensitive", false);
  Texts stopwords = n.getStrings("stopwords").value_or(Texts());
  Dims dims = n.dims(s->ends);
  if (change != "NONE" && change != "LOWER" && change != "UPPER")
    return n.invalid("'case_change_action' has to be NONE, LOWER or UPPER, not '" + change + "'");
  if (dims.size() != 1 && !(dims.size() == 2 && getConstant(dims[0]).value_or(1) == 1))
    return n.invalid("needs strings [C] or [1, C], found " + dimsToString(dims));
  Strings list{s->bytes, listEnds(n, *s)};
  if (!stopwords.empty()) {
    for (std::string &word : stopwords)
      word = isSensitive ? word : changeCase(word, false);
    llvm::sort(stopwords);
    stopwords.erase(llvm::unique(stopwords), stopwords.end());
    Value found = findStrings(n, isSensitive ? list : changeCase(n, list, false), stopwords);
    list = keepStrings(n, list, n.less(found, n.scalarLike(0, found)));
  }
  if (change != "NONE")
    list = changeCase(n, list, change == "UPPER");
  if (dims.size() == 2)
    list.ends = n.unsqueeze(list.ends, 0);
  return setStrings(n, 0, list);
}

LogicalResult importRegexFullMatch(Node &n) {
  std::optional<Strings> s = stringsInput(n, 0);
  if (!s)
    return failure();
  llvm::Expected<Automaton> automaton = compileRegex(n.getString("pattern", ""));
  if (!automaton)
    return n.fault(prefixError(automaton.takeError(), "the pattern "));
  auto bytes = IntegerType::get(n.getContext(), 8, IntegerType::Unsigned);
  auto list = [&](IntsRef values, Type type) {
    return n.constantInts(values, static_cast<int64_t>(values.size()), type);
  };
  SmallVector<Value> inputs{s->bytes, listEnds(n, *s), list(automaton->classes, bytes), list(automaton->next, n.i32()),
                            list(automaton->accepts, bytes)};
  Value result = n.call("tenon_match", inputs, {{countStrings(n, *s), n.i1()}}).front();
  return n.setResult(n.reshape(result, n.dims(s->ends)));
}

} // namespace

ArrayRef<OpEntry> onnx_import::getStringOps() {
  static const OpEntry ops[] = {
      {"RegexFullMatch", importRegexFullMatch},
      {"StringConcat", importStringConcat},
      {"StringNormalizer", importStringNormalizer},
      {"StringSplit", importStringSplit},
  };
  return ops;
}
