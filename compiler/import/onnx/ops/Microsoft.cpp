//===- Microsoft.cpp - contributed operators of domain com.microsoft ------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/import/onnx/Node.h"
#include "compiler/import/onnx/OpTable.h"
#include "compiler/import/onnx/ops/Window.h"
#include <array>
#include <cmath>

using namespace mlir;
using namespace tenon;
using namespace tenon::onnx_import;

// There is no schema for these: what a handler does not ask for is not checked. They are written after
// ONNX Runtime's description of each (docs/ContribOperators.md there).

namespace {

//===----------------------------------------------------------------------===//
// Products and activations
//===----------------------------------------------------------------------===//

/// Swaps the last two dimensions.
Value transposeMatrix(Node &n, Value x) {
  Ints order = rangeOf(0, n.rank(x));
  if (order.size() >= 2)
    std::swap(order[order.size() - 1], order[order.size() - 2]);
  return n.transpose(x, order);
}

LogicalResult importFusedMatMul(Node &n) {
  Value a = n.input(0), b = n.input(1);
  if (n.getBool("transBatchA", false) || n.getBool("transBatchB", false))
    return n.unsupported("'transBatchA' and 'transBatchB' are not supported");
  if (n.getBool("transA", false))
    a = transposeMatrix(n, a);
  if (n.getBool("transB", false))
    b = transposeMatrix(n, b);
  double alpha = n.getFloat("alpha", 1);
  Value product = n.matmul(a, b);
  return n.setResult(alpha == 1 ? product : n.mul(product, n.scalarLike(alpha, product)));
}

LogicalResult importGelu(Node &n) { return n.setResult(n.gelu(n.input(0), false)); }
LogicalResult importBiasGelu(Node &n) { return n.setResult(n.gelu(n.add(n.input(0), n.input(1)), false)); }

LogicalResult importFastGelu(Node &n) {
  Value x = n.input(0);
  return n.setResult(n.gelu(n.hasInput(1) ? n.add(x, n.input(1)) : x, true));
}

LogicalResult importQuickGelu(Node &n) {
  Value x = n.input(0);
  return n.setResult(n.mul(x, n.sigmoid(n.mul(x, n.scalarLike(n.getFloat("alpha", 1.702), x)))));
}

//===----------------------------------------------------------------------===//
// Layer normalisations
//===----------------------------------------------------------------------===//

/// Sets output 0 to the normalised sum, and the output that holds the sum itself.
LogicalResult normalizeSum(Node &n, Value sum, Value scale, Value bias, size_t sumOutput) {
  if (n.wantsOutput(sumOutput) && failed(n.setOutput(sumOutput, sum)))
    return failure();
  return n.setResult(n.layerNorm(sum, scale, bias, n.rank(sum) - 1, n.getFloat("epsilon", 1e-12)));
}

LogicalResult importSkipLayerNorm(Node &n) {
  Value sum = n.add(n.input(0), n.input(1));
  if (n.hasInput(4))
    sum = n.add(sum, n.input(4));
  return normalizeSum(n, sum, n.input(2), n.optionalInput(3), 3);
}

LogicalResult importSkipRmsNorm(Node &n) {
  Value sum = n.add(n.input(0), n.input(1));
  if (n.hasInput(3))
    sum = n.add(sum, n.input(3));
  if (n.wantsOutput(3) && failed(n.setOutput(3, sum)))
    return failure();
  return n.setResult(n.rmsNorm(sum, n.input(2), n.rank(sum) - 1, n.getFloat("epsilon", 1e-5)));
}

/// The sum of three embeddings, normalised. Positions count from 0 where none are given.
LogicalResult importEmbedLayerNorm(Node &n) {
  Value ids = n.input(0), words = n.input(2), positions = n.input(3);
  if (n.rank(ids) != 2)
    return n.invalid("needs token ids [batch, sequence], found " + dimsToString(n.dims(ids)));
  Value at = n.hasInput(8) ? n.input(8) : n.iota(n.dim(ids, 1), 0, n.i64());
  Value sum = n.add(n.gather(words, ids, 0), n.gather(positions, at, 0));
  if (n.hasInput(4))
    sum = n.add(sum, n.gather(n.input(4), n.input(1), 0));
  if (n.wantsOutput(1)) {
    // How many tokens of each sequence count; they come first.
    Value count = n.hasInput(7) ? n.reduceSum(n.cast(n.input(7), n.i32()), 1, false)
                                : n.broadcast(n.scalar(0, n.i32()), n.dim(ids, 0));
    if (failed(n.setOutput(1, count)))
      return failure();
  }
  return normalizeSum(n, sum, n.input(5), n.optionalInput(6), 2);
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

/// [batch, sequence, heads * size] as [batch, heads, sequence, size].
Value splitHeads(Node &n, Value x, int64_t heads) {
  Dims d = n.dims(x);
  if (d.size() != 3)
    return {};
  AffineExpr h = n.constantDim(heads);
  return n.transpose(n.reshape(x, {d[0], d[1], h, divDims(d[2], h)}), {0, 2, 1, 3});
}

Value joinHeads(Node &n, Value x) {
  Dims d = n.dims(x);
  if (d.size() != 4)
    return {};
  return n.reshape(n.transpose(x, {0, 2, 1, 3}), {d[0], d[2], mulDims(d[1], d[3])});
}

/// Query, key and value from one product, whose columns they share in that order.
std::optional<std::array<Value, 3>> projectInputs(Node &n, int64_t heads) {
  Value projected = n.matmul(n.input(0), n.input(1));
  if (n.hasInput(2))
    projected = n.add(projected, n.input(2));
  std::optional<int64_t> columns = getConstant(n.dim(projected, 2));
  if (n.rank(projected) != 3 || !columns || heads < 1) {
    (void)n.invalid("needs an input [batch, sequence, hidden], constant weights and 'num_heads', found " +
                    dimsToString(n.dims(n.input(0))));
    return std::nullopt;
  }
  Ints sizes = n.getInts("qkv_hidden_sizes").value_or(Ints(3, *columns / 3));
  if (sizes.size() != 3 || sizes[0] + sizes[1] + sizes[2] != *columns ||
      llvm::any_of(sizes, [&](int64_t size) { return size % heads != 0; })) {
    (void)n.invalid("cannot split " + Twine(*columns) + " columns into query, key and value of " +
                    Twine(heads) + " heads");
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

/// Joins the keys and values before with those of now, and gives both as the second output.
LogicalResult appendPast(Node &n, Value &key, Value &value) {
  if (n.hasInput(4)) {
    auto past = [&](int64_t i) {
      return n.squeeze(n.sliceAxis(n.input(4), 0, n.constantDim(i), n.constantDim(1)), 0);
    };
    key = n.concat({past(0), key}, 2);
    value = n.concat({past(1), value}, 2);
  }
  if (!n.wantsOutput(1))
    return success();
  return n.setOutput(1, n.concat({n.unsqueeze(key, 0), n.unsqueeze(value, 0)}, 0));
}

/// Adds a large negative number where a key does not count.
Value addMask(Node &n, Value scores, Value counts, double filter) {
  Value zero = n.scalarLike(0, scores);
  return n.add(scores, n.select(counts, zero, n.scalarLike(filter, scores)));
}

/// Which keys count, from a mask of 1 for those that do: [batch, total] or [batch, sequence, total].
FailureOr<Value> readMask(Node &n) {
  Value mask = n.input(3);
  int64_t rank = n.rank(mask);
  if (rank != 2 && rank != 3 && rank != 4)
    return n.unsupported("has a mask of " + Twine(rank) + " dimensions; 2, 3 and 4 are supported");
  mask = n.greater(mask, n.scalarLike(0, mask));
  return rank == 2 ? n.unsqueeze(mask, {1, 2}) : rank == 3 ? n.unsqueeze(mask, 1) : mask;
}

LogicalResult importAttention(Node &n) {
  int64_t heads = n.getInt("num_heads", 0);
  double filter = n.getFloat("mask_filter_value", -10000);
  std::optional<std::array<Value, 3>> parts = projectInputs(n, heads);
  if (!parts)
    return failure();
  auto [query, key, value] = *parts;
  if (n.hasInput(6) || n.getBool("do_rotary", false) || n.getBool("past_present_share_buffer", false))
    return n.unsupported("rotary embeddings and shared buffers for the past are not supported");
  if (failed(appendPast(n, key, value)))
    return failure();
  double size = static_cast<double>(getConstant(n.dim(query, 3)).value_or(1));
  double scale = n.getFloat("scale", 1 / std::sqrt(size));
  // [batch, head, query, key]
  Value scores = n.contract(query, key, {0, 1, 2, 4}, {0, 1, 3, 4}, {0, 1, 2, 3});
  scores = n.mul(scores, n.scalarLike(scale, scores));
  if (n.getBool("unidirectional", false)) {
    AffineExpr queries = n.dim(query, 2), keys = n.dim(key, 2);
    Value row = n.iota({queries, keys}, 0, n.i64()), column = n.iota({queries, keys}, 1, n.i64());
    Value last = n.add(row, n.size(subDims(keys, queries), n.i64()));
    scores = addMask(n, scores, n.lessOrEqual(column, last), filter);
  }
  if (n.hasInput(3)) {
    FailureOr<Value> counts = readMask(n);
    if (failed(counts))
      return failure();
    scores = addMask(n, scores, *counts, filter);
  }
  if (n.hasInput(5))
    scores = n.add(scores, n.input(5));
  Value weights = n.softmax(scores, 3);
  return n.setResult(joinHeads(n, n.contract(weights, value, {0, 1, 2, 4}, {0, 1, 4, 3}, {0, 1, 2, 3})));
}

//===----------------------------------------------------------------------===//
// Quantised operators
//===----------------------------------------------------------------------===//

Value dequantize(Node &n, Value x, Value scale, Value zero) {
  return n.mul(n.sub(n.cast(x, n.f32()), n.cast(zero, n.f32())), scale);
}

Value quantize(Node &n, Value x, Value scale, Value zero) {
  Type type = n.elementType(zero);
  Value shifted = n.add(n.round(n.div(x, scale)), n.cast(zero, n.f32()));
  double low = type.isUnsignedInteger() ? 0 : -128, high = type.isUnsignedInteger() ? 255 : 127;
  return n.cast(n.min(n.max(shifted, n.scalarLike(low, x)), n.scalarLike(high, x)), type);
}

/// Operands a, its scale and zero point, b and so on; then those of the result.
template <Value (GraphBuilder::*method)(Value, Value)> LogicalResult importQLinearBinary(Node &n) {
  Value a = dequantize(n, n.input(0), n.input(1), n.input(2));
  Value b = dequantize(n, n.input(3), n.input(4), n.input(5));
  return n.setResult(quantize(n, (n.*method)(a, b), n.input(6), n.input(7)));
}

LogicalResult importQLinearAveragePool(Node &n) {
  if (n.getBool("channels_last", false))
    return n.unsupported("'channels_last' is not supported");
  Value x = dequantize(n, n.input(0), n.input(1), n.input(2));
  std::optional<Window> w = readPoolWindow(n, x);
  if (!w)
    return failure();
  Value y = n.poolAverage(x, *w, n.getBool("ceil_mode", false), n.getBool("count_include_pad", false));
  return n.setResult(quantize(n, y, n.input(3), n.input(4)));
}

LogicalResult importQLinearGlobalAveragePool(Node &n) {
  if (n.getBool("channels_last", false))
    return n.unsupported("'channels_last' is not supported");
  Value x = dequantize(n, n.input(0), n.input(1), n.input(2));
  return n.setResult(quantize(n, n.reduceMean(x, rangeOf(2, n.rank(x))), n.input(3), n.input(4)));
}

LogicalResult importQLinearSigmoid(Node &n) {
  Value x = dequantize(n, n.input(0), n.input(1), n.input(2));
  return n.setResult(quantize(n, n.sigmoid(x), n.input(3), n.input(4)));
}

/// The result's scale and zero point, then each operand with its own.
LogicalResult importQLinearConcat(Node &n) {
  SmallVector<Value> values;
  for (size_t i = 2; i + 2 < n.getNumInputs(); i += 3)
    values.push_back(dequantize(n, n.input(i), n.input(i + 1), n.input(i + 2)));
  std::optional<int64_t> axis = n.normalizeAxis(n.getInt("axis", 0), values.empty() ? 0 : n.rank(values[0]));
  return axis ? n.setResult(quantize(n, n.concat(values, *axis), n.input(0), n.input(1))) : failure();
}

} // namespace

ArrayRef<OpEntry> onnx_import::getMicrosoftOps() {
  static const OpEntry ops[] = {
      {"Attention", importAttention},
      {"BiasGelu", importBiasGelu},
      {"EmbedLayerNormalization", importEmbedLayerNorm},
      {"FastGelu", importFastGelu},
      {"FusedMatMul", importFusedMatMul},
      {"Gelu", importGelu},
      {"QLinearAdd", importQLinearBinary<&GraphBuilder::add>},
      {"QLinearAveragePool", importQLinearAveragePool},
      {"QLinearConcat", importQLinearConcat},
      {"QLinearGlobalAveragePool", importQLinearGlobalAveragePool},
      {"QLinearMul", importQLinearBinary<&GraphBuilder::mul>},
      {"QLinearSigmoid", importQLinearSigmoid},
      {"QuickGelu", importQuickGelu},
      {"SkipLayerNormalization", importSkipLayerNorm},
      {"SkipSimplifiedLayerNormalization", importSkipRmsNorm},
  };
  return ops;
}
