//===- OptBisectTests.cpp - optional steps of a compilation, counted ---------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/pipeline/OptBisect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include <catch2/catch.hpp>

using namespace mlir;
using namespace tenon;

static StepLimit parse(llvm::StringRef text) { return llvm::cantFail(StepLimit::parse(text)); }

TEST_CASE("a limit is a number of steps, with a number of parts or without") {
  CHECK(parse("12").steps == 12);
  CHECK_FALSE(parse("12").parts);
  CHECK(parse("12.0").parts == 0u);
  CHECK(parse("12.345").parts == 345u);
  for (llvm::StringRef text : {"0", "12", "12.0", "12.345"})
    CHECK(parse(text).toString() == text);
  for (llvm::StringRef text : {"", "-1", "x", "1.", ".1", "1.x", "1.2.3", "1 "}) {
    llvm::Expected<StepLimit> limit = StepLimit::parse(text);
    CHECK_FALSE(static_cast<bool>(limit));
    llvm::consumeError(limit.takeError());
  }
}

namespace {
/// Two equal constants in each of two functions, and a pass manager that removes one of each.
class TwoFunctions {
public:
  TwoFunctions() : context(MLIRContext::Threading::DISABLED) {
    context.loadDialect<func::FuncDialect>();
    module = parseSourceString<ModuleOp>(
        "func.func @a() -> (i1, i1) { %0 = \"builtin.unrealized_conversion_cast\"() : () -> i1\n"
        "  %1 = \"builtin.unrealized_conversion_cast\"() : () -> i1\n return %0, %1 : i1, i1 }\n"
        "func.func @b() -> (i1, i1) { %0 = \"builtin.unrealized_conversion_cast\"() : () -> i1\n"
        "  %1 = \"builtin.unrealized_conversion_cast\"() : () -> i1\n return %0, %1 : i1, i1 }\n",
        &context);
    REQUIRE(module);
  }

  /// What the counter says of a run of cse on both functions.
  std::string run(llvm::StringRef limit, bool isActive = true) {
    std::string text;
    llvm::raw_string_ostream os(text);
    OptBisect bisect(context, parse(limit), os);
    bisect.setActive(isActive);
    PassManager pm(&context);
    pm.nest<func::FuncOp>().addPass(createCSEPass());
    REQUIRE(succeeded(pm.run(*module)));
    return text;
  }

  size_t countCasts() {
    size_t count = 0;
    module->walk([&](UnrealizedConversionCastOp) { ++count; });
    return count;
  }

private:
  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};
} // namespace

TEST_CASE("steps beyond the limit do not run") {
  TwoFunctions functions;
  CHECK(functions.run("0") == "bisect: NOT running (1) cse on a\nbisect: NOT running (2) cse on b\n");
  CHECK(functions.countCasts() == 4);
  CHECK(functions.run("1") == "bisect: running (1) cse on a\nbisect: NOT running (2) cse on b\n");
  CHECK(functions.countCasts() == 3);
  CHECK(functions.run("2") == "bisect: running (1) cse on a\nbisect: running (2) cse on b\n");
  CHECK(functions.countCasts() == 2);
}

TEST_CASE("passes of a phase that is not the model's run, and do not count") {
  TwoFunctions functions;
  CHECK(functions.run("0", /*isActive=*/false).empty());
  CHECK(functions.countCasts() == 2);
}
