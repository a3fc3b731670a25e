//===- ExpressionTests.cpp - size expressions ----------------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/plan/Expressions.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <string>

using namespace tenon::rt;
using Catch::Matchers::Contains;

/// Symbols A and B, and one operation on them as expression 2.
static Plan planOf(ExprOp op) {
  Plan plan;
  plan.symbols = {{"A", INT64_MIN, INT64_MAX, true}, {"B", INT64_MIN, INT64_MAX, true}};
  plan.exprs = {{ExprOp::symbol, 0, 0}, {ExprOp::symbol, 1, 0}, {op, 0, 1}};
  return plan;
}

static Status compute(ExprOp op, int64_t a, int64_t b, int64_t *result) {
  Plan plan = planOf(op);
  int64_t symbols[] = {a, b}, values[3] = {};
  Status status = evaluate(plan, symbols, 0, 3, values);
  *result = values[2];
  return status;
}

static int64_t value(ExprOp op, int64_t a, int64_t b) {
  int64_t result = 0;
  REQUIRE_FALSE(compute(op, a, b, &result).failed());
  return result;
}

static bool refused(ExprOp op, int64_t a, int64_t b) {
  int64_t result = 0;
  return compute(op, a, b, &result).failed();
}

TEST_CASE("arithmetic rounds as the format says") {
  CHECK(value(ExprOp::add, 2, 3) == 5);
  CHECK(value(ExprOp::sub, 2, 3) == -1);
  CHECK(value(ExprOp::mul, -2, 3) == -6);
  CHECK(value(ExprOp::min, -2, 3) == -2);
  CHECK(value(ExprOp::max, -2, 3) == 3);
  for (int64_t a = -9; a <= 9; ++a)
    for (int64_t b : {-4, -3, -1, 1, 2, 5}) {
      int64_t floor = value(ExprOp::floordiv, a, b), ceil = value(ExprOp::ceildiv, a, b);
      CHECK(floor == int64_t(std::floor(double(a) / double(b))));
      CHECK(ceil == int64_t(std::ceil(double(a) / double(b))));
      CHECK(value(ExprOp::mod, a, b) == a - floor * b);
    }
  CHECK(value(ExprOp::align, 0, 64) == 0);
  CHECK(value(ExprOp::align, 1, 64) == 64);
  CHECK(value(ExprOp::align, 64, 64) == 64);
  CHECK(value(ExprOp::align, 65, 48) == 96);
}

TEST_CASE("arithmetic that has no result is refused") {
  CHECK(refused(ExprOp::add, INT64_MAX, 1));
  CHECK(refused(ExprOp::sub, INT64_MIN, 1));
  CHECK(refused(ExprOp::mul, INT64_MAX, 2));
  CHECK(refused(ExprOp::mul, INT64_MIN, -1));
  for (ExprOp op : {ExprOp::floordiv, ExprOp::ceildiv, ExprOp::mod, ExprOp::align})
    CHECK(refused(op, 5, 0));
  CHECK(refused(ExprOp::floordiv, INT64_MIN, -1));
  CHECK(refused(ExprOp::ceildiv, INT64_MIN, -1));
  CHECK(value(ExprOp::mod, INT64_MIN, -1) == 0);
  CHECK(refused(ExprOp::align, 5, -8));
  CHECK(refused(ExprOp::align, INT64_MAX, 64));
}

TEST_CASE("a failure shows the expression and the symbols") {
  int64_t result = 0;
  Status status = compute(ExprOp::ceildiv, 7, 0, &result);
  CHECK_THAT(status.message(), Contains("ceildiv(A, B) overflows or divides by zero with 'A' = 7, 'B' = 0"));
}

TEST_CASE("part of the table can be evaluated again") {
  Plan plan = planOf(ExprOp::add);
  int64_t symbols[] = {1, 2}, values[3];
  REQUIRE_FALSE(evaluate(plan, symbols, 0, 3, values).failed());
  symbols[0] = 100;
  symbols[1] = 200;
  REQUIRE_FALSE(evaluate(plan, symbols, 1, 3, values).failed());
  CHECK(values[0] == 1);
  CHECK(values[2] == 201);
}

TEST_CASE("expressions are printed") {
  Plan plan = planOf(ExprOp::add);
  plan.exprs.push_back({ExprOp::constant, -4, 0});
  plan.exprs.push_back({ExprOp::mul, 2, 3});
  plan.exprs.push_back({ExprOp::floordiv, 4, 1});
  char text[64];
  printExpr(plan, 2, text, sizeof text);
  CHECK(std::string(text) == "A + B");
  printExpr(plan, 5, text, sizeof text);
  CHECK(std::string(text) == "floordiv(((A + B) * -4), B)");
  printExpr(plan, 5, text, 12);
  CHECK(std::string(text) == "floordiv...");
}

TEST_CASE("a table that stands for a huge tree is printed and evaluated at once") {
  Plan plan = planOf(ExprOp::max);
  plan.symbols[0].name = plan.symbols[1].name = "";
  for (int64_t i = 2; i < 200'000; ++i)
    plan.exprs.push_back({i % 2 ? ExprOp::max : ExprOp::sub, i, i});
  char text[64];
  printExpr(plan, uint32_t(plan.exprs.size() - 1), text, sizeof text);
  CHECK_THAT(text, Catch::Matchers::EndsWith("..."));
  int64_t symbols[] = {1, 2};
  std::vector<int64_t> values(plan.exprs.size());
  CHECK_FALSE(evaluate(plan, symbols, 0, uint32_t(values.size()), values.data()).failed());
}
