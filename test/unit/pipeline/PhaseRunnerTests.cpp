//===- PhaseRunnerTests.cpp - phases, one after the other ----------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/pipeline/Diagnostics.h"
#include "compiler/pipeline/PhaseRunner.h"
#include "compiler/pipeline/Registration.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "passes/Unsupported.h"
#include <catch2/catch.hpp>

using namespace mlir;
using namespace tenon;

namespace {
/// Fails as `emit` says.
struct FailingPass : PassWrapper<FailingPass, OperationPass<ModuleOp>> {
  explicit FailingPass(std::function<void(Operation *)> emit) : emit(std::move(emit)) {}
  void runOnOperation() override {
    emit(getOperation());
    signalPassFailure();
  }
  std::function<void(Operation *)> emit;
};

/// A runner, and what it is watched by.
struct Fixture {
  explicit Fixture(std::string reproduce = "") {
    PhaseOptions options;
    options.sourceName = "folder/model.onnx";
    options.reproduce = std::move(reproduce);
    options.onPhase = [this](StringRef phase) { phases.push_back(phase.str()); };
    options.writeReproducer = [this](llvm::function_ref<void(llvm::raw_ostream &)> write) {
      llvm::raw_string_ostream os(reproducer);
      write(os);
      return writesReproducer ? llvm::Error::success() : makeError(CompileStatus::resources, "the disk is full");
    };
    runner.emplace(context, diagnostics, std::move(options));
    module = parseSourceString<ModuleOp>("func.func @main() { return }", &context);
  }

  static DialectRegistry makeRegistry() {
    DialectRegistry registry;
    registerDialects(registry);
    return registry;
  }

  /// The exit code of a phase of one pass that changes nothing.
  CompileStatus runToEnd(StringRef phase) { return diagnostics.report(takeEarlyStop(run(phase))); }
  /// Runs such a phase.
  llvm::Error run(StringRef phase) {
    return runner->run(phase, *module, [](OpPassManager &pm) { pm.addPass(createCSEPass()); });
  }
  /// The exit code of a phase whose only pass fails so.
  CompileStatus runFailing(std::function<void(Operation *)> emit) {
    return diagnostics.report(
        runner->run("plan", *module, [&](OpPassManager &pm) { pm.addPass(std::make_unique<FailingPass>(emit)); }));
  }

  MLIRContext context{makeRegistry(), MLIRContext::Threading::DISABLED};
  std::string text, reproducer;
  llvm::raw_string_ostream os{text};
  DiagnosticPrinter diagnostics{context, "folder/model.onnx", os};
  bool writesReproducer = true;
  std::vector<std::string> phases;
  std::optional<PhaseRunner> runner;
  OwningOpRef<ModuleOp> module;
};
} // namespace

TEST_CASE("phases are announced in order, and repeated ones say so") {
  Fixture fixture;
  fixture.runner->announce("import");
  CHECK(fixture.runToEnd("graph") == CompileStatus::done);
  fixture.runner->beginRound(1);
  CHECK(fixture.runToEnd("plan") == CompileStatus::done);
  fixture.runner->beginRound(2);
  CHECK(fixture.runToEnd("plan") == CompileStatus::done);
  CHECK(fixture.phases == std::vector<std::string>{"import", "graph", "plan", "plan, choice 2"});
  CHECK(fixture.reproducer.empty());
}

TEST_CASE("the phase to be reproduced stops the compilation, which is no failure") {
  Fixture fixture("plan, choice 2");
  CHECK(fixture.runToEnd("plan") == CompileStatus::done);
  CHECK(fixture.reproducer.empty());
  fixture.runner->beginRound(2);
  llvm::Error stop = fixture.run("plan");
  REQUIRE(stop.isA<EarlyStop>());
  CHECK(fixture.diagnostics.report(takeEarlyStop(std::move(stop))) == CompileStatus::done);
  CHECK(fixture.text.empty());
  CHECK_THAT(fixture.reproducer, Catch::Contains("phase 'plan, choice 2' of model.onnx") && Catch::Contains("cse") &&
                                     Catch::Contains("func.func @main"));
}

TEST_CASE("a reproducer that cannot be written is a failure") {
  Fixture fixture("graph");
  fixture.writesReproducer = false;
  CHECK(fixture.runToEnd("graph") == CompileStatus::resources);
  CHECK(fixture.text == "tenon: error: the disk is full\n");
}

TEST_CASE("marks of diagnostics decide the category of a failure") {
  CHECK(Fixture().runFailing([](Operation *op) { emitUnsupported(op, "no"); }) == CompileStatus::unsupported);
  CHECK(Fixture().runFailing([](Operation *op) { emitInvalid(op->getLoc(), "no"); }) == CompileStatus::invalid);
  CHECK(Fixture().runFailing([](Operation *op) { emitExhausted(op, "no"); }) == CompileStatus::resources);
  CHECK(Fixture().runFailing([](Operation *op) { op->emitError("no"); }) == CompileStatus::fault);
  Fixture fixture;
  fixture.runFailing([](Operation *op) { op->emitError("is\nbroken"); });
  CHECK_THAT(fixture.text, Catch::StartsWith("tenon: error: folder/model.onnx: ") && Catch::EndsWith("is broken\n"));
}

TEST_CASE("IR that is not valid at the end of a phase is a fault") {
  Fixture fixture;
  auto breakIR = [&](OpPassManager &) {
    (*fixture.module->getOps<func::FuncOp>().begin()).getBody().front().getTerminator()->erase();
  };
  CHECK(fixture.diagnostics.report(fixture.runner->run("graph", *fixture.module, breakIR)) == CompileStatus::fault);
}

TEST_CASE("errors keep their category, and their message has a prefix where there is one") {
  std::string message;
  CHECK(takeError(prefixError(makeError(CompileStatus::misuse, "wrong"), "model: "), message) == CompileStatus::misuse);
  CHECK(message == "model: wrong");
  CHECK(takeError(prefixError(makeReportedError(CompileStatus::invalid), "model: "), message) ==
        CompileStatus::invalid);
  CHECK(message.empty());
  CHECK(takeError(llvm::createStringError("of a library"), message) == CompileStatus::fault);
  CHECK(message == "of a library");
  CHECK(takeError(llvm::Error::success(), message) == CompileStatus::done);
}
