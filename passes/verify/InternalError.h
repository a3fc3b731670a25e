//===- InternalError.h - reports of defects of the compiler ---------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_VERIFY_INTERNALERROR_H
#define TENON_PASSES_VERIFY_INTERNALERROR_H

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Operation.h"

namespace tenon {

/// Reports an internal error: IR that no input should produce. The text says what is wrong with `op`.
inline mlir::InFlightDiagnostic emitInternalError(mlir::Operation *op, const llvm::Twine &message = {}) {
  return op->emitError("internal compiler error: '") << op->getName().getStringRef() << "' op " << message;
}

} // namespace tenon

#endif // TENON_PASSES_VERIFY_INTERNALERROR_H
