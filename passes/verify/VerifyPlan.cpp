//===- VerifyPlan.cpp - check that programs fit the kernels that they launch -===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/kernel/KernelDialect.h"
#include "dialects/plan/Plan.h"
#include "dialects/tenon/Tenon.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/Kernel.h"
#include "passes/Passes.h"
#include "passes/verify/InternalError.h"

namespace tenon {
#define GEN_PASS_DEF_VERIFYPLAN
#include "passes/Passes.h.inc"
} // namespace tenon

using namespace mlir;
using namespace tenon;

namespace {

/// Compares a launch with the kernel that it names.
class LaunchVerifier {
public:
  LaunchVerifier(plan::LaunchOp launch, func::FuncOp kernel) : launch(launch), kernel(kernel) {}
  LogicalResult verify();

private:
  InFlightDiagnostic refuse(const Twine &message) {
    InFlightDiagnostic diagnostic = emitInternalError(launch, message);
    diagnostic.attachNote(kernel.getLoc()) << "the kernel is here";
    return diagnostic;
  }
  LogicalResult verifyBuffers();
  LogicalResult verifyReuse();

  plan::LaunchOp launch;
  func::FuncOp kernel;
};

} // namespace

LogicalResult LaunchVerifier::verifyBuffers() {
  size_t inputs = 0, outputs = 0;
  for (unsigned i = 0; i < kernel.getNumArguments(); ++i) {
    if (!kernel.getArgAttr(i, kDimsAttr))
      continue;
    ++(kernel.getArgAttr(i, kOutputAttr) ? outputs : inputs);
  }
  if (inputs != launch.getInputs().size() || outputs != launch.getOutputs().size())
    return refuse("passes " + Twine(launch.getInputs().size()) + " inputs and " + Twine(launch.getOutputs().size()) +
                  " outputs to a kernel with " + Twine(inputs) + " and " + Twine(outputs));
  return success();
}

/// If a kernel overwrites an input with a result, the launch must pass the same buffer for both.
LogicalResult LaunchVerifier::verifyReuse() {
  for (auto [i, input] : llvm::enumerate(launch.getInputs())) {
    auto result = kernel.getArgAttrOfType<IntegerAttr>(i, kReusedAttr);
    if (!result)
      continue;
    size_t outputs = launch.getOutputs().size();
    if (result.getValue().uge(outputs))
      return refuse("passes " + Twine(outputs) + " outputs to a kernel that writes output " + Twine(result.getInt()) +
                    " over input " + Twine(i));
    if (launch.getOutputs()[result.getInt()] != input)
      return refuse("passes different buffers for input " + Twine(i) + " and for output " + Twine(result.getInt()) +
                    ", which the kernel writes over it");
  }
  return success();
}

LogicalResult LaunchVerifier::verify() {
  if (!kernel->hasAttr(kKernelAttr) || !kernel->hasAttr(kTilesAttr))
    return refuse("launches a function without '" + kKernelAttr + "' or '" + kTilesAttr + "'");
  auto names = kernel->getAttrOfType<ArrayAttr>(kSymbolsAttr);
  if (size_t count = names ? names.size() : 0; count != launch.getSizes().size())
    return refuse("has " + Twine(launch.getSizes().size()) + " sizes for a kernel with " + Twine(count) + " symbols");
  auto scratch = kernel->getAttrOfType<IntegerAttr>(kScratchAttr);
  auto program = launch->getParentOfType<plan::ProgramOp>();
  if (scratch && static_cast<int64_t>(program.getScratch().value_or(0)) < scratch.getInt())
    return refuse("launches a kernel that needs " + Twine(scratch.getInt()) + " bytes of scratch, of which there are " +
                  Twine(program.getScratch().value_or(0)));
  if (failed(verifyBuffers()))
    return failure();
  return verifyReuse();
}

/// Compares a launch with the merged kernel that it names.
static LogicalResult verifyMerged(plan::LaunchOp launch, kernel::MergedOp kernel) {
  size_t buffers = launch.getInputs().size() + launch.getOutputs().size();
  if (buffers == kernel.getBuffers() && launch.getSizes().size() == kernel.getSizes())
    return success();
  InFlightDiagnostic diagnostic = emitInternalError(
      launch, "passes " + Twine(buffers) + " buffers and " + Twine(launch.getSizes().size()) +
                  " sizes to a merged kernel with " + Twine(kernel.getBuffers()) + " and " + Twine(kernel.getSizes()));
  diagnostic.attachNote(kernel.getLoc()) << "the kernel is here";
  return diagnostic;
}

namespace {
struct VerifyPlan : public tenon::impl::VerifyPlanBase<VerifyPlan> {
  using VerifyPlanBase::VerifyPlanBase;
  void runOnOperation() override {
    mlir::SymbolTable symbols(getOperation());
    for (Operation &op : *getOperation().getBody()) {
      auto function = dyn_cast<func::FuncOp>(op);
      if (function && !function.isPrivate() && !function->hasAttr(kKernelAttr)) {
        emitInternalError(&op, "was not lowered to a program");
        return signalPassFailure();
      }
      if (auto program = dyn_cast<plan::ProgramOp>(op); program && failed(verifyProgram(program, symbols)))
        return signalPassFailure();
    }
    markAllAnalysesPreserved();
  }

private:
  LogicalResult verifyProgram(plan::ProgramOp program, mlir::SymbolTable &symbols) {
    WalkResult result = program.getBody().walk([&](Operation *op) -> WalkResult {
      if (!isa<plan::PlanDialect, arith::ArithDialect>(op->getDialect()))
        return emitInternalError(op, "is no instruction and no arithmetic on sizes");
      if (placed && isa<plan::AllocOp>(op))
        return emitInternalError(op, "was given no memory");
      auto launch = dyn_cast<plan::LaunchOp>(op);
      // A kernel that is no function of the module is one of the library's (tenon.call).
      Operation *kernel = launch ? symbols.lookup(launch.getKernel()) : nullptr;
      if (auto function = dyn_cast_or_null<func::FuncOp>(kernel))
        return LaunchVerifier(launch, function).verify();
      auto merged = dyn_cast_or_null<kernel::MergedOp>(kernel);
      return merged ? verifyMerged(launch, merged) : success();
    });
    return failure(result.wasInterrupted());
  }
};
} // namespace
