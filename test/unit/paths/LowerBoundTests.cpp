//===- LowerBoundTests.cpp - what no element of a tensor is below -----------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/tenon/Tenon.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "passes/paths/LowerBound.h"
#include <catch2/catch.hpp>
#include <limits>

using namespace mlir;
using namespace tenon;

static constexpr double kNone = -std::numeric_limits<double>::infinity();

/// Returns the bound of the last operation of a function of x: 4x6, and of its square root r.
static double getBound(const std::string &operations) {
  MLIRContext context;
  context.loadDialect<TenonDialect, func::FuncDialect>();
  std::string text = "func.func private @f(%x: tensor<4x6xf32>) {\n"
                     "  %r = tenon.sqrt %x : (tensor<4x6xf32>) -> tensor<4x6xf32>\n" +
                     operations + "\n  return\n}";
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
  REQUIRE(module);
  auto function = *module->getOps<func::FuncOp>().begin();
  return findLowerBound(function.getBody().front().getTerminator()->getPrevNode()->getResult(0));
}

/// An elementwise operation of so many operands of 4x6.
static std::string apply(const std::string &name, std::initializer_list<const char *> operands) {
  std::string values, types;
  for (const char *operand : operands) {
    values += (values.empty() ? "" : ", ") + std::string(operand);
    types += (types.empty() ? "" : ", ") + std::string("tensor<4x6xf32>");
  }
  return "  %y = tenon." + name + " " + values + " : (" + types + ") -> tensor<4x6xf32>";
}

TEST_CASE("activations tell a bound, whatever they are of", "[bound]") {
  for (const char *name : {"relu", "abs", "exp", "sqrt", "sigmoid"})
    CHECK(getBound(apply(name, {"%x"})) == 0);
  std::string gate = "  %g = tenon.sigmoid %x : (tensor<4x6xf32>) -> tensor<4x6xf32>\n";
  for (double bound : {getBound(gate + apply("mul", {"%x", "%g"})), getBound(gate + apply("mul", {"%g", "%x"}))}) {
    CHECK(bound < -0.2784);
    CHECK(bound > -0.2786);
  }
}

TEST_CASE("nothing is known of a product with signs, or of a gate of something else", "[bound]") {
  CHECK(getBound(apply("mul", {"%x", "%r"})) == kNone);
  CHECK(getBound(apply("neg", {"%r"})) == kNone);
  CHECK(getBound(apply("sub", {"%r", "%r"})) == kNone);
  CHECK(getBound("  %g = tenon.sigmoid %r : (tensor<4x6xf32>) -> tensor<4x6xf32>\n" + apply("mul", {"%x", "%g"})) ==
        kNone);
}

TEST_CASE("sums, products and choices of what has a bound have one", "[bound]") {
  for (const char *name : {"add", "mul", "div", "max", "min"})
    CHECK(getBound(apply(name, {"%r", "%r"})) == 0);
  CHECK(getBound(apply("max", {"%x", "%r"})) == 0);
  for (const char *name : {"add", "div", "min"})
    CHECK(getBound(apply(name, {"%x", "%r"})) == kNone);
  std::string constant = "  %c = tenon.weight dense<-1.5> : tensor<4x6xf32>\n";
  CHECK(getBound(constant + apply("add", {"%r", "%c"})) == -1.5);
  CHECK(getBound(constant + apply("max", {"%x", "%c"})) == -1.5);
  CHECK(getBound(constant + apply("mul", {"%r", "%c"})) == kNone);
}

TEST_CASE("constants that are not finite have no bound", "[bound]") {
  CHECK(getBound("  %c = tenon.weight dense<0x7FC00000> : tensor<4x6xf32>") == kNone);
  CHECK(getBound("  %c = tenon.weight dense<[1.0, -2.0]> : tensor<2xf32>") == -2);
  CHECK(getBound("  %c = tenon.weight dense<[1.0, 0x7F800000]> : tensor<2xf32>") == kNone);
}

TEST_CASE("moving elements keeps the bound, and sums keep zero alone", "[bound]") {
  CHECK(getBound("  %y = tenon.reshape %r : (tensor<4x6xf32>) -> tensor<24xf32>") == 0);
  CHECK(getBound("  %y = tenon.transpose %x {permutation = array<i64: 1, 0>} : (tensor<4x6xf32>) -> tensor<6x4xf32>") ==
        kNone);
  std::string below = "  %c = tenon.weight dense<-1.5> : tensor<4x6xf32>\n" + apply("add", {"%r", "%c"}) + "\n";
  std::string reduce = " {axes = array<i64: 1>} : (tensor<4x6xf32>) -> tensor<4xf32>";
  CHECK(getBound("  %z = tenon.reduce sum, %r" + reduce) == 0);
  CHECK(getBound(below + "  %z = tenon.reduce sum, %y" + reduce) == kNone);
  CHECK(getBound(below + "  %z = tenon.reduce max, %y" + reduce) == -1.5);
}
