//===- ComputeKindTests.cpp - every operation says how it is computed -----===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/tenon/Tenon.h"
#include "mlir/IR/MLIRContext.h"
#include <catch2/catch.hpp>
#include <string>
#include <vector>

using namespace mlir;
using namespace tenon;

namespace {
/// Operations of the dialect for which `isWrong` holds.
std::vector<std::string> collect(llvm::function_ref<bool(OperationName)> isWrong) {
  MLIRContext context;
  context.loadDialect<TenonDialect>();
  std::vector<std::string> names;
  for (RegisteredOperationName name : context.getRegisteredOperationsByDialect("tenon"))
    if (isWrong(name))
      names.push_back(name.getStringRef().str());
  return names;
}

std::optional<ComputeKind> getKind(StringRef name) {
  MLIRContext context;
  context.loadDialect<TenonDialect>();
  return getComputeKind(OperationName(name, &context));
}
} // namespace

TEST_CASE("every operation of the dialect declares one compute kind") {
  CHECK(collect([](OperationName) { return true; }).size() > 80);
  CHECK(collect([](OperationName name) { return !getComputeKind(name); }) == std::vector<std::string>());
}

TEST_CASE("compute kinds are told apart") {
  CHECK(getKind("tenon.add") == ComputeKind::elementwise);
  CHECK(getKind("tenon.gather") == ComputeKind::elementAccess);
  CHECK(getKind("tenon.reshape") == ComputeKind::elementAccess);
  CHECK(getKind("tenon.layer_norm") == ComputeKind::loopNest);
  CHECK(getKind("tenon.batch_norm") == ComputeKind::decomposed);
  CHECK(getKind("tenon.loop") == ComputeKind::noKernel);
  CHECK(getKind("tenon.no_such_operation") == std::nullopt);
}

TEST_CASE("traits that depend on others stand beside them") {
  auto isScalar = [](OperationName name) {
    return getComputeKind(name) == ComputeKind::elementwise || getComputeKind(name) == ComputeKind::elementAccess;
  };
  // Fusion computes what is recomputable inside of loops that read it.
  CHECK(collect([&](OperationName name) { return name.hasTrait<Recomputable>() && !isScalar(name); }).empty());
  CHECK(collect([&](OperationName name) { return name.hasTrait<Unpacking>() && !isScalar(name); }).empty());
  CHECK(
      collect([&](OperationName name) { return name.hasInterface<IndexMapOpInterface>() && !isScalar(name); }).empty());
  // Arithmetic that is recomputed for each use is no call of a function.
  CHECK(collect([](OperationName name) {
          return name.hasTrait<Elementwise>() && name.hasTrait<Recomputable>() && !name.hasTrait<SingleInstruction>();
        }).empty());
  // What a launch writes, no kernel of the graph computes.
  CHECK(collect([](OperationName name) { return name.hasTrait<LaunchLike>() && !name.hasTrait<NoKernel>(); }).empty());
}
