//===- PhaseRunner.cpp - runs the phases of a compilation ----------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/pipeline/PhaseRunner.h"
#include "compiler/pipeline/Diagnostics.h"
#include "compiler/pipeline/OptBisect.h"
#include "compiler/pipeline/Reproducer.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace tenon;

char EarlyStop::ID;

PhaseRunner::PhaseRunner(MLIRContext &context, DiagnosticPrinter &diagnostics, PhaseOptions wanted)
    : context(context), diagnostics(diagnostics), options(std::move(wanted)),
      dumps(options.dumpDir, options.dumpAfter, options.sourceName, options.locateWeight, options.locateShown) {
  assert((options.reproduce.empty() || options.writeReproducer) && "a reproducer needs a file");
  timing.setEnabled(options.timing);
  timing.setDisplayMode(DefaultTimingManager::DisplayMode::Tree);
  times = timing.getRootScope();
}

static std::string getText(OpPassManager &pm) {
  std::string text;
  llvm::raw_string_ostream os(text);
  pm.printAsTextualPipeline(os);
  return text;
}

void PhaseRunner::announce(StringRef phase) {
  phaseTime.stop();
  phaseTime = times.nest(phase);
  if (options.onPhase)
    options.onPhase(phase);
}

void PhaseRunner::dumpImport(ModuleOp module) {
  if (dumps.isActive())
    dumps.dump(kImportDump, module, /*isChanged=*/true, 0);
}

llvm::Error PhaseRunner::begin(StringRef name, ModuleOp input, OpPassManager *pipeline) {
  std::string phase = name.str();
  if (round > 1)
    phase += ", choice " + std::to_string(round);
  announce(phase);
  if (options.reproduce != phase)
    return llvm::Error::success();
  std::string title = ("tenon " TENON_VERSION ", phase '" + phase + "' of " +
                       llvm::sys::path::filename(options.sourceName) + ", for tenon-opt --run-reproducer")
                          .str();
  if (llvm::Error error = options.writeReproducer(
          [&](llvm::raw_ostream &os) { printReproducer(input, title, pipeline ? getText(*pipeline) : "", os); }))
    return error;
  return llvm::make_error<EarlyStop>();
}

llvm::Error PhaseRunner::run(StringRef phase, ModuleOp module, llvm::function_ref<void(OpPassManager &)> build) {
  PassManager pm(&context);
  // The IR is verified once per phase, which suffices for a reproducer.
  pm.enableVerifier(false);
  if (dumps.isActive())
    pm.addInstrumentation(createDumpInstrumentation(dumps));
  build(pm);
  if (llvm::Error error = begin(phase, module, &pm))
    return error;
  pm.enableTiming(phaseTime);
  if (bisect)
    bisect->setActive(true);
  LogicalResult result = pm.run(module);
  if (bisect)
    bisect->setActive(false);
  if (failed(result))
    return diagnostics.getFailure();
  return succeeded(verify(module)) ? llvm::Error::success() : makeReportedError(CompileStatus::fault);
}

llvm::Error PhaseRunner::tryOut(ModuleOp module, llvm::function_ref<void(OpPassManager &)> build) {
  PassManager pm(&context);
  pm.enableVerifier(false);
  build(pm);
  return succeeded(pm.run(module)) ? llvm::Error::success() : diagnostics.getFailure();
}

llvm::Error tenon::takeEarlyStop(llvm::Error outcome) {
  return llvm::handleErrors(std::move(outcome), [](const EarlyStop &) {});
}
