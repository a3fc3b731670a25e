//===- Selection.cpp - the first elements of an order, the boxes of a set ---===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "passes/cost/LoweringPolicy.h"
#include "passes/lower/tenon-to-linalg/Ranking.h"
#include "passes/lower/tenon-to-linalg/Stages.h"

using namespace mlir;
using namespace tenon;
using Values = LineWriter::Values;

//===----------------------------------------------------------------------===//
// Top k
//===----------------------------------------------------------------------===//

namespace {
/// Selects the first elements of one line by their indices, which are written to the line of the result.
class LineSelection {
public:
  LineSelection(LineWriter &w, TopKOp op, ValueRange line)
      : w(w), line(line), axis(op.getAxis()), size(w.extent(op.getInput(), axis)),
        k(arith::MinSIOp::create(w.b, w.loc, w.extent(op.getValues(), axis), size)),
        ranking(w, op.getInput(), [this](Value i) { return at(i); }, op.getLargest()) {}

  Values at(Value position) {
    Values place(line);
    assert(axis >= 0 && axis <= static_cast<int64_t>(place.size()) && "a line lies along a dimension of the input");
    place.insert(place.begin() + axis, position);
    return place;
  }

  /// The number of requested elements, but at most the length of the line.
  Value getCount() const { return k; }

  Value run(Value indices) {
    return w.branch(
        areMany(),
        [&] { return Values{DigitSort(w, ranking, [this](Value i) { return at(i); }).run(indices, size, k)}; },
        [&] { return Values{selectFew(indices)}; })[0];
  }

private:
  /// Emits a condition that is true if it is faster to scan the elements several times than to keep the selected ones
  /// in order.
  Value areMany() {
    Value most = arith::MulIOp::create(w.b, w.loc, k, w.index(policy.maxElementsPerResult));
    return w.both(isAtLeast(k, policy.minSorted),
                  arith::CmpIOp::create(w.b, w.loc, arith::CmpIPredicate::sge, most, size));
  }

  Value isAtLeast(Value x, int64_t least) {
    return arith::CmpIOp::create(w.b, w.loc, arith::CmpIPredicate::sge, x, w.index(least));
  }

  Value change(Value from, Value to, Value items, llvm::function_ref<Value(Value, Value)> body) {
    return w.repeat(from, to, items, [&](Value i, ValueRange carried) { return Values{body(i, carried[0])}; })[0];
  }

  Value selectFew(Value indices) {
    Value items;
    if (ranking.itemsAreWhole())
      items = w.branch(
          isAtLeast(k, policy.maxKeptInOrder + 1), [&] { return Values{selectInHeap(indices)}; },
          [&] { return Values{selectInOrder(indices)}; })[0];
    else
      items = selectInHeap(indices);
    return change(w.index(0), k, items, [&](Value i, Value items) {
      return w.setIndex(items, ranking.getIndexOf(w.get(items, at(i))), at(i));
    });
  }

  /// Scans the elements after the first k in blocks; most blocks have no element that comes before `last`, and are
  /// skipped.
  Value lookAtRest(Value items, llvm::function_ref<Value(Value)> getLast, llvm::function_ref<Value(Value, Value)> put) {
    // Of no elements none is last.
    Value zero = w.index(0), isEmpty = arith::CmpIOp::create(w.b, w.loc, arith::CmpIPredicate::eq, k, zero);
    Value rest = w.select(isEmpty, zero, w.sub(size, k)), block = w.index(policy.blockElements);
    auto lookAt = [&](Value i, Value items) {
      Value item = ranking.getItem(i);
      return w.branch(
          ranking.isBefore(item, getLast(items)), [&] { return Values{put(item, items)}; },
          [&] { return Values{items}; })[0];
    };
    return change(zero, arith::CeilDivUIOp::create(w.b, w.loc, rest, block), items, [&](Value i, Value items) {
      Value from = w.add(k, arith::MulIOp::create(w.b, w.loc, i, block));
      Value to = arith::MinSIOp::create(w.b, w.loc, w.add(from, block), size);
      Value hasEarlier = arith::CmpIOp::create(w.b, w.loc, arith::CmpIPredicate::ult, ranking.getLowestRank(from, to),
                                               ranking.getRankOf(getLast(items)));
      return w.branch(
          hasEarlier, [&] { return Values{change(from, to, items, lookAt)}; }, [&] { return Values{items}; })[0];
    });
  }

