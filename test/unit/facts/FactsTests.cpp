//===- FactsTests.cpp - the algebra of extents against values -------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Random expressions are evaluated at random values of their symbols, before and after what the algebra makes of
// them, and whatever it says is provable has to hold there.

#include "dialects/tenon/Facts.h"
#include "dialects/tenon/Tenon.h"
#include "mlir/IR/MLIRContext.h"
#include <catch2/catch.hpp>
#include <random>

using namespace mlir;
using namespace tenon;

namespace {

struct Algebra {
  Algebra() {
    context.loadDialect<TenonDialect>();
    for (const char *name : {"N", "M", "K", "L"})
      symbols.push_back(getDimSymbol(&context, name));
  }

  AffineExpr symbol(unsigned i) { return symbols[i]; }
  AffineExpr constant(int64_t value) { return getDimConstant(&context, value); }
  int64_t draw(int64_t min, int64_t max) { return std::uniform_int_distribution<int64_t>(min, max)(random); }

  /// Of sums, products and divisions by constants, as the caller combines them: not simplified.
  AffineExpr drawExpr(int depth, bool hasIndicators = false) {
    if (hasIndicators && draw(0, 4) == 0) {
      AffineExpr indicated = drawExpr(std::min(depth - 1, 1));
      return getAffineBinaryOpExpr(AffineExprKind::FloorDiv, indicated * 2 + (kIndicatorRange - 1),
                                   constant(kIndicatorRange));
    }
    if (depth == 0 || draw(0, 5) == 0)
      return draw(0, 3) ? symbol(draw(0, 3)) : constant(draw(-6, 9));
    AffineExpr a = drawExpr(depth - 1);
    switch (draw(0, 5)) {
    case 0:
      return getAffineBinaryOpExpr(AffineExprKind::Mul, a, drawExpr(depth - 1));
    case 1:
      return getAffineBinaryOpExpr(AffineExprKind::FloorDiv, a, constant(draw(1, 6)));
    case 2:
      return getAffineBinaryOpExpr(AffineExprKind::CeilDiv, a, constant(draw(1, 6)));
    case 3:
      return getAffineBinaryOpExpr(AffineExprKind::Mod, a, constant(draw(1, 6)));
    case 4:
      return a + drawExpr(depth - 1) * constant(draw(-4, 4));
    default:
      return a + drawExpr(depth - 1);
    }
  }

  MLIRContext context;
  std::vector<AffineExpr> symbols;
  std::mt19937_64 random{17};
};

using Values = llvm::DenseMap<AffineExpr, int64_t>;

int64_t evaluate(AffineExpr expr, const Values &values) {
  if (auto constant = getConstant(expr))
    return *constant;
  if (auto it = values.find(expr); it != values.end())
    return it->second;
  auto binary = cast<AffineBinaryOpExpr>(expr);
  int64_t a = evaluate(binary.getLHS(), values), b = evaluate(binary.getRHS(), values);
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return a + b;
  case AffineExprKind::Mul:
    return a * b;
  case AffineExprKind::FloorDiv:
    return llvm::divideFloorSigned(a, b);
  case AffineExprKind::CeilDiv:
    return llvm::divideCeilSigned(a, b);
  default:
    return a - llvm::divideFloorSigned(a, b) * b;
  }
}

std::string print(AffineExpr expr) { return dimsToString(expr); }

} // namespace

TEST_CASE("the normal form has the same values") {
  Algebra a;
  for (int i = 0; i < 2000; ++i) {
    AffineExpr expr = a.drawExpr(4), simple = simplifyDim(expr);
    INFO(print(expr) << " became " << print(simple));
    CHECK(simplifyDim(simple) == simple);
    for (int k = 0; k < 50; ++k) {
      Values values;
      for (AffineExpr symbol : a.symbols)
        values[symbol] = a.draw(-20, 40);
      REQUIRE(evaluate(simple, values) == evaluate(expr, values));
    }
  }
}

TEST_CASE("what follows from facts has the same values where they hold") {
  Algebra a;
  for (int i = 0; i < 300; ++i) {
    // N and M lie in ranges, K is a multiple, and L stands for an expression.
    Interval n{a.draw(0, 3), a.draw(3, 9)}, m{a.draw(0, 2), a.draw(2, 30)};
    int64_t divisor = a.draw(2, 6);
    AffineExpr other = addDims(a.symbol(0), mulDims(a.symbol(1), a.constant(a.draw(1, 3))));
    Facts facts(&a.context);
    facts.addRange(a.symbol(0), n);
    facts.addRange(a.symbol(1), m);
    facts.addMultiple(a.symbol(2), divisor);
    facts.replace(a.symbol(3), other);
    AffineExpr expr = a.drawExpr(4), simple = facts.simplify(expr), difference = facts.simplify(subDims(expr, simple));
    Interval range = facts.getRange(expr);
    bool isNotNegative = facts.isNotNegative(expr), isDivided = facts.divides(3, expr);
    INFO(print(expr) << " became " << print(simple));
    CHECK(getConstant(difference) == 0);
    for (int k = 0; k < 1000; ++k) {
      Values values;
      values[a.symbol(0)] = a.draw(n.min, n.max);
      values[a.symbol(1)] = a.draw(m.min, m.max);
      values[a.symbol(2)] = a.draw(0, 8) * divisor;
      values[a.symbol(3)] = evaluate(other, values);
      int64_t value = evaluate(expr, values);
      REQUIRE(evaluate(simple, values) == value);
      REQUIRE((value >= range.min && value <= range.max));
      REQUIRE((!isNotNegative || value >= 0));
      REQUIRE((!isDivided || value % 3 == 0));
    }
  }
}

