//===- Selection.cpp - the first elements of an order, the boxes of a set ---===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "passes/lower/tenon-to-linalg/LineLoops.h"
#include "passes/lower/tenon-to-linalg/Stages.h"

using namespace mlir;
using namespace tenon;
using Values = LineWriter::Values;

//===----------------------------------------------------------------------===//
// Top k
//===----------------------------------------------------------------------===//

namespace {
/// The wanted order of one line, in the line of the result that holds indices: a heap of the best seen so
/// far with the worst on top, sorted in the end. It takes n log k steps and no other memory. No two indices
/// are equal, so the order is one of its own, and stable.
class LineHeap {
public:
  LineHeap(LineWriter &w, TopKOp op, ValueRange line) : w(w), op(op), line(line) {}

  Values at(Value position) {
    Values place(line);
    place.insert(place.begin() + op.getAxis(), position);
    return place;
  }

  Value run(Value indices) {
    Value size = w.extent(op.getInput(), op.getAxis()), k = w.extent(op.getValues(), op.getAxis());
    Value zero = w.index(0), one = w.index(1);
    indices = change(zero, k, indices, [&](Value i, Value heap) { return w.setIndex(heap, i, at(i)); });
    Value half = arith::ShRUIOp::create(w.b, w.loc, k, one);
    indices = change(zero, half, indices, [&](Value i, Value heap) {
      Value top = w.sub(w.sub(half, one), i);
      return sink(heap, top, k, w.getIndex(heap, at(top)));
    });
    // Of no elements there is no worst.
    Value isEmpty = arith::CmpIOp::create(w.b, w.loc, arith::CmpIPredicate::eq, k, zero);
    indices = change(k, w.select(isEmpty, zero, size), indices, [&](Value i, Value heap) {
      return w.branch(
          isBefore(i, w.getIndex(heap, at(zero))), [&] { return Values{sink(heap, zero, k, i)}; },
          [&] { return Values{heap}; })[0];
    });
    return change(one, k, indices, [&](Value i, Value heap) {
      Value end = w.sub(k, i), moved = w.getIndex(heap, at(end));
      heap = w.setIndex(heap, w.getIndex(heap, at(zero)), at(end));
      return sink(heap, zero, end, moved);
    });
  }

private:
  Value change(Value from, Value to, Value heap, llvm::function_ref<Value(Value, Value)> body) {
    return w.repeat(from, to, heap,
                    [&](Value i, ValueRange carried) { return Values{body(i, carried[0])}; })[0];
  }

  /// Whether element i stands before element j in the result.
  Value isBefore(Value i, Value j) {
    Type type = op.getInput().getType().getElementType();
    Value x = w.read(op.getInput(), at(i)), y = w.read(op.getInput(), at(j));
    Value before = emitPrecedes(w.b, w.loc, type, x, y), after = emitPrecedes(w.b, w.loc, type, y, x);
    if (op.getLargest())
      std::swap(before, after);
    return w.either(before, w.both(w.isNot(after), w.isLess(i, j)));
  }

  /// Puts `item` where it belongs at or below `top`, in a heap of `size` elements.
  Value sink(Value heap, Value top, Value size, Value item) {
    Value one = w.index(1), last = w.sub(size, one);
    auto findWorse = [&](ValueRange carried) {
      Value left = w.add(w.add(carried[0], carried[0]), one);
      Value exists = w.isLess(left, size);
      left = arith::MinSIOp::create(w.b, w.loc, left, last);
      Value right = arith::MinSIOp::create(w.b, w.loc, w.add(left, one), last);
      Value first = w.getIndex(carried[1], at(left)), second = w.getIndex(carried[1], at(right));
      Value child = w.select(isBefore(first, second), right, left);
      Value sinks = w.both(exists, isBefore(item, w.getIndex(carried[1], at(child))));
      return Values{sinks, carried[0], carried[1], child};
    };
    auto moveUp = [&](ValueRange found) {
      return Values{found[2], w.setIndex(found[1], w.getIndex(found[1], at(found[2])), at(found[0]))};
    };
    Values end = w.repeatWhile({top, heap}, findWorse, moveUp);
    return w.setIndex(end[1], item, at(end[0]));
  }

  LineWriter &w;
  TopKOp op;
  ValueRange line;
};
} // namespace

