//===- MicrosoftAttention.cpp - attention of domain com.microsoft --------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/import/onnx/Node.h"
#include "compiler/import/onnx/OpTable.h"
#include "compiler/import/onnx/ops/RuntimeOperands.h"
#include <array>
#include <cmath>

using namespace mlir;
using namespace tenon;
using namespace tenon::onnx_import;

// The handlers follow the descriptions in ONNX Runtime (docs/ContribOperators.md).

namespace {

//===----------------------------------------------------------------------===//
// Heads
//===----------------------------------------------------------------------===//

/// Reshapes [batch, sequence, heads * size] to [batch, heads, sequence, size]; four dimensions are unchanged.
Value splitHeads(Node &n, Value x, int64_t heads) {
  Dims d = n.dims(x);
  if (d.size() == 4)
    return x;
  AffineExpr h = n.constantDim(heads);
  std::optional<int64_t> rest = d.size() == 3 ? getConstant(modDims(d[2], h)) : std::nullopt;
  if (d.size() != 3 || rest.value_or(0) != 0) {
    (void)n.invalid("needs a tensor [batch, sequence, hidden] of " + Twine(heads) + " heads, found " + dimsToString(d));
    return {};
  }
  return n.transpose(n.reshape(x, {d[0], d[1], h, divDims(d[2], h)}), {0, 2, 1, 3});
}

Value joinHeads(Node &n, Value x) {
  Dims d = n.dims(x);
  if (d.size() != 4)
    return {};
  return n.reshape(n.transpose(x, {0, 2, 1, 3}), {d[0], d[2], mulDims(d[1], d[3])});
}

/// Returns part i of dimension `axis`, without that dimension.
Value takePart(Node &n, Value x, int64_t axis, int64_t i) {
  return n.squeeze(n.sliceAxis(x, axis, n.constantDim(i), n.constantDim(1)), axis);
}

/// Reshapes a vector with one number per batch to [batch, 1, 1, 1].
Value perBatch(Node &n, Value x) { return n.alongAxis(n.cast(x, n.i64()), 0, 4); }

//===----------------------------------------------------------------------===//
// Scores
//===----------------------------------------------------------------------===//

/// Adds a large negative number to the scores of masked keys.
Value addMask(Node &n, Value scores, Value counts, double filter) {
  Value zero = n.scalarLike(0, scores);
  return n.add(scores, n.select(counts, zero, n.scalarLike(filter, scores)));
}

/// Scores of keys that never count.
Value excludeKeys(Node &n, Value scores, Value counts) {
  return n.select(counts, scores, n.scalarLike(n.elementType(scores).isF16() ? -65504 : -3.4e38, scores));
}

/// Computes scores [batch, heads, query, key], where several query heads share a key head.
Value scoreKeys(Node &n, Value query, Value key, double scale) {
  Dims q = n.dims(query), k = n.dims(key);
  if (q.size() != 4 || k.size() != 4)
    return {};
  Dims grouped{q[0], k[1], divDims(q[1], k[1]), q[2], q[3]};
  // [batch, key head, group, query, size] x [batch, key head, key, size]
  Value scores = n.contract(n.reshape(query, grouped), key, {0, 1, 2, 3, 5}, {0, 1, 4, 5}, {0, 1, 2, 3, 4});
  return n.mul(n.reshape(scores, {q[0], q[1], q[2], k[2]}), n.scalarLike(scale, query));
}

/// Computes the weighted sums of values, [batch, heads, query, size].
Value mixValues(Node &n, Value weights, Value value) {
  Dims w = n.dims(weights), v = n.dims(value);
  if (w.size() != 4 || v.size() != 4)
    return {};
  Dims grouped{w[0], v[1], divDims(w[1], v[1]), w[2], w[3]};
  Value mixed = n.contract(n.reshape(weights, grouped), value, {0, 1, 2, 3, 5}, {0, 1, 5, 4}, {0, 1, 2, 3, 4});
  return n.reshape(mixed, {w[0], w[1], w[2], v[3]});
}

/// `scale`, or else what the size of a head gives.
double readScale(Node &n, Value query) {
  double size = static_cast<double>(getConstant(n.dim(query, 3)).value_or(1)), scale = n.getFloat("scale", 0);
  return scale == 0 ? 1 / std::sqrt(size) : scale;
}

/// Positions of queries and of keys, each broadcastable to [batch, heads, query, key].
struct Positions {
  Value query, key;
};

Positions makePositions(Node &n, Value scores) {
  Dims line{n.dim(scores, 2), n.constantDim(1)};
  return {n.iota(line, 0, n.i64()), n.iota(n.dim(scores, 3), 0, n.i64())};
}

//===----------------------------------------------------------------------===//
// Masks
//===----------------------------------------------------------------------===//

/// Returns which keys are unmasked, from a mask of ones, [batch, key], [batch, query, key] or [batch, 1, most, most],
/// or from a vector of the number of unmasked keys per batch, optionally followed by a vector of their starts.
FailureOr<Value> readMask(Node &n, Value mask, Value scores) {
  int64_t rank = n.rank(mask);
  AffineExpr batch = n.dim(scores, 0), queries = n.dim(scores, 2), keys = n.dim(scores, 3);
  if (rank == 1) {
    Value key = makePositions(n, scores).key;
    auto part = [&](int64_t i) { return perBatch(n, n.sliceAxis(mask, 0, mulDims(batch, n.constantDim(i)), batch)); };
    if (n.dim(mask, 0) == batch)
      return n.less(key, part(0));
    if (n.dim(mask, 0) == mulDims(batch, n.constantDim(2)))
      return n.bitAnd(n.less(key, part(0)), n.greaterOrEqual(key, part(1)));
  }
  if (rank < 2 || rank > 4)
    return n.unsupported("has a mask of shape " + dimsToString(n.dims(mask)) + " for scores " +
                         dimsToString(n.dims(scores)) + ", which is not supported");
  if (rank == 4) {
    // A mask for the longest sequence is sliced to the rows of the queries, which follow the cached positions.
    mask = n.sliceAxis(mask, 2, subDims(keys, queries), queries);
    mask = n.sliceAxis(mask, 3, n.constantDim(0), keys);
  }
  mask = n.greater(mask, n.scalarLike(0, mask));
  return rank == 2 ? n.unsqueeze(mask, {1, 2}) : rank == 3 ? n.unsqueeze(mask, 1) : mask;
}

/// Masks keys after a query's own position, which is offset by the number of cached keys.
Value addCausalMask(Node &n, Value scores, Value before, double filter) {
  Positions p = makePositions(n, scores);
  return addMask(n, scores, n.lessOrEqual(p.key, n.add(p.query, before)), filter);
}

//===----------------------------------------------------------------------===//
// What went before
//===----------------------------------------------------------------------===//

/// Returns a buffer of `size` positions: the elements of `past`, and those of `now` from position `start` on, [batch,
/// 1, 1, 1].
Value writeAt(Node &n, Value past, Value now, Value start, AffineExpr size) {
  Dims shape = n.dims(now);
  if (shape.size() != 4)
    return {};
  AffineExpr count = shape[2];
  shape[2] = size;
  Value place = n.iota(shape, 2, n.i64()), own = n.sub(place, start), zero = intScalar(n, 0);
  auto read = [&](Value x, Value at, AffineExpr extent) {
    Value last = n.size(subDims(extent, n.constantDim(1)), n.i64());
    return n.gatherElements(x, n.max(n.min(at, last), zero), 2);
  };
  Value isNow = n.bitAnd(n.greaterOrEqual(own, zero), n.less(own, n.size(count, n.i64())));
  Value old = n.scalarLike(0, now);
  if (past && getConstant(n.dim(past, 2)) != 0) {
    Value isPast = n.less(place, n.size(n.dim(past, 2), n.i64()));
    old = n.select(isPast, read(past, place, n.dim(past, 2)), old);
  }
  return n.select(isNow, read(now, own, count), old);
}

/// Keys and values including the cached ones, and the number of those.
struct Joined {
  Value key, value, before;
};

/// `past` has exactly the cached positions or, if there is a length operand, has room for more.
Joined joinPast(Node &n, Value pastKey, Value pastValue, Value length, Value key, Value value) {
  if (!pastKey)
    return {key, value, intScalar(n, 0)};
  if (!length)
    return {n.concat({pastKey, key}, 2), n.concat({pastValue, value}, 2), n.size(n.dim(pastKey, 2), n.i64())};
  Value before = n.reshape(n.cast(length, n.i64()), IntsRef());
  return {writeAt(n, pastKey, key, before, n.dim(pastKey, 2)),
          writeAt(n, pastValue, value, before, n.dim(pastValue, 2)), before};
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

/// Splits one projection into query, key and value, in that order of columns.
std::optional<std::array<Value, 3>> splitProjection(Node &n, Value projected, int64_t heads) {
  std::optional<int64_t> columns = getConstant(n.dim(projected, 2));
  if (n.rank(projected) != 3 || !columns || heads < 1) {
    (void)n.invalid("needs an input [batch, sequence, hidden], constant weights and 'num_heads', found " +
                    dimsToString(n.dims(n.input(0))));
    return std::nullopt;
  }
  Ints sizes = n.getInts("qkv_hidden_sizes").value_or(Ints(3, *columns / 3));
  if (sizes.size() != 3 || sizes[0] + sizes[1] + sizes[2] != *columns ||
      llvm::any_of(sizes, [&](int64_t size) { return size < 1 || size % heads != 0; })) {
    (void)n.invalid("cannot split " + Twine(*columns) + " columns into query, key and value of " + Twine(heads) +
                    " heads");
    return std::nullopt;
  }
  std::array<Value, 3> parts;
  int64_t start = 0;
  for (size_t i = 0; i < 3; ++i) {
    parts[i] = splitHeads(n, n.sliceAxis(projected, 2, n.constantDim(start), n.constantDim(sizes[i])), heads);
    start += sizes[i];
  }
  return parts;
}

/// The numbers of the operands that Attention and QAttention share.
struct AttentionOperands {
  size_t mask, past, bias, pastLength;
};

LogicalResult attend(Node &n, Value projected, const AttentionOperands &at) {
  int64_t heads = n.getInt("num_heads", 0);
  double filter = n.getFloat("mask_filter_value", -10000);
  std::optional<std::array<Value, 3>> parts = splitProjection(n, projected, heads);
  if (!parts)
    return failure();
  if (n.getBool("do_rotary", false))
    return n.unsupported("'do_rotary' is not supported; use GroupQueryAttention, or RotaryEmbedding before it");
  auto [query, key, value] = *parts;
  Value pastKey, pastValue;
  if (n.hasInput(at.past)) {
    pastKey = takePart(n, n.input(at.past), 0, 0);
    pastValue = takePart(n, n.input(at.past), 0, 1);
  }
  bool sharesBuffer = n.getBool("past_present_share_buffer", false);
  Joined joined = joinPast(n, pastKey, pastValue, sharesBuffer ? n.optionalInput(at.pastLength) : Value(), key, value);
  if (n.wantsOutput(1) &&
      failed(n.setOutput(1, n.concat({n.unsqueeze(joined.key, 0), n.unsqueeze(joined.value, 0)}, 0))))
    return failure();
  Value scores = scoreKeys(n, query, joined.key, readScale(n, query));
  if (n.getBool("unidirectional", false))
    scores = addCausalMask(n, scores, joined.before, filter);
  if (n.hasInput(at.mask)) {
    FailureOr<Value> counts = readMask(n, n.input(at.mask), scores);
    if (failed(counts))
      return failure();
    scores = addMask(n, scores, *counts, filter);
  }
  if (n.hasInput(at.bias))
    scores = n.add(scores, n.input(at.bias));
  if (sharesBuffer) {
    Value used = n.add(joined.before, n.size(n.dim(query, 2), n.i64()));
    scores = excludeKeys(n, scores, n.less(makePositions(n, scores).key, used));
  }
  return n.setResult(joinHeads(n, mixValues(n, n.softmax(scores, 3), joined.value)));
}

LogicalResult importAttention(Node &n) {
  Value projected = n.matmul(n.input(0), n.input(1));
  if (n.hasInput(2))
    projected = n.add(projected, n.input(2));
  return attend(n, projected, {3, 4, 5, 6});
}

/// The same with a product of quantised operands.
LogicalResult importQAttention(Node &n) {
  auto centre = [&](Value x, size_t zero) {
    x = n.cast(x, n.i32());
    if (!n.hasInput(zero))
      return x;
    Value point = n.cast(n.input(zero), n.i32());
    return n.sub(x, getConstant(n.dim(point, 0)) == 1 ? n.reshape(point, IntsRef()) : point);
  };
  Value product = n.matmul(centre(n.input(0), 6), centre(n.input(1), 7));
  Value scale = n.mul(n.input(3), n.input(4));
  Value projected = n.add(n.mul(n.cast(product, n.elementType(scale)), scale), n.input(2));
  return attend(n, projected, {5, 8, /*none*/ 99, 99});
}

//===----------------------------------------------------------------------===//
// MultiHeadAttention
//===----------------------------------------------------------------------===//

/// Adds the part of the concatenated bias of query, key and value that belongs to x, [batch, heads, sequence, size].
Value addHeadBias(Node &n, Value x, size_t i, AffineExpr &start) {
  if (!n.hasInput(i) || n.rank(x) != 4)
    return x;
  AffineExpr heads = n.dim(x, 1), size = n.dim(x, 3), width = mulDims(heads, size), one = n.constantDim(1);
  Value own = n.reshape(n.sliceAxis(n.input(i), 0, start, width), {one, heads, one, size});
  start = addDims(start, width);
  return n.add(x, own);
}

/// Reads query, key and value: as separate operands, or with key, or key and value, packed as additional dimensions of
/// the operand before.
std::optional<std::array<Value, 3>> readMultiHeads(Node &n, int64_t heads) {
  Value query = n.input(0);
  auto unpack = [&](Value x, int64_t part) { return n.transpose(takePart(n, x, 3, part), {0, 2, 1, 3}); };
  std::array<Value, 3> parts;
  if (n.rank(query) == 5)
    parts = {unpack(query, 0), unpack(query, 1), unpack(query, 2)};
  else if (n.hasInput(1) && n.rank(n.input(1)) == 5)
    parts = {splitHeads(n, query, heads), unpack(n.input(1), 0), unpack(n.input(1), 1)};
  else if (n.hasInput(1) && n.hasInput(2))
    parts = {splitHeads(n, query, heads), splitHeads(n, n.input(1), heads), splitHeads(n, n.input(2), heads)};
  else
    (void)n.invalid("needs query, key and value, or a query [batch, sequence, heads, 3, size] of all three");
  if (n.hasFault())
    return std::nullopt;
  AffineExpr start = n.constantDim(0);
  bool isCross = n.hasInput(1) && n.rank(n.input(1)) == 4;
  parts[0] = addHeadBias(n, parts[0], 3, start);
  // Keys and values of cross attention are already split into heads, and include their bias.
  for (size_t i = 1; i < 3 && !isCross; ++i)
    parts[i] = addHeadBias(n, parts[i], 3, start);
  return parts;
}

LogicalResult importMultiHeadAttention(Node &n) {
  int64_t heads = n.getInt("num_heads", 0);
  double filter = n.getFloat("mask_filter_value", -10000);
  if (heads < 1)
    return n.invalid("needs 'num_heads'");
  if (n.hasInput(9))
    return n.unsupported("'cache_indirection', which beams share, is not supported");
  std::optional<std::array<Value, 3>> parts = readMultiHeads(n, heads);
  if (!parts)
    return failure();
  auto [query, key, value] = *parts;
  Joined joined = joinPast(n, n.optionalInput(6), n.optionalInput(7), n.optionalInput(8), key, value);
  if (n.wantsOutput(1) && failed(n.setOutput(1, joined.key)))
    return failure();
  if (n.wantsOutput(2) && failed(n.setOutput(2, joined.value)))
    return failure();
  Value scores = scoreKeys(n, query, joined.key, readScale(n, query));
  if (n.getBool("unidirectional", false))
    scores = addCausalMask(n, scores, joined.before, filter);
  if (n.hasInput(4)) {
    FailureOr<Value> counts = readMask(n, n.input(4), scores);
    if (failed(counts))
      return failure();
    scores = addMask(n, scores, *counts, filter);
  }
  if (n.hasInput(5))
    scores = n.add(scores, n.input(5));
  if (n.hasInput(8)) {
    Value used = n.add(joined.before, n.size(n.dim(query, 2), n.i64()));
    scores = excludeKeys(n, scores, n.less(makePositions(n, scores).key, used));
  }
  if (n.wantsOutput(3) && failed(n.setOutput(3, scores)))
    return failure();
  return n.setResult(joinHeads(n, mixValues(n, n.softmax(scores, 3), joined.value)));
}

//===----------------------------------------------------------------------===//
// Rotation
//===----------------------------------------------------------------------===//

/// Rotates pairs of elements of [batch, heads, sequence, size] by the angles of their positions, [batch or 1,
/// sequence]. The tables have a row per position and a column per pair; elements after the last pair are unchanged.
Value rotate(Node &n, Value x, Value positions, Value cosines, Value sines, bool interleaved) {
  Dims d = n.dims(x);
  if (d.size() != 4)
    return {};
  AffineExpr pairs = n.dim(cosines, 1), two = n.constantDim(2), zero = n.constantDim(0), turned = mulDims(pairs, two);
  Value cosine = n.unsqueeze(n.gather(cosines, positions, 0), 1), sine = n.unsqueeze(n.gather(sines, positions, 0), 1);
  Value front = n.sliceAxis(x, 3, zero, turned), a, b;
  if (interleaved) {
    Value split = n.reshape(front, {d[0], d[1], d[2], pairs, two});
    a = takePart(n, split, 4, 0);
    b = takePart(n, split, 4, 1);
  } else {
    a = n.sliceAxis(front, 3, zero, pairs);
    b = n.sliceAxis(front, 3, pairs, pairs);
  }
  Value first = n.sub(n.mul(a, cosine), n.mul(b, sine)), second = n.add(n.mul(a, sine), n.mul(b, cosine));
  Value result = interleaved ? n.reshape(n.concat({n.unsqueeze(first, 4), n.unsqueeze(second, 4)}, 4), n.dims(front))
                             : n.concat({first, second}, 3);
  if (turned == d[3])
    return result;
  return n.concat({result, n.sliceAxis(x, 3, turned, subDims(d[3], turned))}, 3);
}

LogicalResult importRotaryEmbedding(Node &n) {
  Value x = n.input(0), positions = n.cast(n.input(1), n.i64()), cosines = n.input(2), sines = n.input(3);
  if (n.getBool("is_packed_batching", false))
    return n.unsupported("'is_packed_batching' is not supported");
  bool hasHeads = n.rank(x) == 4;
  std::optional<int64_t> hidden = getConstant(n.dim(x, n.rank(x) - 1)), pairs = getConstant(n.dim(cosines, 1));
  int64_t heads = n.getInt("num_heads", 0);
  if (!hasHeads && heads == 0 && hidden && pairs && *pairs > 0)
    heads = *hidden / (2 * *pairs);
  Value split = hasHeads || heads > 0 ? splitHeads(n, x, heads) : Value();
  if (!split)
    return n.invalid("needs an input [batch, sequence, hidden] or [batch, heads, sequence, size], and tables "
                     "of constant shape");
  // A single number is the position of the first element of all sequences.
  if (n.rank(positions) == 1 || getConstant(n.dim(positions, 0)) == 0)
    positions = n.unsqueeze(n.add(n.iota(n.dim(split, 2), 0, n.i64()), positions), 0);
  Value result = rotate(n, split, positions, cosines, sines, n.getBool("interleaved", false));
  return n.setResult(hasHeads ? result : joinHeads(n, result));
}

//===----------------------------------------------------------------------===//
// GroupQueryAttention
//===----------------------------------------------------------------------===//

/// Reads query, key and value, split into heads; the first operand may be packed with all three.
std::optional<std::array<Value, 3>> readGroups(Node &n, int64_t heads, int64_t keyHeads) {
  std::array<Value, 3> parts;
  if (n.hasInput(1) && n.hasInput(2)) {
    parts = {splitHeads(n, n.input(0), heads), splitHeads(n, n.input(1), keyHeads),
             splitHeads(n, n.input(2), keyHeads)};
  } else {
    Value all = splitHeads(n, n.input(0), heads + 2 * keyHeads);
    int64_t start = 0;
    for (auto [part, count] : llvm::zip(parts, std::array<int64_t, 3>{heads, keyHeads, keyHeads})) {
      part = n.sliceAxis(all, 1, n.constantDim(start), n.constantDim(count));
      start += count;
    }
  }
  if (n.hasFault())
    return std::nullopt;
  auto normalize = [&](Value x, size_t weight) {
    return n.hasInput(weight) ? n.rmsNorm(x, n.input(weight), 3, n.getFloat("qk_norm_epsilon", 1e-6)) : x;
  };
  parts[0] = normalize(parts[0], 14);
  parts[1] = normalize(parts[1], 15);
  return parts;
}

/// Returns the number of positions of keys: those of the past, or the current total if it is larger.
AffineExpr countPlaces(Node &n, Value past) {
  std::optional<Dims> total = n.sizesOperand(6, "total_sequence_length");
  if (!total || total->size() != 1)
    return n.constantDim(0);
  if (!past || getConstant(n.dim(past, 2)) == 0 || n.dim(past, 2) == total->front())
    return total->front();
  std::optional<int64_t> room = getConstant(n.dim(past, 2)), used = getConstant(total->front());
  if (room && used)
    return n.constantDim(std::max(*room, *used));
  Value most = n.max(n.size(n.dim(past, 2), n.i64()), n.size(total->front(), n.i64()));
  return n.bindSizes(n.reshape(most, Ints{1}))[0];
}

/// Computes a softmax with an additional score in the sum that belongs to no key: the head's sink, or 0.
Value softmaxWithSink(Node &n, Value scores, Value sink) {
  Dims column = n.dims(scores);
  AffineExpr keys = column[3], one = n.constantDim(1);
  column[3] = one;
  Value extra =
      sink ? n.reshape(n.cast(sink, n.elementType(scores)), {one, n.dim(sink, 0), one, one}) : n.scalarLike(0, scores);
  Value all = n.softmax(n.concat({scores, n.broadcast(extra, column)}, 3), 3);
  return n.sliceAxis(all, 3, n.constantDim(0), keys);
}

LogicalResult importGroupQueryAttention(Node &n) {
  int64_t heads = n.getInt("num_heads", 0), keyHeads = n.getInt("kv_num_heads", 0);
  if (heads < 1 || heads > INT32_MAX || keyHeads < 1 || heads % keyHeads != 0)
    return n.invalid("'kv_num_heads' has to divide 'num_heads', found " + Twine(keyHeads) + " and " + Twine(heads));
  if (n.getString("k_quant_type", "NONE") != "NONE" || n.getString("v_quant_type", "NONE") != "NONE")
    return n.unsupported("quantised keys and values are not supported");
  std::optional<std::array<Value, 3>> parts = readGroups(n, heads, keyHeads);
  if (!parts)
    return failure();
  auto [query, key, value] = *parts;
  // The first length operand has the last valid position of each batch.
  AffineExpr queries = n.dim(query, 2), places = countPlaces(n, n.optionalInput(3));
  Value length = n.size(queries, n.i64()),
        used = n.add(perBatch(n, n.reshape(n.input(5), n.dim(query, 0))), intScalar(n, 1));
  // A prompt begins at position 0, however much of it is padding.
  Value total = n.reshape(n.cast(n.input(6), n.i64()), IntsRef());
  Value before = n.select(n.equal(total, length), intScalar(n, 0), n.max(n.sub(used, length), intScalar(n, 0)));
  if (n.getBool("do_rotary", false)) {
    Value positions = n.hasInput(9)
                          ? n.cast(n.input(9), n.i64())
                          : n.add(n.reshape(before, {n.dim(query, 0), n.constantDim(1)}), n.iota(queries, 0, n.i64()));
    bool interleaved = n.getBool("rotary_interleaved", false);
    query = rotate(n, query, positions, n.input(7), n.input(8), interleaved);
    key = rotate(n, key, positions, n.input(7), n.input(8), interleaved);
  }
  key = writeAt(n, n.optionalInput(3), key, before, places);
  value = writeAt(n, n.optionalInput(4), value, before, places);
  if ((n.wantsOutput(1) && failed(n.setOutput(1, key))) || (n.wantsOutput(2) && failed(n.setOutput(2, value))))
    return failure();

  Value scores = scoreKeys(n, query, key, readScale(n, query));
  if (double cap = n.getFloat("softcap", 0))
    scores = n.mul(n.tanh(n.div(scores, n.scalarLike(cap, scores))), n.scalarLike(cap, scores));
  if (n.hasInput(10)) {
    // The bias may have fewer keys than the buffer.
    Value bias = n.input(10);
    Dims shape = n.dims(bias);
    if (shape.size() == 4 && shape[3] != places) {
      shape[3] = places;
      AffineExpr zero = n.constantDim(0);
      bias = n.pad("constant", bias, n.scalarLike(0, bias), {zero, zero, zero, zero}, {0, 0, 0, 0}, shape);
    }
    scores = n.add(scores, bias);
  }
  Positions p = makePositions(n, scores);
  Value own = n.add(p.query, before);
  bool isCausal = n.getBool("causal", true);
  Value counts = n.less(p.key, isCausal ? n.add(own, intScalar(n, 1)) : used);
  if (int64_t window = n.getInt("local_window_size", -1); window > 0)
    counts = n.bitAnd(counts, n.greater(p.key, n.sub(own, intScalar(n, window))));
  scores = excludeKeys(n, scores, counts);
  Value sink = n.optionalInput(11);
  Value weights =
      sink || n.getIntIn("smooth_softmax", -1, -1, 1) == 1 ? softmaxWithSink(n, scores, sink) : n.softmax(scores, 3);
  if (n.wantsOutput(3) && failed(n.setOutput(3, n.getIntIn("qk_output", 0, 0, 2) == 2 ? weights : scores)))
    return failure();
  return n.setResult(joinHeads(n, mixValues(n, weights, value)));
}

} // namespace

ArrayRef<OpEntry> onnx_import::getMicrosoftAttentionOps() {
  static const OpEntry ops[] = {
      {"Attention", importAttention},
      {"GroupQueryAttention", importGroupQueryAttention},
      {"MultiHeadAttention", importMultiHeadAttention},
      {"QAttention", importQAttention},
      {"RotaryEmbedding", importRotaryEmbedding},
  };
  return ops;
}