TEST_CASE("divisions have one form") {
  Algebra a;
  AffineExpr n = a.symbol(0), m = a.symbol(1);
  auto div = [&](AffineExpr x, int64_t d) { return divDims(x, a.constant(d)); };
  auto ceil = [&](AffineExpr x, int64_t d) { return ceilDivDims(x, a.constant(d)); };
  CHECK(div(n * 4, 2) == simplifyDim(n * 2));
  CHECK(div(n * 4 + 3, 2) == simplifyDim(n * 2 + 1));
  CHECK(div(n * 4 + 2, 6) == div(n * 2 + 1, 3));
  CHECK(div(n + 1, 2) == ceil(n, 2));
  CHECK(div(div(n, 2), 3) == div(n, 6));
  CHECK(ceil(ceil(n, 2), 16) == ceil(n, 32));
  CHECK(addDims(div(n - 3, 2), a.constant(2)) == ceil(n, 2));
  CHECK(modDims(n * 6 + 3, a.constant(4)) == modDims(n * 2 + 3, a.constant(4)));
  CHECK(divDims(n * m * 2, n) == simplifyDim(m * 2));
  CHECK(div(n, 2) != div(n, 3));
}

TEST_CASE("inequalities are proven where they hold") {
  Algebra a;
  AffineExpr n = a.symbol(0), m = a.symbol(1), k = a.symbol(2);
  Facts facts(&a.context);
  facts.addRange(n, {1, 512});
  facts.addRange(m, {1, INT64_MAX});
  CHECK(facts.isNotNegative(n - 1));
  CHECK_FALSE(facts.isNotNegative(n - 2));
  CHECK(facts.isNotNegative(n * m - n));
  CHECK_FALSE(facts.isNotNegative(n * m - n - 1));
  CHECK(facts.isAtMost(divDims(n, a.constant(4)) * 4, n));
  CHECK_FALSE(facts.isAtMost(ceilDivDims(n, a.constant(4)) * 4, n));
  CHECK(facts.isAtMost(ceilDivDims(n, a.constant(4)), n));
  CHECK(facts.isNotNegative(k));
  CHECK_FALSE(facts.isAtMost(k, n));
  facts.addNotNegative(n - k * 2);
  CHECK(facts.isAtMost(k * 2, n));
  CHECK(facts.isAtMost(k * 2, n + 3));
  CHECK_FALSE(facts.isAtMost(k * 3, n));
  CHECK_FALSE(facts.isNotNegative(getUnknownDim(&a.context)));
}

TEST_CASE("what is proven of indicators holds") {
  Algebra a;
  for (int i = 0; i < 2000; ++i) {
    Interval n{a.draw(0, 3), a.draw(3, 9)}, m{a.draw(0, 2), a.draw(2, 30)};
    Facts facts(&a.context);
    facts.addRange(a.symbol(0), n);
    facts.addRange(a.symbol(1), m);
    AffineExpr x = a.drawExpr(2, true), y = a.drawExpr(2, true);
    AffineExpr expr = a.draw(0, 1) ? maxDims(x, y) : addDims(minDims(x, y), mulDims(x, getIndicator(y)));
    AffineExpr simple = facts.simplify(expr);
    Interval range = facts.getRange(expr);
    bool isNotNegative = facts.isNotNegative(expr);
    INFO(print(x) << " and " << print(y) << ": " << print(expr) << " became " << print(simple));
    for (int k = 0; k < 100; ++k) {
      Values values{{a.symbol(0), a.draw(n.min, n.max)}, {a.symbol(1), a.draw(m.min, m.max)}};
      values[a.symbol(2)] = a.draw(0, 8);
      values[a.symbol(3)] = a.draw(0, 40);
      int64_t value = evaluate(expr, values);
      REQUIRE(evaluate(simple, values) == value);
      REQUIRE((value >= range.min && value <= range.max));
      REQUIRE((!isNotNegative || value >= 0));
    }
  }
}

