//===- Shuffles.cpp - transposes and permutations of vector registers -----===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/kernel/transposes/Shuffles.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tenon;

int64_t Shuffles::getWordBits(Value vector) const {
  return cast<VectorType>(vector.getType()).getElementTypeBitWidth();
}
int64_t Shuffles::countWords(Value vector) const { return cast<VectorType>(vector.getType()).getDimSize(0); }

Value Shuffles::shuffle(Value x, Value y, ArrayRef<int64_t> words) {
  return vector::ShuffleOp::create(b, loc, x, y, words);
}

SmallVector<Value> Shuffles::transpose(ArrayRef<Value> rows) {
  assert(!rows.empty() && llvm::isPowerOf2_64(rows.size()) && "each round of shuffles takes half of the rows");
  int64_t unitsOfLane = std::max<int64_t>(kLaneBits / (getWordBits(rows[0]) * wordsPerUnit), 1), numRows = rows.size();
  if (numRows <= unitsOfLane)
    return transposeInParts(rows);
  // Blocks of the width of a lane are transposed first, so that their shuffles do not cross lanes.
  int64_t numGroups = numRows / unitsOfLane;
  SmallVector<SmallVector<Value>> groups;
  for (int64_t group = 0; group < numGroups; ++group)
    groups.push_back(transposeInParts(rows.slice(group * unitsOfLane, unitsOfLane)));
  SmallVector<Value> columns(numRows);
  for (int64_t i = 0; i < unitsOfLane; ++i) {
    SmallVector<Value> vectors;
    for (ArrayRef<Value> group : groups)
      vectors.push_back(group[i]);
    for (auto [lane, vector] : llvm::enumerate(transposeLanes(vectors)))
      columns[lane * unitsOfLane + i] = vector;
  }
  return columns;
}

/// Each round interleaves the units of two rows that are half of all rows apart; after log2(rows) rounds, rows are
/// columns.
SmallVector<Value> Shuffles::transposeInParts(ArrayRef<Value> rows) {
  int64_t numRows = rows.size(), words = countWords(rows[0]), part = numRows * wordsPerUnit;
  SmallVector<int64_t> low, high;
  for (int64_t i = 0; i < words; ++i) {
    int64_t begin = i / part * part, unit = i % part / wordsPerUnit, word = i % wordsPerUnit;
    low.push_back(begin + unit / 2 * wordsPerUnit + word + unit % 2 * words);
    high.push_back(low.back() + part / 2);
  }
  SmallVector<Value> current = llvm::to_vector(rows);
  for (int64_t round = 1; round < numRows; round *= 2) {
    SmallVector<Value> mixed;
    for (int64_t i = 0; i < numRows / 2; ++i)
      for (ArrayRef<int64_t> order : {low, high})
        mixed.push_back(shuffle(current[i], current[i + numRows / 2], order));
    current = std::move(mixed);
  }
  return current;
}

/// Transposes a square of lanes, or of wider units: each round collects the even lanes of neighbouring vectors in one
/// vector, and the odd ones in another.
SmallVector<Value> Shuffles::transposeLanes(ArrayRef<Value> rows) {
  int64_t numRows = rows.size(), words = countWords(rows[0]),
          lane = std::max(kLaneBits / getWordBits(rows[0]), wordsPerUnit), part = numRows * lane;
  assert(words % part == 0 && "a vector has whole squares of lanes");
  SmallVector<int64_t> even, odd;
  for (int64_t i = 0; i < words; ++i) {
    int64_t from = i % part / lane * 2;
    even.push_back(i / part * part + from % numRows * lane + i % lane + from / numRows * words);
    odd.push_back(even.back() + lane);
  }
  SmallVector<Value> current = llvm::to_vector(rows);
  for (int64_t round = 1; round < numRows; round *= 2) {
    SmallVector<Value> mixed;
    for (ArrayRef<int64_t> order : {even, odd})
      for (int64_t i = 0; i < numRows; i += 2)
        mixed.push_back(shuffle(current[i], current[i + 1], order));
    current = std::move(mixed);
  }
  return current;
}

SmallVector<Value> Shuffles::concatenate(ArrayRef<Value> vectors, int64_t count) {
  auto type = cast<VectorType>(vectors[0].getType());
  assert(count > 0 && vectors.size() % count == 0 && "rows of blocks side by side are concatenated");
  int64_t size = type.getDimSize(0), parts = vectors.size() / count;
  if (parts == 1)
    return llvm::to_vector(vectors);
  auto whole = VectorType::get({parts * size}, type.getElementType());
  Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(whole));
  SmallVector<Value> joined(count, zero);
  for (auto [i, vector] : llvm::enumerate(vectors))
    joined[i % count] = vector::InsertStridedSliceOp::create(
        b, loc, vector, joined[i % count], ArrayRef<int64_t>{int64_t(i) / count * size}, ArrayRef<int64_t>{1});
  return joined;
}

