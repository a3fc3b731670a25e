//===- PathErrorsTests.cpp - errors of paths, and when they are measured --===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/tenon/Tenon.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "passes/paths/Path.h"
#include "passes/paths/PathErrors.h"
#include <array>
#include <catch2/catch.hpp>

using namespace mlir;
using namespace tenon;

namespace {
/// Is off by 2e-3 or more, and by 3e-3 for every operation.
class CountingPath : public Path {
public:
  StringRef getName() const override { return "counting"; }
  std::optional<double> estimateCycles(Operation *, const Machine &) const override { return 1; }
  double measureError(Operation *) const override {
    ++numMeasured;
    return 3e-3;
  }
  double getLeastError(Operation *) const override { return 2e-3; }
  Operation *take(Operation *op, const Machine &, RewriterBase &) const override { return op; }

  mutable int numMeasured = 0;
};
} // namespace

TEST_CASE("what is certain to exceed the limit is not measured", "[errors]") {
  MLIRContext context;
  OwningOpRef<ModuleOp> module = ModuleOp::create(UnknownLoc::get(&context));
  CountingPath path;
  PathErrors errors;
  CHECK(errors.measure(path, *module, 1e-5) > 1e-5);
  CHECK(path.numMeasured == 0);
  // What may be within the limit is, once, and is known then whatever the limit.
  CHECK(errors.measure(path, *module, 2.5e-3) == 3e-3);
  CHECK(errors.measure(path, *module) == 3e-3);
  CHECK(path.numMeasured == 1);
  CHECK(errors.measure(path, *module, 1e-5) > 1e-5);
}

TEST_CASE("no path measures less than its least error", "[errors]") {
  // The second matrix is exact in bf16.
  const char *text = R"(
    func.func @main(%x: tensor<8x64xf32>) -> (tensor<8x32xf32>, tensor<8x32xf32>) {
      %w = tenon.weight dense<0.1> : tensor<64x32xf32>
      %v = tenon.weight dense<0.5> : tensor<64x32xf32>
      %0 = tenon.contract %x, %w {lhs_dims = array<i64: 0, 1>, rhs_dims = array<i64: 1, 2>, result_dims = array<i64: 0, 2>}
        : (tensor<8x64xf32>, tensor<64x32xf32>) -> tensor<8x32xf32>
      %1 = tenon.contract %x, %v {lhs_dims = array<i64: 0, 1>, rhs_dims = array<i64: 1, 2>, result_dims = array<i64: 0, 2>}
        : (tensor<8x64xf32>, tensor<64x32xf32>) -> tensor<8x32xf32>
      return %0, %1 : tensor<8x32xf32>, tensor<8x32xf32>
    })";
  MLIRContext context;
  context.loadDialect<func::FuncDialect, TenonDialect>();
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
  REQUIRE(module);
  std::vector<float> rounded, exact;
  for (int i = 0; i < 64 * 32; ++i) {
    rounded.push_back(0.1f + 0.001f * i);
    exact.push_back(0.5f + 0.0625f * (i % 8));
  }
  llvm::SmallVector<WeightOp> weights;
  module->walk([&](WeightOp weight) { weights.push_back(weight); });
  for (auto [weight, values] : llvm::zip_equal(weights, std::array{&rounded, &exact}))
    weight.setValueAttr(DenseElementsAttr::get(weight.getType(), llvm::ArrayRef(*values)));
  Machine machine;
  machine.amxBf16 = machine.bf16Pairs = 1;
  int numBounded = 0;
  module->walk([&](ContractOp op) {
    for (const auto &path : getPaths())
      if (path->estimateCycles(op, machine)) {
        CHECK(path->getLeastError(op) <= path->measureError(op));
        numBounded += path->getLeastError(op) > 1e-3;
      }
  });
  // Rounded factors in AMX tiles and in vectors, for both products.
  CHECK(numBounded == 4);
}

TEST_CASE("variances of the steps of a function add up", "[errors]") {
  MLIRContext context;
  context.loadDialect<func::FuncDialect>();
  OwningOpRef<ModuleOp> module =
      parseSourceString<ModuleOp>("module @host { func.func private @main() func.func private @other() }", &context);
  REQUIRE(module);
  auto main = module->lookupSymbol<func::FuncOp>("main"), other = module->lookupSymbol<func::FuncOp>("other");
  PathErrors errors;
  errors.setVariance(main, PathErrors::paths, 1);
  // What a step decides later takes the place of what it has decided before.
  errors.setVariance(main, PathErrors::paths, 3);
  errors.setVariance(main, PathErrors::lateForms, 1);
  errors.setVariance(other, PathErrors::lateForms, 2);
  CHECK(errors.getVariance(main) == 4);
  CHECK(errors.getVariance(other) == 2);
  CHECK(errors.getLargestTotal() == 2);
  errors.forgetTaken();
  CHECK(errors.getVariance(main) == 0);
  CHECK(errors.getLargestTotal() == 0);
}
