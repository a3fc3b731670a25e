//===- Sampling.cpp - indices drawn by weights ----------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What filters leave are the elements of at least a threshold. It is found by bisection, so that nothing is sorted:
// each step counts or adds up the elements from a candidate on, which are loops of vectors over a line that stays in
// the caches. The bits of floats that are not negative are in the floats' order, so that the bisection is one of
// integers, of as many steps as a float has bits at most, and its result is exact.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "passes/cost/LoweringPolicy.h"
#include "passes/lower/tenon-to-linalg/LineLoops.h"
#include "passes/lower/tenon-to-linalg/Stages.h"

using namespace mlir;
using namespace tenon;
using Values = LineWriter::Values;

namespace {
/// Draws from one line.
class LineSample {
public:
  LineSample(LineWriter &w, SampleOp op, ValueRange line)
      : w(w), op(op), line(line), floatType(cast<FloatType>(getAccumulatorType(getElementTypeOrSelf(op.getWeights())))),
        bitsType(w.b.getIntegerType(floatType.getWidth())),
        size(w.extent(op.getWeights(), op.getWeights().getType().getRank() - 1)) {}

  /// Returns the index.
  Value draw() {
    Value highest = findHighest(), least = bits(1);
    least = keepMost(least, highest);
    least = keepProbable(least, highest);
    Value share = multiply(filter(2), arith::BitcastOp::create(w.b, w.loc, floatType, highest));
    least = arith::MaxUIOp::create(w.b, w.loc, least, arith::BitcastOp::create(w.b, w.loc, bitsType, share));
    // The largest element is always left.
    return find(arith::MinUIOp::create(w.b, w.loc, least, highest));
  }

private:
  using Test = llvm::function_ref<Values(Value)>;

  Value number(double value) { return arith::ConstantOp::create(w.b, w.loc, w.b.getFloatAttr(floatType, value)); }
  Value bits(int64_t value) { return arith::ConstantOp::create(w.b, w.loc, w.b.getIntegerAttr(bitsType, value)); }
  Value multiply(Value x, Value y) { return arith::MulFOp::create(w.b, w.loc, x, y); }
  /// Adds in any order, so that the loop over a line adds vectors.
  Value addUp(Value x, Value y) { return arith::AddFOp::create(w.b, w.loc, x, y, arith::FastMathFlags::reassoc); }
  Value compare(arith::CmpFPredicate predicate, Value x, Value y) {
    return arith::CmpFOp::create(w.b, w.loc, predicate, x, y);
  }
  Value compare(arith::CmpIPredicate predicate, Value x, Value y) {
    return arith::CmpIOp::create(w.b, w.loc, predicate, x, y);
  }

  /// Element `i` of the line of an operand; 0 where it is NaN or negative.
  Value readPositive(Value operand, Value i) {
    Values place(line);
    place.push_back(i);
    Value x = w.read(operand, place), zero = number(0);
    return w.select(compare(arith::CmpFPredicate::OGT, x, zero), x, zero);
  }
  Value get(Value i) { return readPositive(op.getWeights(), i); }
  Value filter(int64_t i) { return readPositive(op.getFilters(), w.index(i)); }

  Value getBits(Value element) { return arith::BitcastOp::create(w.b, w.loc, bitsType, element); }
  Value isLeft(Value element, Value least) { return compare(arith::CmpIPredicate::uge, getBits(element), least); }

  Value findHighest() {
    return w.repeat(w.index(0), size, bits(0), [&](Value i, ValueRange highest) {
      return Values{arith::MaxUIOp::create(w.b, w.loc, highest[0], getBits(get(i)))};
    })[0];
  }

  /// The sum of the elements in [from, to) that are at least `least`.
  Value sum(Value from, Value to, Value least) {
    return w.repeat(from, to, number(0), [&](Value i, ValueRange carried) {
      Value element = get(i);
      return Values{addUp(carried[0], w.select(isLeft(element, least), element, number(0)))};
    })[0];
  }

  /// How many elements are at least `least`.
  Value count(Value least) {
    return w.repeat(w.index(0), size, bits(0), [&](Value i, ValueRange carried) {
      return Values{w.add(carried[0], arith::ExtUIOp::create(w.b, w.loc, bitsType, isLeft(get(i), least)))};
    })[0];
  }

  /// Returns the largest threshold from `least` to `highest` that passes the test, which no larger threshold passes
  /// than one that fails it; `least` where none does. The test also returns whether its threshold is as good as that
  /// one.
  Value bisect(Value least, Value highest, Test test) {
    Value one = bits(1);
    auto goesOn = [&](ValueRange ends) {
      return Values{compare(arith::CmpIPredicate::ugt, w.sub(ends[1], ends[0]), one), ends[0], ends[1]};
    };
    auto halve = [&](ValueRange ends) {
      Value half = arith::ShRUIOp::create(w.b, w.loc, w.sub(ends[1], ends[0]), one), middle = w.add(ends[0], half);
      Values passed = test(middle);
      Value end = w.select(passed[0], w.select(passed[1], w.add(middle, one), ends[1]), middle);
      return Values{w.select(passed[0], middle, ends[0]), end};
    };
    // A line of zeros has no highest element above the least threshold.
    Value end = w.add(arith::MaxUIOp::create(w.b, w.loc, highest, least), one);
    return w.repeatWhile({least, end}, goesOn, halve)[0];
  }

