//===- Unsupported.h - what Tenon cannot do, told apart from its faults ----===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_UNSUPPORTED_H
#define TENON_PASSES_UNSUPPORTED_H

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Operation.h"

namespace tenon {

/// Reports that the model needs a feature that is not supported: the compiler prints the message and exits with 3. A
/// pass that fails without this diagnostic has a defect, and the compiler writes a reproducer.
inline mlir::InFlightDiagnostic emitUnsupported(mlir::Operation *op, const llvm::Twine &message = {}) {
  mlir::InFlightDiagnostic diagnostic = op->emitError(message);
  diagnostic.getUnderlyingDiagnostic()->getMetadata().push_back(mlir::DiagnosticArgument("unsupported"));
  return diagnostic;
}

/// Reports that the machine lacks memory or a place for temporary files: the compiler prints the message and exits with
/// 4.
inline mlir::InFlightDiagnostic emitExhausted(mlir::Operation *op, const llvm::Twine &message = {}) {
  mlir::InFlightDiagnostic diagnostic = op->emitError(message);
  diagnostic.getUnderlyingDiagnostic()->getMetadata().push_back(mlir::DiagnosticArgument("exhausted"));
  return diagnostic;
}

/// Reports a model that no run can satisfy, whatever its inputs are: the compiler prints the message and exits with 1.
inline mlir::InFlightDiagnostic emitInvalid(mlir::Location loc, const llvm::Twine &message = {}) {
  mlir::InFlightDiagnostic diagnostic = mlir::emitError(loc, message);
  diagnostic.getUnderlyingDiagnostic()->getMetadata().push_back(mlir::DiagnosticArgument("invalid"));
  return diagnostic;
}

inline bool hasMark(mlir::Diagnostic &diagnostic, llvm::StringRef mark) {
  return llvm::any_of(diagnostic.getMetadata(), [&](mlir::DiagnosticArgument &argument) {
    return argument.getKind() == mlir::DiagnosticArgument::DiagnosticArgumentKind::String &&
           argument.getAsString() == mark;
  });
}

inline bool isUnsupported(mlir::Diagnostic &diagnostic) { return hasMark(diagnostic, "unsupported"); }
inline bool isExhausted(mlir::Diagnostic &diagnostic) { return hasMark(diagnostic, "exhausted"); }
inline bool isInvalid(mlir::Diagnostic &diagnostic) { return hasMark(diagnostic, "invalid"); }

} // namespace tenon

#endif // TENON_PASSES_UNSUPPORTED_H
