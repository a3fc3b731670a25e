//===- Ranking.cpp - the order of the elements of a line -----------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/lower/tenon-to-linalg/Ranking.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace tenon;
using Values = LineWriter::Values;

/// The width of the index in an item, and in a number that holds two indices.
static constexpr unsigned kIndexBits = 32; // format: of an item

static Value compare(LineWriter &w, arith::CmpIPredicate predicate, Value x, Value y) {
  return arith::CmpIOp::create(w.b, w.loc, predicate, x, y);
}
static Value isLower(LineWriter &w, Value x, Value y) { return compare(w, arith::CmpIPredicate::ult, x, y); }
static Value isEqual(LineWriter &w, Value x, Value y) { return compare(w, arith::CmpIPredicate::eq, x, y); }
static Value createNumber(LineWriter &w, uint64_t value, Type type) {
  assert(type.isSignlessInteger() && "ranks and items are words");
  APInt bits(type.getIntOrFloatBitWidth(), value, /*isSigned=*/false, /*implicitTrunc=*/true);
  return arith::ConstantOp::create(w.b, w.loc, w.b.getIntegerAttr(type, bits));
}
static Value castIndex(LineWriter &w, Value value, Type type) {
  return arith::IndexCastUIOp::create(w.b, w.loc, type, value);
}

//===----------------------------------------------------------------------===//
// Ranks and items
//===----------------------------------------------------------------------===//

Ranking::Ranking(LineWriter &w, Value elements, LinePlace at, bool largest, NaNPlace nan)
    : w(w), elements(elements), at(std::move(at)), largest(largest), nan(nan),
      elementType(getElementTypeOrSelf(elements)) {
  rankType = w.b.getIntegerType(getAccumulatorType(elementType).getIntOrFloatBitWidth() <= 32 ? 32 : 64);
}

/// Maps the bits of a float to an unsigned number in the same order: positive numbers get the sign bit, negative ones
/// are inverted. Both zeros are equal.
static Value rankFloat(LineWriter &w, Value x, uint64_t rankOfNaN, IntegerType type) {
  auto floatType = cast<FloatType>(x.getType());
  assert(floatType.getWidth() == type.getWidth() && "a rank has the bits of its float");
  Value zero = arith::ConstantOp::create(w.b, w.loc, w.b.getFloatAttr(floatType, 0));
  Value isZero = arith::CmpFOp::create(w.b, w.loc, arith::CmpFPredicate::OEQ, x, zero);
  Value bits = arith::BitcastOp::create(w.b, w.loc, type, w.select(isZero, zero, x));
  Value sign = arith::ShRSIOp::create(w.b, w.loc, bits, createNumber(w, type.getWidth() - 1, type));
  Value top = createNumber(w, uint64_t(1) << (type.getWidth() - 1), type);
  Value rank = arith::XOrIOp::create(w.b, w.loc, bits, w.either(sign, top));
  Value isNaN = arith::CmpFOp::create(w.b, w.loc, arith::CmpFPredicate::UNO, x, x);
  return w.select(isNaN, createNumber(w, rankOfNaN, type), rank);
}

static Value rankInteger(LineWriter &w, Value x, bool isUnsigned, IntegerType type) {
  assert(x.getType().getIntOrFloatBitWidth() <= type.getWidth() && "a rank has room for the integer");
  if (x.getType() != type)
    x = isUnsigned ? arith::ExtUIOp::create(w.b, w.loc, type, x).getResult()
                   : arith::ExtSIOp::create(w.b, w.loc, type, x);
  return isUnsigned ? x
                    : arith::XOrIOp::create(w.b, w.loc, x, createNumber(w, uint64_t(1) << (type.getWidth() - 1), type));
}

