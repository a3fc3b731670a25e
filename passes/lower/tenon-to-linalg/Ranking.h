//===- Ranking.h - the order of the elements of a line -------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_LOWER_TENON_TO_LINALG_RANKING_H
#define TENON_PASSES_LOWER_TENON_TO_LINALG_RANKING_H

#include "passes/lower/tenon-to-linalg/LineLoops.h"
#include <functional>

namespace tenon {

/// Where an element of a line stands in a tensor.
using LinePlace = std::function<LineWriter::Values(mlir::Value)>;

/// Where NaN stands in an order.
enum class NaNPlace { asLargest, first };

/// The order of a line's elements: the largest or the smallest first, of equal ones the lower index.
///
/// A rank is an unsigned number, lower for an element that comes earlier. An item is an i64 that stands for
/// an element where items are compared: rank and index at once where ranks have 32 bits, so that nothing is
/// read to compare two; the index alone otherwise. A line has fewer than 2^32 elements.
class Ranking {
public:
  Ranking(LineWriter &w, mlir::Value elements, LinePlace at, bool largest, NaNPlace nan = NaNPlace::asLargest);

  unsigned getRankBits() const { return rankType.getWidth(); }
  mlir::Value getRank(mlir::Value index);
  /// Emits the lowest rank in [from, to), or the highest possible rank if the range is empty.
  mlir::Value getLowestRank(mlir::Value from, mlir::Value to);
  mlir::Value getHighestRank();
  /// True if items contain the rank, so that comparing them reads no elements.
  bool itemsAreWhole() const { return rankType.getWidth() <= 32; }
  mlir::Value getItem(mlir::Value index);
  /// Returns an item that comes after those of all elements, if items contain ranks.
  mlir::Value getLastItem();
  mlir::Value getIndexOf(mlir::Value item);
  mlir::Value getRankOf(mlir::Value item);
  mlir::Value isBefore(mlir::Value item, mlir::Value other);

private:
  LineWriter &w;
  mlir::Value elements;
  LinePlace at;
  bool largest;
  NaNPlace nan;
  mlir::Type elementType;
  mlir::IntegerType rankType;
};

/// A heap of items in a line of memory, with the first or the last item on top.
class ItemHeap {
public:
  ItemHeap(LineWriter &w, Ranking &ranking, bool isFirstOnTop, LinePlace at)
      : w(w), ranking(ranking), isFirstOnTop(isFirstOnTop), at(std::move(at)) {}

  mlir::Value getTop(mlir::Value heap) { return w.get(heap, at(w.index(0))); }
  /// Makes a heap of `size` items in any order.
  mlir::Value build(mlir::Value heap, mlir::Value size);
  /// Puts `item` where it belongs at or below `top`.
  mlir::Value sink(mlir::Value heap, mlir::Value top, mlir::Value size, mlir::Value item);

private:
  mlir::Value isAbove(mlir::Value item, mlir::Value other);

  LineWriter &w;
  Ranking &ranking;
  bool isFirstOnTop;
  LinePlace at;
};

/// Finds the first elements of the order, and sorts them by the digits of their ranks.
class DigitSort {
public:
  DigitSort(LineWriter &w, Ranking &ranking, LinePlace at);

  /// Returns the indices of the first `count` of `size` elements, where `count` is at least 1.
  mlir::Value run(mlir::Value indices, mlir::Value size, mlir::Value count);

private:
  using Values = LineWriter::Values;
  static constexpr int64_t kBits = 8, kDigits = 1 << kBits; // format: digits of the sort

  mlir::Value getDigit(mlir::Value rank, mlir::Value bits);
  mlir::Value countOne(mlir::Value counts, mlir::Value place, mlir::Value isCounted = {});
  /// Returns the rank of the last requested element, and how many elements of that rank are requested.
  Values findLastRank(mlir::Value counts, mlir::Value size, mlir::Value count);
  mlir::Value collect(mlir::Value indices, mlir::Value size, mlir::Value lastRank, mlir::Value numOfLast);
  mlir::Value sort(mlir::Value indices, mlir::Value counts, mlir::Value count);
  Values move(mlir::ValueRange state, mlir::Value base, mlir::Value bits, mlir::Value count);
  /// Returns the index in the half of a number that `shift` selects.
  mlir::Value getHalf(mlir::Value halves, mlir::Value shift);

  LineWriter &w;
  Ranking &ranking;
  LinePlace at;
  mlir::Type rankType, wordType;
};

} // namespace tenon

#endif // TENON_PASSES_LOWER_TENON_TO_LINALG_RANKING_H