Value Shuffles::slice(Value vector, int64_t first, int64_t count) {
  assert(first >= 0 && (first + count) * wordsPerUnit <= countWords(vector) && "a slice is one of the vector");
  if (count * wordsPerUnit == countWords(vector))
    return vector;
  return vector::ExtractStridedSliceOp::create(b, loc, vector, ArrayRef<int64_t>{first * wordsPerUnit},
                                               ArrayRef<int64_t>{count * wordsPerUnit}, ArrayRef<int64_t>{1});
}

/// Permutes each vector, with zeros for the units that come from other vectors, and ORs the results. For units of 8 and
/// 16 bits, permuting one vector takes one instruction, while a two-source permutation takes two and a blend.
Value Shuffles::mergeNarrow(ArrayRef<Value> vectors, ArrayRef<VectorUnit> sources) {
  Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(vectors[0].getType())), merged;
  int64_t words = countWords(vectors[0]);
  for (auto [i, vector] : llvm::enumerate(vectors)) {
    if (llvm::none_of(sources, [&](VectorUnit source) { return source.vector == int64_t(i); }))
      continue;
    SmallVector<int64_t> order;
    for (VectorUnit source : sources)
      for (int64_t word = 0; word < wordsPerUnit; ++word)
        order.push_back(source.vector == int64_t(i) ? source.unit * wordsPerUnit + word : words);
    Value permuted = shuffle(vector, zero, order);
    merged = merged ? arith::OrIOp::create(b, loc, merged, permuted).getResult() : permuted;
  }
  return merged;
}

/// A tree of shuffles of two vectors.
Value Shuffles::mergeWide(ArrayRef<Value> vectors, ArrayRef<VectorUnit> sources) {
  int64_t units = sources.size(), words = units * wordsPerUnit;
  // A vector, and the source of each unit of the result within it; -1 for none.
  struct Node {
    Value vector;
    SmallVector<int64_t> units;
  };
  SmallVector<Node> nodes;
  for (auto [i, vector] : llvm::enumerate(vectors)) {
    Node node{vector, {}};
    for (VectorUnit source : sources)
      node.units.push_back(source.vector == int64_t(i) ? source.unit : -1);
    if (llvm::any_of(node.units, [](int64_t unit) { return unit >= 0; }))
      nodes.push_back(std::move(node));
  }
  auto merge = [&](const Node &x, const Node &y) {
    Node merged;
    SmallVector<int64_t> order;
    int64_t offset = countWords(x.vector);
    for (int64_t unit = 0; unit < units; ++unit) {
      int64_t first = x.units[unit] >= 0   ? x.units[unit] * wordsPerUnit
                      : y.units[unit] >= 0 ? offset + y.units[unit] * wordsPerUnit
                                           : -1;
      for (int64_t word = 0; word < wordsPerUnit; ++word)
        order.push_back(first < 0 ? int64_t(vector::ShuffleOp::kPoisonIndex) : first + word);
      merged.units.push_back(first < 0 ? -1 : unit);
    }
    merged.vector = shuffle(x.vector, y.vector, order);
    return merged;
  };
  if (nodes.size() == 1)
    nodes.push_back({nodes[0].vector, SmallVector<int64_t>(units, -1)});
  while (nodes.size() > 1) {
    SmallVector<Node> next;
    for (size_t i = 0; i + 1 < nodes.size(); i += 2)
      next.push_back(merge(nodes[i], nodes[i + 1]));
    if (nodes.size() % 2)
      next.push_back(nodes.back());
    nodes = std::move(next);
  }
  assert(countWords(nodes[0].vector) == words && "a shuffle has as many words as it is asked for");
  (void)words;
  return nodes[0].vector;
}

Value Shuffles::gather(ArrayRef<Value> vectors, int64_t units, llvm::function_ref<VectorUnit(int64_t)> getSource) {
  constexpr int64_t kNarrowBits = 16; // format: of words that shuffles of bytes permute best (mergeNarrow)
  SmallVector<VectorUnit> sources;
  for (int64_t unit = 0; unit < units; ++unit)
    sources.push_back(getSource(unit));
  assert(
      llvm::all_of(sources, [&](VectorUnit source) { return source.vector < static_cast<int64_t>(vectors.size()); }) &&
      "a unit comes from one of the vectors");
  bool isLane = countWords(vectors[0]) * getWordBits(vectors[0]) <= kLaneBits;
  return isLane && getWordBits(vectors[0]) <= kNarrowBits ? mergeNarrow(vectors, sources) : mergeWide(vectors, sources);
}