Value Ranking::getRank(Value index) {
  Value x = w.read(elements, at(index));
  bool isUnsigned = elementType.isUnsignedInteger() || elementType.isInteger(1);
  uint64_t rankOfNaN = nan == NaNPlace::first && !largest ? 0 : ~uint64_t(0);
  Value rank =
      isa<FloatType>(x.getType()) ? rankFloat(w, x, rankOfNaN, rankType) : rankInteger(w, x, isUnsigned, rankType);
  return largest ? arith::XOrIOp::create(w.b, w.loc, rank, getHighestRank()) : rank;
}

Value Ranking::getHighestRank() { return createNumber(w, ~uint64_t(0), rankType); }

Value Ranking::getLowestRank(Value from, Value to) {
  return w.repeat(from, to, getHighestRank(), [&](Value i, ValueRange lowest) {
    return Values{arith::MinUIOp::create(w.b, w.loc, lowest[0], getRank(i))};
  })[0];
}

Value Ranking::getItem(Value index) {
  Type type = w.b.getI64Type();
  Value number = castIndex(w, index, type);
  if (!itemsAreWhole())
    return number;
  Value rank = arith::ExtUIOp::create(w.b, w.loc, type, getRank(index));
  return w.either(arith::ShLIOp::create(w.b, w.loc, rank, createNumber(w, kIndexBits, type)), number);
}

Value Ranking::getLastItem() { return createNumber(w, ~uint64_t(0), w.b.getI64Type()); }

Value Ranking::getIndexOf(Value item) {
  if (itemsAreWhole())
    item = w.both(item, createNumber(w, (uint64_t(1) << kIndexBits) - 1, item.getType()));
  return castIndex(w, item, w.b.getIndexType());
}

Value Ranking::getRankOf(Value item) {
  if (!itemsAreWhole())
    return getRank(getIndexOf(item));
  Value rank = arith::ShRUIOp::create(w.b, w.loc, item, createNumber(w, kIndexBits, item.getType()));
  return arith::TruncIOp::create(w.b, w.loc, rankType, rank);
}

Value Ranking::isBefore(Value item, Value other) {
  if (itemsAreWhole())
    return isLower(w, item, other);
  Value rank = getRankOf(item), otherRank = getRankOf(other);
  return w.either(isLower(w, rank, otherRank), w.both(isEqual(w, rank, otherRank), isLower(w, item, other)));
}

//===----------------------------------------------------------------------===//
// Heap
//===----------------------------------------------------------------------===//

Value ItemHeap::isAbove(Value item, Value other) {
  return isFirstOnTop ? ranking.isBefore(item, other) : ranking.isBefore(other, item);
}

Value ItemHeap::build(Value heap, Value size) {
  Value one = w.index(1), half = arith::ShRUIOp::create(w.b, w.loc, size, one);
  return w.repeat(w.index(0), half, heap, [&](Value i, ValueRange carried) {
    Value top = w.sub(w.sub(half, one), i);
    return Values{sink(carried[0], top, size, w.get(carried[0], at(top)))};
  })[0];
}

Value ItemHeap::sink(Value heap, Value top, Value size, Value item) {
  Value one = w.index(1), last = w.sub(size, one);
  auto findHigher = [&](ValueRange carried) {
    Value left = w.add(w.add(carried[0], carried[0]), one);
    Value exists = w.isLess(left, size);
    // Some place that there is, even in a heap of none.
    left = arith::MaxSIOp::create(w.b, w.loc, arith::MinSIOp::create(w.b, w.loc, left, last), w.index(0));
    Value right = arith::MaxSIOp::create(w.b, w.loc, arith::MinSIOp::create(w.b, w.loc, w.add(left, one), last), left);
    Value first = w.get(carried[1], at(left)), second = w.get(carried[1], at(right));
    Value isRight = isAbove(second, first);
    Value child = w.select(isRight, right, left), moved = w.select(isRight, second, first);
    return Values{w.both(exists, isAbove(moved, item)), carried[0], carried[1], child, moved};
  };
  auto moveUp = [&](ValueRange found) { return Values{found[2], w.set(found[1], found[3], at(found[0]))}; };
  Values end = w.repeatWhile({top, heap}, findHigher, moveUp);
  return w.set(end[1], item, at(end[0]));
}