  /// The threshold for the most probable elements, as many as the first filter says.
  Value keepMost(Value least, Value highest) {
    Value asked = filter(0), one = number(1);
    Value most = arith::UIToFPOp::create(w.b, w.loc, floatType,
                                         arith::IndexCastUIOp::create(w.b, w.loc, w.b.getI64Type(), size));
    // Rounded down; what does not filter is not converted, because it may have no integer.
    Value isFilter =
        w.both(compare(arith::CmpFPredicate::OGE, asked, one), compare(arith::CmpFPredicate::OLT, asked, most));
    Value wanted = arith::FPToUIOp::create(w.b, w.loc, bitsType, w.select(isFilter, asked, one));
    auto test = [&](Value threshold) {
      Value found = count(threshold);
      return Values{compare(arith::CmpIPredicate::uge, found, wanted),
                    compare(arith::CmpIPredicate::eq, found, wanted)};
    };
    return w.branch(isFilter, [&] { return Values{bisect(least, highest, test)}; }, [&] { return Values{least}; })[0];
  }

  /// The threshold for the fewest elements with the share of the sum that the second filter says.
  Value keepProbable(Value least, Value highest) {
    Value asked = filter(1);
    Value isFilter = w.both(compare(arith::CmpFPredicate::OGT, asked, number(0)),
                            compare(arith::CmpFPredicate::OLT, asked, number(1)));
    auto find = [&] {
      Value wanted = multiply(asked, sum(w.index(0), size, least));
      auto test = [&](Value threshold) {
        Value isExact = arith::ConstantOp::create(w.b, w.loc, w.b.getBoolAttr(false));
        return Values{compare(arith::CmpFPredicate::OGE, sum(w.index(0), size, threshold), wanted), isExact};
      };
      return Values{bisect(least, highest, test)};
    };
    return w.branch(isFilter, find, [&] { return Values{least}; })[0];
  }

  /// Returns the index of the drawn element among those of at least `least`: first its block, then its place there.
  Value find(Value least) {
    Value zero = w.index(0), one = w.index(1), block = w.index(policy.blockElements);
    Value blocks = arith::CeilDivUIOp::create(w.b, w.loc, size, block);
    auto begin = [&](Value i) { return arith::MulIOp::create(w.b, w.loc, i, block).getResult(); };
    auto end = [&](Value i) { return arith::MinUIOp::create(w.b, w.loc, w.add(begin(i), block), size).getResult(); };
    // The blocks' sums are added in the same order twice, so that the second time passes the place, too.
    Value total = w.repeat(zero, blocks, number(0), [&](Value i, ValueRange carried) {
      return Values{arith::AddFOp::create(w.b, w.loc, carried[0], sum(begin(i), end(i), least))};
    })[0];
    Value place = getPlace(total);
    auto goesOn = [&](ValueRange state) {
      Value next = arith::AddFOp::create(w.b, w.loc, state[1], sum(begin(state[0]), end(state[0]), least));
      Value isBefore = compare(arith::CmpFPredicate::OLE, next, place);
      return Values{w.both(isBefore, w.isLess(w.add(state[0], one), blocks)), state[0], state[1], next};
    };
    auto skip = [&](ValueRange state) { return Values{w.add(state[0], one), state[2]}; };
    Values found = w.repeatWhile({zero, number(0)}, goesOn, skip);
    // Where rounding leaves no element beyond the place, the block's last one that is left is drawn.
    auto look = [&](Value i, ValueRange carried) {
      Value element = get(i), isOne = isLeft(element, least);
      Value isOpen = compare(arith::CmpFPredicate::OLE, carried[0], place);
      Value next = arith::AddFOp::create(w.b, w.loc, carried[0], w.select(isOne, element, number(0)));
      return Values{next, w.select(w.both(isOne, isOpen), i, carried[1])};
    };
    return w.repeat(begin(found[0]), end(found[0]), {found[1], zero}, look)[1];
  }

  /// The share of the total at which to draw, which is less than the total in spite of rounding.
  Value getPlace(Value total) {
    Value place = multiply(w.read(op.getUniform(), line), total);
    Value isInside = compare(arith::CmpFPredicate::OLT, place, total);
    Value below = arith::BitcastOp::create(w.b, w.loc, floatType, w.sub(getBits(total), bits(1)));
    return w.select(isInside, place, below);
  }

  LineWriter &w;
  SampleOp op;
  ValueRange line;
  FloatType floatType;
  IntegerType bitsType;
  Value size;
  SamplingPolicy policy;
};
} // namespace

FailureOr<Value> StageBuilder::lowerSample(SampleOp op, Value destination) {
  auto drawOne = [&](LineWriter &w, ValueRange line, ValueRange tensors) {
    return Values{w.setIndex(tensors[0], LineSample(w, op, line).draw(), line)};
  };
  FailureOr<SmallVector<Value>> tensors =
      buildLines(builder, scope, op.getLoc(), getDims(op), getTargets(op, destination), drawOne);
  return succeeded(tensors) ? FailureOr<Value>(tensors->front()) : FailureOr<Value>();
}
