//===- FloatChoicesTests.cpp - what outputs follow from -------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/driver/FloatChoices.h"
#include "compiler/pipeline/Registration.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include <catch2/catch.hpp>

using namespace mlir;
using namespace tenon;

namespace {
/// Parses modules, which live as long as it does.
struct Parsed {
  static DialectRegistry makeRegistry() {
    DialectRegistry registry;
    registerDialects(registry);
    return registry;
  }
  explicit Parsed(const std::string &body) : module(parseSourceString<ModuleOp>(body, &context)) { REQUIRE(module); }
  func::FuncOp getFunction() { return *module->getOps<func::FuncOp>().begin(); }

  MLIRContext context{makeRegistry(), MLIRContext::Threading::DISABLED};
  OwningOpRef<ModuleOp> module;
};
} // namespace

static std::vector<std::string> findIn(const std::string &body) { return findFloatChoices(Parsed(body).getFunction()); }

using Texts = std::vector<std::string>;

TEST_CASE("whatever is made of a choice follows it") {
  CHECK(findIn(R"(func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
    %0 = tenon.round %x : (tensor<4xf32>) -> tensor<4xf32> loc("r")
    %1 = tenon.add %0, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %2 = tenon.exp %x : (tensor<4xf32>) -> tensor<4xf32>
    return %1, %2 : tensor<4xf32>, tensor<4xf32>
  })") == Texts{"round 'r'", ""});
}

TEST_CASE("a comparison that selects is no choice, one that counts is") {
  CHECK(findIn(R"(func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
    %0 = tenon.compare lt, %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
    %1 = tenon.select %0, %x, %y : (tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %2 = tenon.cast %0 : (tensor<4xi1>) -> tensor<4xf32>
    return %1, %2 : tensor<4xf32>, tensor<4xf32>
  })") == Texts{"", "compare"});
}

TEST_CASE("integers choose alike whatever floats are off") {
  CHECK(findIn(R"(func.func @main(%x: tensor<4xf32>, %i: tensor<2xi64>) -> tensor<2xf32> {
    %0 = tenon.gather %x, %i {axis = 0 : i64} : (tensor<4xf32>, tensor<2xi64>) -> tensor<2xf32>
    return %0 : tensor<2xf32>
  })") == Texts{""});
}

TEST_CASE("what a loop repeats as long as floats say follows them") {
  CHECK(findIn(R"(func.func @main(%go: tensor<i1>, %x: tensor<f32>) -> tensor<f32> {
    %0 = tenon.loop %go (%x) : tensor<i1>, (tensor<f32>) -> tensor<f32> {
    ^bb0(%v: tensor<f32>):
      %1 = tenon.exp %v : (tensor<f32>) -> tensor<f32>
      %2 = tenon.compare lt, %1, %x : (tensor<f32>, tensor<f32>) -> tensor<i1>
      tenon.yield %2, %1 : tensor<i1>, tensor<f32>
    }
    return %0 : tensor<f32>
  })") == Texts{"compare"});
}

TEST_CASE("integers that are chosen by the floats of another result have these as scores") {
  auto find = [](const std::string &body) { return findScores(Parsed(body).getFunction()); };
  using Scores = std::vector<std::optional<size_t>>;
  std::string head = R"(
  tenon.state @kept : tensor<4xf32>
  func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<i64>) {
    %kept = tenon.state.read @kept : tensor<4xf32>
    %y = tenon.exp %x : (tensor<4xf32>) -> tensor<4xf32>
    %z = tenon.sin %x : (tensor<4xf32>) -> tensor<4xf32>
    %w = tenon.add %y, %kept : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
)";
  auto best = [&](const std::string &of, const std::string &more) {
    return find(
        head + more + "    %i = tenon.arg_reduce max, %" + of +
        " {axis = 0 : i64} : (tensor<4xf32>) -> tensor<i64>\n    return %y, %i : tensor<4xf32>, tensor<i64>\n}");
  };
  CHECK(best("y", "") == Scores{std::nullopt, 0});
  CHECK(best("w", "") == Scores{std::nullopt, 0});
  // Of other floats, or of a state that has them.
  CHECK(best("z", "") == Scores{std::nullopt, std::nullopt});
  CHECK(best("x", "") == Scores{std::nullopt, std::nullopt});
  CHECK(best("w", "    tenon.state.update @kept at #tenon.shape<0>, %z : tensor<4xf32>\n") ==
        Scores{std::nullopt, std::nullopt});
}

TEST_CASE("places of the largest elements have these as scores, unless a choice comes before") {
  Parsed parsed(R"(
  func.func @main(%x: tensor<4x9xf32>, %n: tensor<4x9xi64>)
      -> (tensor<4x1xi32>, tensor<4x2xi64>, tensor<4xi64>, tensor<4xi64>, tensor<4x2xf32>) {
    %0 = tenon.exp %x : (tensor<4x9xf32>) -> tensor<4x9xf32>
    %1 = tenon.arg_reduce min, %0 {axis = 1 : i64} : (tensor<4x9xf32>) -> tensor<4xi64>
    %2 = tenon.cast %1 : (tensor<4xi64>) -> tensor<4xi32>
    %3 = tenon.reshape %2 : (tensor<4xi32>) -> tensor<4x1xi32>
    %4, %5 = tenon.top_k %0 {axis = 1 : i64} : (tensor<4x9xf32>) -> (tensor<4x2xf32>, tensor<4x2xi64>)
    %6 = tenon.arg_reduce max, %n {axis = 1 : i64} : (tensor<4x9xi64>) -> tensor<4xi64>
    %7 = tenon.round %x : (tensor<4x9xf32>) -> tensor<4x9xf32>
    %8 = tenon.arg_reduce max, %7 {axis = 1 : i64} : (tensor<4x9xf32>) -> tensor<4xi64>
    return %3, %5, %6, %8, %4 : tensor<4x1xi32>, tensor<4x2xi64>, tensor<4xi64>, tensor<4xi64>, tensor<4x2xf32>
  })");
  auto places = findScoredPlaces(parsed.getFunction());
  REQUIRE(places.size() == 5);
  for (size_t i : {0, 1}) {
    REQUIRE(places[i]);
    CHECK(places[i]->axis == 1);
    CHECK(places[i]->scores.getDefiningOp()->getName().getStringRef() == "tenon.exp");
  }
  CHECK(!places[2]);
  CHECK(!places[3]);
  CHECK(!places[4]);
}
