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

/// A pass that fails is a fault of ours, with a reproducer, unless it says by this that the model asks for
/// what is not supported: then the compiler exits with 3 and the message is all.
inline mlir::InFlightDiagnostic emitUnsupported(mlir::Operation *op, const llvm::Twine &message = {}) {
  mlir::InFlightDiagnostic diagnostic = op->emitError(message);
  diagnostic.getUnderlyingDiagnostic()->getMetadata().push_back(mlir::DiagnosticArgument("unsupported"));
  return diagnostic;
}

/// The same for what the machine lacks, a place for temporary files or memory: then the compiler exits with 4.
inline mlir::InFlightDiagnostic emitExhausted(mlir::Operation *op, const llvm::Twine &message = {}) {
  mlir::InFlightDiagnostic diagnostic = op->emitError(message);
  diagnostic.getUnderlyingDiagnostic()->getMetadata().push_back(mlir::DiagnosticArgument("exhausted"));
  return diagnostic;
}

/// The same for a model that no run can satisfy, whatever its inputs: then the compiler exits with 1.
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
