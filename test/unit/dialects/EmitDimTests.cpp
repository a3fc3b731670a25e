//===- EmitDimTests.cpp - extents as arithmetic, computed by folding ------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/tenon/EmitDim.h"
#include "dialects/tenon/Tenon.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include <catch2/catch.hpp>

using namespace mlir;
using namespace tenon;

namespace {
/// Emits expressions over the symbol `n` and computes what they give.
class Evaluator {
public:
  Evaluator() { context.loadDialect<TenonDialect, arith::ArithDialect>(); }

  AffineExpr symbol() { return getDimSymbol(&context, "n"); }
  AffineExpr constant(int64_t value) { return getDimConstant(&context, value); }

  int64_t evaluate(AffineExpr expr, int64_t n, Dividends dividends) {
    OwningOpRef<ModuleOp> module(ModuleOp::create(UnknownLoc::get(&context)));
    OpBuilder b(module->getBodyRegion());
    Value leaf = arith::ConstantIntOp::create(b, b.getUnknownLoc(), b.getI64Type(), n);
    Value result = emitDim(b, b.getUnknownLoc(), expr, b.getI64Type(), dividends, [&](AffineExpr) { return leaf; });
    llvm::DenseMap<Value, Attribute> known;
    for (Operation &op : *module->getBody()) {
      SmallVector<Attribute> operands;
      for (Value operand : op.getOperands())
        operands.push_back(known.lookup(operand));
      SmallVector<OpFoldResult> folded;
      REQUIRE(succeeded(op.fold(operands, folded)));
      REQUIRE(folded.size() == 1);
      auto value = dyn_cast<Value>(folded[0]);
      known[op.getResult(0)] = value ? known.lookup(value) : cast<Attribute>(folded[0]);
    }
    return cast<IntegerAttr>(known.lookup(result)).getInt();
  }

private:
  MLIRContext context;
};
} // namespace

TEST_CASE("remainders and quotients of a subtracted symbol round to minus infinity") {
  Evaluator e;
  AffineExpr negated = mulDims(e.symbol(), e.constant(-1));
  for (int64_t n = 0; n < 10; ++n)
    for (Dividends dividends : {Dividends::ofExtent, Dividends::any}) {
      CAPTURE(n);
      // What pads n to a multiple of 3, of which 2^64 is none.
      CHECK(e.evaluate(modDims(negated, e.constant(3)), n, dividends) == (3 - n % 3) % 3);
      CHECK(e.evaluate(divDims(negated, e.constant(3)), n, dividends) == -((n + 2) / 3));
    }
}

TEST_CASE("any dividend may be negative where nothing is known of it") {
  Evaluator e;
  AffineExpr shifted = subDims(e.symbol(), e.constant(5));
  for (int64_t n = 0; n < 10; ++n)
    CHECK(e.evaluate(modDims(shifted, e.constant(3)), n, Dividends::any) == (n + 1) % 3);
}

TEST_CASE("dividends that are not negative, and divisors of 0") {
  Evaluator e;
  for (Dividends dividends : {Dividends::notNegative, Dividends::ofExtent, Dividends::any}) {
    CHECK(e.evaluate(modDims(e.symbol(), e.constant(3)), 7, dividends) == 1);
    CHECK(e.evaluate(ceilDivDims(e.symbol(), e.constant(3)), 7, dividends) == 3);
    CHECK(e.evaluate(divDims(e.constant(7), e.symbol()), 0, dividends) == 7);
  }
}