  /// Insertion into a sorted list, for very few results: each insertion passes over the whole list without branches.
  Value selectInOrder(Value indices) {
    Value zero = w.index(0), last = w.sub(k, w.index(1));
    auto put = [&](Value item, Value items) {
      auto exchange = [&](Value i, ValueRange carried) {
        Value here = w.get(carried[0], at(i)), isBefore = ranking.isBefore(carried[1], here);
        return Values{w.set(carried[0], w.select(isBefore, carried[1], here), at(i)),
                      w.select(isBefore, here, carried[1])};
      };
      return w.repeat(zero, k, {items, item}, exchange)[0];
    };
    Value items =
        change(zero, k, indices, [&](Value i, Value items) { return w.set(items, ranking.getLastItem(), at(i)); });
    items = change(zero, k, items, [&](Value i, Value items) { return put(ranking.getItem(i), items); });
    return lookAtRest(items, [&](Value items) { return w.get(items, at(last)); }, put);
  }

  /// Keeps the first k elements seen so far in a heap with the last of them on top, and sorts the heap at the end.
  Value selectInHeap(Value indices) {
    ItemHeap heap(w, ranking, /*isFirstOnTop=*/false, [this](Value i) { return at(i); });
    Value zero = w.index(0);
    Value items =
        change(zero, k, indices, [&](Value i, Value items) { return w.set(items, ranking.getItem(i), at(i)); });
    items = heap.build(items, k);
    items = lookAtRest(
        items, [&](Value items) { return heap.getTop(items); },
        [&](Value item, Value items) { return heap.sink(items, zero, k, item); });
    return w.branch(
        isAtLeast(k, policy.maxCounted + 1), [&] { return Values{sortHeap(heap, items)}; },
        [&] { return Values{sortByCounting(items)}; })[0];
  }

  Value sortHeap(ItemHeap &heap, Value items) {
    return change(w.index(1), k, items, [&](Value i, Value items) {
      Value end = w.sub(k, i), moved = w.get(items, at(end));
      items = w.set(items, heap.getTop(items), at(end));
      return heap.sink(items, w.index(0), end, moved);
    });
  }

  /// Sorts by counting: the position of each item is the number of items that come before it, counted in vectors.
  Value sortByCounting(Value items) {
    Value zero = w.index(0);
    Value copy = w.empty({policy.maxCounted}, w.b.getI64Type());
    copy = change(zero, k, copy, [&](Value i, Value copy) { return w.set(copy, w.get(items, at(i)), i); });
    return change(zero, k, items, [&](Value i, Value items) {
      Value item = w.get(copy, i);
      auto count = [&](Value j, ValueRange earlier) {
        Value isEarlier = ranking.isBefore(w.get(copy, j), item);
        return Values{w.add(earlier[0], arith::ExtUIOp::create(w.b, w.loc, w.b.getI64Type(), isEarlier))};
      };
      Value none = arith::ConstantOp::create(w.b, w.loc, w.b.getI64IntegerAttr(0));
      Value place = arith::IndexCastOp::create(w.b, w.loc, w.b.getIndexType(), w.repeat(zero, k, none, count)[0]);
      return w.set(items, item, at(place));
    });
  }

  SelectionPolicy policy;

  LineWriter &w;
  ValueRange line;
  int64_t axis;
  Value size, k;
  Ranking ranking;
};
} // namespace