LogicalResult StageBuilder::lowerTopK(TopKOp op, ArrayRef<Value> destinations) {
  Type type = op.getInput().getType().getElementType();
  Dims lines = getDims(op.getInput());
  lines.erase(lines.begin() + op.getAxis());
  auto sortLine = [&](LineWriter &w, ValueRange line, ValueRange tensors) {
    LineHeap heap(w, op, line);
    Value indices = heap.run(tensors[1]);
    auto copy = [&](Value i, ValueRange carried) {
      Value element = w.read(op.getInput(), heap.at(w.getIndex(indices, heap.at(i))));
      Value stored = toStorage(w.b, w.loc, fromAccumulator(w.b, w.loc, element, type), type);
      return Values{w.set(carried[0], stored, heap.at(i))};
    };
    Value values = w.repeat(w.index(0), w.extent(op.getValues(), op.getAxis()), tensors[0], copy)[0];
    return Values{values, indices};
  };
  return bindResults(op,
                     buildLines(builder, scope, op.getLoc(), lines, getTargets(op, destinations), sortLine));
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
  BoxReader(LineWriter &w, SuppressOp op, Value batch) : w(w), op(op), batch(batch) {}

  /// The box in direction 0 or 1.
  Span read(Value box, int64_t direction) {
    Value first = w.read(op.getBoxes(), {batch, box, w.index(direction)});
    Value second = w.read(op.getBoxes(), {batch, box, w.index(direction + 2)});
    Value low, high;
    if (op.getCenters()) {
      Value half =
          multiply(second, arith::ConstantOp::create(w.b, w.loc, w.b.getFloatAttr(second.getType(), 0.5)));
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
  Value isGreater(Value x, Value y) {
    return arith::CmpFOp::create(w.b, w.loc, arith::CmpFPredicate::OGT, x, y);
  }

  LineWriter &w;
  SuppressOp op;
  Value batch;
};
} // namespace

LogicalResult StageBuilder::lowerSuppress(SuppressOp op, ArrayRef<Value> destinations) {
  Dims order = getDims(op.getOrder());
  auto selectLine = [&](LineWriter &w, ValueRange line, ValueRange tensors) {
    BoxReader boxes(w, op, line[0]);
    auto at = [&](Value place) { return Values{line[0], line[1], place}; };
    Value places = w.extent(op.getOrder(), 2), zero = w.index(0), one = w.index(1);
    Value last = w.sub(w.extent(op.getBoxes(), 1), one);
    Value limit = w.readCount(op.getLimit(), {}, places);
    Value none = arith::ConstantOp::create(w.b, w.loc, w.b.getI64IntegerAttr(-1));
    Value selected = w.repeat(zero, places, tensors[0], [&](Value i, ValueRange carried) {
      return Values{w.set(carried[0], none, at(i))};
    })[0];
    auto look = [&](Value i, ValueRange carried) {
      Value box = w.readCount(op.getOrder(), at(i), last), count = carried[1],
            isOpen = w.isLess(count, limit);
      // Where all are taken nothing need be compared.
      Value start = w.select(isOpen, zero, count),
            clear = arith::ConstantOp::create(w.b, w.loc, w.b.getBoolAttr(false));
      auto goesOn = [&](ValueRange state) {
        return Values{w.both(w.isLess(state[0], count), w.isNot(state[1])), state[0], state[1]};
      };
      auto compare = [&](ValueRange state) {
        return Values{w.add(state[0], one), boxes.overlap(box, w.getIndex(carried[0], at(state[0])))};
      };
      Value overlaps = w.repeatWhile({start, clear}, goesOn, compare)[1];
      return w.branch(
          w.both(isOpen, w.isNot(overlaps)),
          [&] {
            return Values{w.setIndex(carried[0], box, at(count)), w.add(count, one)};
          },
          [&] {
            return Values{carried[0], count};
          });
    };
    Values taken = w.repeat(zero, w.readCount(op.getCandidates(), line, places), {selected, zero}, look);
    return Values{taken[0], w.setIndex(tensors[1], taken[1], line)};
  };
  return bindResults(op, buildLines(builder, scope, op.getLoc(), {order[0], order[1]},
                                    getTargets(op, destinations), selectLine));
}
