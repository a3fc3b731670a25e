//===- OptBisect.h - optional steps of a compilation, counted -------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_PIPELINE_OPTBISECT_H
#define TENON_COMPILER_PIPELINE_OPTBISECT_H

#include "mlir/IR/Action.h"
#include "mlir/IR/Unit.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <optional>
#include <string>

namespace llvm {
class raw_ostream;
}
namespace mlir {
class MLIRContext;
class Operation;
} // namespace mlir

namespace tenon {

/// The number of optional steps that a compilation executes, like LLVM's -opt-bisect-limit. A step is an optional pass
/// on one operation; a part of a step is an attempt at a pattern, or a chosen path.
struct StepLimit {
  uint64_t steps = 0;            ///< these are taken
  std::optional<uint64_t> parts; ///< of the last of these steps no more than so many parts

  /// Reads "12" or "12.3".
  static llvm::Expected<StepLimit> parse(llvm::StringRef text);
  std::string toString() const;
};

/// True if the compilation is correct, if slower, when the pass does not run on this operation.
bool isOptionalPass(llvm::StringRef argument, mlir::Operation *op);

/// The full optimization of a kernel's code, as a step of its own: a handler that does not execute it gets code with
/// little optimization.
class OptimizeCodeAction : public mlir::tracing::ActionImpl<OptimizeCodeAction> {
public:
  static constexpr llvm::StringLiteral tag = "tenon-optimize-code";

  OptimizeCodeAction(llvm::ArrayRef<mlir::IRUnit> units, llvm::StringRef kernel)
      : ActionImpl<OptimizeCodeAction>(units), kernel(kernel.str()) {}
  void print(llvm::raw_ostream &os) const override { os << "llvm -O3 on " << kernel; }

private:
  std::string kernel;
};

/// Executes only the first optional steps of a compilation, and prints which steps are executed and skipped, by
/// handling the actions of its context. The context must be single-threaded, so that the order of steps is
/// deterministic.
class OptBisect {
public:
  OptBisect(mlir::MLIRContext &context, StepLimit limit, llvm::raw_ostream &os);
  ~OptBisect();
  OptBisect(const OptBisect &) = delete;

  /// Passes count only during phases of the model, not in the reference or in constant evaluation.
  void setActive(bool active) { isActive = active; }

private:
  void handle(llvm::function_ref<void()> run, const mlir::tracing::Action &action);
  void handleStep(llvm::function_ref<void()> run, const std::string &name);

  mlir::MLIRContext &context;
  StepLimit limit;
  llvm::raw_ostream &os;
  bool isActive = false;
  unsigned depth = 0;     ///< of passes inside of each other, those not counted that only hold others
  bool isPartial = false; ///< in the step of which parts are counted
  uint64_t steps = 0, parts = 0;
};

} // namespace tenon

#endif // TENON_COMPILER_PIPELINE_OPTBISECT_H