LogicalResult StageBuilder::lowerTopK(TopKOp op, ArrayRef<Value> destinations) {
  Type type = op.getInput().getType().getElementType();
  Dims lines = getDims(op.getInput());
  lines.erase(lines.begin() + op.getAxis());
  auto sortLine = [&](LineWriter &w, ValueRange line, ValueRange tensors) {
    LineSelection selection(w, op, line);
    Value indices = selection.run(tensors[1]);
    auto copy = [&](Value i, ValueRange carried) {
      Value element = w.read(op.getInput(), selection.at(w.getIndex(indices, selection.at(i))));
      Value stored = toStorage(w.b, w.loc, fromAccumulator(w.b, w.loc, element, type), type);
      return Values{w.set(carried[0], stored, selection.at(i))};
    };
    Value count = selection.getCount();
    Value values = w.repeat(w.index(0), count, tensors[0], copy)[0];
    // If a line has fewer elements than requested, the result is padded with zeros.
    Type stored = getElementTypeOrSelf(values);
    Value zero = arith::ConstantOp::create(w.b, w.loc, w.b.getZeroAttr(stored));
    auto fill = [&](Value i, ValueRange carried) {
      return Values{w.set(carried[0], zero, selection.at(i)), w.setIndex(carried[1], w.index(0), selection.at(i))};
    };
    return w.repeat(count, w.extent(op.getValues(), op.getAxis()), {values, indices}, fill);
  };
  return bindResults(op, buildLines(builder, scope, op.getLoc(), lines, getTargets(op, destinations), sortLine));
}

//===----------------------------------------------------------------------===//
// Arg reduce
//===----------------------------------------------------------------------===//

/// Returns the first or last element of a line. The lowest rank of each block is found in vectors; then the block with
/// the lowest rank is searched.
static Value findBest(LineWriter &w, ArgReduceOp op, ValueRange line) {
  auto at = [line](Value i) {
    Values place(line);
    place.push_back(i);
    return place;
  };
  Ranking ranking(w, op.getInput(), at, op.getKind() == ReduceKind::max, NaNPlace::first);
  Value zero = w.index(0), one = w.index(1), size = w.extent(op.getInput(), op.getAxis()),
        block = w.index(SelectionPolicy().blockElements);
  auto getEnd = [&](Value from) { return arith::MinSIOp::create(w.b, w.loc, w.add(from, block), size).getResult(); };
  auto predicate = op.getLast() ? arith::CmpIPredicate::ule : arith::CmpIPredicate::ult;
  auto look = [&](Value i, ValueRange best) {
    Value from = arith::MulIOp::create(w.b, w.loc, i, block), lowest = ranking.getLowestRank(from, getEnd(from));
    Value isBetter = arith::CmpIOp::create(w.b, w.loc, predicate, lowest, best[0]);
    return Values{w.select(isBetter, lowest, best[0]), w.select(isBetter, from, best[1])};
  };
  Value blocks = arith::CeilDivUIOp::create(w.b, w.loc, size, block);
  Values best = w.repeat(zero, blocks, {ranking.getHighestRank(), zero}, look);
  Value from = best[1], end = getEnd(from);
  return w.repeat(from, end, from, [&](Value i, ValueRange found) {
    // The one that is found last stays.
    Value place = op.getLast() ? i : w.sub(w.sub(w.add(end, from), one), i);
    Value isBest = arith::CmpIOp::create(w.b, w.loc, arith::CmpIPredicate::eq, ranking.getRank(place), best[0]);
    return Values{w.select(isBest, place, found[0])};
  })[0];
}

FailureOr<Value> StageBuilder::selectAlongLines(ArgReduceOp op, Value destination) {
  auto selectOne = [&](LineWriter &w, ValueRange line, ValueRange tensors) {
    return Values{w.setIndex(tensors[0], findBest(w, op, line), line)};
  };
  FailureOr<SmallVector<Value>> tensors =
      buildLines(builder, scope, op.getLoc(), getDims(op), getTargets(op, destination), selectOne);
  return succeeded(tensors) ? FailureOr<Value>(tensors->front()) : FailureOr<Value>();
}

