//===- SizeFormulaTests.cpp - expressions of sizes in a normal form ----------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/report/SizeFormula.h"
#include "compiler/report/Table.h"
#include "runtime/plan/Expressions.h"
#include "llvm/Support/raw_ostream.h"
#include <catch2/catch.hpp>
#include <random>

using namespace tenon;
using rt::ExprOp;

namespace {
/// A plan of expressions alone, in the symbols N and M.
struct Builder {
  rt::Plan plan;
  Builder() {
    plan.symbols = {{"N", 0, INT64_MAX, true}, {"M", 0, INT64_MAX, true}};
    make(ExprOp::symbol, 0, 0);
    make(ExprOp::symbol, 1, 0);
  }
  uint32_t make(ExprOp op, int64_t a, int64_t b) {
    plan.exprs.push_back({op, a, b});
    return plan.exprs.size() - 1;
  }
  uint32_t number(int64_t value) { return make(ExprOp::constant, value, 0); }
  std::string getText(uint32_t expr) const { return *SizeFormulas(plan).getText(expr, 1000); }

  static constexpr uint32_t n = 0, m = 1;
};
} // namespace

TEST_CASE("sums and products are polynomials, the largest degree first") {
  Builder b;
  uint32_t product = b.make(ExprOp::mul, b.make(ExprOp::mul, b.n, b.m), b.number(3776));
  uint32_t sum = b.make(ExprOp::add, b.make(ExprOp::mul, b.number(128), b.m), product);
  CHECK(b.getText(sum) == "3776*N*M + 128*M");
  CHECK(b.getText(b.make(ExprOp::sub, sum, sum)) == "0");
  CHECK(b.getText(b.make(ExprOp::sub, b.n, b.number(5))) == "N - 5");
  CHECK(b.getText(b.number(7)) == "7");
}

TEST_CASE("a maximum keeps what is the largest for some sizes alone") {
  Builder b;
  uint32_t small = b.make(ExprOp::mul, b.n, b.number(512)), large = b.make(ExprOp::mul, b.n, b.number(1024));
  uint32_t tower = b.make(ExprOp::max, b.make(ExprOp::max, small, large), small);
  CHECK(b.getText(tower) == "1024*N");
  uint32_t both = b.make(ExprOp::max, tower, b.make(ExprOp::mul, b.m, b.number(4)));
  CHECK(b.getText(both) == "max(1024*N, 4*M)");
  CHECK(b.getText(b.make(ExprOp::add, both, b.number(64))) == "max(1024*N + 64, 4*M + 64)");
}

TEST_CASE("what is no polynomial is an atom") {
  Builder b;
  uint32_t half = b.make(ExprOp::floordiv, b.n, b.number(2));
  CHECK(b.getText(b.make(ExprOp::mul, half, b.number(4))) == "4*" + b.getText(half));
  CHECK(b.getText(b.make(ExprOp::align, b.make(ExprOp::mul, b.n, b.number(128)), b.number(64))) == "128*N");
  CHECK(b.getText(b.make(ExprOp::align, b.n, b.number(64))) != "N");
  // The difference of a maximum is none.
  uint32_t most = b.make(ExprOp::max, b.n, b.m);
  uint32_t difference = b.make(ExprOp::sub, b.number(9), most);
  CHECK(SizeFormulas(b.plan).getForm(difference).size() == 1);
}

TEST_CASE("overflow, many terms and high degrees end in an atom") {
  Builder b;
  uint32_t power = b.n;
  for (int i = 0; i < 40; ++i)
    power = b.make(ExprOp::mul, power, power);
  uint32_t large = b.number(INT64_MAX), sum = b.make(ExprOp::add, large, large);
  SizeFormulas formulas(b.plan);
  CHECK(formulas.getForm(power).size() == 1);
  CHECK(formulas.getForm(sum).size() == 1);
  CHECK_FALSE(formulas.getForm(sum)[0].getConstant());
}

TEST_CASE("a formula has the value of its expression") {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    Builder b;
    for (int64_t value : {0, 1, 3, 64})
      b.number(value);
    constexpr ExprOp kOps[] = {ExprOp::add, ExprOp::sub, ExprOp::mul,      ExprOp::max,
                               ExprOp::min, ExprOp::max, ExprOp::floordiv, ExprOp::align};
    for (int i = 0; i < 12; ++i) {
      ExprOp op = kOps[random() % std::size(kOps)];
      uint32_t first = random() % b.plan.exprs.size(), second = random() % b.plan.exprs.size();
      // Divisors have to be positive.
      if (op == ExprOp::floordiv || op == ExprOp::align)
        second = 3 + random() % 3;
      b.make(op, first, second);
    }
    SizeFormulas formulas(b.plan);
    for (int sample = 0; sample < 8; ++sample) {
      std::vector<int64_t> symbols{int64_t(random() % 7), int64_t(random() % 7)}, values(b.plan.exprs.size());
      if (rt::evaluate(b.plan, symbols.data(), 0, b.plan.exprs.size(), values.data()).failed())
        continue;
      for (uint32_t expr = 0; expr < b.plan.exprs.size(); ++expr) {
        int64_t most = INT64_MIN;
        for (const SizePolynomial &polynomial : formulas.getForm(expr)) {
          int64_t sum = 0;
          for (const auto &[monomial, coefficient] : polynomial.getTerms()) {
            int64_t product = coefficient;
            for (uint32_t atom : monomial)
              product *= atom < 2 ? symbols[atom] : values[formulas.getAtomExpr(atom)];
            sum += product;
          }
          most = std::max(most, sum);
        }
        CHECK(most == values[expr]);
      }
    }
  }
}

TEST_CASE("texts are shortened in the middle, and tables to their width") {
  CHECK(shorten("abcdefghijkl", 8) == "abc..jkl");
  CHECK(shorten("abc", 3) == "abc");
  Table table({">#", "~name"});
  table.add({"1", "layer1.layer1.0.downsample.0.Conv"});
  std::string text;
  llvm::raw_string_ostream os(text);
  table.print(os, 24);
  CHECK(text == "  #  name\n  1  layer1.l..le.0.Conv\n");
  text.clear();
  table.print(os);
  CHECK(text == "  #  name\n  1  layer1.layer1.0.downsample.0.Conv\n");
}

TEST_CASE("lists wrap below their first item") {
  std::string text;
  llvm::raw_string_ostream os(text);
  printList("inputs", {"a: f32[1]", "b: f32[2]", "c: f32[3]"}, ",", 34, os);
  CHECK(text == "  inputs    a: f32[1], b: f32[2],\n            c: f32[3]\n");
}