//===----------------------------------------------------------------------===//
// Digits
//===----------------------------------------------------------------------===//

DigitSort::DigitSort(LineWriter &w, Ranking &ranking, LinePlace at)
    : w(w), ranking(ranking), at(std::move(at)), rankType(w.b.getIntegerType(ranking.getRankBits())),
      wordType(w.b.getI64Type()) {}

Value DigitSort::getDigit(Value rank, Value bits) {
  Value shifted = arith::ShRUIOp::create(w.b, w.loc, rank, castIndex(w, bits, rankType));
  return castIndex(w, w.both(shifted, createNumber(w, kDigits - 1, rankType)), w.b.getIndexType());
}

Value DigitSort::countOne(Value counts, Value place, Value isCounted) {
  Value one = createNumber(w, 1, wordType);
  if (isCounted)
    one = arith::ExtUIOp::create(w.b, w.loc, wordType, isCounted);
  return w.set(counts, w.add(w.get(counts, place), one), place);
}

/// Processes one digit at a time from the highest on, and counts the elements with the known leading digits by their
/// next digit.
Values DigitSort::findLastRank(Value counts, Value size, Value count) {
  Value zero = w.index(0), digits = w.index(kDigits);
  assert(ranking.getRankBits() % kBits == 0 && "a rank is whole digits");
  Value left = castIndex(w, count, wordType), prefix = createNumber(w, 0, rankType);
  for (int64_t bits = ranking.getRankBits() - kBits; bits >= 0; bits -= kBits) {
    bool isFirst = bits + kBits == ranking.getRankBits();
    counts = w.repeat(zero, digits, counts, [&](Value i, ValueRange carried) {
      return Values{w.set(carried[0], createNumber(w, 0, wordType), i)};
    })[0];
    counts = w.repeat(zero, size, counts, [&](Value i, ValueRange carried) {
      Value rank = ranking.getRank(i), begins;
      if (!isFirst)
        begins = isEqual(w, arith::ShRUIOp::create(w.b, w.loc, rank, createNumber(w, bits + kBits, rankType)), prefix);
      return Values{countOne(carried[0], getDigit(rank, w.index(bits)), begins)};
    })[0];
    auto isPast = [&](ValueRange state) {
      return Values{isLower(w, w.get(counts, state[0]), state[1]), state[0], state[1]};
    };
    auto skip = [&](ValueRange state) {
      return Values{w.add(state[0], w.index(1)), w.sub(state[1], w.get(counts, state[0]))};
    };
    Values found = w.repeatWhile({zero, left}, isPast, skip);
    left = found[1];
    Value shifted =
        isFirst ? prefix : arith::ShLIOp::create(w.b, w.loc, prefix, createNumber(w, kBits, rankType)).getResult();
    prefix = w.either(shifted, castIndex(w, found[0], rankType));
  }
  return {prefix, left};
}

Value DigitSort::collect(Value indices, Value size, Value lastRank, Value numOfLast) {
  Value none = createNumber(w, 0, wordType), one = createNumber(w, 1, wordType);
  auto look = [&](Value i, ValueRange carried) {
    Value rank = ranking.getRank(i), isLast = isEqual(w, rank, lastRank);
    Value isTaken = w.either(isLower(w, rank, lastRank), w.both(isLast, isLower(w, none, carried[2])));
    return w.branch(
        isTaken,
        [&] {
          return Values{w.setIndex(carried[0], i, at(carried[1])), w.add(carried[1], w.index(1)),
                        w.select(isLast, w.sub(carried[2], one), carried[2])};
        },
        [&] { return Values(carried); });
  };
  return w.repeat(w.index(0), size, {indices, w.index(0), numOfLast}, look)[0];
}

Value DigitSort::getHalf(Value halves, Value shift) {
  Value half = arith::ShRUIOp::create(w.b, w.loc, halves, shift);
  return w.both(half, createNumber(w, (uint64_t(1) << kIndexBits) - 1, wordType));
}