//===----------------------------------------------------------------------===//
// Suppress
//===----------------------------------------------------------------------===//

namespace {
/// One direction of a box.
struct Span {
  Value low, high, extent;
};

class BoxReader {
public:
  BoxReader(LineWriter &w, NmsOp op, Value batch) : w(w), op(op), batch(batch) {}

  /// The box in direction 0 or 1.
  Span read(Value box, int64_t direction) {
    Value first = w.read(op.getBoxes(), {batch, box, w.index(direction)});
    Value second = w.read(op.getBoxes(), {batch, box, w.index(direction + 2)});
    Value low, high;
    if (op.getCenters()) {
      Value half = multiply(second, arith::ConstantOp::create(w.b, w.loc, w.b.getFloatAttr(second.getType(), 0.5)));
      low = subtract(first, half);
      high = arith::AddFOp::create(w.b, w.loc, first, half);
    } else {
      low = arith::MinimumFOp::create(w.b, w.loc, first, second);
      high = arith::MaximumFOp::create(w.b, w.loc, first, second);
    }
    return {low, high, subtract(high, low)};
  }

  /// Whether two boxes overlap by more than the limit.
  Value overlap(Value box, Value other) {
    Value common, area, otherArea;
    Value isAny = arith::ConstantOp::create(w.b, w.loc, w.b.getBoolAttr(true));
    for (int64_t direction : {0, 1}) {
      Span x = read(box, direction), y = read(other, direction);
      Value low = arith::MaximumFOp::create(w.b, w.loc, x.low, y.low);
      Value shared = subtract(arith::MinimumFOp::create(w.b, w.loc, x.high, y.high), low);
      Value zero = arith::ConstantOp::create(w.b, w.loc, w.b.getFloatAttr(shared.getType(), 0));
      isAny = w.both(isAny, isGreater(shared, zero));
      common = common ? multiply(common, shared) : shared;
      area = area ? multiply(area, x.extent) : x.extent;
      otherArea = otherArea ? multiply(otherArea, y.extent) : y.extent;
    }
    Value both = subtract(arith::AddFOp::create(w.b, w.loc, area, otherArea), common);
    Value ratio = arith::DivFOp::create(w.b, w.loc, common, both);
    return w.both(isAny, isGreater(ratio, w.read(op.getOverlap(), {})));
  }

private:
  Value subtract(Value x, Value y) { return arith::SubFOp::create(w.b, w.loc, x, y); }
  Value multiply(Value x, Value y) { return arith::MulFOp::create(w.b, w.loc, x, y); }
  Value isGreater(Value x, Value y) { return arith::CmpFOp::create(w.b, w.loc, arith::CmpFPredicate::OGT, x, y); }

  LineWriter &w;
  NmsOp op;
  Value batch;
};
} // namespace

namespace {
/// Non-maximum suppression for one class of an image, best boxes first. The candidates are a heap at the end of the
/// line, and the selected boxes are stored from its start: each candidate that is examined shrinks the heap by one.
class LineSuppression {
public:
  LineSuppression(LineWriter &w, NmsOp op, ValueRange line)
      : w(w), op(op), line(line), places(w.extent(op.getScores(), 2)), boxes(w, op, line[0]),
        ranking(
            w, op.getScores(), [this](Value box) { return at(box); }, /*largest=*/true),
        heap(w, ranking, /*isFirstOnTop=*/true, [this](Value i) { return atEnd(i); }) {}

  /// Returns the line with the selected boxes, and their number.
  Values run(Value selected) {
    Value zero = w.index(0), limit = w.readCount(op.getLimit(), {}, places);
    Values candidates = collect(selected);
    auto goesOn = [&](ValueRange state) {
      Value isOpen = w.both(w.isLess(state[1], limit), w.isLess(zero, state[2]));
      return Values{isOpen, state[0], state[1], state[2]};
    };
    auto look = [&](ValueRange state) { return takeBest(state[0], state[1], state[2]); };
    Values taken = w.repeatWhile({heap.build(candidates[0], candidates[1]), zero, candidates[1]}, goesOn, look);
    return {taken[0], taken[1]};
  }

private:
  Values at(Value place) { return {line[0], line[1], place}; }
  Values atEnd(Value place) { return at(w.sub(w.sub(places, w.index(1)), place)); }