TEST_CASE("the larger and the smaller one have bounds") {
  Algebra a;
  AffineExpr n = a.symbol(0), m = a.symbol(1), zero = a.constant(0);
  AffineExpr rest = maxDims(n - 512, zero), last = subDims(n, rest), larger = maxDims(n, m), smaller = minDims(n, m);
  CHECK(getConstant(maxDims(a.constant(3), a.constant(5))) == 5);
  CHECK(maxDims(n, n) == n);
  CHECK(getIndicator(n * 4 - 8) == getIndicator(n - 2));
  CHECK(mulDims(getIndicator(n), getIndicator(n)) == getIndicator(n));
  CHECK(getIndicated(getIndicator(n - m)) == subDims(n, m));
  Facts facts(&a.context);
  CHECK(facts.isNotNegative(rest));
  CHECK(facts.isAtMost(rest, n));
  CHECK(facts.isNotNegative(last));
  CHECK(facts.isAtMost(last, n));
  CHECK(facts.isAtMost(last, a.constant(512)));
  CHECK_FALSE(facts.isAtMost(last, a.constant(511)));
  CHECK_FALSE(facts.isEqual(last, a.constant(512)));
  CHECK(facts.isAtMost(n, larger));
  CHECK(facts.isAtMost(m, larger));
  CHECK_FALSE(facts.isAtMost(larger, n));
  CHECK(facts.isAtMost(smaller, n));
  CHECK(facts.getRange(last) == Interval{0, 512});
  for (int64_t i = 0; i < 1100; i += 17)
    for (int64_t k = 0; k < 1100; k += 97) {
      Values values{{n, i}, {m, k}};
      REQUIRE(evaluate(rest, values) == std::max<int64_t>(i - 512, 0));
      REQUIRE(evaluate(larger, values) == std::max(i, k));
      REQUIRE(evaluate(smaller, values) == std::min(i, k));
    }
  Facts many(&a.context), few(&a.context);
  many.addRange(n, {512, INT64_MAX});
  few.addRange(n, {0, 512});
  CHECK(many.simplify(last) == a.constant(512));
  CHECK(many.simplify(rest) == simplifyDim(n - 512));
  CHECK(few.simplify(last) == n);
  CHECK(few.simplify(rest) == zero);
}

TEST_CASE("what a requirement says of one symbol is its range") {
  Algebra a;
  AffineExpr n = a.symbol(0);
  Facts facts(&a.context);
  facts.addNotNegative(n - 5);
  CHECK(facts.getRange(n) == Interval{5, INT64_MAX});
  facts.addNotNegative(9 - n);
  CHECK(facts.getRange(n) == Interval{5, 9});
  CHECK(getConstant(facts.simplify(divDims(n - 5, a.constant(5)))) == 0);
}

TEST_CASE("multiples leave divisions") {
  Algebra a;
  AffineExpr n = a.symbol(0);
  Facts facts(&a.context);
  facts.addMultiple(n, 32);
  CHECK(facts.simplify(divDims(n, a.constant(8)) * 8) == n);
  CHECK(facts.simplify(ceilDivDims(n, a.constant(32)) * 32) == n);
  CHECK(facts.simplify(divDims(n * 3, a.constant(16))) == simplifyDim(divDims(n, a.constant(16)) * 3));
  CHECK(facts.divides(16, n));
  CHECK_FALSE(facts.divides(64, n));
  CHECK(facts.isEqual(divDims(n + 31, a.constant(32)), divDims(n, a.constant(32))));
  CHECK_FALSE(facts.isEqual(divDims(n, a.constant(64)) * 64, n));
  CHECK_FALSE(facts.isEqual(getUnknownDim(&a.context), getUnknownDim(&a.context)));
}

TEST_CASE("upper bounds are expressions of what is known before the run") {
  Algebra a;
  AffineExpr n = a.symbol(0), m = a.symbol(1), found = a.symbol(2), picked = a.symbol(3);
  Facts facts(&a.context);
  facts.addBound(found, n * 4);
  facts.addBound(picked, found + m);
  CHECK(facts.getUpperBound(n) == n);
  CHECK(facts.getUpperBound(found * 2 + m) == simplifyDim(n * 8 + m));
  CHECK(facts.getUpperBound(picked) == simplifyDim(n * 4 + m));
  CHECK(facts.getUpperBound(ceilDivDims(found, a.constant(8))) == ceilDivDims(n, a.constant(2)));
  CHECK_FALSE(facts.getUpperBound(n - found));
  CHECK_FALSE(facts.getUpperBound(modDims(found, a.constant(8))));
  AffineExpr unknown = getDimSymbol(&a.context, "unknown");
  facts.addBound(unknown, {});
  CHECK_FALSE(facts.getUpperBound(unknown + 1));
  // At several places: the largest, where that is always the same one.
  facts.addBound(picked, n * 5 + m);
  CHECK(facts.getUpperBound(picked) == simplifyDim(n * 5 + m));
  facts.addBound(picked, n * 4);
  CHECK(facts.getUpperBound(picked) == simplifyDim(n * 5 + m));
  facts.addBound(found, m);
  CHECK_FALSE(facts.getUpperBound(found));
}
