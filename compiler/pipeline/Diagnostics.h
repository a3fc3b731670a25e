//===- Diagnostics.h - diagnostics as lines for users --------------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_PIPELINE_DIAGNOSTICS_H
#define TENON_COMPILER_PIPELINE_DIAGNOSTICS_H

#include "compiler/errors/CompileError.h"
#include "mlir/IR/Diagnostics.h"
#include <string>

namespace tenon {

/// Prints the diagnostics of a context, one line each, and remembers the category of failure. The context must outlive
/// it.
class DiagnosticPrinter {
public:
  /// `sourceName` is the name of the model, for messages that do not contain it.
  DiagnosticPrinter(mlir::MLIRContext &context, std::string sourceName, llvm::raw_ostream &os);
  ~DiagnosticPrinter();
  DiagnosticPrinter(const DiagnosticPrinter &) = delete;

  void warn(const llvm::Twine &message);
  /// Prints the error's message, unless a diagnostic has reported it, and returns its category.
  CompileStatus report(llvm::Error error);
  /// Returns a failure that diagnostics have reported. If none of them was marked (passes/Unsupported.h), it is an
  /// internal error.
  llvm::Error getFailure() const;

private:
  void print(mlir::Diagnostic &diagnostic);

  mlir::MLIRContext &context;
  std::string sourceName;
  llvm::raw_ostream &os;
  mlir::DiagnosticEngine::HandlerID handler;
  bool sawUnsupported = false, sawInvalid = false, sawExhausted = false;
};

} // namespace tenon

#endif // TENON_COMPILER_PIPELINE_DIAGNOSTICS_H
