//===- Factorization.cpp - triangles of a matrix -------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "passes/lower/tenon-to-linalg/LineLoops.h"
#include "passes/lower/tenon-to-linalg/Stages.h"

using namespace mlir;
using namespace tenon;
using Values = LineWriter::Values;

namespace {
/// Factors one matrix where it stands.
class MatrixFactorization {
public:
  MatrixFactorization(LineWriter &w, ValueRange batch, Value size) : w(w), batch(batch), size(size) {}

  Values at(Value row, Value column) {
    Values place(batch);
    place.append({row, column});
    return place;
  }

  /// One column: the matrix and the sign after it.
  Values step(Value k, ValueRange carried) {
    Value pivotRow = findPivot(carried[0], k);
    Value matrix = exchangeRows(carried[0], k, pivotRow);
    Value isSame = arith::CmpIOp::create(w.b, w.loc, arith::CmpIPredicate::eq, k, pivotRow);
    Value sign = w.select(isSame, carried[1], arith::NegFOp::create(w.b, w.loc, carried[1]));
    return {eliminate(matrix, k), sign};
  }

private:
  /// Emits the search for the row at or below k with the largest element of column k.
  Value findPivot(Value matrix, Value k) {
    auto compare = [&](Value row, ValueRange best) {
      Value here = math::AbsFOp::create(w.b, w.loc, w.get(matrix, at(row, k)));
      Value isLarger = arith::CmpFOp::create(w.b, w.loc, arith::CmpFPredicate::OGT, here, best[1]);
      return Values{w.select(isLarger, row, best[0]), w.select(isLarger, here, best[1])};
    };
    Value first = math::AbsFOp::create(w.b, w.loc, w.get(matrix, at(k, k)));
    return w.repeat(w.add(k, w.index(1)), size, {k, first}, compare)[0];
  }

  Value exchangeRows(Value matrix, Value a, Value b) {
    return w.repeat(w.index(0), size, matrix, [&](Value column, ValueRange carried) {
      Value x = w.get(carried[0], at(a, column)), y = w.get(carried[0], at(b, column));
      return Values{w.set(w.set(carried[0], y, at(a, column)), x, at(b, column))};
    })[0];
  }

  /// Subtracts multiples of row k from the rows below it, so that column k becomes 0; the factors are stored there.
  Value eliminate(Value matrix, Value k) {
    Value below = w.add(k, w.index(1)), pivot = w.get(matrix, at(k, k));
    Value zero = arith::ConstantOp::create(w.b, w.loc, w.b.getFloatAttr(pivot.getType(), 0));
    // Without a pivot the column is 0 already.
    Value isZero = arith::CmpFOp::create(w.b, w.loc, arith::CmpFPredicate::OEQ, pivot, zero);
    return w.repeat(below, size, matrix, [&](Value row, ValueRange carried) {
      Value factor = arith::DivFOp::create(w.b, w.loc, w.get(carried[0], at(row, k)), pivot);
      factor = w.select(isZero, zero, factor);
      Value kept = w.set(carried[0], factor, at(row, k));
      return w.repeat(below, size, kept, [&](Value column, ValueRange inner) {
        Value part = arith::MulFOp::create(w.b, w.loc, factor, w.get(inner[0], at(k, column)));
        Value rest = arith::SubFOp::create(w.b, w.loc, w.get(inner[0], at(row, column)), part);
        return Values{w.set(inner[0], rest, at(row, column))};
      });
    })[0];
  }

  LineWriter &w;
  ValueRange batch;
  Value size;
};
} // namespace

LogicalResult StageBuilder::lowerLu(LuOp op, ArrayRef<Value> destinations) {
  Dims batch = getDims(op.getSign());
  auto factor = [&](LineWriter &w, ValueRange line, ValueRange tensors) {
    Value size = w.extent(op.getInput(), batch.size()), zero = w.index(0);
    MatrixFactorization factorization(w, line, size);
    Value matrix = w.repeat(zero, size, tensors[0], [&](Value row, ValueRange carried) {
      return w.repeat(zero, size, carried, [&](Value column, ValueRange inner) {
        Values place = factorization.at(row, column);
        return Values{w.set(inner[0], w.read(op.getInput(), place), place)};
      });
    })[0];
    Value one = arith::ConstantOp::create(w.b, w.loc, w.b.getFloatAttr(op.getInput().getType().getElementType(), 1));
    Values done = w.repeat(zero, size, {matrix, one},
                           [&](Value k, ValueRange carried) { return factorization.step(k, carried); });
    return Values{done[0], w.set(tensors[1], done[1], line)};
  };
  return bindResults(op, buildLines(builder, scope, op.getLoc(), batch, getTargets(op, destinations), factor));
}
