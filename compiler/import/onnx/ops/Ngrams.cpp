//===- Ngrams.cpp - counts of sequences of tokens ------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/import/onnx/Node.h"
#include "compiler/import/onnx/OpTable.h"
#include "compiler/import/onnx/Text.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::onnx_import;

namespace {

/// N-grams of one length, concatenated, with the output column and the weight of each.
struct Pool {
  int64_t length;
  Ints tokens, columns;
  SmallVector<double> weights;
};

/// Returns the tokens of all n-grams, and those of the input, as numbers: strings are replaced by their index among
/// those that occur, or -1.
std::optional<std::pair<Ints, Value>> readTokens(Node &n) {
  if (!n.hasAttr("pool_strings"))
    return std::pair(n.getInts("pool_int64s").value_or(Ints()), n.cast(n.input(0), n.i64()));
  Texts texts = n.getStrings("pool_strings").value_or(Texts()), keys = texts;
  std::optional<Strings> input = stringsInput(n, 0);
  if (!input)
    return std::nullopt;
  llvm::sort(keys);
  keys.erase(llvm::unique(keys), keys.end());
  Ints tokens;
  for (const std::string &text : texts)
    tokens.push_back(llvm::lower_bound(keys, text) - keys.begin());
  return std::pair(tokens, findStrings(n, *input, keys));
}

std::optional<SmallVector<Pool>> readPools(Node &n, IntsRef tokens) {
  Ints starts = n.getInts("ngram_counts").value_or(Ints()), columns = n.getInts("ngram_indexes").value_or(Ints());
  SmallVector<double> weights = n.getFloats("weights").value_or(SmallVector<double>(columns.size(), 1));
  SmallVector<Pool> pools;
  int64_t first = 0;
  for (size_t i = 0; i < starts.size(); ++i) {
    int64_t length = i + 1, begin = starts[i], end = i + 1 < starts.size() ? starts[i + 1] : tokens.size();
    if (begin < 0 || end < begin || end > static_cast<int64_t>(tokens.size()) || (end - begin) % length != 0) {
      (void)n.invalid("'ngram_counts' splits " + Twine(tokens.size()) + " tokens at " + Twine(begin) + " and " +
                      Twine(end) + ", between which no sequences of " + Twine(length) + " fit");
      return std::nullopt;
    }
    int64_t count = (end - begin) / length;
    if (first + count > static_cast<int64_t>(columns.size()))
      break;
    if (weights.size() == columns.size())
      pools.push_back({length, Ints(tokens.slice(begin, end - begin)), Ints(ArrayRef(columns).slice(first, count)),
                       SmallVector<double>(ArrayRef(weights).slice(first, count))});
    first += count;
  }
  if (first == static_cast<int64_t>(columns.size()) && pools.size() == starts.size() && !columns.empty() &&
      *llvm::min_element(columns) >= 0)
    return pools;
  (void)n.invalid("'ngram_indexes' has " + Twine(columns.size()) + " columns and 'weights' " + Twine(weights.size()) +
                  " numbers, which have to be as many as there are sequences");
  return std::nullopt;
}

/// Counts the occurrences of each n-gram of a pool in each row with a distance of `step` between tokens: [rows,
/// sequences].
Value countSequences(Node &n, Value x, const Pool &pool, int64_t step) {
  AffineExpr tokens = n.dim(x, 1);
  int64_t count = pool.columns.size();
  Value start = n.iota(tokens, 0, n.i64()), size = n.size(tokens, n.i64()), matches;
  for (int64_t i = 0; i < pool.length; ++i) {
    Value at = n.add(start, n.scalar(static_cast<double>(i * step), n.i64()));
    Value isInside = n.less(at, size);
    Value token = n.gather(x, n.min(at, n.sub(size, n.scalar(1, n.i64()))), 1);
    Ints wanted;
    for (int64_t k = 0; k < count; ++k)
      wanted.push_back(pool.tokens[k * pool.length + i]);
    Value match = n.equal(n.unsqueeze(token, 2), n.constantInts(wanted, count, n.i64()));
    match = n.bitAnd(match, n.unsqueeze(isInside, 1));
    matches = matches ? n.bitAnd(matches, match) : match;
  }
  return n.reduceSum(n.cast(matches, n.f32()), 1, false);
}

/// Computes weighted counts of all n-grams, including those with up to max_skip_count skipped tokens between
/// neighbours.
LogicalResult importTfIdfVectorizer(Node &n) {
  std::optional<std::pair<Ints, Value>> tokens = readTokens(n);
  if (!tokens)
    return failure();
  Value x = tokens->second;
  bool isVector = n.rank(x) == 1;
  if (isVector)
    x = n.unsqueeze(x, 0);
  std::optional<SmallVector<Pool>> pools = readPools(n, tokens->first);
  if (!pools)
    return failure();
  int64_t shortest = n.getInt("min_gram_length", 1), longest = n.getInt("max_gram_length", 1),
          skips = n.getInt("max_skip_count", 0);
  std::string mode = n.getString("mode", "TF");
  if (n.rank(x) != 2 || shortest < 1 || longest < shortest || skips < 0 || skips > 1024)
    return n.invalid("needs tokens [rows, tokens], lengths of at least 1 and 'max_skip_count' from 0 to 1024, found " +
                     dimsToString(n.dims(x)));
  if (mode != "TF" && mode != "IDF" && mode != "TFIDF")
    return n.invalid("'mode' has to be TF, IDF or TFIDF, not '" + mode + "'");
  int64_t width = 0;
  SmallVector<Value> counts;
  Ints columns;
  for (const Pool &pool : *pools) {
    for (int64_t column : pool.columns)
      width = std::max(width, column + 1);
    if (pool.columns.empty() || pool.length < shortest || pool.length > longest)
      continue;
    if (pool.length * (skips + 1) > 4096)
      return n.unsupported("counts sequences of " + Twine(pool.length) + " tokens in " + Twine(skips + 1) +
                           " ways; up to 4096 by both together is supported");
    Value sum;
    // A single token leaves nothing out.
    for (int64_t step = 1; step <= (pool.length == 1 ? 1 : skips + 1); ++step) {
      Value part = countSequences(n, x, pool, step);
      sum = sum ? n.add(sum, part) : part;
    }
    if (mode == "IDF")
      sum = n.min(sum, n.scalarLike(1, sum));
    if (mode != "TF")
      sum = n.mul(sum, n.constantFloats(pool.weights, static_cast<int64_t>(pool.weights.size()), n.f32()));
    counts.push_back(sum);
    columns.append(pool.columns);
  }
  Dims shape{n.dim(x, 0), n.constantDim(width)};
  Value result = n.broadcast(n.scalar(0, n.f32()), shape);
  if (!counts.empty()) {
    Value found = n.concat(counts, 1);
    result = n.scatterElements("add", result, n.broadcast(n.constantInts(columns), n.dims(found)), found, 1);
  }
  return n.setResult(isVector ? n.squeeze(result, 0) : result);
}

} // namespace

ArrayRef<OpEntry> onnx_import::getNgramOps() {
  static const OpEntry ops[] = {
      {"TfIdfVectorizer", importTfIdfVectorizer},
  };
  return ops;
}
