//===- WeightStorage.h - where computed weights are kept ----------------===//
//
// Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TENON_DIALECTS_TENON_WEIGHTSTORAGE_H
#define TENON_DIALECTS_TENON_WEIGHTSTORAGE_H

#include "mlir/IR/AsmState.h"
#include "mlir/IR/DialectInterface.h"
#include "mlir/IR/MLIRContext.h"

namespace tenon {

/// Lets a compilation use less memory than its weights. The driver may add one to the tenon dialect; otherwise, weights
/// that passes compute are in the heap. Thread-safe.
class WeightStorage : public mlir::DialectInterface::Base<WeightStorage> {
public:
  explicit WeightStorage(mlir::Dialect *dialect) : Base(dialect) {}

  /// Moves the final bytes of a weight to storage that does not occupy memory.
  virtual mlir::AsmResourceBlob keep(mlir::AsmResourceBlob blob) const = 0;
  /// Records that bytes of weights were read, or written to the output if `isOutput`: pages of files may then be
  /// evicted.
  virtual void noteRead(uint64_t bytes, bool isOutput) const = 0;

  /// Null where there is none.
  static const WeightStorage *get(mlir::MLIRContext *context);
};

} // namespace tenon

#endif // TENON_DIALECTS_TENON_WEIGHTSTORAGE_H