  Value isCandidate(Value box) {
    return arith::CmpFOp::create(w.b, w.loc, arith::CmpFPredicate::OGT, w.read(op.getScores(), at(box)),
                                 w.read(op.getThreshold(), {}));
  }

  /// Collects the candidate boxes in any order, and their number. Most blocks have none.
  Values collect(Value selected) {
    Value zero = w.index(0), block = w.index(policy.blockElements);
    if (!op.getThreshold()) {
      auto put = [&](Value i, ValueRange carried) { return Values{w.set(carried[0], ranking.getItem(i), atEnd(i))}; };
      return {w.repeat(zero, places, selected, put)[0], places};
    }
    auto lookAt = [&](Value i, ValueRange carried) {
      Value from = arith::MulIOp::create(w.b, w.loc, i, block);
      Value to = arith::MinSIOp::create(w.b, w.loc, w.add(from, block), places);
      return w.branch(
          hasCandidate(from, to),
          [&] { return w.repeat(from, to, carried, [&](Value box, ValueRange found) { return put(box, found); }); },
          [&] { return Values(carried); });
    };
    return w.repeat(zero, arith::CeilDivUIOp::create(w.b, w.loc, places, block), {selected, zero}, lookAt);
  }

  Value hasCandidate(Value from, Value to) {
    Value none = arith::ConstantOp::create(w.b, w.loc, w.b.getBoolAttr(false));
    return w.repeat(from, to, none,
                    [&](Value i, ValueRange found) { return Values{w.either(found[0], isCandidate(i))}; })[0];
  }

  /// Each box is written to the next place; a box that is no candidate is overwritten by the next one.
  Values put(Value box, ValueRange found) {
    Value next = w.select(isCandidate(box), w.add(found[1], w.index(1)), found[1]);
    return {w.set(found[0], ranking.getItem(box), atEnd(found[1])), next};
  }

  Values takeBest(Value selected, Value count, Value size) {
    Value box = ranking.getIndexOf(heap.getTop(selected)), left = w.sub(size, w.index(1));
    selected = heap.sink(selected, w.index(0), left, w.get(selected, atEnd(left)));
    Value next = w.select(overlapsTaken(selected, count, box), count, w.add(count, w.index(1)));
    return {w.setIndex(selected, box, at(count)), next, left};
  }

  Value overlapsTaken(Value selected, Value count, Value box) {
    Value clear = arith::ConstantOp::create(w.b, w.loc, w.b.getBoolAttr(false));
    auto goesOn = [&](ValueRange state) {
      return Values{w.both(w.isLess(state[0], count), w.isNot(state[1])), state[0], state[1]};
    };
    auto compare = [&](ValueRange state) {
      return Values{w.add(state[0], w.index(1)), boxes.overlap(box, w.getIndex(selected, at(state[0])))};
    };
    return w.repeatWhile({w.index(0), clear}, goesOn, compare)[1];
  }

  LineWriter &w;
  NmsOp op;
  ValueRange line;
  Value places;
  BoxReader boxes;
  SelectionPolicy policy;
  Ranking ranking;
  ItemHeap heap;
};
} // namespace

LogicalResult StageBuilder::lowerNms(NmsOp op, ArrayRef<Value> destinations) {
  Dims scores = getDims(op.getScores());
  auto selectLine = [&](LineWriter &w, ValueRange line, ValueRange tensors) {
    Values taken = LineSuppression(w, op, line).run(tensors[0]);
    return Values{taken[0], w.setIndex(tensors[1], taken[1], line)};
  };
  return bindResults(
      op, buildLines(builder, scope, op.getLoc(), {scores[0], scores[1]}, getTargets(op, destinations), selectLine));
}