/// Sorts by one digit, from the halves of numbers that `state` selects to the other halves.
Values DigitSort::move(ValueRange state, Value base, Value bits, Value count) {
  Value zero = w.index(0), none = createNumber(w, 0, wordType), shift = state[2];
  Value otherShift = w.sub(createNumber(w, kIndexBits, wordType), shift);
  auto sum = [&](Value i, ValueRange carried) {
    Value place = w.add(base, i), size = w.get(carried[0], place);
    return Values{w.set(carried[0], carried[1], place), w.add(carried[1], size)};
  };
  Value starts = w.repeat(zero, w.index(kDigits), {state[1], none}, sum)[0];
  auto put = [&](Value i, ValueRange carried) {
    Value index = getHalf(w.get(carried[0], at(i)), shift);
    Value rank = ranking.getRank(castIndex(w, index, w.b.getIndexType()));
    Value start = w.add(base, getDigit(rank, bits));
    Values target = at(castIndex(w, w.get(carried[1], start), w.b.getIndexType()));
    Value kept = arith::ShLIOp::create(w.b, w.loc, getHalf(w.get(carried[0], target), shift), shift);
    Value both = w.either(kept, arith::ShLIOp::create(w.b, w.loc, index, otherShift));
    return Values{w.set(carried[0], both, target), countOne(carried[1], start)};
  };
  Values moved = w.repeat(zero, count, {state[0], starts}, put);
  return {moved[0], moved[1], otherShift};
}

/// LSD radix sort: sorts by the lowest digit first, stably. The numbers of the line hold two permutations, one in each
/// half. A digit that is equal for all elements, as in floats of similar magnitude, is skipped.
Value DigitSort::sort(Value indices, Value counts, Value count) {
  Value zero = w.index(0), numDigits = w.index(ranking.getRankBits() / kBits);
  Value bits = w.index(kBits), digits = w.index(kDigits);
  auto scale = [&](Value d, Value by) { return arith::MulIOp::create(w.b, w.loc, d, by).getResult(); };
  counts = w.repeat(zero, scale(numDigits, digits), counts, [&](Value i, ValueRange carried) {
    return Values{w.set(carried[0], createNumber(w, 0, wordType), i)};
  })[0];
  counts = w.repeat(zero, count, counts, [&](Value i, ValueRange carried) {
    Value rank = ranking.getRank(w.getIndex(indices, at(i))), counted = carried[0];
    for (int64_t d = 0; d < ranking.getRankBits() / kBits; ++d)
      counted = countOne(counted, w.add(w.index(d * kDigits), getDigit(rank, w.index(d * kBits))));
    return Values{counted};
  })[0];
  auto sortDigit = [&](Value d, ValueRange state) {
    Value first = castIndex(w, getHalf(w.get(state[0], at(zero)), state[2]), w.b.getIndexType());
    Value base = scale(d, digits), place = w.add(base, getDigit(ranking.getRank(first), scale(d, bits)));
    Value isAlike = isEqual(w, w.get(state[1], place), castIndex(w, count, wordType));
    return w.branch(isAlike, [&] { return Values(state); }, [&] { return move(state, base, scale(d, bits), count); });
  };
  Values sorted = w.repeat(zero, numDigits, {indices, counts, createNumber(w, 0, wordType)}, sortDigit);
  return w.repeat(zero, count, sorted[0], [&](Value i, ValueRange carried) {
    return Values{w.set(carried[0], getHalf(w.get(carried[0], at(i)), sorted[2]), at(i))};
  })[0];
}

Value DigitSort::run(Value indices, Value size, Value count) {
  Value counts = w.empty({ranking.getRankBits() / kBits * kDigits}, wordType);
  // If all elements are requested, the last one is known to have at most the highest rank.
  Values last = w.branch(
      w.isLess(count, size), [&] { return findLastRank(counts, size, count); },
      [&] { return Values{ranking.getHighestRank(), castIndex(w, size, wordType)}; });
  return sort(collect(indices, size, last[0], last[1]), counts, count);
}
