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

/// Lets a compilation have less memory than weights. Who compiles may add one to the tenon dialect; without one,
/// weights that passes compute lie in the heap. Thread safe.
class WeightStorage : public mlir::DialectInterface::Base<WeightStorage> {
public:
  explicit WeightStorage(mlir::Dialect *dialect) : Base(dialect) {}

  /// Keeps the bytes of a weight, which nobody changes any more, where they need no memory.
  virtual mlir::AsmResourceBlob keep(mlir::AsmResourceBlob blob) const = 0;
  /// So many bytes of weights were looked at, or written to the output, as `isOutput` says: those of files need not be
  /// in memory longer.
  virtual void noteRead(uint64_t bytes, bool isOutput) const = 0;

  /// Null where there is none.
  static const WeightStorage *get(mlir::MLIRContext *context);
};

} // namespace tenon

#endif // TENON_DIALECTS_TENON_WEIGHTSTORAGE_H
